//! Members of tensors and numbers in other languages: `x.sum()`, `x.T`, `x.shape[0]`. Here they are functions and sizes.

use cotan_syntax::ast::{self, Ident, PostfixKind, PostfixOp};
use cotan_syntax::{Diagnostic, Span};

use super::meant::{Meant, Use};
use super::shape_help::has_hole;
use super::{BodyChecker, written};
use crate::codes;
use crate::foreign;
use crate::prelude;
use crate::typed::Expr;
use crate::types::Type;

/// What stands for the sizes of a tensor elsewhere.
pub(super) fn is_size_word(name: &str) -> bool {
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
    if is_size_word(&name.name)
        && let Some(help) = help_for_sizes(checker, &value.ty, None)
    {
        return diagnostic.help(help);
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
    if is_size_word(&name.name)
        && let Some(help) = help_for_sizes(checker, ty, None)
    {
        return diagnostic.help(help);
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

/// The size that `value.shape[k]` stands for; without `k` all of them.
pub(super) fn help_for_sizes(checker: &BodyChecker<'_, '_>, ty: &Type, at: Option<usize>) -> Option<String> {
    let dims = ty.dims();
    let dims = match at {
        Some(at) => std::slice::from_ref(dims.get(at)?),
        None => dims,
    };
    let names: Vec<String> = dims.iter().map(|dim| checker.show_dim(dim)).collect();
    if names.iter().any(|name| has_hole(name)) {
        return Some("name the size where the tensor is declared, as in `f64[N]`, and use the name".to_owned());
    }
    match names.as_slice() {
        [] => None,
        [one] => Some(format!("sizes stand in the types: this one is `{one}`")),
        several => Some(format!("sizes stand in the types: they are `{}` here", several.join("`, `"))),
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
    let at = usize::try_from(*at).ok().filter(|_| is_size_word(&name.name));
    let Some(help) = at.and_then(|at| help_for_sizes(checker, &value.ty, Some(at))) else { return false };
    let message = format!("expected a struct before `.{}`, found `{}`", name.name, checker.show(&value.ty));
    let whole = value.span.to(*span);
    let diagnostic = Diagnostic::error(codes::UNKNOWN_FIELD, whole, message).help(help);
    let size = at.and_then(|at| value.ty.dims().get(at)).map(|dim| checker.show_dim(dim));
    checker.report(match size.filter(|size| !has_hole(size)) {
        Some(size) => diagnostic.fix(whole, written::operand(&size)),
        None => diagnostic,
    });
    true
}
