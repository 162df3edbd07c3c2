//! Sizes as they are written.

use cotan_syntax::ast::{self, BinaryOp, ExprKind, Literal, UnaryOp};
use cotan_syntax::{Diagnostic, Span};

use super::scope::field_name;
use super::type_scope::{Holes, TypeScope};
use super::{Def, ModuleChecker};
use crate::codes;
use crate::dims::{Atom, Dim, GenericId, SizeId};
use crate::suggest::closest;
use crate::types::{Generic, GenericKind};

/// An extent that is written in a type: a size, or a shape pack `..S`.
pub(super) fn extent(checker: &mut ModuleChecker<'_>, expr: &ast::Expr, scope: &mut TypeScope<'_>) -> Option<Dim> {
    match pack_name(expr) {
        Some((name, span)) => pack(checker, name, span, scope),
        None => dim(checker, expr, scope),
    }
}

/// The shape pack of that name.
pub(super) fn pack(checker: &mut ModuleChecker<'_>, name: &str, span: Span, scope: &TypeScope<'_>) -> Option<Dim> {
    let found = match scope.generic(name) {
        Some((id, GenericKind::Pack)) => return Some(Dim::atom(Atom::Pack(id))),
        Some((_, GenericKind::Size | GenericKind::Scalar(_) | GenericKind::Type { .. })) => "no pack",
        None => "an unknown name",
    };
    let message = format!("expected a shape pack after `..`, found `{name}`, {found}");
    checker.report(
        Diagnostic::error(codes::NOT_A_PACK, span, message)
            .help(format!("declare it in brackets after the name of the function: `[..{name}]`")),
    );
    None
}

/// A size that is written in a type.
pub(super) fn dim(checker: &mut ModuleChecker<'_>, expr: &ast::Expr, scope: &mut TypeScope<'_>) -> Option<Dim> {
    let dim = polynomial(checker, expr, scope)?;
    if dim.is_surely_negative() {
        let name = if let ExprKind::Name(name) = &expr.kind { format!("`{name}`, which is ") } else { String::new() };
        let value = dim.as_constant().map_or("a size that is always less".to_owned(), |value| format!("`{value}`"));
        let message = format!("expected a size of at least 0, found {name}{value}");
        checker.report(Diagnostic::error(codes::NEGATIVE_SIZE, expr.span, message).help("sizes count elements"));
        return None;
    }
    Some(dim)
}

fn polynomial(checker: &mut ModuleChecker<'_>, expr: &ast::Expr, scope: &mut TypeScope<'_>) -> Option<Dim> {
    match &expr.kind {
        ExprKind::Error => None,
        ExprKind::Literal(Literal::Int { value, .. }) => match i64::try_from(*value) {
            Ok(value) => Some(Dim::constant(value)),
            Err(_) => report_too_complex(checker, expr.span),
        },
        ExprKind::Name(name) => named_dim(checker, name, expr.span, &[], scope),
        ExprKind::Postfix(postfix)
            if let ExprKind::Name(name) = &postfix.base.kind
                && checker.find(name).is_some_and(|found| matches!(found.def, Def::Module(_))) =>
        {
            named_dim(checker, name, postfix.base.span, &postfix.ops, scope)
        }
        ExprKind::Hole => hole(checker, expr.span, scope),
        ExprKind::Unary { op: UnaryOp::Neg, operand, .. } => {
            let operand = polynomial(checker, operand, scope)?;
            Dim::constant(0).minus(&operand).or_else(|| report_too_complex(checker, expr.span))
        }
        ExprKind::Binary(chain) => sum(checker, chain, expr.span, scope),
        ExprKind::Range(range) if range.lo.is_none() => {
            let message = "expected a size, found a shape pack, which is any number of them";
            checker.report(
                Diagnostic::error(codes::NOT_A_PACK, expr.span, message)
                    .help("a pack stands alone among the extents of a tensor, as in `T[..S, N]`"),
            );
            None
        }
        ExprKind::Literal(_)
        | ExprKind::Unary { .. }
        | ExprKind::Tuple(_)
        | ExprKind::Array(_)
        | ExprKind::Struct(_)
        | ExprKind::Pipe(_)
        | ExprKind::Range(_)
        | ExprKind::Fold(_)
        | ExprKind::FoldBy(_)
        | ExprKind::Postfix(_)
        | ExprKind::Ascription { .. }
        | ExprKind::Lambda(_)
        | ExprKind::LetIn(_)
        | ExprKind::If(_)
        | ExprKind::Match(_)
        | ExprKind::Block(_)
        | ExprKind::For(_)
        | ExprKind::While(_)
        | ExprKind::Break
        | ExprKind::Continue
        | ExprKind::Return(_) => report_not_a_size(checker, expr.span),
    }
}

/// A run of infix operators as a size.
fn sum(checker: &mut ModuleChecker<'_>, chain: &ast::Chain, span: Span, scope: &mut TypeScope<'_>) -> Option<Dim> {
    let mut sum = polynomial(checker, &chain.first, scope)?;
    for link in &chain.rest {
        let operand = polynomial(checker, &link.operand, scope)?;
        let next = match link.op {
            BinaryOp::Add => sum.plus(&operand),
            BinaryOp::Sub => sum.minus(&operand),
            BinaryOp::Mul => sum.times(&operand),
            BinaryOp::Div => sum.floor_div(&operand),
            BinaryOp::Or
            | BinaryOp::And
            | BinaryOp::Eq
            | BinaryOp::Ne
            | BinaryOp::Lt
            | BinaryOp::Le
            | BinaryOp::Gt
            | BinaryOp::Ge
            | BinaryOp::DotEq
            | BinaryOp::DotNe
            | BinaryOp::DotLt
            | BinaryOp::DotLe
            | BinaryOp::DotGt
            | BinaryOp::DotGe
            | BinaryOp::DotAdd
            | BinaryOp::DotSub
            | BinaryOp::Rem
            | BinaryOp::DotMul
            | BinaryOp::DotDiv
            | BinaryOp::DotRem
            | BinaryOp::MatMul
            | BinaryOp::Pow
            | BinaryOp::DotPow => return report_size_operator(checker, link),
        };
        sum = match next {
            Some(next) => next,
            None => return report_too_complex(checker, span),
        };
    }
    Some(sum)
}

fn report_not_a_size(checker: &mut ModuleChecker<'_>, span: Span) -> Option<Dim> {
    let message = "expected a size made of integers, size parameters, `+`, `-`, `*` and `/`";
    checker.report(
        Diagnostic::error(codes::NOT_A_SIZE, span, message)
            .help("leave the size open with `_`, or make it a parameter"),
    );
    None
}

fn report_size_operator(checker: &mut ModuleChecker<'_>, link: &ast::Link) -> Option<Dim> {
    let message = format!("expected `+`, `-`, `*` or `/` in a size, found `{}`", link.op.as_str());
    checker.report(
        Diagnostic::error(codes::NOT_A_SIZE, link.op_span, message)
            .help("leave the size open with `_`, or make it a parameter"),
    );
    None
}

/// The size behind a name, or behind the name of a module with `ops` after it.
fn named_dim(
    checker: &mut ModuleChecker<'_>,
    name: &str,
    span: Span,
    ops: &[ast::PostfixOp],
    scope: &mut TypeScope<'_>,
) -> Option<Dim> {
    if let Some((id, kind)) = scope.generic(name) {
        if kind == GenericKind::Size {
            return Some(Dim::atom(Atom::Size(id)));
        }
        let (what, help) = match kind {
            GenericKind::Pack => ("the shape pack", format!("write `..{name}` for all of its sizes")),
            GenericKind::Size | GenericKind::Scalar(_) | GenericKind::Type { .. } => {
                ("the type", format!("declare a size: `[{name}]`"))
            }
        };
        let message = format!("expected a size, found {what} `{name}`");
        checker.report(Diagnostic::error(codes::NOT_A_SIZE, span, message).help(help));
        return None;
    }
    if let Some(dim) = (scope.values)(name) {
        return Some(dim);
    }
    if let Some(found) = checker.follow(name, span, |at| field_name(ops.get(at))) {
        if found.n_dots < ops.len() {
            return report_not_a_size(checker, ops[found.n_dots].span);
        }
        return checker.declared_size(&found);
    }
    report_unknown(checker, name, span, scope)
}

fn report_unknown(checker: &mut ModuleChecker<'_>, name: &str, span: Span, scope: &mut TypeScope<'_>) -> Option<Dim> {
    if let Some(no_size) = scope.no_sizes.iter_mut().find(|no_size| no_size.name == name) {
        let (ty, place) = &no_size.ty;
        let message = format!("expected a size, found the parameter `{name}`, which is no integer");
        let diagnostic = Diagnostic::error(codes::UNKNOWN_SIZE, span, message).label(*place, format!("it is a `{ty}`"));
        no_size.is_reported = true;
        checker.report(diagnostic.help(format!("sizes are of type `i64`: write `{name}: i64`")).fix(*place, "i64"));
        return None;
    }
    let message = format!("expected a size, found the unknown name `{name}`");
    let diagnostic = Diagnostic::error(codes::UNKNOWN_SIZE, span, message);
    let known = scope.generics.iter().map(|generic| generic.name.as_str());
    if let Some(near) = closest(name, known) {
        checker.report(diagnostic.help(format!("did you mean `{near}`?")));
        return None;
    }
    let diagnostic = diagnostic.help(format!("declare it in brackets after the name of the function: `[{name}]`"));
    let Some(new_sizes) = scope.new_sizes else {
        checker.report(diagnostic);
        return None;
    };
    let (place, text) = new_sizes.declaring(name);
    checker.report(diagnostic.fix(place, text));
    scope.generics.push(Generic::size(name));
    Some(Dim::atom(Atom::Size(GenericId(scope.generics.len() as u32 - 1))))
}

fn hole(checker: &mut ModuleChecker<'_>, span: Span, scope: &mut TypeScope<'_>) -> Option<Dim> {
    match scope.holes {
        Holes::Generics => {
            scope.generics.push(Generic::size("_"));
            Some(Dim::atom(Atom::Size(GenericId(scope.generics.len() as u32 - 1))))
        }
        Holes::Sizes => {
            scope.next_size += 1;
            Some(Dim::atom(Atom::Runtime(SizeId(scope.next_size - 1))))
        }
        Holes::Forbidden => {
            checker.report(
                Diagnostic::error(codes::OPEN_SIZE, span, "expected a size, found `_`, which leaves it open")
                    .help("add a size parameter, as in `struct P[N] { x: f64[N] }`"),
            );
            None
        }
    }
}

/// A size that is too large to handle, or a division by zero.
pub(super) fn report_too_complex(checker: &mut ModuleChecker<'_>, span: Span) -> Option<Dim> {
    checker.report(
        Diagnostic::error(
            codes::SIZE_TOO_COMPLEX,
            span,
            "expected a size that is a short polynomial, found one that is too complex or divides by zero",
        )
        .help("leave the size open with `_`, or make it a parameter"),
    );
    None
}

/// The name in `..S`.
pub(super) fn pack_name(expr: &ast::Expr) -> Option<(&str, Span)> {
    let ExprKind::Range(range) = &expr.kind else { return None };
    let (None, Some(hi), false) = (&range.lo, &range.hi, range.inclusive) else { return None };
    if let ExprKind::Name(name) = &hi.kind { Some((name, expr.span)) } else { None }
}
