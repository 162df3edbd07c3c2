//! Terms as the proofs write them.

use std::fmt;

/// A constructor applied to terms.
#[derive(Clone, Debug, PartialEq)]
pub struct Tree {
    /// The constructor, or a number.
    pub head: String,
    /// What it is applied to.
    pub operands: Vec<Tree>,
}

impl Tree {
    /// A number, or a constructor without operands.
    pub fn leaf(head: impl ToString) -> Tree {
        Tree { head: head.to_string(), operands: Vec::new() }
    }

    /// A constructor applied to terms.
    pub fn node(head: &str, operands: impl IntoIterator<Item = Tree>) -> Tree {
        Tree { head: head.to_owned(), operands: operands.into_iter().collect() }
    }
}

impl fmt::Display for Tree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.operands.is_empty() {
            let is_negative = self.head.starts_with('-');
            return if is_negative { write!(f, "({})", self.head) } else { f.write_str(&self.head) };
        }
        write!(f, "({}", self.head)?;
        self.operands.iter().try_for_each(|operand| write!(f, " {operand}"))?;
        f.write_str(")")
    }
}
