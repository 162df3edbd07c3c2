//! The instructions of a type, with the kernels of the op table that say what they compute.

use super::{Example, Finding, N_TUPLES};
use cotan_ir::{Const, Elem, OperandElem};
use cotan_ops::{Carrier, Codegen, Instruction, Kernel, LT, PrimRow, table};

/// An instruction on a type.
pub(super) struct Case {
    pub(super) instruction: Instruction,
    /// The types of its operands.
    pub(super) operands: Vec<Elem>,
    pub(super) result: Elem,
    /// What the result is; without a kernel, the bits of the operand.
    kernel: Option<Kernel>,
    /// What is asked of the result, if not the result itself is to be compared.
    pub(super) then: Option<Then>,
    /// An operand that is a constant, with its bits.
    pub(super) fixed: Option<(usize, u64)>,
}

/// A comparison of a result with a constant. Drivers rewrite those of converted numbers, and not always rightly.
#[derive(Clone, Copy)]
pub(super) struct Then {
    pub(super) instruction: Instruction,
    pub(super) elem: Elem,
    pub(super) constant: u64,
    kernel: Kernel,
}

/// Every instruction that the type has.
pub(super) fn cases(elem: Elem) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    for case in table().iter().filter_map(|row| case(row, elem)) {
        if cases.iter().all(|known| known.instruction != case.instruction) {
            cases.push(case);
        }
    }
    let targets =
        Elem::ALL.into_iter().filter(|to| to.bytes() == elem.bytes() && *to != Elem::Bool && elem != Elem::Bool);
    cases.extend(targets.map(|target| Case {
        instruction: Instruction::Bitcast(target),
        operands: vec![elem],
        result: target,
        kernel: None,
        then: None,
        fixed: None,
    }));
    let compared: Vec<Case> = cases.iter().flat_map(compared).collect();
    cases.extend(compared);
    cases
}

/// Every instruction of two or more operands, with a constant for one of them.
pub(super) fn cases_with_constants(elem: Elem) -> Vec<Case> {
    let is_plain = |case: &Case| case.operands.len() > 1 && case.then.is_none();
    let mut fixed = Vec::new();
    for case in cases(elem).into_iter().filter(is_plain) {
        for (place, operand) in case.operands.iter().enumerate() {
            let cases = constants(*operand).into_iter().map(|bits| (place, canonical(*operand, bits)));
            fixed.extend(cases.map(|fixed| Case { operands: case.operands.clone(), fixed: Some(fixed), ..case }));
        }
    }
    fixed
}

/// Numbers for which compilers have rules.
fn constants(elem: Elem) -> Vec<u64> {
    let floats = [0.0, -0.0, 1.0, -1.0, 2.0, f64::INFINITY];
    match elem {
        Elem::F32 | Elem::F64 => floats.map(|x| Const::float(elem, x).bits()).into(),
        Elem::Bool => vec![0, 1],
        Elem::F16 | Elem::BF16 => vec![0, 0x8000],
        Elem::I8 | Elem::I16 | Elem::I32 | Elem::I64 | Elem::U8 | Elem::U16 | Elem::U32 | Elem::U64 => {
            let sign = 1 << (8 * elem.bytes() - 1);
            vec![0, 1, u64::MAX, 8, sign, sign - 1]
        }
    }
}

/// Comparisons of a number that was made wider with constants.
fn compared(case: &Case) -> Vec<Case> {
    let Instruction::Cast(target) = case.instruction else { return Vec::new() };
    let Some(kernel) = (LT.kernels)(Carrier::Elem(target)) else { return Vec::new() };
    let is_wider = case.operands.iter().all(|elem| elem.is_integer() && elem.bytes() < target.bytes());
    if !is_wider || !target.is_integer() {
        return Vec::new();
    }
    let constants = [5, 5u64.wrapping_neg()].map(|word| canonical(target, word));
    let then = constants.map(|constant| Then { instruction: Instruction::Lt, elem: target, constant, kernel });
    let case = |then| Case { operands: case.operands.clone(), result: Elem::Bool, then: Some(then), ..*case };
    then.map(case).into()
}

/// The row of a type as a case, if an instruction computes it there.
fn case(row: &'static PrimRow, elem: Elem) -> Option<Case> {
    let instruction = match row.codegen {
        Codegen::Native(instruction) => instruction,
        Codegen::NativeOrHost(instruction) if !elem.is_float() => instruction,
        Codegen::NativeOrHost(_) | Codegen::Host | Codegen::Power | Codegen::Term(_) | Codegen::Expansion(_) => {
            return None;
        }
    };
    let kernel = (row.kernels)(Carrier::Elem(elem))?;
    let operand = |operand: &OperandElem| match operand {
        OperandElem::T => elem,
        OperandElem::Is(elem) => *elem,
    };
    let operands: Vec<Elem> = row.sig.operands.iter().map(operand).collect();
    let result = row.prim().result_elem(&operands).ok()?;
    Some(Case { instruction, operands, result, kernel: Some(kernel), then: None, fixed: None })
}

impl Case {
    /// What of an output is wrong.
    pub(super) fn compare(&self, elem: Elem, inputs: &[Vec<u64>], output: &[u64]) -> Option<Finding> {
        let mut first = None;
        let mut n_wrong = 0;
        let mut operands = vec![0; self.operands.len()];
        for (k, found) in output.iter().copied().enumerate().take(N_TUPLES) {
            for ((operand, elem), words) in operands.iter_mut().zip(&self.operands).zip(inputs) {
                *operand = canonical(*elem, words[k]);
            }
            if let Some((place, bits)) = self.fixed {
                operands[place] = bits;
            }
            let result = match self.kernel {
                Some(kernel) => kernel(&operands),
                None => canonical(self.result, operands[0]),
            };
            let expected = self.then.map_or(result, |then| (then.kernel)(&[result, then.constant]));
            if found != expected && !(is_nan(self.result, found) && is_nan(self.result, expected)) {
                n_wrong += 1;
                first.get_or_insert_with(|| Example { operands: operands.clone(), expected, found });
            }
        }
        first.map(|example| Finding { instruction: self.instruction, elem, n_wrong, example })
    }
}

/// The bits of the constant of a type that the last bits of a word are.
pub fn canonical(elem: Elem, word: u64) -> u64 {
    match elem {
        Elem::Bool => word & 1,
        Elem::I8 => word as i8 as u64,
        Elem::I16 => word as i16 as u64,
        Elem::I32 => word as i32 as u64,
        Elem::U8 => u64::from(word as u8),
        Elem::U16 | Elem::F16 | Elem::BF16 => u64::from(word as u16),
        Elem::U32 | Elem::F32 => u64::from(word as u32),
        Elem::I64 | Elem::U64 | Elem::F64 => word,
    }
}

/// Whether the bits are those of a NaN, all of which are the same.
fn is_nan(elem: Elem, bits: u64) -> bool {
    match elem {
        Elem::F32 => f32::from_bits(bits as u32).is_nan(),
        Elem::F64 => f64::from_bits(bits).is_nan(),
        Elem::F16 | Elem::BF16 => elem.storage().is_some_and(|storage| storage.widen(bits as u16).is_nan()),
        Elem::Bool | Elem::I8 | Elem::I16 | Elem::I32 | Elem::I64 | Elem::U8 | Elem::U16 | Elem::U32 | Elem::U64 => {
            false
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_native_instruction_is_asked_on_every_type() {
        let counts = Elem::ALL.map(|elem| cases(elem).len());
        assert!(counts.into_iter().all(|n| n >= 10), "{counts:?}");
        let fma = cases(Elem::F64).into_iter().find(|case| case.instruction == Instruction::Fma).expect("there is one");
        assert_eq!((fma.operands, fma.result), (vec![Elem::F64; 3], Elem::F64));
        let shift =
            cases(Elem::U8).into_iter().find(|case| case.instruction == Instruction::Shl).expect("there is one");
        assert_eq!((shift.operands, shift.result), (vec![Elem::U8, Elem::I64], Elem::U8));
    }

    #[test]
    fn words_are_cut_to_a_type() {
        assert_eq!(canonical(Elem::I8, 0x1ff), u64::MAX);
        assert_eq!(canonical(Elem::U16, 0x1_2345), 0x2345);
        assert_eq!(canonical(Elem::Bool, 6), 0);
    }
}
