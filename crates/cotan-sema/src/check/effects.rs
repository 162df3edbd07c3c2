//! Effects: `print`, and which functions may call what prints.

use cotan_ir::Elem;
use cotan_syntax::ast::{ExprKind as AstKind, ItemKind, Literal};
use cotan_syntax::{Diagnostic, Edit, Span};

use super::arguments::Source;
use super::{BodyChecker, ModuleChecker, arguments};
use crate::codes;
use crate::typed::{Expr, ExprKind, FnId, Print, PrintPiece};
use crate::types::Type;

/// What a function of the prelude prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Printer {
    /// `print`: any number of values of any type.
    Any,
    /// `print_i32`, `print_f32`: one number of this type.
    Number(Elem),
    /// `print_str`: one string.
    Text,
}

impl Printer {
    /// All of them, by name.
    const ALL: [(&str, Self); 4] = [
        ("print", Self::Any),
        ("print_i32", Self::Number(Elem::I32)),
        ("print_f32", Self::Number(Elem::F32)),
        ("print_str", Self::Text),
    ];

    pub(super) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|(other, _)| *other == name).map(|(_, printer)| printer)
    }

    pub(super) fn name(self) -> &'static str {
        Self::ALL.into_iter().find(|(_, other)| *other == self).map_or("print", |(name, _)| name)
    }
}

/// A call of `print` or its like.
pub(super) fn print(checker: &mut BodyChecker<'_, '_>, printer: Printer, sources: Vec<Source<'_>>, span: Span) -> Expr {
    let name = printer.name();
    if printer != Printer::Any && sources.len() != 1 {
        arguments::report_argument_count(checker, name, 1, sources.len(), span, None);
        checker.check_anyway(sources.into_iter().filter(|source| string(source).is_none()).collect());
        return Expr::error(span);
    }
    let n_errors = checker.module.diagnostics.len();
    let pieces: Vec<PrintPiece> = sources.into_iter().map(|source| piece(checker, printer, source)).collect();
    effect(checker, name, span, None);
    if checker.module.diagnostics.len() > n_errors {
        return Expr { ty: Type::UNIT, ..Expr::error(span) };
    }
    Expr { span, ty: Type::UNIT, kind: ExprKind::Print(Box::new(Print { token: None, pieces })) }
}

fn piece(checker: &mut BodyChecker<'_, '_>, printer: Printer, source: Source<'_>) -> PrintPiece {
    if let (Some(text), Printer::Any | Printer::Text) = (string(&source), printer) {
        return PrintPiece::Text(text.to_owned());
    }
    let value = checker.source(source);
    let value = match printer {
        Printer::Any => value,
        Printer::Number(elem) => checker.fit(value, &Type::of(elem), &format!("the argument of `{}`", printer.name())),
        Printer::Text => {
            if !value.ty.has_error() {
                let message = format!("expected a string for `print_str`, found {}", checker.show_value(&value));
                checker.report(
                    Diagnostic::error(codes::STRING, value.span, message).help("`print` writes values of any type"),
                );
            }
            value
        }
    };
    PrintPiece::Value(value)
}

/// Notes that something prints here; reports it where only pure code may stand.
pub(super) fn effect(checker: &mut BodyChecker<'_, '_>, name: &str, span: Span, definition: Option<Span>) {
    let Some(function) = checker.locals.frames.first() else { return };
    let mut unmarked = None;
    let (message, help) = if !function.may_print {
        let Some(owner) = checker.owner else { return };
        let signature = checker.module.signature(owner);
        let owner = signature.name.trim_end_matches(".primal").to_owned();
        unmarked = checker.owner.filter(|_| checker.locals.frames.len() == 1);
        let message = format!("expected calls of pure functions in `{owner}`, found `{name}`, which prints");
        (message, format!("write `@io` before the declaration of `{owner}`"))
    } else if checker.locals.frames.iter().any(|frame| !frame.may_print) {
        let message = format!("expected a pure function to be passed on, found a call of `{name}`, which prints");
        (message, "write a loop, or `each(v, |x| ...)`, whose function may print".to_owned())
    } else {
        return;
    };
    let mut diagnostic = Diagnostic::error(codes::EFFECT, span, message);
    if let Some(definition) = definition {
        diagnostic = diagnostic.label(definition, "marked `@io`");
    }
    if let Some(owner) = unmarked {
        diagnostic = diagnostic.repeated(format!("{owner:?} prints"), "and here");
        checker.module.unmarked.push((span, owner));
    }
    checker.report(diagnostic.help(help));
}

/// What to do about output of a function that must be pure.
const STAYS_PURE: &str = "what is differentiated or passed on does not print: give the value back beside the result, as \
                          in `(loss, w)`, and print it where the function is called";

/// Adds `@io` to the fixes of functions that print without it, where nothing asks for a pure function: what is
/// differentiated or passed on, and what these call.
pub(super) fn mark(checker: &mut ModuleChecker<'_>) {
    let mut must_be_pure = std::mem::take(&mut checker.pure);
    let mut open: Vec<FnId> = must_be_pure.iter().copied().collect();
    while let Some(caller) = open.pop() {
        let callees = checker.edges.iter().filter(|edge| edge.caller == caller).map(|edge| edge.callee);
        open.extend(callees.filter(|callee| must_be_pure.insert(*callee)).collect::<Vec<_>>());
    }
    for (span, owner) in std::mem::take(&mut checker.unmarked) {
        let place = before_declaration(checker, owner);
        let is_it = |d: &&mut Diagnostic| d.code == codes::EFFECT && d.primary.span == span;
        let Some(diagnostic) = checker.diagnostics.iter_mut().find(is_it) else { continue };
        if must_be_pure.contains(&owner) {
            diagnostic.help = vec![STAYS_PURE.to_owned()];
        } else if let Some(place) = place {
            diagnostic.fix.push(Edit { span: place, text: "@io ".to_owned() });
        }
    }
}

/// The place of a new attribute before a function of the module that is checked.
fn before_declaration(checker: &ModuleChecker<'_>, function: FnId) -> Option<Span> {
    let span = checker.signature(function).span;
    let items = checker.modules.iter().flat_map(|module| &module.syntax.items);
    let declared = items.filter(|item| matches!(&item.kind, ItemKind::Function(it) if it.signature.span == span));
    declared.map(|item| item.public.unwrap_or(span).before()).next()
}

/// A string where a value is needed.
pub(super) fn report_string(checker: &mut BodyChecker<'_, '_>, span: Span) -> Expr {
    let message = "expected a value, found a string, which only `print` takes";
    checker.report(
        Diagnostic::error(codes::STRING, span, message)
            .help("write it as an argument of `print`: there are no values of a string type")
            .repeated("a string is no value", "nor here"),
    );
    Expr::error(span)
}

/// Reports the derivative of a function that prints.
pub(super) fn report_derivative_of_output(
    checker: &mut BodyChecker<'_, '_>,
    name: &str,
    span: Span,
    definition: Option<Span>,
) {
    let message = format!("expected a pure function to differentiate, found `{name}`, which prints");
    let mut diagnostic = Diagnostic::error(codes::DERIVATIVE_OF_OUTPUT, span, message);
    if let Some(definition) = definition {
        diagnostic = diagnostic.label(definition, "marked `@io`");
    }
    checker.report(diagnostic.help("move what is differentiated into a function that does not print"));
}

/// The text of an argument that is a string.
fn string<'s>(source: &Source<'s>) -> Option<&'s str> {
    let Source::Ast(expr) = source else { return None };
    let AstKind::Literal(Literal::Str(text)) = &expr.kind else { return None };
    Some(text)
}
