//! Extents that differ by a constant.

use cotan_ir::{Atom, Op, Stmt, Var};
use cotan_ops::{ADD, SUB};
use rustc_hash::FxHashMap;

/// The integers that are others and a constant.
#[derive(Default)]
pub(super) struct Extents {
    sums: FxHashMap<Var, (Option<Var>, i64)>,
}

impl Extents {
    /// Looks at what a statement makes.
    pub(super) fn enter(&mut self, s: &Stmt) {
        let sum = if let Op::Prim { prim, args } = &s.op {
            match (args.as_slice(), number(args)) {
                ([a, Atom::Const(_)], Some(n)) if *prim == ADD.prim() => self.plus(*a, n),
                ([a, Atom::Const(_)], Some(n)) if *prim == SUB.prim() => n.checked_neg().and_then(|n| self.plus(*a, n)),
                _ => None,
            }
        } else if let Op::Check { value, .. } = &s.op {
            self.plus(*value, 0)
        } else {
            None
        };
        self.sums.extend(sum.map(|sum| (s.results[0], sum)));
    }

    fn plus(&self, a: Atom, n: i64) -> Option<(Option<Var>, i64)> {
        let (of, constant) = self.sum(a)?;
        Some((of, constant.checked_add(n)?))
    }

    fn sum(&self, a: Atom) -> Option<(Option<Var>, i64)> {
        match a {
            Atom::Const(c) => Some((None, c.as_i64()?)),
            Atom::Var(v) => Some(self.sums.get(&v).copied().unwrap_or((Some(v), 0))),
        }
    }

    /// By how much one extent is more than another, if that is known.
    pub(super) fn difference(&self, a: Atom, b: Atom) -> Option<i64> {
        let ((a, m), (b, n)) = (self.sum(a)?, self.sum(b)?);
        if a == b { m.checked_sub(n) } else { None }
    }
}

fn number(args: &[Atom]) -> Option<i64> {
    args.last()?.constant()?.as_i64()
}
