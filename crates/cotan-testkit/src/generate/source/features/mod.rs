//! Pieces of programs that exercise one construct each: declarations, and a use of them with places for random operands.
//!
//! | place | stands for |
//! |---|---|
//! | `{t}` | the float type of the program |
//! | `{int}` | an integer type |
//! | `{x}`, `{y}` | floats |
//! | `{v}`, `{w}` | vectors of length `N` |
//! | `{m}` | a matrix `[N, D]` |
//! | `{k}` | a small integer that is not negative |
//! | `{i}` | an index below `N` |
//! | `{ix}` | a vector of such indices, of length `N` |
//! | `{s}`, `{a}`, `{b}` | in statements: a scalar, a vector and a matrix that may be assigned |
//! | `{new}` | in statements: a new name |

mod calls;
mod derivatives;
mod numbers;
mod places;
mod tensors;
mod types;

use super::Writer;
use super::scope::{Dim, Scope};
use super::tree::Stmt;
use crate::generate::Construct;
use std::collections::BTreeSet;

/// What a piece is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// A float.
    Scalar,
    /// A vector of length `N`.
    Vector,
    /// A statement.
    Statement,
}

/// A piece of a program.
#[derive(Clone, Copy, Debug)]
struct Feature {
    construct: Construct,
    kind: Kind,
    /// What it needs on the level of declarations.
    declares: &'static [&'static str],
    /// The piece itself.
    text: &'static str,
}

const fn scalar(construct: Construct, declares: &'static [&'static str], text: &'static str) -> Feature {
    Feature { construct, kind: Kind::Scalar, declares, text }
}

const fn vector(construct: Construct, declares: &'static [&'static str], text: &'static str) -> Feature {
    Feature { construct, kind: Kind::Vector, declares, text }
}

const fn statement(construct: Construct, declares: &'static [&'static str], text: &'static str) -> Feature {
    Feature { construct, kind: Kind::Statement, declares, text }
}

/// All pieces.
const FEATURES: [&[Feature]; 6] =
    [calls::FEATURES, derivatives::FEATURES, numbers::FEATURES, places::FEATURES, tensors::FEATURES, types::FEATURES];

const INTEGERS: [&str; 8] = ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"];

impl Writer<'_> {
    /// A piece that is a float, if one may stand here.
    pub(super) fn scalar_feature(&mut self, scope: &Scope) -> Option<String> {
        self.feature(Kind::Scalar, scope)
    }

    /// A piece that is a vector of length `N`, if one may stand here.
    pub(super) fn vector_feature(&mut self, scope: &Scope) -> Option<String> {
        self.feature(Kind::Vector, scope)
    }

    /// Writes a piece that is a statement, or another statement.
    pub(super) fn feature_statement(&mut self, scope: &mut Scope, out: &mut Vec<Stmt>) {
        match self.feature(Kind::Statement, scope) {
            Some(text) => self.line(out, text),
            None => self.let_scalar(scope, out),
        }
    }

    fn feature(&mut self, kind: Kind, scope: &Scope) -> Option<String> {
        if !self.may_call || !scope.has_sizes {
            return None;
        }
        // What differences do not see stands in few programs, and there often.
        let is_rough = kind == Kind::Scalar && self.may_be_rough && self.rng.chance(0.3);
        let fits = |f: &&Feature| f.kind == kind && f.construct.hides_from_differences() == is_rough;
        let fitting: Vec<&Feature> = FEATURES.into_iter().flatten().filter(fits).collect();
        // A construct with one piece is as frequent as one with many.
        let constructs: BTreeSet<Construct> = fitting.iter().map(|feature| feature.construct).collect();
        let constructs: Vec<Construct> = constructs.into_iter().collect();
        let construct = self.rng.choice(&constructs);
        let pieces: Vec<&Feature> = fitting.into_iter().filter(|feature| feature.construct == construct).collect();
        let feature = self.rng.choice(&pieces);
        self.has(feature.construct);
        for text in feature.declares {
            self.declare(text);
        }
        Some(self.filled(feature.text, scope))
    }

    /// Declares something, once.
    fn declare(&mut self, text: &'static str) {
        let text = text.replace("{t}", self.float);
        if !self.declarations.contains(&text) {
            self.declarations.push(text);
        }
    }

    /// The piece with operands in its places: every place of one name has the same one.
    fn filled(&mut self, text: &str, scope: &Scope) -> String {
        let mut filled = String::with_capacity(text.len());
        let mut operands: Vec<(&str, String)> = Vec::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('{') {
            filled.push_str(before);
            let place = after.split_once('}').filter(|(name, _)| PLACES.contains(name));
            let Some((name, behind)) = place else {
                filled.push('{');
                rest = after;
                continue;
            };
            let known = operands.iter().find(|(n, _)| *n == name).map(|(_, operand)| operand.clone());
            let operand = known.unwrap_or_else(|| self.operand(name, scope));
            filled.push_str(&operand);
            operands.push((name, operand));
            rest = behind;
        }
        filled + rest
    }

    fn operand(&mut self, place: &str, scope: &Scope) -> String {
        match place {
            "int" => self.rng.choice(&INTEGERS).to_owned(),
            "x" | "y" => self.scalar_atom(scope),
            "v" | "w" => self.vector_atom(scope, Dim::N),
            "m" => self.matrix_atom(scope),
            "k" => format!("({})", self.small_integer(scope)),
            "i" => format!("({})", self.index(scope, Dim::N)),
            "ix" => self.rng.recent(&scope.index_arrays).clone(),
            "s" => self.rng.recent(&scope.mutable_scalars).clone(),
            "a" => Scope::mutable_of(self.rng, &scope.vectors, Dim::N),
            "b" => Scope::mutable_of(self.rng, &scope.matrices, ()),
            "new" => self.fresh('s'),
            _ => self.float.to_owned(),
        }
    }
}

const PLACES: [&str; 14] = ["t", "int", "x", "y", "v", "w", "m", "k", "i", "ix", "s", "a", "b", "new"];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::source::generate;

    #[test]
    fn what_is_declared_is_declared_once() {
        for seed in 0..50 {
            let declarations = generate(seed).program.declarations;
            let mut sorted = declarations.clone();
            sorted.sort();
            sorted.dedup();
            assert_eq!(sorted.len(), declarations.len(), "seed {seed}");
        }
    }

    #[test]
    fn every_place_of_a_piece_is_filled() {
        for seed in 0..50 {
            let text = generate(seed).program.text();
            let open = PLACES.into_iter().find(|place| text.contains(&format!("{{{place}}}")));
            assert_eq!(open, None, "seed {seed}:\n{text}");
        }
    }
}
