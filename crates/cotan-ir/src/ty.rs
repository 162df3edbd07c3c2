//! Types of values.

use crate::{Atom, Const, Elem, Var};

/// One extent of a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dim {
    /// A constant, never negative.
    Const(i64),
    /// An i64 variable in scope, or an earlier result of the same statement. Never negative at run time.
    Var(Var),
}

impl Dim {
    /// The dim as an i64 operand.
    pub fn atom(self) -> Atom {
        match self {
            Dim::Const(n) => Atom::Const(Const::i64(n)),
            Dim::Var(v) => Atom::Var(v),
        }
    }

    /// An i64 operand as a dim.
    ///
    /// Panics on a constant of another type: that is a bug of the caller, never a user's error.
    pub fn from_atom(a: Atom) -> Dim {
        match a {
            Atom::Var(v) => Dim::Var(v),
            Atom::Const(c) => Dim::Const(c.as_i64().expect("invariant: a dim is an i64")),
        }
    }

    /// The variable, if it is one.
    pub fn var(self) -> Option<Var> {
        match self {
            Dim::Var(v) => Some(v),
            Dim::Const(_) => None,
        }
    }
}

impl From<Var> for Dim {
    fn from(v: Var) -> Dim {
        Dim::Var(v)
    }
}

/// A scalar (no dims) or a dense row-major tensor.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Ty {
    /// Element type.
    pub elem: Elem,
    /// Extents, outermost first.
    pub dims: Vec<Dim>,
}

impl Ty {
    /// A tensor type (a scalar if `dims` is empty).
    pub fn new(elem: Elem, dims: Vec<Dim>) -> Ty {
        Ty { elem, dims }
    }

    /// A scalar type.
    pub fn scalar(elem: Elem) -> Ty {
        Ty { elem, dims: Vec::new() }
    }

    /// The type of a constant.
    pub(crate) fn of_const(c: Const) -> Ty {
        Ty::scalar(c.elem())
    }

    /// Number of dims.
    pub fn rank(&self) -> usize {
        self.dims.len()
    }

    /// Whether there are no dims.
    pub fn is_scalar(&self) -> bool {
        self.dims.is_empty()
    }

    /// Whether values of this type carry derivatives.
    pub fn is_float(&self) -> bool {
        self.elem.is_float()
    }

    /// The type of what `n` leading indices select.
    pub fn inner(&self, n: usize) -> Ty {
        Ty::new(self.elem, self.dims[n..].to_vec())
    }

    /// A tensor of these, with more leading dims.
    pub fn stacked(&self, lead: impl IntoIterator<Item = Dim>) -> Ty {
        Ty::new(self.elem, lead.into_iter().chain(self.dims.iter().copied()).collect())
    }

    /// The same shape with another element type.
    pub fn with_elem(&self, elem: Elem) -> Ty {
        Ty::new(elem, self.dims.clone())
    }

    /// The type of tangents and cotangents of such values: storage types have those of f32.
    pub fn tangent(&self) -> Ty {
        self.with_elem(self.elem.computed())
    }

    /// The variables that the dims name.
    pub fn dim_vars(&self) -> impl Iterator<Item = Var> + '_ {
        self.dims.iter().filter_map(|d| d.var())
    }
}
