//! Arguments by position and by name, and the defaults of those that are left out.

use cotan_syntax::ast::{self, Arg as AstArg, Ident};
use cotan_syntax::{Diagnostic, Span};

use super::BodyChecker;
use super::schemes::{Scheme, SchemeParam};
use crate::codes;
use crate::suggest::closest;
use crate::typed::{Block, Expr, ExprKind, Pattern, PatternKind, Stmt, StmtKind};
use crate::types::Type;

/// An argument before it is checked, or after.
pub(super) enum Source<'s> {
    /// As it is written.
    Ast(&'s ast::Expr),
    /// Checked already.
    Typed(Expr),
    /// The default of the parameter, over the generics of its function.
    Default(Expr),
}

impl<'s> Source<'s> {
    /// The same once more, if it is computed already.
    fn again(&self) -> Option<Source<'s>> {
        match self {
            Source::Ast(_) => None,
            Source::Typed(value) => Some(Source::Typed(value.clone())),
            Source::Default(value) => Some(Source::Default(value.clone())),
        }
    }
}

/// The arguments of a call as they are written.
pub(super) struct Given<'s> {
    pub(super) positional: Vec<Source<'s>>,
    /// In the order in which they are written; they stand after the others.
    named: Vec<(&'s Ident, Source<'s>)>,
}

/// The arguments of a call, one for each parameter.
pub(super) struct Arranged<'s> {
    pub(super) sources: Vec<Source<'s>>,
    /// What is computed before them, where they are not written in the order of the parameters.
    before: Vec<Stmt>,
}

impl<'s> From<Vec<Source<'s>>> for Given<'s> {
    fn from(positional: Vec<Source<'s>>) -> Self {
        Self { positional, named: Vec::new() }
    }
}

impl<'s> Given<'s> {
    /// The arguments without a name, and those with one.
    pub(super) fn as_slices(&self) -> (&[Source<'s>], &[(&'s Ident, Source<'s>)]) {
        (&self.positional, &self.named)
    }

    /// The argument for the parameter of that name at a position.
    pub(super) fn source_for(&mut self, at: usize, name: &str) -> Option<&mut Source<'s>> {
        if at < self.positional.len() {
            return self.positional.get_mut(at);
        }
        self.named.iter_mut().find(|(given, _)| given.name == name).map(|(_, source)| source)
    }

    /// Takes an argument out that is given by name, as it is written.
    pub(super) fn take_named(&mut self, wanted: &str) -> Option<&'s ast::Expr> {
        let is_it = |(name, source): &(&Ident, Source<'_>)| name.name == wanted && matches!(source, Source::Ast(_));
        let at = self.named.iter().position(is_it)?;
        let (_, Source::Ast(value)) = self.named.remove(at) else { return None };
        Some(value)
    }

    /// All arguments, in the order in which they are written.
    pub(super) fn into_sources(self) -> Vec<Source<'s>> {
        self.positional.into_iter().chain(self.named.into_iter().map(|(_, source)| source)).collect()
    }
}

impl Arranged<'_> {
    /// The call that these are the arguments of, after what is computed before it.
    pub(super) fn wrap(self, call: impl FnOnce(Vec<Source<'_>>) -> Expr) -> Expr {
        after(self.before, call(self.sources))
    }
}

/// A value that is computed after these statements.
pub(super) fn after(statements: Vec<Stmt>, value: Expr) -> Expr {
    if statements.is_empty() {
        return value;
    }
    let (span, ty) = (value.span, value.ty.clone());
    let block = Block { statements, value: Some(value), recompute: false, mode: None };
    Expr { span, ty, kind: ExprKind::Block(Box::new(block)) }
}

/// The arguments in the parentheses of a call.
pub(super) fn given<'s>(args: &'s [AstArg]) -> Given<'s> {
    let mut given = Given::from(Vec::new());
    for arg in args {
        let source = Source::Ast(&arg.value);
        match &arg.name {
            Some(name) => given.named.push((name, source)),
            None => given.positional.push(source),
        }
    }
    given
}

/// The arguments of something whose parameters have no names; none if some are given by name, which has been reported.
pub(super) fn by_position<'s>(
    checker: &mut BodyChecker<'_, '_>,
    callee: &str,
    given: Given<'s>,
) -> Option<Vec<Source<'s>>> {
    for (name, _) in &given.named {
        let message = format!("expected the arguments of {callee} by position, found `{}` by name", name.name);
        checker.report(
            Diagnostic::error(codes::UNKNOWN_ARGUMENT, name.span, message)
                .help("write the values in the order of the parameters"),
        );
    }
    if given.named.is_empty() {
        return Some(given.into_sources());
    }
    checker.check_anyway(given.into_sources());
    None
}

/// One argument for each parameter: the tangents and cotangents of a derivative form are the last ones without a
/// name, the others fill the parameters from the front, then names say what is meant, then defaults. `None` if they
/// don't fit, which has been reported.
pub(super) fn arrange<'s>(
    checker: &mut BodyChecker<'_, '_>,
    scheme: &Scheme,
    given: Given<'s>,
    span: Span,
) -> Option<Arranged<'s>> {
    let n_own = scheme.params.len() - scheme.n_seeds;
    let n_positional = given.positional.len();
    let has_names = !given.named.is_empty() || scheme.params.iter().any(|param| param.default.is_some());
    let is_too_many = n_positional > scheme.params.len();
    if is_too_many || n_positional < scheme.n_seeds || !has_names && n_positional < scheme.params.len() {
        let n_given = n_positional + given.named.len();
        report_argument_count(checker, &scheme.name, scheme.params.len(), n_given, span, scheme.definition);
        checker.check_anyway(given.into_sources());
        return None;
    }
    // Which parameter each argument is for, in the order in which they are written.
    let n_front = n_positional - scheme.n_seeds;
    let mut targets: Vec<usize> = (0..n_front).chain(n_own..scheme.params.len()).collect();
    let mut failed = false;
    for (name, _) in &given.named {
        match parameter_named(checker, scheme, n_own, name) {
            Some(at) if targets.contains(&at) => {
                failed = true;
                let message = format!("expected one value for `{}` of `{}`, found a second", name.name, scheme.name);
                checker.report(
                    Diagnostic::error(codes::ARGUMENT_TWICE, name.span, message)
                        .help("give each argument once, by position or by name"),
                );
            }
            Some(at) => targets.push(at),
            None => failed = true,
        }
    }
    let is_missing = |at: &usize| !targets.contains(at) && scheme.params[*at].default.is_none();
    let missing: Vec<String> = (0..n_own).filter(is_missing).map(|at| scheme.params[at].name.clone()).collect();
    if !missing.is_empty() && !failed {
        failed = true;
        let message = format!(
            "expected a value for every parameter of `{}`, found none for `{}`",
            scheme.name,
            missing.join("`, `")
        );
        let mut diagnostic = Diagnostic::error(codes::MISSING_ARGUMENT, span, message);
        if let Some(definition) = scheme.definition {
            diagnostic = diagnostic.label(definition, "declared here");
        }
        checker.report(diagnostic.help(format!("add `{} = ...`", missing.join(" = ..., "))));
    }
    if failed {
        checker.check_anyway(given.into_sources());
        return None;
    }
    Some(in_order(checker, scheme, targets, given.into_sources(), span))
}

/// The parameter of that name; reports a name that no parameter has.
fn parameter_named(checker: &mut BodyChecker<'_, '_>, scheme: &Scheme, n_own: usize, name: &Ident) -> Option<usize> {
    let names = || scheme.params[..n_own].iter().map(|param| param.name.as_str());
    if let Some(at) = names().position(|other| other == name.name) {
        if let Some(definition) = scheme.params[at].definition {
            checker.module.note_use(name.span, definition);
        }
        return Some(at);
    }
    if name.name.is_empty() {
        return None;
    }
    let help = match closest(&name.name, names()) {
        Some(near) => format!("did you mean `{near}`?"),
        None if scheme.owner().is_none() => "write the values in the order of the parameters".to_owned(),
        None if n_own == 0 => "it has no parameters".to_owned(),
        None => format!("its parameters are `{}`", names().collect::<Vec<_>>().join("`, `")),
    };
    let message = format!("expected a parameter of `{}`, found `{}`", scheme.name, name.name);
    checker.report(Diagnostic::error(codes::UNKNOWN_ARGUMENT, name.span, message).help(help));
    None
}

/// The arguments in the order of the parameters. They are evaluated in the order in which they are written.
fn in_order<'s>(
    checker: &mut BodyChecker<'_, '_>,
    scheme: &Scheme,
    targets: Vec<usize>,
    sources: Vec<Source<'s>>,
    span: Span,
) -> Arranged<'s> {
    let is_given = |at: usize| targets.contains(&at);
    let repeats =
        (0..scheme.params.len()).any(|at| !is_given(at) && repeated(&scheme.params[at]).is_some_and(is_given));
    let needs_names = !targets.is_sorted() || repeats;
    let mut before = Vec::new();
    let mut slots: Vec<Option<Source<'s>>> = scheme.params.iter().map(|_| None).collect();
    for (at, source) in targets.into_iter().zip(sources) {
        let is_function = matches!(scheme.params[at].ty, Type::Function(_));
        let source = if needs_names && !is_function { evaluated_first(checker, source, &mut before) } else { source };
        slots[at] = Some(source);
    }
    let mut filled: Vec<Source<'s>> = Vec::with_capacity(slots.len());
    for (slot, param) in slots.into_iter().zip(&scheme.params) {
        let default = || match repeated(param) {
            Some(at) => filled[at].again(),
            None => param.default.as_ref().map(|value| Source::Default(value.at(span))),
        };
        let source = slot.or_else(default).expect("invariant: every parameter has an argument or a default");
        filled.push(source);
    }
    Arranged { sources: filled, before }
}

/// The position of the parameter before it whose value is the default of a parameter.
fn repeated(param: &SchemeParam) -> Option<usize> {
    let ExprKind::Local(before) = param.default.as_ref()?.kind else { return None };
    Some(before.0 as usize)
}

/// An argument bound to a local of its own.
fn evaluated_first<'s>(checker: &mut BodyChecker<'_, '_>, source: Source<'_>, before: &mut Vec<Stmt>) -> Source<'s> {
    let value = checker.source(source);
    Source::Typed(bound(checker, value, before))
}

/// A value bound to a local of its own.
pub(super) fn bound(checker: &mut BodyChecker<'_, '_>, value: Expr, before: &mut Vec<Stmt>) -> Expr {
    let (span, ty) = (value.span, value.ty.clone());
    let local = checker.locals.push("$argument", span, ty.clone(), false);
    let size = checker.size_of(&value);
    checker.locals.set_known(local, size);
    let pattern = Pattern { span, ty: ty.clone(), kind: PatternKind::Local(local) };
    before.push(Stmt { span, kind: StmtKind::Let { pattern, value } });
    Expr { span, ty, kind: ExprKind::Local(local) }
}

pub(super) fn report_argument_count(
    checker: &mut BodyChecker<'_, '_>,
    name: &str,
    expected: usize,
    found: usize,
    span: Span,
    definition: Option<Span>,
) {
    let plural = if expected == 1 { "" } else { "s" };
    let name = if name.contains(' ') { name.to_owned() } else { format!("`{name}`") };
    let message = format!("expected {expected} argument{plural} of {name}, found {found}");
    let mut diagnostic = Diagnostic::error(codes::ARGUMENT_COUNT, span, message);
    if let Some(definition) = definition {
        diagnostic = diagnostic.label(definition, "declared here");
    }
    let help = if found < expected { "give the arguments that are missing" } else { "leave the extra arguments out" };
    checker.report(diagnostic.help(help));
}
