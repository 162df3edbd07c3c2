//! Attributes: which there are, and where they may stand.

use cotan_syntax::ast::{self, Arg, Attr, ExprKind, Ident, PostfixKind, PostfixOp};
use cotan_syntax::{Diagnostic, Span};

use super::loop_attributes::Hints;
use super::testing::TEST;
use super::{ModuleChecker, loop_attributes};
use crate::codes;
use crate::suggest::closest;
use crate::typed::{DerivativeForm, DerivativeMode};

/// `@grad(w, b)`, `@value_and_grad(w)`, `@jvp(w)` before a function.
pub(super) struct DerivativeAttr {
    pub(super) form: DerivativeForm,
    pub(super) wrt: Vec<Ident>,
    pub(super) span: Span,
    /// Whether the list is right; if not, that has been reported.
    pub(super) is_valid: bool,
}

/// `@vjp_for(f)` or `@jvp_for(f)` before a function.
#[derive(Clone, Debug)]
pub(super) struct RuleAttr {
    /// Reverse for a vjp.
    pub(super) mode: DerivativeMode,
    /// The function whose rule is replaced, by the names between dots.
    pub(super) of: Vec<Ident>,
    pub(super) span: Span,
}

impl RuleAttr {
    /// How it is written.
    pub(super) fn name(&self) -> &'static str {
        match self.mode {
            DerivativeMode::Reverse => "vjp_for",
            DerivativeMode::Forward => "jvp_for",
        }
    }

    /// The function as it is written.
    pub(super) fn of(&self) -> String {
        self.of.iter().map(|ident| ident.name.as_str()).collect::<Vec<_>>().join(".")
    }
}

/// What the attributes of a function say.
#[derive(Default)]
pub(super) struct FunctionAttrs {
    /// The derivatives that the declaration stands for.
    pub(super) derivatives: Vec<DerivativeAttr>,
    /// The function whose rule this one replaces.
    pub(super) rule: Option<RuleAttr>,
    /// How its derivatives are computed.
    pub(super) hints: Hints,
    /// Where `@io` stands.
    pub(super) output: Option<Span>,
}

/// The attributes that make the declared function a derivative.
const DERIVATIVES: [DerivativeForm; 3] = [DerivativeForm::Grad, DerivativeForm::ValueAndGrad, DerivativeForm::Jvp];

/// All attributes of functions.
const FUNCTION_ATTRIBUTES: [&str; 9] =
    ["io", "grad", "value_and_grad", "jvp", "vjp_for", "jvp_for", "mode", "recompute", TEST];

impl ModuleChecker<'_> {
    /// Reports all attributes of something that has none.
    pub(super) fn report_unknown_attributes(&mut self, attrs: &[Attr], place: &str) {
        for attr in attrs {
            self.report_unknown_attribute(attr, place, &[]);
        }
    }

    pub(super) fn report_unknown_attribute(&mut self, attr: &Attr, place: &str, known: &[&'static str]) {
        let name = attr.name.name.as_str();
        let message = format!("expected an attribute of a {place}, found `@{name}`");
        let help = match closest(name, known.iter().copied()) {
            Some(near) => format!("did you mean `@{near}`?"),
            None if known.is_empty() => format!("a {place} has no attributes: leave it out"),
            None => format!("a {place} may have `@{}`", known.join("`, `@")),
        };
        self.report(Diagnostic::error(codes::UNKNOWN_ATTRIBUTE, attr.name.span, message).help(help));
    }
}

/// Takes the attributes of a function apart.
pub(super) fn function_attributes(checker: &mut ModuleChecker<'_>, attrs: &[Attr]) -> FunctionAttrs {
    let mut found = FunctionAttrs::default();
    for attr in attrs {
        let derivative = DERIVATIVES.into_iter().find(|form| form.as_str() == attr.name.name);
        if loop_attributes::hint(checker, attr, &mut found.hints) {
            continue;
        }
        match (derivative, attr.name.name.as_str()) {
            (Some(form), _) => found.derivatives.push(derivative_attribute(checker, attr, form)),
            (None, "vjp_for") => rule_attribute(checker, attr, DerivativeMode::Reverse, &mut found.rule),
            (None, "jvp_for") => rule_attribute(checker, attr, DerivativeMode::Forward, &mut found.rule),
            (None, "io") => found.output = Some(attr.span),
            (None, TEST) => {}
            (None, _) => checker.report_unknown_attribute(attr, "function", &FUNCTION_ATTRIBUTES),
        }
    }
    if let (Some(_), Some(fixed)) = (found.hints.mode, found.derivatives.iter().find(|it| !it.form.has_mode())) {
        let message = format!("expected no `@mode` beside `@{}`, which has one, found it", fixed.form.as_str());
        checker.report(Diagnostic::error(codes::MODE, fixed.span, message).help("leave the mode out"));
    }
    if let (Some(rule), Some(derivative)) = (&found.rule, found.derivatives.first()) {
        let message = format!("expected a rule or a derivative, found `@{}` beside a rule", derivative.form.as_str());
        checker.report(
            Diagnostic::error(codes::DERIVATIVE_ATTRIBUTE, derivative.span, message)
                .label(rule.span, "the body is a rule because of this")
                .help("declare a function for each"),
        );
        found.rule = None;
    }
    found
}

/// Whether a function is marked `@io`; reports one that must be pure.
pub(super) fn may_print(checker: &mut ModuleChecker<'_>, attrs: &FunctionAttrs, function: &ast::Function) -> bool {
    let Some(span) = attrs.output else { return false };
    let name = &function.signature.name.name;
    let derivative = attrs.derivatives.first().map(|attr| attr.span).or(attrs.rule.as_ref().map(|rule| rule.span));
    if let Some(derivative) = derivative {
        let message = format!("expected a pure function to differentiate, found `{name}`, which is marked `@io`");
        checker.report(
            Diagnostic::error(codes::DERIVATIVE_OF_OUTPUT, span, message)
                .label(derivative, "differentiated because of this")
                .help("move what is differentiated into a function that does not print"),
        );
        return false;
    }
    if function.form == ast::FunctionForm::Kernel {
        let message = format!("expected a pure kernel, found `{name}`, which is marked `@io`");
        checker.report(
            Diagnostic::error(codes::EFFECT, span, message)
                .help("the iterations of a kernel run in no order: print what it gives"),
        );
        return false;
    }
    true
}

/// `@vjp_for(f)` or `@jvp_for(f)`
fn rule_attribute(checker: &mut ModuleChecker<'_>, attr: &Attr, mode: DerivativeMode, found: &mut Option<RuleAttr>) {
    let of = match attr.args.as_slice() {
        [Arg { name: None, value, .. }] => dotted_name(value),
        _ => None,
    };
    let Some(of) = of else {
        let message = format!("expected the name of one function in `@{}`, found another list", attr.name.name);
        checker.report(
            Diagnostic::error(codes::RULE_TARGET, attr.span, message)
                .help(format!("name the function whose derivative the body gives: `@{}(f)`", attr.name.name)),
        );
        return;
    };
    if let Some(first) = found {
        let message = format!("expected a rule for one function, found `@{}` as well", attr.name.name);
        checker.report(
            Diagnostic::error(codes::RULE_TWICE, attr.span, message)
                .label(first.span, "the body is this rule")
                .help("declare a function for each rule"),
        );
        return;
    }
    *found = Some(RuleAttr { mode, of, span: attr.span });
}

fn derivative_attribute(checker: &mut ModuleChecker<'_>, attr: &Attr, form: DerivativeForm) -> DerivativeAttr {
    let mut wrt: Vec<Ident> = Vec::new();
    let mut is_valid = !attr.args.is_empty();
    for arg in &attr.args {
        let Some(ident) = parameter_name(checker, arg) else {
            is_valid = false;
            continue;
        };
        if wrt.iter().any(|other| other.name == ident.name) {
            report_repeated_parameter(checker, &ident);
            is_valid = false;
        }
        wrt.push(ident);
    }
    if attr.args.is_empty() {
        let message = format!("expected the name of a parameter in `@{}`, found none", attr.name.name);
        checker.report(
            Diagnostic::error(codes::NO_PARAMETER, attr.span, message)
                .help(format!("say with respect to what: `@{}(w)`", attr.name.name)),
        );
    }
    DerivativeAttr { form, wrt, span: attr.span, is_valid }
}

/// The name of a parameter in a list such as `[w, b]` or `(w, b)`.
pub(super) fn parameter_name(checker: &mut ModuleChecker<'_>, arg: &Arg) -> Option<Ident> {
    match (&arg.name, &arg.value.kind) {
        (None, ExprKind::Name(name)) => Some(Ident { name: name.clone(), span: arg.value.span }),
        (_, ExprKind::Error) => None,
        _ => {
            let message = "expected the name of a parameter, found another expression";
            checker.report(
                Diagnostic::error(codes::UNKNOWN_PARAMETER, arg.value.span, message)
                    .help("the list holds names of parameters of the function that is differentiated"),
            );
            None
        }
    }
}

/// A parameter that is named twice in one list.
pub(super) fn report_repeated_parameter(checker: &mut ModuleChecker<'_>, ident: &Ident) {
    let message = format!("expected each parameter once, found `{}` again", ident.name);
    checker.report(Diagnostic::error(codes::REPEATED_PARAMETER, ident.span, message).help("name each parameter once"));
}

/// Whether `@nodiff` stands before a parameter; reports all other attributes.
pub(super) fn has_nodiff(checker: &mut ModuleChecker<'_>, param: &ast::Param) -> bool {
    let mut found = false;
    for attr in &param.attrs {
        if attr.name.name == "nodiff" {
            found = true;
        } else {
            checker.report_unknown_attribute(attr, "parameter", &["nodiff"]);
        }
    }
    found
}

/// The names of `a.b.c`.
fn dotted_name(expr: &ast::Expr) -> Option<Vec<Ident>> {
    let (base, ops): (&ast::Expr, &[PostfixOp]) =
        if let ExprKind::Postfix(postfix) = &expr.kind { (&postfix.base, &postfix.ops) } else { (expr, &[]) };
    let ExprKind::Name(first) = &base.kind else { return None };
    let mut names = vec![Ident { name: first.clone(), span: base.span }];
    for op in ops {
        let PostfixKind::Field(name) = &op.kind else { return None };
        names.push(name.clone());
    }
    Some(names)
}
