//! Foreign names: what NumPy, JAX, PyTorch, Julia, Rust, C and Python call the things that have another name here.
//!
//! The tables are data, `foreign/names.tsv` and `foreign/types.tsv`, a row for each thing: the names that it has
//! elsewhere, operands, what to write here, and why, where that is no plain replacement. This file must not know the
//! program: whoever proposes something sees what is declared there.

use std::collections::HashMap;
use std::sync::OnceLock;

/// The names of values and functions.
static NAMES: &str = include_str!("foreign/names.tsv");

/// The names of types.
static TYPES: &str = include_str!("foreign/types.tsv");

/// What stands before names elsewhere: modules, packages and types that are not needed here.
const NAMESPACES: [&str; 46] = [
    "np",
    "numpy",
    "jnp",
    "jax",
    "lax",
    "torch",
    "F",
    "functional",
    "tf",
    "keras",
    "scipy",
    "special",
    "math",
    "cmath",
    "Math",
    "std",
    "f32",
    "f64",
    "i64",
    "usize",
    "consts",
    "nn",
    "optim",
    "optax",
    "flax",
    "Base",
    "LinearAlgebra",
    "Statistics",
    "Random",
    "Zygote",
    "ForwardDiff",
    "Flux",
    "stats",
    "stat",
    "statistics",
    "ops",
    "ndarray",
    "nalgebra",
    "autograd",
    "device",
    "mx",
    "cupy",
    "cp",
    "pd",
    "sp",
    "la",
];

/// What to write in place of a name of another language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Foreign {
    /// The operands that `code` is an expression of.
    operands: &'static str,
    /// What to write; empty if there is nothing that takes its place.
    pub code: &'static str,
    /// Why it is so, or how it differs; empty if the replacement is certain.
    pub why: &'static str,
}

impl Foreign {
    /// The names of the operands in [`Self::code`].
    pub fn operands(&self) -> impl Iterator<Item = &'static str> {
        self.operands.split(", ").filter(|name| !name.is_empty() && !self.is_constant())
    }

    /// Whether the name stands for a constant, and not for a function.
    pub fn is_constant(&self) -> bool {
        self.operands == "-"
    }

    /// Whether `code` is the name of a function that takes the same arguments.
    pub fn is_other_name(&self) -> bool {
        self.operands.is_empty() && !self.code.is_empty()
    }

    /// The expression with other code for its operands; `None` if a lambda in it would bind a name of theirs.
    pub fn with_operands(&self, given: &[&str]) -> Option<String> {
        let operands: Vec<&str> = self.operands().collect();
        let bound = self.code.split('|').skip(1).step_by(2);
        let is_bound = |word: &str| bound.clone().any(|names| words(names).any(|name| name == word));
        if given.iter().any(|code| words(code).any(is_bound)) {
            return None;
        }
        let mut text = String::new();
        for word in words(self.code) {
            let is_field = text.ends_with('.') && !text.ends_with("..");
            let operand = operands.iter().position(|operand| *operand == word && !is_field);
            text += operand.and_then(|at| given.get(at)).unwrap_or(&word);
        }
        Some(text)
    }
}

/// The words of a piece of code, and the characters between them.
fn words(code: &str) -> impl Iterator<Item = &str> {
    let mut rest = code;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let word = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        let (taken, left) = rest.split_at(word.max(first.len_utf8()));
        rest = left;
        Some(taken)
    })
}

/// The path without the modules and types that only other languages have before it.
pub(crate) fn without_namespaces<'p, 'n>(path: &'p [&'n str]) -> &'p [&'n str] {
    let n = path.iter().take_while(|name| NAMESPACES.contains(name)).count();
    &path[n.min(path.len().saturating_sub(1))..]
}

/// Whether a name with something after it is that of a module or package of another language.
pub fn is_namespace(name: &str) -> bool {
    NAMESPACES.contains(&name)
}

/// The rows for values and functions, each with the names that it is for.
pub fn values() -> impl Iterator<Item = (&'static str, Foreign)> {
    rows(NAMES)
}

/// The rows for types.
pub fn types() -> impl Iterator<Item = (&'static str, Foreign)> {
    rows(TYPES)
}

/// What a value or function is called here; of a path the last name counts, unless a row has more of it.
pub fn value(path: &[&str]) -> Option<Foreign> {
    static INDEX: OnceLock<Index> = OnceLock::new();
    named(INDEX.get_or_init(|| index(NAMES)), path)
}

/// What a type is called here.
pub fn ty(path: &[&str]) -> Option<Foreign> {
    static INDEX: OnceLock<Index> = OnceLock::new();
    named(INDEX.get_or_init(|| index(TYPES)), path)
}

fn named(table: &Index, path: &[&str]) -> Option<Foreign> {
    let path = without_namespaces(path);
    let last = path.last()?;
    table.get(path.join(".").as_str()).or_else(|| table.get(last)).copied()
}

/// The rows of a table by their names.
type Index = HashMap<&'static str, Foreign>;

/// A name that two rows have is that of the first.
fn index(table: &'static str) -> Index {
    let mut index = Index::new();
    for (names, foreign) in rows(table) {
        for name in names.split(' ') {
            index.entry(name).or_insert(foreign);
        }
    }
    index
}

/// The rows of a table, each with its names.
fn rows(table: &'static str) -> impl Iterator<Item = (&'static str, Foreign)> {
    let lines = table.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.filter_map(|line| {
        let mut cells = line.split('\t');
        let (names, operands, code, why) = (cells.next()?, cells.next()?, cells.next()?, cells.next()?);
        Some((names, Foreign { operands, code, why }))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_found_by_as_much_of_it_as_a_row_has() {
        let code = |path: &[&str]| value(path).map(|row| row.code);
        assert_eq!(code(&["np", "linalg", "inv"]), Some("linalg.inverse"));
        assert_eq!(code(&["torch", "nn", "functional", "relu6"]), Some("clamp(s, 0.0, 6.0)"));
        assert_eq!(code(&["jnp", "linalg", "norm"]), Some("norm"));
        assert_eq!(code(&["Math", "PI"]), Some("pi"));
        assert_eq!(code(&["std"]), Some("reduce.deviation(x)"), "a namespace alone is a name");
        assert_eq!(code(&["np", "sum"]), None, "the prelude has it");
        assert_eq!(ty(&["torch", "Tensor"]).map(|row| row.code), Some("f64[N, M]"));
    }

    #[test]
    fn operands_are_replaced_as_words() {
        let row = value(&["logit"]).expect("a row");
        assert_eq!(row.with_operands(&["p.s"]).as_deref(), Some("log(p.s / (1.0 - p.s))"));
        let row = value(&["real"]).expect("a row");
        assert_eq!(row.with_operands(&["(a + b)"]).as_deref(), Some("(a + b).re"));
        let row = value(&["logspace"]).expect("a row");
        assert_eq!(
            row.with_operands(&["0.0", "1.0", "11"]).as_deref(),
            Some("tabulate(11, |i| 10.0 ** (0.0 + (1.0 - 0.0) * (i as f64) / ((11 - 1) as f64)))")
        );
        assert_eq!(row.with_operands(&["0.0", "i", "11"]), None, "the lambda would bind `i`");
    }
}
