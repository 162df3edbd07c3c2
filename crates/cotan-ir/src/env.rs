//! Environments of copies: what variables of one function are called in another.

use crate::{Atom, Dim, Ty, Var};
use rustc_hash::FxHashMap;
use std::ops::{Deref, DerefMut};

/// What variables of a source function are called in the target: the environment of a copy.
#[derive(Clone, Debug, Default)]
pub struct Env(FxHashMap<Var, Atom>);

impl Env {
    /// No variables.
    pub fn new() -> Env {
        Env::default()
    }

    /// An operand in the target; a variable that is not known stays what it is.
    pub fn atom(&self, a: Atom) -> Atom {
        match a {
            Atom::Var(v) => self.0.get(&v).copied().unwrap_or(a),
            Atom::Const(_) => a,
        }
    }

    /// Several operands in the target.
    pub fn atoms(&self, atoms: &[Atom]) -> Vec<Atom> {
        atoms.iter().map(|a| self.atom(*a)).collect()
    }

    /// A type in the target.
    pub fn ty(&self, ty: &Ty) -> Ty {
        Ty::new(ty.elem, ty.dims.iter().map(|d| Dim::from_atom(self.atom(d.atom()))).collect())
    }

    /// The variable that a known variable stands for.
    ///
    /// Panics if it stands for a constant or is not known: binders are always copied to variables.
    pub fn var(&self, v: Var) -> Var {
        self.0[&v].var().expect("invariant: a binder is copied to a variable")
    }
}

impl Deref for Env {
    type Target = FxHashMap<Var, Atom>;
    fn deref(&self) -> &FxHashMap<Var, Atom> {
        &self.0
    }
}

impl DerefMut for Env {
    fn deref_mut(&mut self) -> &mut FxHashMap<Var, Atom> {
        &mut self.0
    }
}

impl FromIterator<(Var, Atom)> for Env {
    fn from_iter<I: IntoIterator<Item = (Var, Atom)>>(pairs: I) -> Env {
        Env(pairs.into_iter().collect())
    }
}
