//! Derivatives as other languages write them: `let df = grad(f)`, `grad(f, 1)(x, y)`.

use cotan_syntax::ast::{self, Arg, ExprKind, Literal};
use cotan_syntax::{Diagnostic, Span};

use super::BodyChecker;
use super::callee::{Callee, DerivativeCallee};
use super::schemes::Scheme;
use crate::codes;
use crate::typed::{DerivativeForm, Expr, NamedForm};

/// Reports a derivative that stands for a value.
pub(super) fn report(checker: &mut BodyChecker<'_, '_>, derivative: &DerivativeCallee<'_>) -> Expr {
    let (form, span) = (derivative.form.name, derivative.span);
    let code = checker.module.written(span).map_or_else(|| format!("{form}(f)"), str::to_owned);
    let params = scheme(&derivative.base).map(|scheme| names(scheme).join(", "));
    let params = params.unwrap_or_else(|| "x".to_owned());
    let has_attribute = matches!(derivative.form.form, DerivativeForm::Grad | DerivativeForm::ValueAndGrad);
    let first = params.split(", ").next().unwrap_or("x");
    let declared =
        if has_attribute { format!(", or write `@{form}({first})` before its declaration") } else { String::new() };
    let message = format!("expected a value, found the function `{code}`");
    checker.report(
        Diagnostic::error(codes::FUNCTION_AS_VALUE, span, message)
            .help(format!("functions are no values: write `{code}({params})` where it is used{declared}")),
    );
    Expr::error(span)
}

/// Reports `grad(f, 1)`, where a number names the parameter; `false` if that is not what stands there.
pub(super) fn is_argument_number(checker: &mut BodyChecker<'_, '_>, form: NamedForm, args: &[Arg], span: Span) -> bool {
    let [Arg { name: None, value: base }, Arg { value: number, .. }] = args else { return false };
    let ExprKind::Literal(Literal::Int { value: number, .. }) = &number.kind else { return false };
    let param = usize::try_from(*number).ok().and_then(|at| parameter(checker, base, at));
    let function = checker.module.written(base.span).map(str::to_owned);
    let message = format!("expected the function alone in `{}(f)`, found the number {number} as well", form.name);
    let diagnostic = Diagnostic::error(codes::NEEDS_FUNCTION, span, message);
    checker.report(match param.zip(function) {
        Some((param, function)) => {
            let code = format!("{}[{param}]({function})", form.name);
            diagnostic.help(format!("parameters are named: `{code}`")).fix(span, code)
        }
        None => diagnostic.help(format!("parameters are named: `{}[x](f)`", form.name)),
    });
    true
}

/// The name of a parameter of a function.
fn parameter(checker: &mut BodyChecker<'_, '_>, base: &ast::Expr, at: usize) -> Option<String> {
    let callee = checker.function_expr(base)?;
    names(scheme(&callee)?).get(at).map(|name| (*name).to_owned())
}

fn scheme<'c>(callee: &'c Callee<'_>) -> Option<&'c Scheme> {
    if let Callee::Scheme(scheme) = callee { Some(scheme) } else { None }
}

fn names(scheme: &Scheme) -> Vec<&str> {
    scheme.params.iter().map(|param| param.name.as_str()).collect()
}
