//! Operands of an operation as its users see them: the name, the type, and whether a derivative flows into it.

/// An operand of an operation on tensors, or a parameter of a function that is part of the language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operand {
    /// The name, as in the doc of the operation.
    pub name: &'static str,
    /// The type, as text.
    pub ty: &'static str,
    /// Whether any number of operands like this one may follow.
    pub repeated: bool,
    /// Whether a derivative flows into it.
    pub differentiability: Differentiability,
}

/// Whether a derivative flows into an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Differentiability {
    /// The operation is smooth in it.
    Smooth {
        /// Where it is, if not everywhere: a condition.
        condition: Option<&'static str>,
    },
    /// The operation is smooth in it but for kinks.
    Piecewise {
        /// The convention there.
        convention: &'static str,
    },
    /// The derivative is zero by nature.
    Zero {
        /// Why.
        reason: &'static str,
    },
    /// There is no such thing as a derivative.
    None {
        /// Why.
        reason: &'static str,
    },
}

impl Differentiability {
    /// The word of the manifest.
    pub fn name(self) -> &'static str {
        match self {
            Differentiability::Smooth { .. } => "smooth",
            Differentiability::Piecewise { .. } => "piecewise",
            Differentiability::Zero { .. } => "zero",
            Differentiability::None { .. } => "none",
        }
    }

    /// The condition, convention or reason.
    pub fn note(self) -> Option<String> {
        match self {
            Differentiability::Smooth { condition } => condition.map(|condition| format!("where {condition}")),
            Differentiability::Piecewise { convention: text }
            | Differentiability::Zero { reason: text }
            | Differentiability::None { reason: text } => Some(text.to_owned()),
        }
    }
}

impl Operand {
    const fn new(name: &'static str, ty: &'static str, differentiability: Differentiability) -> Operand {
        Operand { name, ty, repeated: false, differentiability }
    }

    /// An operand in which the operation is smooth.
    pub const fn smooth(name: &'static str, ty: &'static str) -> Operand {
        Operand::new(name, ty, Differentiability::Smooth { condition: None })
    }

    /// An operand in which the operation is smooth where the condition holds.
    pub const fn smooth_where(name: &'static str, ty: &'static str, condition: &'static str) -> Operand {
        Operand::new(name, ty, Differentiability::Smooth { condition: Some(condition) })
    }

    /// An operand in which the operation has kinks, with the convention there.
    pub const fn piecewise(name: &'static str, ty: &'static str, convention: &'static str) -> Operand {
        Operand::new(name, ty, Differentiability::Piecewise { convention })
    }

    /// An operand with the derivative zero, with the reason.
    pub const fn zero(name: &'static str, ty: &'static str, reason: &'static str) -> Operand {
        Operand::new(name, ty, Differentiability::Zero { reason })
    }

    /// An operand that is nothing to differentiate by, with the reason.
    pub const fn none(name: &'static str, ty: &'static str, reason: &'static str) -> Operand {
        Operand::new(name, ty, Differentiability::None { reason })
    }

    /// This one and any number of others like it.
    pub const fn repeated(self) -> Operand {
        Operand { repeated: true, ..self }
    }
}
