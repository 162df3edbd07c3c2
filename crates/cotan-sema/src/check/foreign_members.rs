//! Members of tensors and numbers in other languages: `x.sum()`, `x.T`, `x.shape[0]`. Here they are functions and sizes.

use cotan_syntax::ast::{self, Ident, PostfixKind, PostfixOp};
use cotan_syntax::{Diagnostic, Span};

use super::meant::{Meant, Use};
use super::shape_help::has_hole;
use super::{BodyChecker, written};
use crate::codes;
use crate::dims::Dim;
use crate::foreign;
use crate::prelude;
use crate::typed::Expr;
use crate::types::Type;

/// What stands for the sizes of a tensor elsewhere.
fn is_size_word(name: &str) -> bool {
    matches!(name, "shape" | "size" | "len" | "length" | "numel" | "ndim" | "ndims" | "nrows" | "ncols" | "dim")
}

/// The diagnostic of `value.name(args)` at `span`, which is no function of a trait, with what to write; as it is if
/// nothing is known of the name.
pub(super) fn explain_method(
    checker: &BodyChecker<'_, '_>,
    (value, name): (&Expr, &Ident),
    args: &[ast::Arg],
    span: Span,
    diagnostic: Diagnostic,
) -> Diagnostic {
    if let Some(sizes) = sizes_named(checker, &value.ty, &name.name) {
        return sizes.on(diagnostic, span);
    }
    let of_args = args.iter().map(|arg| (arg.name.is_none(), arg.value.span));
    let parts = std::iter::once((true, value.span)).chain(of_args);
    let written = parts.map(|(has_place, span)| checker.module.written(span).filter(|_| has_place).map(str::to_owned));
    explain_call(checker, &name.name, &written.collect::<Vec<_>>(), span, diagnostic)
}

/// The diagnostic of `value.name`, where the value is at `base` and has no fields, with what to write.
pub(super) fn explain_field(
    checker: &BodyChecker<'_, '_>,
    (ty, base): (&Type, Span),
    name: &Ident,
    diagnostic: Diagnostic,
) -> Diagnostic {
    if let Some(sizes) = sizes_named(checker, ty, &name.name) {
        return sizes.on(diagnostic, base.to(name.span));
    }
    let written = [checker.module.written(base).map(str::to_owned)];
    explain_call(checker, &name.name, &written, base.to(name.span), diagnostic)
}

/// The diagnostic with the function that a member stands for, called with the value first.
fn explain_call(
    checker: &BodyChecker<'_, '_>,
    name: &str,
    written: &[Option<String>],
    span: Span,
    diagnostic: Diagnostic,
) -> Diagnostic {
    let Some(meant) = meant_call(checker, name, written) else { return diagnostic };
    let diagnostic = diagnostic.help(meant.help(&meant.code, ""));
    checker.module.with_fix(&meant, diagnostic, span, Some(span))
}

fn meant_call(checker: &BodyChecker<'_, '_>, name: &str, written: &[Option<String>]) -> Option<Meant> {
    let args = written.iter().map(|arg| arg.as_deref().map_or("..", written::unwrapped)).collect::<Vec<_>>().join(", ");
    let is_written = written.iter().all(Option::is_some);
    let call = |function: &str| Meant::call(format!("{function}({args})"), is_written);
    if matches!(name, "T" | "t" | "H") {
        return Some(call("transpose"));
    }
    let row = foreign::value(&[name]).filter(|row| row.operands().count() == written.len());
    if let Some(row) = row {
        return Some(checker.module.by_table(row, Use::Call(written)));
    }
    let is_function = checker.module.find(name).is_some()
        || prelude::scalar_function(name).is_some()
        || prelude::builtin(name).is_some();
    if is_function {
        return Some(call(name));
    }
    let meant = checker.module.meant(&[name], Use::Call(written))?;
    if meant.is_whole_call || meant.code.is_empty() {
        return Some(meant);
    }
    Some(Meant {
        is_certain: meant.is_certain && is_written,
        is_whole_call: true,
        code: call(&meant.code).code,
        ..meant
    })
}

/// What to say about the sizes of a tensor, and the size that takes the place of the question if it asks for one.
pub(super) struct Sizes {
    help: String,
    code: Option<String>,
}

impl Sizes {
    /// The diagnostic with this help; `place` is the whole question.
    pub(super) fn on(self, diagnostic: Diagnostic, place: Span) -> Diagnostic {
        let diagnostic = diagnostic.help(self.help);
        match self.code {
            Some(code) => diagnostic.fix(place, written::operand(&code)),
            None => diagnostic,
        }
    }
}

/// What `len(v)`, `v.size` or `v.shape` asks for. Of a vector, the length is its only size.
pub(super) fn sizes_named(checker: &BodyChecker<'_, '_>, ty: &Type, word: &str) -> Option<Sizes> {
    if !is_size_word(word) {
        return None;
    }
    let is_length = matches!(word, "size" | "len" | "length" | "numel");
    let sizes = sizes(checker, ty.dims())?;
    Some(Sizes { code: sizes.code.filter(|_| is_length), ..sizes })
}

fn sizes(checker: &BodyChecker<'_, '_>, dims: &[Dim]) -> Option<Sizes> {
    let names: Vec<String> = dims.iter().map(|dim| checker.show_dim(dim)).collect();
    if names.iter().any(|name| has_hole(name)) {
        let help = "name the size where the tensor is declared, as in `f64[N]`, and use the name".to_owned();
        return Some(Sizes { help, code: None });
    }
    match names.as_slice() {
        [] => None,
        [one] => {
            Some(Sizes { help: format!("sizes stand in the types: this one is `{one}`"), code: Some(one.clone()) })
        }
        several => {
            let help = format!("sizes stand in the types: they are `{}` here", several.join("`, `"));
            Some(Sizes { help, code: None })
        }
    }
}

/// Reports `value.shape[k]` with the name of that size; `false` if that is not what `ops` say.
pub(super) fn is_axis_of_shape(checker: &mut BodyChecker<'_, '_>, value: &Expr, ops: &[PostfixOp]) -> bool {
    let [PostfixOp { kind: PostfixKind::Field(name), .. }, PostfixOp { kind: PostfixKind::Index(args), span, .. }, ..] =
        ops
    else {
        return false;
    };
    let [ast::Arg { value: ast::Expr { kind: ast::ExprKind::Literal(ast::Literal::Int { value: at, .. }), .. }, .. }] =
        args.as_slice()
    else {
        return false;
    };
    let dim = usize::try_from(*at).ok().filter(|_| is_size_word(&name.name)).and_then(|at| value.ty.dims().get(at));
    let Some(size) = dim.and_then(|dim| sizes(checker, std::slice::from_ref(dim))) else { return false };
    let message = format!("expected a struct before `.{}`, found `{}`", name.name, checker.show(&value.ty));
    let whole = value.span.to(*span);
    checker.report(size.on(Diagnostic::error(codes::UNKNOWN_FIELD, whole, message), whole));
    true
}
