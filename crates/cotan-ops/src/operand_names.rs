//! Names of operands, for people: rows of the op table speak of `a0`, `a1`, .. and of the result `r`, explanations and pages of
//! `x`, or `a`, `b`, .., and of `exp(x)`.

use crate::{PrimRow, Term};

/// What the operands and the result of a primitive are called.
pub(crate) struct OperandNames {
    operands: Vec<String>,
    result: String,
}

impl OperandNames {
    pub(crate) fn of(row: &PrimRow) -> OperandNames {
        let letters = if row.sig.operands.len() == 1 { 'x'..='x' } else { 'a'..='z' };
        let operands: Vec<String> =
            row.sig.operands.iter().zip(letters).map(|(_, letter)| letter.to_string()).collect();
        let result = format!("{}({})", row.name(), operands.join(", "));
        OperandNames { operands, result }
    }

    /// The names in order.
    pub(crate) fn operands(&self) -> impl Iterator<Item = &str> {
        self.operands.iter().map(String::as_str)
    }

    /// A text of the row with these names.
    pub(crate) fn text(&self, text: &str) -> String {
        renamed(text, &|word| self.operand(word))
    }

    /// A partial derivative of the row with these names, the result as the call that gives it.
    pub(crate) fn formula(&self, term: &Term) -> String {
        let name = |word: &str| if word == "r" { Some(self.result.as_str()) } else { self.operand(word) };
        renamed(without_parentheses(&term.to_string()), &name)
    }

    /// The name of what a row calls `a0`, `a1`, ..
    fn operand(&self, word: &str) -> Option<&str> {
        let at: usize = word.strip_prefix('a')?.parse().ok()?;
        self.operands.get(at).map(String::as_str)
    }
}

/// A text in which some of the words are others.
fn renamed<'n>(text: &str, name: &dyn Fn(&str) -> Option<&'n str>) -> String {
    let is_in_word = |c: char| c.is_alphanumeric() || c == '_';
    let (mut out, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(start) = rest.find(is_in_word) {
        let end = rest[start..].find(|c| !is_in_word(c)).map_or(rest.len(), |length| start + length);
        let word = &rest[start..end];
        out += &rest[..start];
        out += name(word).unwrap_or(word);
        rest = &rest[end..];
    }
    out + rest
}

/// A formula without the pair of parentheses round all of it.
fn without_parentheses(formula: &str) -> &str {
    let Some(inner) = formula.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) else { return formula };
    let mut depth = 0_usize;
    for c in inner.chars() {
        match c {
            '(' => depth += 1,
            ')' if depth == 0 => return formula,
            ')' => depth -= 1,
            _ => {}
        }
    }
    inner
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lookup;

    #[test]
    fn one_operand_is_x_and_several_are_letters() {
        let names = |name| OperandNames::of(lookup(name).expect("a primitive of that name"));
        assert_eq!(names("exp").text("e to the power `a0`."), "e to the power `x`.");
        assert_eq!(names("fma").text("`a0 * a1 + a2`, not a3"), "`a * b + c`, not a3");
    }

    #[test]
    fn only_parentheses_round_all_of_a_formula_go() {
        assert_eq!(without_parentheses("(x + 1)"), "x + 1");
        assert_eq!(without_parentheses("(x + 1) * (x - 1)"), "(x + 1) * (x - 1)");
    }
}
