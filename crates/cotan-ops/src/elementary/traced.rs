//! Tracing: numbers that record what is computed with them as the steps of straight-line code.

use super::code::{Input, Recorder, Step};
use super::real::{Bits, Real};
use crate::{Codegen, Instruction, PrimRow, table};
use cotan_ir::{Const, Elem};
use std::marker::PhantomData;
use std::ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Not, Sub};

/// A value of type `T` that is known only when the code runs, or a constant.
pub(crate) struct Traced<'a, T> {
    recorder: Option<&'a Recorder>,
    input: Input,
    of: PhantomData<T>,
}

impl Recorder {
    /// The next operand.
    pub(crate) fn argument<T>(&self, position: &mut impl Iterator<Item = usize>) -> Traced<'_, T> {
        let position = position.next().expect("invariant: positions do not end");
        Traced { recorder: Some(self), input: Input::Arg(position), of: PhantomData }
    }
}

impl<T> Clone for Traced<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Traced<'_, T> {}

impl<'a, T> Traced<'a, T> {
    fn constant(value: Const) -> Traced<'a, T> {
        Traced { recorder: None, input: Input::Const(value), of: PhantomData }
    }

    /// The value as an operand.
    pub(crate) fn input(self) -> Input {
        self.input
    }

    fn erased(self) -> Traced<'a, ()> {
        Traced { recorder: self.recorder, input: self.input, of: PhantomData }
    }
}

/// A step on operands; on constants alone, its result.
fn apply<'a, T>(instruction: Instruction, elem: Elem, result: Elem, args: &[Traced<'a, ()>]) -> Traced<'a, T> {
    let args_of_step: Vec<Input> = args.iter().map(|a| a.input).collect();
    let Some(recorder) = args.iter().find_map(|a| a.recorder) else {
        return Traced::constant(folded(instruction, &args_of_step));
    };
    let input = recorder.step(Step { instruction, elem, result, args: args_of_step });
    Traced { recorder: Some(recorder), input, of: PhantomData }
}

/// The value of an instruction on constants, by the row that it is the lowering of.
fn folded(instruction: Instruction, args: &[Input]) -> Const {
    let is_it = |row: &&&PrimRow| matches!(row.codegen, Codegen::Native(found) if found == instruction);
    let row = table().iter().find(is_it).expect("invariant: there is a row for what constants are computed with");
    let constant = |input: &Input| match input {
        Input::Const(c) => Some(*c),
        Input::Arg(_) | Input::Step(_) => None,
    };
    let constants: Vec<Const> = args.iter().filter_map(constant).collect();
    row.eval(&constants).expect("invariant: what has no recorder is a constant of the right type")
}

impl<'a> BitAnd for Traced<'a, bool> {
    type Output = Traced<'a, bool>;

    fn bitand(self, other: Self) -> Self {
        apply(Instruction::And, Elem::Bool, Elem::Bool, &[self.erased(), other.erased()])
    }
}

impl<'a> BitOr for Traced<'a, bool> {
    type Output = Traced<'a, bool>;

    fn bitor(self, other: Self) -> Self {
        apply(Instruction::Or, Elem::Bool, Elem::Bool, &[self.erased(), other.erased()])
    }
}

impl<'a> Not for Traced<'a, bool> {
    type Output = Traced<'a, bool>;

    fn not(self) -> Self {
        apply(Instruction::Not, Elem::Bool, Elem::Bool, &[self.erased()])
    }
}

macro_rules! operator {
    ($t:ident, $elem:ident: $($trait:ident $method:ident($($other:ident)?);)+) => {
        $(impl<'a> $trait for Traced<'a, $t> {
            type Output = Traced<'a, $t>;

            fn $method(self $(, $other: Self)?) -> Self {
                apply(Instruction::$trait, Elem::$elem, Elem::$elem, &[self.erased() $(, $other.erased())?])
            }
        })+
    };
}

macro_rules! traced {
    ($t:ident, $elem:ident, $bits:ident, $bits_elem:ident) => {
        operator! { $t, $elem: Add add(other); Sub sub(other); Mul mul(other); Div div(other); Neg neg(); }

        impl<'a> Traced<'a, $t> {
            fn own(instruction: Instruction, args: &[Self]) -> Self {
                let args: Vec<_> = args.iter().map(|a| a.erased()).collect();
                apply(instruction, Elem::$elem, Elem::$elem, &args)
            }

            fn compared(instruction: Instruction, a: Self, b: Self) -> Traced<'a, bool> {
                apply(instruction, Elem::$elem, Elem::Bool, &[a.erased(), b.erased()])
            }
        }

        impl<'a> Real for Traced<'a, $t> {
            type Bits = Traced<'a, $bits>;
            type Truth = Traced<'a, bool>;
            const IS_SINGLE: bool = size_of::<$t>() == 4;

            fn of(value: f64) -> Self {
                Traced::constant(Const::float(Elem::$elem, value))
            }

            fn fma(self, factor: Self, addend: Self) -> Self {
                Self::own(Instruction::Fma, &[self, factor, addend])
            }

            fn abs(self) -> Self {
                Self::own(Instruction::Abs, &[self])
            }

            fn sqrt(self) -> Self {
                Self::own(Instruction::Sqrt, &[self])
            }

            fn trunc(self) -> Self {
                Self::own(Instruction::Trunc, &[self])
            }

            fn copysign(self, sign: Self) -> Self {
                Self::own(Instruction::Copysign, &[self, sign])
            }

            fn lt(self, other: Self) -> Traced<'a, bool> {
                Self::compared(Instruction::Lt, self, other)
            }

            fn le(self, other: Self) -> Traced<'a, bool> {
                Self::compared(Instruction::Le, self, other)
            }

            fn same(self, other: Self) -> Traced<'a, bool> {
                Self::compared(Instruction::Eq, self, other)
            }

            fn select(condition: Traced<'a, bool>, yes: Self, no: Self) -> Self {
                let args = [condition.erased(), yes.erased(), no.erased()];
                apply(Instruction::Select, Elem::$elem, Elem::$elem, &args)
            }

            fn bits(self) -> Traced<'a, $bits> {
                apply(Instruction::Bitcast(Elem::$bits_elem), Elem::$elem, Elem::$bits_elem, &[self.erased()])
            }

            fn from_bits(bits: Traced<'a, $bits>) -> Self {
                apply(Instruction::Bitcast(Elem::$elem), Elem::$bits_elem, Elem::$elem, &[bits.erased()])
            }
        }

        impl<'a> Traced<'a, $bits> {
            fn whole(instruction: Instruction, a: Self, b: Traced<'a, ()>) -> Self {
                apply(instruction, Elem::$bits_elem, Elem::$bits_elem, &[a.erased(), b])
            }
        }

        impl<'a> Bits for Traced<'a, $bits> {
            type Truth = Traced<'a, bool>;

            fn of(value: u64) -> Self {
                Traced::constant(Const::integer(Elem::$bits_elem, value.into()))
            }

            fn plus(self, other: Self) -> Self {
                Self::whole(Instruction::Add, self, other.erased())
            }

            fn minus(self, other: Self) -> Self {
                Self::whole(Instruction::Sub, self, other.erased())
            }

            fn and(self, other: Self) -> Self {
                Self::whole(Instruction::And, self, other.erased())
            }

            fn xor(self, other: Self) -> Self {
                Self::whole(Instruction::Xor, self, other.erased())
            }

            fn up(self, distance: u32) -> Self {
                Self::whole(Instruction::Shl, self, Traced::constant(Const::i64(distance.into())))
            }

            fn down(self, distance: u32) -> Self {
                Self::whole(Instruction::Shr, self, Traced::constant(Const::i64(distance.into())))
            }

            fn same(self, other: Self) -> Traced<'a, bool> {
                apply(Instruction::Eq, Elem::$bits_elem, Elem::Bool, &[self.erased(), other.erased()])
            }
        }
    };
}

traced!(f32, F32, u32, U32);
traced!(f64, F64, u64, U64);
