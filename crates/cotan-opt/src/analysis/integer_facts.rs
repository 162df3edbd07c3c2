//! Facts about integers where code stands, read off regions, checks and types without arithmetic: which variables are
//! lengths, which indices lie in which axes, which extents are positive.

use cotan_ir::{Atom, Function, Op, Stmt, Var};
use rustc_hash::{FxHashMap, FxHashSet};

/// Facts that grow as the walk goes down a block and shrink as it leaves one.
#[derive(Default)]
pub(crate) struct IntegerFacts {
    /// The extents of loop indices: `0 <= index < extent`.
    extents: FxHashMap<Var, Atom>,
    /// Truth values that say that an index lies in an axis.
    conditions: FxHashMap<Var, (Atom, Atom)>,
    /// The extents that a checked index is below.
    checked: FxHashMap<Var, Vec<Atom>>,
    /// Variables that are not negative, because a tensor of such an extent exists.
    lengths: FxHashSet<Var>,
    /// The lengths entered in the open blocks, in order.
    entered: Vec<Var>,
    /// Extents of the regions around.
    positive: Vec<Atom>,
}

fn number(a: Atom) -> Option<i64> {
    a.constant().and_then(|c| c.as_i64())
}

impl IntegerFacts {
    /// What is known at the head of a function.
    pub(crate) fn of(f: &Function) -> IntegerFacts {
        let mut facts = IntegerFacts::default();
        f.params.iter().for_each(|p| facts.exists(f, *p));
        facts
    }

    /// What is known so far, to be given to [`IntegerFacts::leave`].
    pub(crate) fn mark(&self) -> (usize, usize) {
        (self.entered.len(), self.positive.len())
    }

    /// What is known in the body of an operation.
    pub(crate) fn enter(&mut self, f: &Function, op: &Op) -> (usize, usize) {
        let mark = self.mark();
        self.bind_indices(op);
        self.positive.extend(op.indices().into_iter().filter_map(|(_, count)| count));
        op.binders().iter().for_each(|v| self.exists(f, *v));
        mark
    }

    /// Takes note of the extents of the indices that an operation binds.
    pub(crate) fn bind_indices(&mut self, op: &Op) {
        self.extents.extend(op.indices().into_iter().filter_map(|(index, count)| Some((index, count?))));
    }

    /// Forgets what was learned since the mark.
    pub(crate) fn leave(&mut self, mark: (usize, usize)) {
        for v in self.entered.drain(mark.0..) {
            self.lengths.remove(&v);
        }
        self.positive.truncate(mark.1);
    }

    /// What a statement tells those after it.
    pub(crate) fn learn(&mut self, f: &Function, s: &Stmt) {
        if let Some(args) = s.op.args_of(cotan_ops::IN_RANGE.prim()) {
            self.conditions.insert(s.results[0], (args[0], args[1]));
        } else if let Some(args) = s.op.args_of(cotan_ops::MAX.prim()) {
            if args.iter().any(|a| number(*a).is_some_and(|n| n >= 0)) {
                self.length(s.results[0]);
            }
        } else if let Op::Check { cond, value, .. } = &s.op {
            self.learn_check(*cond, *value, s.results[0]);
        }
        s.results.iter().for_each(|v| self.exists(f, *v));
    }

    /// What is known of the indices that a new statement binds inside.
    pub(crate) fn learn_inside(&mut self, f: &Function, s: &Stmt) {
        let mark = self.enter(f, &s.op);
        for inner in s.op.blocks().iter().flat_map(|b| &b.stmts) {
            self.learn_inside(f, inner);
            self.learn(f, inner);
        }
        self.leave(mark);
    }

    fn learn_check(&mut self, cond: Atom, value: Atom, result: Var) {
        let mut below: Vec<Atom> = value.var().and_then(|v| self.checked.get(&v)).cloned().unwrap_or_default();
        let condition = cond.var().and_then(|c| self.conditions.get(&c));
        below.extend(condition.filter(|(i, _)| *i == value).map(|(_, n)| *n));
        if !below.is_empty() {
            self.checked.insert(result, below);
        }
    }

    fn exists(&mut self, f: &Function, v: Var) {
        f.ty(v).dim_vars().for_each(|d| self.length(d));
    }

    fn length(&mut self, v: Var) {
        if self.lengths.insert(v) {
            self.entered.push(v);
        }
    }

    /// Whether the operand is known not to be negative.
    pub(crate) fn is_length(&self, a: Atom) -> bool {
        match a {
            Atom::Var(v) => self.lengths.contains(&v),
            Atom::Const(_) => number(a).is_some_and(|n| n >= 0),
        }
    }

    /// Whether the operand is known to be one at least.
    pub(crate) fn is_positive(&self, a: Atom) -> bool {
        number(a).is_some_and(|n| n > 0) || self.positive.contains(&a)
    }

    /// Whether `0 <= i < n` is known.
    pub(crate) fn is_in_range(&self, i: Atom, n: Atom) -> bool {
        let within = |extent: Atom| extent == n || number(extent).zip(number(n)).is_some_and(|(extent, n)| extent <= n);
        match i {
            Atom::Const(_) => number(i).zip(number(n)).is_some_and(|(i, n)| (0..n).contains(&i)),
            Atom::Var(v) => {
                let checked = self.checked.get(&v).into_iter().flatten();
                checked.chain(self.extents.get(&v)).any(|extent| within(*extent))
            }
        }
    }
}
