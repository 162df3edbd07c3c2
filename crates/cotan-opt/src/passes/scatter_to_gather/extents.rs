//! Extents that differ by a constant.

use cotan_ir::{Atom, Op, Poly, Stmt, Var};
use cotan_ops::{ADD, SUB};
use rustc_hash::FxHashMap;

/// A sum of few integers.
type Sum = Poly<Var, 1, 8>;

/// The integers that are sums of others.
#[derive(Default)]
pub(super) struct Extents {
    sums: FxHashMap<Var, Sum>,
}

impl Extents {
    /// Looks at what a statement makes.
    pub(super) fn enter(&mut self, s: &Stmt) {
        let sum = if let Some([a, b]) = s.op.args_of(ADD.prim()) {
            self.sum(*a).zip(self.sum(*b)).and_then(|(a, b)| a.plus(&b))
        } else if let Some([a, b]) = s.op.args_of(SUB.prim()) {
            self.sum(*a).zip(self.sum(*b)).and_then(|(a, b)| a.minus(&b))
        } else if let Op::Check { value, .. } = &s.op {
            self.sum(*value)
        } else {
            None
        };
        self.sums.extend(sum.map(|sum| (s.results[0], sum)));
    }

    fn sum(&self, a: Atom) -> Option<Sum> {
        match a {
            Atom::Const(c) => Some(Sum::number(c.as_i64()?.into())),
            Atom::Var(v) => Some(self.sums.get(&v).cloned().unwrap_or_else(|| Sum::unknown(v))),
        }
    }

    /// By how much one extent is more than another, if that is known.
    pub(super) fn difference(&self, a: Atom, b: Atom) -> Option<i64> {
        self.sum(a)?.minus(&self.sum(b)?)?.as_number()?.try_into().ok()
    }
}
