//! Instructions: the operations on numbers that backends write without a call of the host.

use cotan_ir::Elem;

/// What machines can do on their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names are those of the rows, which are documented")]
pub enum Instruction {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    Neg,
    Abs,
    Fma,
    Sqrt,
    Floor,
    Ceil,
    Trunc,
    Copysign,
    /// A product in which an exact zero wins.
    Mulz,
    /// A product that a sum may take up before it is rounded.
    Mulc,
    Min,
    Max,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    IsNan,
    And,
    Or,
    Xor,
    Not,
    Shl,
    Shr,
    Select,
    /// The operand itself.
    Identity,
    /// Conversion to this type: rounding to nearest, saturating from floats, wrapping between integers.
    Cast(Elem),
    /// Whether the operand, its fraction cut, fits this integer type.
    CastFits(Elem),
    /// The bits of the operand, as a number of this type, which has as many.
    Bitcast(Elem),
    AddFits,
    SubFits,
    MulFits,
    ShiftFits,
}
