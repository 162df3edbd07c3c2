//! Words: the functions of the language that a scalar primitive is.

/// A function of the language, which applies a primitive to scalars and, element by element, to tensors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word {
    /// The name in the language.
    pub name: &'static str,
    /// What `T` may be there.
    pub elems: WordElems,
    /// Whether an integer result that does not fit wraps; otherwise it is a run-time error.
    pub wraps: bool,
    /// What must hold of the operands; otherwise it is a run-time error.
    pub needs: Needs,
}

/// What must hold of the operands of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// Nothing.
    Nothing,
    /// The second one is a divisor: not 0.
    Divisor,
    /// The second one is the distance of a shift: at least 0 and less than the width of the first one.
    Distance,
}

/// The types that the operands of a word share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WordElems {
    /// `f32` and `f64`.
    Float,
    /// All numbers.
    Numeric,
    /// All integer types.
    Integer,
    /// Everything.
    Any,
}

impl Word {
    /// A word whose integer results must fit.
    pub(crate) const fn new(name: &'static str, elems: WordElems) -> Word {
        Word { name, elems, wraps: false, needs: Needs::Nothing }
    }

    /// A word on integers whose results wrap.
    pub(crate) const fn wrapping(name: &'static str) -> Word {
        Word { name, elems: WordElems::Integer, wraps: true, needs: Needs::Nothing }
    }

    /// A word on integers.
    pub(crate) const fn on_integers(name: &'static str, needs: Needs) -> Word {
        Word { name, elems: WordElems::Integer, wraps: false, needs }
    }
}
