//! Literals and the constants of the core IR that they are.

use cotan_ir::{Const, Elem};

/// A literal, its sign applied.
#[derive(Clone, Debug, PartialEq)]
pub enum Literal {
    /// `true` or `false`
    Bool(bool),
    /// An integer, or a character's code point. It fits its type.
    Int(i128),
    /// A float: the text that `str::parse` reads in the type that it has.
    Float(String),
    /// `inf`, `nan`, `pi` or `e`, in any float type.
    Constant(FloatConstant),
}

/// A named constant of the prelude.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FloatConstant {
    /// Infinity.
    Inf,
    /// Not a number.
    Nan,
    /// The ratio of a circle's circumference to its diameter.
    Pi,
    /// The base of the natural logarithm.
    E,
}

impl Literal {
    /// The number in a type, rounded once.
    pub fn constant(&self, elem: Elem) -> Const {
        let float = |value: f64| Const::float(if elem.is_float() { elem } else { Elem::F64 }, value);
        match self {
            Self::Bool(value) => Const::bool(*value),
            Self::Int(value) if elem.is_integer() => Const::integer(elem, *value),
            Self::Int(value) => float(*value as f64),
            // The text is read in its own type: reading it as f64 first would round twice.
            Self::Float(text) if elem == Elem::F32 => Const::f32(text.parse().unwrap_or(f32::NAN)),
            Self::Float(text) => float(text.parse().unwrap_or(f64::NAN)),
            Self::Constant(FloatConstant::Inf) => float(f64::INFINITY),
            Self::Constant(FloatConstant::Nan) => float(f64::NAN),
            Self::Constant(FloatConstant::Pi) => float(std::f64::consts::PI),
            Self::Constant(FloatConstant::E) => float(std::f64::consts::E),
        }
    }

    /// The literal that is read back as this constant; `None` for negative infinity, which has none.
    pub fn of(constant: Const) -> Option<Self> {
        if let Some(value) = constant.as_bool() {
            return Some(Self::Bool(value));
        }
        if let Some(value) = constant.as_integer() {
            return Some(Self::Int(value));
        }
        let value = constant.as_float()?;
        if value.is_nan() {
            return Some(Self::Constant(FloatConstant::Nan));
        }
        if value == f64::INFINITY {
            return Some(Self::Constant(FloatConstant::Inf));
        }
        // A value of a narrower type has few digits in its own type and the same value in f64.
        value.is_finite().then(|| Self::Float(format!("{value:?}")))
    }
}
