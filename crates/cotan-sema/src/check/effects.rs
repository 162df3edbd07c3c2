//! Effects: `print`, which functions may call what prints, and what pure code may do that shows: `debug` and `assert`.

use cotan_ir::Elem;
use cotan_syntax::ast::{ExprKind as AstKind, ItemKind, Literal};
use cotan_syntax::{Diagnostic, Edit, Span};

use super::arguments::Source;
use super::{BodyChecker, ModuleChecker, arguments, formats};
use crate::codes;
use crate::typed::{
    Assert, Block, Expr, ExprKind, FnId, Pattern, PatternKind, Print, PrintPiece, Sink, Stmt, StmtKind,
};
use crate::types::Type;
use cotan_ops::Format;

/// What a function of the prelude prints or asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Printer {
    /// `print`: any number of values of any type.
    Any,
    /// `print_i32`, `print_f32`: one number of this type.
    Number(Elem),
    /// `print_str`: one string.
    Text,
    /// `debug`: a name, and a value, which it is.
    Debug,
    /// `assert`: a condition, and a message.
    Assert,
}

impl Printer {
    /// All of them, by name.
    const ALL: [(&str, Self); 6] = [
        ("print", Self::Any),
        ("print_i32", Self::Number(Elem::I32)),
        ("print_f32", Self::Number(Elem::F32)),
        ("print_str", Self::Text),
        ("debug", Self::Debug),
        ("assert", Self::Assert),
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
    let n_wanted = match printer {
        Printer::Any => sources.len(),
        Printer::Number(_) | Printer::Text => 1,
        Printer::Debug | Printer::Assert => 2,
    };
    if sources.len() != n_wanted {
        arguments::report_argument_count(checker, name, n_wanted, sources.len(), span, None);
        checker.check_anyway(sources.into_iter().filter(|source| string(source).is_none()).collect());
        return Expr::error(span);
    }
    match printer {
        Printer::Any | Printer::Number(_) | Printer::Text => output(checker, printer, sources, span),
        Printer::Debug => debug(checker, sources, span),
        Printer::Assert => assert(checker, sources, span),
    }
}

/// `print(a, b)`, `print("{:.3} {}", a, b)`, and those of one argument.
fn output(checker: &mut BodyChecker<'_, '_>, printer: Printer, sources: Vec<Source<'_>>, span: Span) -> Expr {
    let n_errors = checker.module.diagnostics.len();
    let format = sources.first().filter(|_| printer == Printer::Any && sources.len() > 1).and_then(string);
    let format = format.and_then(|(text, at)| formats::format(checker, text, at, sources.len() - 1));
    let skipped = usize::from(format.is_some());
    let values = sources.into_iter().skip(skipped).map(|source| piece(checker, printer, source)).collect();
    let pieces = match format {
        Some(format) => formats::filled(format, values),
        None => formats::separated(values),
    };
    effect(checker, printer.name(), span, None);
    if checker.module.diagnostics.len() > n_errors {
        return Expr { ty: Type::UNIT, ..Expr::error(span) };
    }
    written(Sink::Output, pieces, span)
}

/// `debug("name", x)`: `{ let debugged = x; (writes name and debugged); debugged }`.
fn debug(checker: &mut BodyChecker<'_, '_>, mut sources: Vec<Source<'_>>, span: Span) -> Expr {
    let Some(source) = sources.pop() else { return Expr::error(span) };
    let name = text_argument(checker, sources.pop(), "debug(\"x\", x)");
    let format = name.and_then(|(name, at)| formats::format(checker, name, at, 1));
    let value = checker.source(source);
    let (Some((name, _)), false) = (name, value.ty.has_error()) else { return Expr::error(span) };
    let debugged = checker.locals.push("$debugged", span, value.ty.clone(), false);
    let local = Expr { span: value.span, ty: value.ty.clone(), kind: ExprKind::Local(debugged) };
    let shown = vec![PrintPiece::Value(local.clone(), Format::default())];
    let pieces = match format {
        Some(format) => formats::filled(format, shown),
        None => [PrintPiece::Text(format!("{name} = "))].into_iter().chain(shown).collect(),
    };
    let pattern = Pattern { span, ty: value.ty.clone(), kind: PatternKind::Local(debugged) };
    let write = written(Sink::Debug, pieces, span);
    let statements = [StmtKind::Let { pattern, value }, StmtKind::Expr(write)].map(|kind| Stmt { span, kind }).into();
    let ty = local.ty.clone();
    let block = Block { statements, value: Some(local), recompute: false, mode: None };
    Expr { span, ty, kind: ExprKind::Block(Box::new(block)) }
}

/// Takes the value from a `debug` that stands as a statement or ends a block whose value nobody takes; false where there is
/// no such `debug`.
pub(super) fn forget_debugged(e: &mut Expr) -> bool {
    let ExprKind::Block(block) = &mut e.kind else { return false };
    if let Some(StmtKind::Expr(Expr { kind: ExprKind::Print(print), .. })) = block.statements.last().map(|s| &s.kind)
        && print.to == Sink::Debug
    {
        block.value = None;
    } else if !block.value.as_mut().is_some_and(forget_debugged) {
        return false;
    }
    e.ty = Type::UNIT;
    true
}

/// `assert(condition, "message")`
fn assert(checker: &mut BodyChecker<'_, '_>, mut sources: Vec<Source<'_>>, span: Span) -> Expr {
    let message = text_argument(checker, sources.pop(), "assert(n > 0, \"n is positive\")");
    let Some(source) = sources.pop() else { return Expr::error(span) };
    let condition = checker.source(source);
    let condition = checker.fit(condition, &Type::of(Elem::Bool), "the condition of `assert`");
    let (Some((_, message)), false) = (message, condition.ty.has_error()) else {
        return Expr { ty: Type::UNIT, ..Expr::error(span) };
    };
    Expr { span, ty: Type::UNIT, kind: ExprKind::Assert(Box::new(Assert { condition, message, token: None })) }
}

fn written(to: Sink, pieces: Vec<PrintPiece>, span: Span) -> Expr {
    Expr { span, ty: Type::UNIT, kind: ExprKind::Print(Box::new(Print { to, token: None, pieces })) }
}

/// The string that an argument has to be, and its place.
fn text_argument<'s>(
    checker: &mut BodyChecker<'_, '_>,
    source: Option<Source<'s>>,
    example: &str,
) -> Option<(&'s str, Span)> {
    let source = source?;
    let found = string(&source);
    if found.is_none() {
        let value = checker.source(source);
        if !value.ty.has_error() {
            let message = format!("expected a string, found {}", checker.show_value(&value));
            checker.report(Diagnostic::error(codes::STRING, value.span, message).help(format!("write `{example}`")));
        }
    }
    found
}

fn piece(checker: &mut BodyChecker<'_, '_>, printer: Printer, source: Source<'_>) -> PrintPiece {
    if let (Some((text, span)), Printer::Any | Printer::Text) = (string(&source), printer) {
        formats::expect_plain(checker, text, span);
        return PrintPiece::Text(text.to_owned());
    }
    let value = checker.source(source);
    let value = match printer {
        Printer::Any | Printer::Debug | Printer::Assert => value,
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
    PrintPiece::Value(value, Format::default())
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

/// The text of an argument that is a string, and its place.
fn string<'s>(source: &Source<'s>) -> Option<(&'s str, Span)> {
    let Source::Ast(expr) = source else { return None };
    let AstKind::Literal(Literal::Str(text)) = &expr.kind else { return None };
    Some((text, expr.span))
}
