//! The syntax tree as text: nested lists in parentheses, broken over lines where they are long.
//!
//! `fn f(x: f64) -> f64 = 2.0 * x` is
//!
//! ```text
//! (fn f (param x f64) (result f64) (infix 2.0 * x))
//! ```

mod expressions;
mod items;

use crate::ast::{Expr, Module};

/// The tree of a module, one declaration after the other.
pub fn module(module: &Module) -> String {
    let mut out = String::new();
    for item in &module.items {
        items::item(item).print(0, &mut out);
        out.push('\n');
    }
    out
}

/// The tree of an expression.
pub fn expr(expr: &Expr) -> String {
    let mut out = String::new();
    expressions::expr(expr).print(0, &mut out);
    out
}

/// The longest line that is not broken.
const WIDTH: usize = 96;

/// A word, or a list in parentheses that starts with a word.
struct Tree {
    head: String,
    /// None for a word.
    children: Option<Vec<Tree>>,
    /// The length on one line.
    width: usize,
}

impl Tree {
    fn word(text: impl Into<String>) -> Self {
        let head = text.into();
        Self { width: head.chars().count(), head, children: None }
    }

    fn list(head: impl Into<String>, children: impl IntoIterator<Item = Tree>) -> Self {
        let head = head.into();
        let children: Vec<_> = children.into_iter().collect();
        let inner: usize = children.iter().map(|child| 1 + child.width).sum();
        Self { width: 2 + head.chars().count() + inner, head, children: Some(children) }
    }

    fn print(&self, indent: usize, out: &mut String) {
        let Some(children) = &self.children else {
            out.push_str(&self.head);
            return;
        };
        out.push('(');
        out.push_str(&self.head);
        let fits = indent + self.width <= WIDTH;
        for child in children {
            if fits {
                out.push(' ');
            } else {
                out.push('\n');
                out.extend(std::iter::repeat_n(' ', indent + 2));
            }
            child.print(indent + 2, out);
        }
        out.push(')');
    }
}
