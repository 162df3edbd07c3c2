//! Numbers: which instructions are the driver's own, and what stands in for the others.
//!
//! Vulkan promises little of floats: `Fma` need not be fused, quotients may be off by 2.5 units in the last place. A device is
//! asked instead ([`crate::probe`]); what it gets wrong is made of what it gets right. Replacements need sums, products and
//! integers alone, so that they are exact wherever those are:
//!
//! | instruction | technique |
//! |---|---|
//! | `fma` of `f32`, where there is `f64` | the exact product, a sum rounded to odd, one conversion |
//! | `fma` | error-free transforms, rounding to odd (`fma.rs`) |
//! | `div`, `sqrt` | digit by digit (`digits.rs`) |
//! | `floor`, `ceil`, `trunc` | sums with the least number that has no fraction (`rounding.rs`) |
//! | casts to floats | normalisation and rounding of integers (`convert.rs`) |
//! | casts of signed integers to `i64` | the offset form of a number |

mod convert;
mod digits;
mod fma;
mod pack;
mod rounding;

pub(crate) use fma::Halves;

use crate::emit::{Emitter, Format, Value};
use cotan_ir::{Elem, bug};
use cotan_ops::Instruction;

/// For every instruction and type of its operands, whether the driver's own is used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Numbers {
    replaced: Vec<(Instruction, Elem)>,
}

impl Numbers {
    /// The driver's own instructions alone.
    pub fn of_driver() -> Numbers {
        Numbers::default()
    }

    /// Every replacement that there is: for tests, and for a driver that nothing is known of.
    pub fn all_replaced() -> Numbers {
        let mut numbers = Numbers::default();
        for elem in Elem::ALL {
            let instructions = [
                Instruction::Fma,
                Instruction::Div,
                Instruction::Sqrt,
                Instruction::Floor,
                Instruction::Ceil,
                Instruction::Trunc,
                Instruction::Cast(Elem::F32),
                Instruction::Cast(Elem::F64),
                Instruction::Cast(Elem::I64),
            ];
            for instruction in instructions {
                numbers.replace(instruction, elem);
            }
        }
        numbers
    }

    /// Uses the replacement of an instruction, if there is one.
    pub fn replace(&mut self, instruction: Instruction, elem: Elem) -> bool {
        if !has_replacement(instruction, elem) {
            return false;
        }
        if !self.is_replaced(instruction, elem) {
            self.replaced.push((instruction, elem));
        }
        true
    }

    /// Whether the driver's own is not used.
    pub fn is_replaced(&self, instruction: Instruction, elem: Elem) -> bool {
        self.replaced.contains(&(instruction, elem))
    }

    /// The same, but fused multiply-adds, quotients and roots are the driver's own, rounded as it likes. What a driver gets wrong
    /// altogether is still replaced.
    pub fn fast(mut self) -> Numbers {
        let is_rounded = |instruction| matches!(instruction, Instruction::Fma | Instruction::Div | Instruction::Sqrt);
        self.replaced.retain(|(instruction, _)| !is_rounded(*instruction));
        self
    }

    /// As bytes, to be kept.
    pub fn to_bytes(&self) -> Vec<u8> {
        let all = Numbers::all_replaced();
        all.replaced.iter().map(|one| u8::from(self.replaced.contains(one))).collect()
    }

    /// From the bytes of [`Self::to_bytes`]; `None` if these are others.
    pub fn of_bytes(bytes: &[u8]) -> Option<Numbers> {
        let all = Numbers::all_replaced().replaced;
        let is_whole = bytes.len() == all.len() && bytes.iter().all(|byte| *byte <= 1);
        let chosen = all.into_iter().zip(bytes).filter(|(_, byte)| **byte == 1);
        is_whole.then(|| Numbers { replaced: chosen.map(|(one, _)| one).collect() })
    }

    /// What is replaced, in the order in which it was found.
    pub fn replaced(&self) -> &[(Instruction, Elem)] {
        &self.replaced
    }
}

/// Whether something can stand in for an instruction on a type.
pub fn has_replacement(instruction: Instruction, elem: Elem) -> bool {
    let is_computed = Format::of(elem).is_some();
    let is_conversion = |target: Elem| match target {
        Elem::F32 => elem == Elem::F64 || elem.is_integer(),
        Elem::F64 => elem.is_integer(),
        Elem::I64 => elem.is_signed() && elem.bytes() < 8,
        Elem::Bool
        | Elem::I8
        | Elem::I16
        | Elem::I32
        | Elem::U8
        | Elem::U16
        | Elem::U32
        | Elem::U64
        | Elem::F16
        | Elem::BF16 => false,
    };
    if let Instruction::Cast(target) = instruction {
        return is_conversion(target);
    }
    let has_code = matches!(
        instruction,
        Instruction::Fma
            | Instruction::Div
            | Instruction::Sqrt
            | Instruction::Floor
            | Instruction::Ceil
            | Instruction::Trunc
    );
    has_code && is_computed
}

/// Whether what stands in for an instruction is written where it is used. Drivers put functions in place themselves, which
/// takes Mesa longer than the code of an fma does; what has loops, or is long and rare, is a function all the same.
pub(crate) fn is_in_place(instruction: Instruction) -> bool {
    matches!(
        instruction,
        Instruction::Fma | Instruction::Floor | Instruction::Ceil | Instruction::Trunc | Instruction::Cast(Elem::I64)
    )
}

impl Emitter<'_> {
    /// The code that stands in for an instruction that has some.
    pub(crate) fn replacement(&mut self, instruction: Instruction, elem: Elem, args: &[Value]) -> Value {
        match (instruction, Format::of(elem), args) {
            (Instruction::Fma, Some(format), [a, b, c]) => self.exact_fma(format, *a, *b, *c),
            (Instruction::Div, Some(format), [a, b]) => self.exact_quotient(format, *a, *b),
            (Instruction::Sqrt, Some(format), [a]) => self.exact_root(format, *a),
            (Instruction::Floor, Some(format), [a]) => self.exact_floor(format, *a),
            (Instruction::Ceil, Some(_), [a]) => self.exact_ceil(elem, *a),
            (Instruction::Trunc, Some(format), [a]) => self.exact_trunc(format, elem, *a),
            (Instruction::Cast(Elem::F32), Some(_), [a]) => self.exact_narrowing(*a),
            (Instruction::Cast(Elem::I64), None, [a]) => self.sign_extended(elem, *a),
            (Instruction::Cast(target), None, [a]) => self.exact_conversion(elem, target, *a),
            (_, _, _) => bug!("SPIR-V", elem, "nothing stands in for {instruction:?}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_replacement_stays_the_drivers() {
        let mut numbers = Numbers::of_driver();
        assert!(!numbers.replace(Instruction::Add, Elem::F64));
        assert!(numbers.replace(Instruction::Fma, Elem::F64) && numbers.replace(Instruction::Fma, Elem::F64));
        assert_eq!(numbers.replaced(), [(Instruction::Fma, Elem::F64)]);
        assert!(!numbers.is_replaced(Instruction::Fma, Elem::F32));
    }

    #[test]
    fn fast_numbers_leave_to_the_driver_what_is_a_matter_of_rounding() {
        let fast = Numbers::all_replaced().fast();
        assert!(!fast.is_replaced(Instruction::Fma, Elem::F64) && !fast.is_replaced(Instruction::Div, Elem::F32));
        assert!(
            fast.is_replaced(Instruction::Trunc, Elem::F64)
                && fast.is_replaced(Instruction::Cast(Elem::I64), Elem::I32)
        );
    }

    #[test]
    fn what_is_kept_is_what_was_found() {
        let mut some = Numbers::of_driver();
        some.replace(Instruction::Fma, Elem::F64);
        some.replace(Instruction::Trunc, Elem::F32);
        let all = Numbers::all_replaced();
        for numbers in [Numbers::of_driver(), all.clone(), some] {
            let again = Numbers::of_bytes(&numbers.to_bytes()).expect("its own bytes");
            let is_same = |(instruction, elem): &(Instruction, Elem)| {
                numbers.is_replaced(*instruction, *elem) == again.is_replaced(*instruction, *elem)
            };
            assert!(all.replaced().iter().all(is_same));
        }
        let mut bytes = all.to_bytes();
        bytes[0] = 2;
        assert_eq!(Numbers::of_bytes(&bytes), None);
        assert_eq!(Numbers::of_bytes(&bytes[1..]), None);
    }
}
