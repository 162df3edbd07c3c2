//! Variables of languages without declarations: `y = x * x` where no `y` is declared.

use cotan_syntax::{Diagnostic, Span, ast};

use super::{BodyChecker, unknown_names};
use crate::codes;
use crate::suggest::closest;
use crate::typed::StmtKind;

/// A statement, the block that it stands in, and what follows it there.
pub(super) struct Rest {
    pub(super) statement: Span,
    pub(super) block: Span,
    pub(super) next: Option<Span>,
}

impl Rest {
    /// From the end of the statement to that of the block.
    pub(super) fn behind(&self) -> Span {
        Span { start: self.statement.end, ..self.block }
    }
}

/// The variable that an assignment would declare elsewhere: a name that stands for nothing, and is not near to one that
/// may have been meant.
pub(super) fn undeclared<'s>(checker: &BodyChecker<'_, '_>, assign: &'s ast::Assign) -> Option<&'s str> {
    let ast::ExprKind::Name(name) = &assign.place.kind else { return None };
    let is_free = checker.locals.named(name).is_none()
        && checker.module.find(name).is_none()
        && !checker.generics.iter().any(|generic| generic.name == *name);
    let is_new = assign.op == ast::AssignOp::Set && is_free && closest(name, checker.locals.names()).is_none();
    (is_new && !name.is_empty()).then_some(name)
}

/// Reports the variable, and declares it, so that nothing else is said about it.
pub(super) fn declare(checker: &mut BodyChecker<'_, '_>, assign: &ast::Assign, name: &str, rest: &Rest) -> StmtKind {
    let span = assign.place.span;
    let value = checker.expr(&assign.value);
    let behind = checker.module.text(rest.behind()).unwrap_or_default();
    let word = if is_assigned(behind, name) { "let mut" } else { "let" };
    let message = format!("expected a name that is declared, found `{name}`");
    let diagnostic = Diagnostic::error(codes::UNKNOWN_NAME, span, message);
    let is_local = !is_used_outside(checker, name, rest);
    let diagnostic = if is_local {
        diagnostic.help(format!("declare it: `{word} {name} = ...`")).fix(span.before(), format!("{word} "))
    } else {
        diagnostic.help(format!("declare it with `let mut {name} = ...` before the block that changes it"))
    };
    checker.report(diagnostic.repeated(name, unknown_names::AGAIN));
    let ty = value.ty.clone();
    let pattern = checker.irrefutable(&named(assign, name), &ty, "`let`");
    StmtKind::Let { pattern, value }
}

/// A pattern for a variable that may change.
fn named(assign: &ast::Assign, name: &str) -> ast::Pattern {
    let (id, span) = (assign.place.id, assign.place.span);
    let name = ast::Ident { name: name.to_owned(), span };
    ast::Pattern { id, span, kind: ast::PatternKind::Name { mutable: Some(span.before()), name } }
}

/// Whether a name stands in the function outside of what follows the statement in its block, or in the statement itself
/// more than once.
fn is_used_outside(checker: &BodyChecker<'_, '_>, name: &str, rest: &Rest) -> bool {
    let Some(item) = checker.module.item_around(rest.statement) else { return true };
    let parts = [
        Span { end: rest.statement.start, ..item },
        Span { start: rest.statement.start + name.len() as u32, end: rest.statement.end, ..item },
        Span { start: rest.block.end, ..item },
    ];
    parts.iter().any(|part| checker.module.text(*part).is_none_or(|text| uses(text, name).next().is_some()))
}

/// What follows each use of a name in a piece of code.
pub(super) fn uses<'t>(text: &'t str, name: &'t str) -> impl Iterator<Item = (usize, &'t str)> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(name).filter_map(move |(at, _)| {
        let (before, after) = (&text[..at], &text[at + name.len()..]);
        let is_whole = !before.ends_with(is_word) && !after.starts_with(is_word);
        is_whole.then_some((at, after))
    })
}

/// Whether code assigns to a name, or to a part of it.
fn is_assigned(text: &str, name: &str) -> bool {
    uses(text, name).any(|(_, after)| {
        let mut rest = after.trim_start_matches([' ', '\t']);
        while let Some(inner) = rest.strip_prefix('[') {
            rest = inner.split_once(']').map_or("", |(_, rest)| rest).trim_start_matches([' ', '\t']);
        }
        let operator = rest.trim_start_matches("max").trim_start_matches("min");
        let operator = operator.trim_start_matches(['.', '+', '-', '*', '/', '%']);
        operator.starts_with('=') && !operator.starts_with("==") && !operator.starts_with("=>")
    })
}

#[cfg(test)]
mod tests {
    use super::is_assigned;

    #[test]
    fn assignments_are_told_from_uses() {
        for code in ["y = 1", "y += x", "y[i] = 2", "y[i][j] .*= 2", "x\n y max= 3"] {
            assert!(is_assigned(code, "y"), "{code}");
        }
        for code in ["y == 1", "x + y", "y2 = 1", "my = 1", "y >= 2", "y => 1", "f(y) = 2"] {
            assert!(!is_assigned(code, "y"), "{code}");
        }
    }
}
