//! Instructions: the operations on numbers that backends write without a call of the host, and one table of what cost
//! models, probes and the search for NaN ask of them.

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
    /// A product in which an exact zero of the first factor wins.
    Mulg,
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

/// What is asked of an instruction beside what it computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InstructionTraits {
    /// How much work it is; each cost model has its own figures.
    pub work: Work,
    /// Floating-point operations that it counts for, on floats. Signs, comparisons, choices and conversions count nothing.
    pub flops: i64,
    /// Whether it computes a number, which may be NaN though no operand is, and does not only choose, convert or compare.
    pub makes_nan: bool,
    /// The operands whose NaN is in the result: see [`PrimRow::passes_on`](crate::PrimRow::passes_on).
    pub passes_nan: Passed,
}

/// How much work an instruction is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// One step, as an addition is.
    Step,
    /// A division, a remainder or a square root.
    Division,
    /// A product in which a zero wins: the product, a comparison or two, and what chooses.
    ZeroProduct,
}

/// The operands whose NaN an instruction passes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passed {
    /// Every one.
    All,
    /// The first.
    First,
    /// All but the first.
    Others,
    /// None.
    Nothing,
}

impl Passed {
    /// Whether the NaN of an operand is passed on.
    pub fn has(self, operand: usize) -> bool {
        match self {
            Passed::All => true,
            Passed::First => operand == 0,
            Passed::Others => operand > 0,
            Passed::Nothing => false,
        }
    }
}

/// Arithmetic: it counts, may make a NaN, and keeps that of every operand.
const ARITHMETIC: InstructionTraits =
    InstructionTraits { work: Work::Step, flops: 1, makes_nan: true, passes_nan: Passed::All };

/// Comparisons, bits, conversions: nothing of it.
const PLAIN: InstructionTraits =
    InstructionTraits { work: Work::Step, flops: 0, makes_nan: false, passes_nan: Passed::Nothing };

impl Instruction {
    /// The row of the instruction in the table of traits.
    pub fn traits(self) -> InstructionTraits {
        match self {
            Instruction::Add | Instruction::Sub | Instruction::Mul | Instruction::Mulc => ARITHMETIC,
            Instruction::Fma => InstructionTraits { flops: 2, ..ARITHMETIC },
            Instruction::Div => InstructionTraits { work: Work::Division, passes_nan: Passed::First, ..ARITHMETIC },
            // The root of the least numbers is far from zero.
            Instruction::Rem | Instruction::Sqrt => {
                InstructionTraits { work: Work::Division, passes_nan: Passed::Nothing, ..ARITHMETIC }
            }
            // A zero hides a NaN.
            Instruction::Mulz => {
                InstructionTraits { work: Work::ZeroProduct, passes_nan: Passed::Nothing, ..ARITHMETIC }
            }
            Instruction::Mulg => InstructionTraits { work: Work::ZeroProduct, passes_nan: Passed::First, ..ARITHMETIC },
            Instruction::Min | Instruction::Max => InstructionTraits { makes_nan: false, ..ARITHMETIC },
            Instruction::Neg | Instruction::Abs => InstructionTraits { passes_nan: Passed::All, ..PLAIN },
            Instruction::Copysign | Instruction::Identity => InstructionTraits { passes_nan: Passed::First, ..PLAIN },
            // What a choice does not choose does not count.
            Instruction::Select => InstructionTraits { passes_nan: Passed::Others, ..PLAIN },
            Instruction::Cast(to) if to.is_float() => InstructionTraits { passes_nan: Passed::All, ..PLAIN },
            Instruction::Cast(_)
            | Instruction::Floor
            | Instruction::Ceil
            | Instruction::Trunc
            | Instruction::Eq
            | Instruction::Ne
            | Instruction::Lt
            | Instruction::Le
            | Instruction::Gt
            | Instruction::Ge
            | Instruction::IsNan
            | Instruction::And
            | Instruction::Or
            | Instruction::Xor
            | Instruction::Not
            | Instruction::Shl
            | Instruction::Shr
            | Instruction::CastFits(_)
            | Instruction::Bitcast(_)
            | Instruction::AddFits
            | Instruction::SubFits
            | Instruction::MulFits
            | Instruction::ShiftFits => PLAIN,
        }
    }

    /// The types of the operands on a type, how many there are, and the type of the result. The type is that of the operands
    /// (of a select: of the last two).
    pub fn signature(self, elem: Elem) -> ([Elem; 3], usize, Elem) {
        let all = [elem; 3];
        match self {
            Instruction::Add
            | Instruction::Sub
            | Instruction::Mul
            | Instruction::Mulz
            | Instruction::Mulg
            | Instruction::Mulc
            | Instruction::Div
            | Instruction::Rem
            | Instruction::Copysign
            | Instruction::Min
            | Instruction::Max
            | Instruction::And
            | Instruction::Or
            | Instruction::Xor => (all, 2, elem),
            Instruction::Neg
            | Instruction::Abs
            | Instruction::Sqrt
            | Instruction::Floor
            | Instruction::Ceil
            | Instruction::Trunc
            | Instruction::Not
            | Instruction::Identity => (all, 1, elem),
            Instruction::Fma => (all, 3, elem),
            Instruction::Eq
            | Instruction::Ne
            | Instruction::Lt
            | Instruction::Le
            | Instruction::Gt
            | Instruction::Ge
            | Instruction::AddFits
            | Instruction::SubFits
            | Instruction::MulFits => (all, 2, Elem::Bool),
            Instruction::IsNan | Instruction::CastFits(_) => (all, 1, Elem::Bool),
            Instruction::Shl | Instruction::Shr => ([elem, Elem::I64, elem], 2, elem),
            // It is about the width of its type, which the distance alone does not tell.
            Instruction::ShiftFits => ([elem, Elem::I64, elem], 2, Elem::Bool),
            Instruction::Select => ([Elem::Bool, elem, elem], 3, elem),
            Instruction::Cast(to) | Instruction::Bitcast(to) => (all, 1, to),
        }
    }
}
