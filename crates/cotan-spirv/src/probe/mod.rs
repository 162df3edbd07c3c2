//! The probe: what a device's numbers are, found by asking it.
//!
//! Each instruction runs on awkward operands, one kernel for all instructions of a type, and is compared with the kernels of
//! the op table, bit for bit. A number that was made wider is compared with constants, too: Mesa 22.3 does so wrongly. What is wrong and has a replacement is replaced, and its type is asked again; what is wrong
//! then is an error.

mod cases;
mod operands;

use crate::emit::{Mapping, NotEmitted};
use crate::features::Features;
use crate::numbers::Numbers;
use crate::vulkan::{Device, DeviceError};
use cases::Case;
use cotan_ir::{Const, Elem};
use cotan_ops::Instruction;
use std::fmt;

pub use cases::canonical;
pub use operands::{N_OPERANDS, Random, awkward};

/// How many tuples of operands each instruction runs on.
pub const N_TUPLES: usize = 10_000;

/// What a probe found. It holds for a device and its driver, and may be kept with their names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Which instructions are the driver's own.
    pub numbers: Numbers,
    /// What the driver got wrong.
    pub findings: Vec<Finding>,
}

/// An instruction that a driver gets wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The instruction.
    pub instruction: Instruction,
    /// The type of its operands.
    pub elem: Elem,
    /// How many results were wrong.
    pub n_wrong: usize,
    /// One of them.
    pub example: Example,
}

/// A wrong result, or a wrong comparison of a right one, in the bits of constants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    /// The operands.
    pub operands: Vec<u64>,
    /// The result of the op table.
    pub expected: u64,
    /// That of the device.
    pub found: u64,
}

/// Why a device can't be used as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProbeError {
    /// The device failed.
    Device(DeviceError),
    /// An instruction of the op table has no code.
    NotEmitted(NotEmitted),
    /// An instruction is wrong, with its replacement too if there is one.
    Wrong(Finding),
}

impl fmt::Display for ProbeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ProbeError::Device(error) => error.fmt(f),
            ProbeError::NotEmitted(error) => error.fmt(f),
            ProbeError::Wrong(Finding { instruction, elem, n_wrong, example }) => {
                let Example { operands, expected, found } = example;
                let operands: Vec<String> = operands.iter().map(|bits| format!("{bits:#x}")).collect();
                let operands = operands.join(", ");
                write!(f, "the device computes {instruction:?} on {elem} wrong, for {n_wrong} of {N_TUPLES} tuples: ")?;
                write!(f, "({operands}) gives {found:#x}, right is {expected:#x}")
            }
        }
    }
}

impl std::error::Error for ProbeError {}

impl From<DeviceError> for ProbeError {
    fn from(error: DeviceError) -> ProbeError {
        ProbeError::Device(error)
    }
}

impl From<NotEmitted> for ProbeError {
    fn from(error: NotEmitted) -> ProbeError {
        ProbeError::NotEmitted(error)
    }
}

/// Asks a device for every instruction and type that it has.
pub fn probe(device: &Device) -> Result<Outcome, ProbeError> {
    let features = device.info().features;
    let mut outcome = Outcome::default();
    for elem in Elem::ALL.into_iter().filter(|elem| has(features, *elem)) {
        let wrong = wrong(device, features, &outcome.numbers, elem)?;
        let is_new = wrong.iter().map(|finding| outcome.numbers.replace(finding.instruction, elem));
        let is_replaced = is_new.fold(false, |one, other| one | other);
        // What is wrong because of something that is replaced now is right then.
        let still_wrong =
            if is_replaced { self::wrong(device, features, &outcome.numbers, elem)? } else { wrong.clone() };
        if let Some(finding) = still_wrong.into_iter().next() {
            return Err(ProbeError::Wrong(finding));
        }
        outcome.findings.extend(wrong);
    }
    Ok(outcome)
}

/// The instructions on a type that a device gets wrong with these numbers; with features withheld, too.
pub fn wrong(device: &Device, features: Features, numbers: &Numbers, elem: Elem) -> Result<Vec<Finding>, ProbeError> {
    ask(device, features, numbers, elem, cases::cases(elem))
}

/// The same where one operand is a constant, for which drivers have rules. It takes longer, so no probe does it.
pub fn wrong_with_constants(
    device: &Device,
    features: Features,
    numbers: &Numbers,
    elem: Elem,
) -> Result<Vec<Finding>, ProbeError> {
    ask(device, features, numbers, elem, cases::cases_with_constants(elem))
}

fn ask(
    device: &Device,
    features: Features,
    numbers: &Numbers,
    elem: Elem,
    cases: Vec<Case>,
) -> Result<Vec<Finding>, ProbeError> {
    let cases: Vec<Case> = cases.into_iter().filter(|case| has(features, case.result)).collect();
    let inputs = awkward(elem, N_TUPLES);
    let mapping = mapping(features, numbers, elem, &cases)?;
    let outputs = device.load_mapping(&mapping)?.run(&inputs)?;
    let findings = cases.iter().zip(&outputs).filter_map(|(case, output)| case.compare(elem, &inputs, output));
    let mut findings: Vec<Finding> = findings.collect();
    // Comparisons of what one cast gives are one finding.
    findings.dedup_by_key(|finding| finding.instruction);
    Ok(findings)
}

/// The kernel that the probe runs for a type.
pub fn probing_kernel(features: Features, numbers: &Numbers, elem: Elem) -> Result<Mapping, NotEmitted> {
    let cases: Vec<Case> = cases::cases(elem).into_iter().filter(|case| has(features, case.result)).collect();
    mapping(features, numbers, elem, &cases)
}

fn mapping(features: Features, numbers: &Numbers, elem: Elem, cases: &[Case]) -> Result<Mapping, NotEmitted> {
    Mapping::new(features, numbers, N_OPERANDS, |code, words| {
        let compute = |case: &Case| {
            let pairs = case.operands.iter().zip(words);
            let mut args: Vec<_> = pairs.map(|(elem, word)| code.of_word(*elem, *word)).collect();
            if let Some((place, bits)) = case.fixed {
                args[place] = code.constant(Const::from_bits(case.operands[place], bits));
            }
            let value = code.instruction(case.instruction, elem, &args)?;
            let Some(then) = case.then else { return Ok((case.result, value)) };
            let constant = code.constant(Const::from_bits(then.elem, then.constant));
            Ok((case.result, code.instruction(then.instruction, then.elem, &[value, constant])?))
        };
        cases.iter().map(compute).collect()
    })
}

/// Whether a device has a type.
fn has(features: Features, elem: Elem) -> bool {
    elem != Elem::F64 || features.float64
}
