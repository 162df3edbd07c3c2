//! Ties of a maximum or minimum: the final value, and the share of each candidate that reaches it.

use cotan_ir::{Atom, Builder, Const, Elem, Monoid, Var};

/// A final value to compare with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extreme {
    pub(crate) monoid: Monoid,
    /// The maximum or minimum: an array for accumulators.
    pub(crate) value: Atom,
    pub(crate) elem: Elem,
}

impl Extreme {
    pub(crate) fn new(b: &Builder, monoid: Monoid, value: Atom) -> Extreme {
        Extreme { monoid, value, elem: b.ty(value).elem }
    }

    /// `wins` where `candidate` ties at these indices, else zero.
    pub(crate) fn select_tie(&self, b: &mut Builder, name: &str, at: &[Atom], candidate: Atom, wins: Atom) -> Atom {
        let value = read(b, self.value, at);
        let (less, greater) = if self.monoid == Monoid::Min { (value, candidate) } else { (candidate, value) };
        let beaten = b.named("beaten").prim(cotan_ops::LT.prim(), &[less, greater]);
        b.named(name).prim(cotan_ops::SELECT.prim(), &[beaten.into(), self.number(0), wins]).into()
    }

    /// The share of each of `n_ties` ties.
    pub(crate) fn weight(&self, b: &mut Builder, n_ties: Atom) -> Atom {
        let share = b.prim(cotan_ops::DIV.prim(), &[self.number(1), n_ties]);
        let is_nan = b.prim(cotan_ops::ISNAN.prim(), &[self.value]);
        let nan = Const::float(self.elem, f64::NAN);
        b.named("weight").prim(cotan_ops::SELECT.prim(), &[is_nan.into(), nan.into(), share.into()]).into()
    }

    pub(crate) fn number(&self, n: i32) -> Atom {
        Const::number(self.elem, n).into()
    }
}

fn read(b: &mut Builder, array: Atom, at: &[Atom]) -> Atom {
    if at.is_empty() { array } else { b.index(array, at).into() }
}

/// The cotangent of an extreme value, per tie.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Share {
    pub(crate) extreme: Extreme,
    pub(crate) share: Atom,
}

impl Share {
    /// The cotangent of one candidate.
    pub(crate) fn of(&self, b: &mut Builder, name: &str, at: &[Atom], candidate: Atom) -> Atom {
        let share = read(b, self.share, at);
        self.extreme.select_tie(b, name, at, candidate, share)
    }
}

/// Accumulators of the second pass for one extreme, in forward mode.
#[derive(Clone, Debug)]
pub(crate) struct TieCount {
    pub(crate) extreme: Extreme,
    pub(crate) count: Var,
    /// By direction.
    pub(crate) tan_sums: Vec<(usize, Var)>,
}

impl TieCount {
    /// The accumulators of the tangents, by direction.
    pub(crate) fn tan_sums(&self) -> impl Iterator<Item = (usize, Var)> + '_ {
        self.tan_sums.iter().copied()
    }

    /// Counts one candidate and adds its tangents, each to its accumulator.
    pub(crate) fn write(&self, b: &mut Builder, at: &[Atom], candidate: Atom, tans: &[(Var, Atom)]) {
        let one = self.extreme.select_tie(b, "tie", at, candidate, self.extreme.number(1));
        b.acc_add(self.count, at, one);
        for (sum, tan) in tans {
            let tan = self.extreme.select_tie(b, "tie_tan", at, candidate, *tan);
            b.acc_add(*sum, at, tan);
        }
    }
}
