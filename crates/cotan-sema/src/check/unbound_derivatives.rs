//! Derivatives as other languages write them: `let df = grad(f)`, `grad(f, 1)(x, y)`, `grad(f(x))`.

use cotan_syntax::ast::{self, Arg, ExprKind, Literal};
use cotan_syntax::{Diagnostic, Span};

use super::callee::{Callee, DerivativeCallee, is_derivative_form};
use super::new_variables::{self, Rest};
use super::schemes::Scheme;
use super::{BodyChecker, operators};
use crate::codes;
use crate::typed::{DerivativeForm, Expr, NamedForm};

/// `let df = grad(f)`
pub(super) struct Bound<'s> {
    name: &'s str,
    value: &'s ast::Expr,
}

/// A derivative that a statement binds to a name.
pub(super) fn bound<'s>(checker: &BodyChecker<'_, '_>, binding: &'s ast::Let) -> Option<Bound<'s>> {
    let ast::PatternKind::Name { mutable: None, name } = &binding.pattern.kind else { return None };
    let ExprKind::Postfix(postfix) = &binding.value.kind else { return None };
    let [before @ .., ast::PostfixOp { kind: ast::PostfixKind::Call(args), .. }] = postfix.ops.as_slice() else {
        return None;
    };
    let [Arg { name: None, value: function }] = args.as_slice() else { return None };
    let is_form = is_derivative_form(checker, &postfix.base, before);
    (is_form && operators::is_function_name(checker, function))
        .then_some(Bound { name: &name.name, value: &binding.value })
}

/// Reports it; where the name is only called, the derivative takes its place.
pub(super) fn report_bound(checker: &mut BodyChecker<'_, '_>, bound: &Bound<'_>, rest: &Rest) {
    let span = bound.value.span;
    let code = checker.module.quoted(span, "grad(f)");
    let message = format!("expected a value, found the function `{code}`");
    let diagnostic = Diagnostic::error(codes::FUNCTION_AS_VALUE, span, message)
        .help(format!("functions are no values: write `{code}(...)` where `{}` is called", bound.name));
    let behind = checker.module.text(rest.behind()).unwrap_or_default();
    let uses: Vec<(usize, &str)> = new_variables::uses(behind, bound.name).collect();
    let are_calls = !uses.is_empty() && uses.iter().all(|(_, after)| after.starts_with('('));
    let Some(next) = rest.next.filter(|_| are_calls && !code.contains("...")) else {
        checker.report(diagnostic);
        return;
    };
    let start = rest.behind().start;
    let edits = uses.iter().map(|(at, _)| {
        let start = start + *at as u32;
        Span { start, end: start + bound.name.len() as u32, ..span }
    });
    let gone = Span { end: next.start, ..rest.statement };
    let diagnostic = edits.fold(diagnostic, |diagnostic, edit| {
        // The first call may stand where the statement ends.
        if edit.start == gone.end { diagnostic } else { diagnostic.fix(edit, code.clone()) }
    });
    let first = uses.first().map(|(at, _)| start + *at as u32).filter(|first| *first == gone.end);
    checker.report(match first {
        Some(first) => diagnostic.fix(Span { end: first + bound.name.len() as u32, ..gone }, code),
        None => diagnostic.fix(gone, ""),
    });
}

/// Reports `grad(f(x))`, where the arguments of the derivative stand inside; `false` if that is not what stands there.
pub(super) fn is_call_inside(checker: &mut BodyChecker<'_, '_>, form: NamedForm, args: &[Arg], span: Span) -> bool {
    let [Arg { name: None, value }] = args else { return false };
    let ExprKind::Postfix(call) = &value.kind else { return false };
    let [ast::PostfixOp { kind: ast::PostfixKind::Call(_), span: given, .. }] = call.ops.as_slice() else {
        return false;
    };
    if !operators::is_function_name(checker, &call.base) {
        return false;
    }
    let function = checker.module.quoted(call.base.span, "f");
    let given = Span { end: value.span.end, ..*given };
    let message = format!("expected a function to differentiate in `{}(f)`, found a value", form.name);
    let diagnostic = Diagnostic::error(codes::NEEDS_FUNCTION, span, message);
    let arguments = checker.module.written(Span { start: call.base.span.end, ..given }).map(str::to_owned);
    checker.report(match arguments.filter(|_| form.takes_only_arguments()) {
        Some(arguments) => diagnostic
            .help(format!("the arguments stand behind it: `{}({function}){arguments}`", form.name))
            .fix(call.base.span.after(), ")")
            .fix(Span { start: span.end - 1, ..span }, ""),
        None => diagnostic.help(format!("write the name of the function alone: `{}({function})`", form.name)),
    });
    true
}

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
