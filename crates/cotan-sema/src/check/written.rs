//! Quoting: the text of a program as messages show it, so that what they propose is the user's own code.

use cotan_syntax::Span;

use super::ModuleChecker;

/// More than this is no example that anybody reads in a message.
const LONGEST: usize = 60;

impl ModuleChecker<'_> {
    /// The code at a place.
    pub(super) fn text(&self, span: Span) -> Option<&str> {
        let file = self.sources.get(span.file)?;
        file.text().get(span.range())
    }

    /// The declaration of the current module around a place.
    pub(super) fn item_around(&self, place: Span) -> Option<Span> {
        let items = &self.modules[self.current.0 as usize].syntax.items;
        let spans = items.iter().map(|item| item.span);
        spans.into_iter().find(|span| span.start <= place.start && place.end <= span.end)
    }

    /// The code at a place, if it is short and on one line.
    pub(super) fn written(&self, span: Span) -> Option<&str> {
        let text = self.text(span)?;
        (!text.is_empty() && text.len() <= LONGEST && !text.contains('\n')).then_some(text)
    }

    /// The code at a place; `other` where that is long, or not known.
    pub(super) fn quoted(&self, span: Span, other: &str) -> String {
        self.written(span).unwrap_or(other).to_owned()
    }

    /// The code at a place as an operand of anything: in parentheses, if it needs them.
    pub(super) fn written_operand(&self, span: Span) -> Option<String> {
        self.written(span).map(operand)
    }
}

/// Code as an operand: in parentheses unless it is a name, a number, or something with brackets around what it has of
/// operators.
pub(super) fn operand(code: &str) -> String {
    let mut depth = 0_i32;
    let mut is_whole = true;
    for c in code.chars() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            _ => is_whole &= depth > 0 || c.is_alphanumeric() || matches!(c, '_' | '.'),
        }
    }
    if is_whole { code.to_owned() } else { format!("({code})") }
}

/// Code without the parentheses around all of it.
pub(super) fn unwrapped(code: &str) -> &str {
    let inner = code.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
    let mut depth = 0_i32;
    let stays_open = |c: char| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        depth >= 0
    };
    inner.filter(|inner| inner.chars().all(stays_open)).unwrap_or(code)
}

#[cfg(test)]
mod tests {
    use super::{operand, unwrapped};

    #[test]
    fn an_operand_gets_parentheses_where_it_needs_them() {
        for whole in ["x", "2.5", "p.w1", "f(a + b)", "[1.0, 2.0]", "x[i - 1]"] {
            assert_eq!(operand(whole), whole);
        }
        assert_eq!(unwrapped("(a + b)"), "a + b");
        assert_eq!(unwrapped("(a) + (b)"), "(a) + (b)");
        for (code, expected) in [("a + b", "(a + b)"), ("-x", "(-x)"), ("|t| t", "(|t| t)")] {
            assert_eq!(operand(code), expected);
        }
    }
}
