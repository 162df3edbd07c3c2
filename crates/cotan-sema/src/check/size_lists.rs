//! `random.normal(key, [H, I])`: a list of sizes for a number of elements. Where the result of a function is a tensor `T[n]`
//! and `n` a parameter of it, `n` may be a list: the function makes as many elements as its product says, and they get these
//! sizes.

use cotan_syntax::Span;
use cotan_syntax::ast;

use super::arguments::{Given, Source};
use super::schemes::Scheme;
use super::{BodyChecker, arguments, builtin_arguments, ranges, sizes};
use crate::dims::{Atom, Dim, LocalId};
use crate::typed::{Arg, BinaryOp, Builtin, Chain, Expr, ExprKind, Link, Stmt};
use crate::types::Type;

/// The sizes that a list gives, each bound to a local.
pub(super) struct SizeList {
    sizes: Vec<Expr>,
    before: Vec<Stmt>,
}

/// The list that is given for the number of elements of the result; the argument is now the product.
pub(super) fn taken(checker: &mut BodyChecker<'_, '_>, scheme: &Scheme, given: &mut Given<'_>) -> Option<SizeList> {
    let at = counted_by(scheme)?;
    let source = given.source_for(at, &scheme.params[at].name)?;
    let Source::Ast(ast::Expr { kind, span, .. }) = source else { return None };
    if let ast::ExprKind::Tuple(parts) = kind {
        *source = Source::Typed(Expr::error(*span));
        return builtin_arguments::tuple_of_sizes(checker, &scheme.name, parts, *span);
    }
    let ast::ExprKind::Array(parts) = kind else { return None };
    if parts.is_empty() {
        return None;
    }
    let (mut sizes, mut before) = (Vec::new(), Vec::new());
    for part in parts {
        let value = checker.expr(part);
        let value = ranges::integer(checker, value, &format!("a size of `{}`", scheme.name));
        let value = value.filter(|value| builtin_arguments::counted(checker, &scheme.name, value).is_some());
        let value = value.unwrap_or_else(|| Expr::error(part.span));
        sizes.push(arguments::bound(checker, value, &mut before));
    }
    *source = Source::Typed(product(&sizes, *span));
    Some(SizeList { sizes, before })
}

/// The parameter that says how many elements the result has, which is a vector.
fn counted_by(scheme: &Scheme) -> Option<usize> {
    scheme.owner()?;
    let [dim] = scheme.result.dims() else { return None };
    (0..scheme.params.len()).find(|at| *dim == Dim::atom(Atom::Value(LocalId(*at as u32))))
}

fn product(sizes: &[Expr], span: Span) -> Expr {
    let ty = sizes[0].ty.clone();
    let link =
        |size: &Expr| Link { op: BinaryOp::Mul, op_span: size.span, operand: size.clone(), span, ty: ty.clone() };
    let rest: Vec<Link> = sizes[1..].iter().map(link).collect();
    if sizes.iter().any(|size| size.ty.has_error()) {
        return Expr::error(span);
    }
    if rest.is_empty() {
        return sizes[0].clone();
    }
    Expr { span, ty: ty.clone(), kind: ExprKind::Chain(Box::new(Chain { first: sizes[0].clone(), rest })) }
}

impl SizeList {
    /// The elements of a call under these sizes.
    pub(super) fn shape(self, checker: &mut BodyChecker<'_, '_>, value: Expr) -> Expr {
        if value.ty.has_error() {
            return value;
        }
        let dims: Vec<Dim> = self.sizes.iter().map(|size| sizes::extent(checker, size)).collect();
        let (span, ty) = (value.span, Type::tensor(value.ty.elem().clone(), dims));
        let args = std::iter::once(value).chain(self.sizes).map(Arg::Value).collect();
        arguments::after(self.before, Expr { span, ty, kind: ExprKind::Builtin { builtin: Builtin::Reshape, args } })
    }
}
