//! The probe, and every replacement.

use crate::common::device;
use cotan_ir::Elem;
use cotan_ops::Instruction;
use cotan_spirv::features::Features;
use cotan_spirv::numbers::Numbers;
use cotan_spirv::probe::{probe, wrong};

#[test]
fn what_the_driver_gets_wrong_is_replaced() {
    let Some(device) = device() else { return };
    let outcome = probe(&device).expect("everything is right in the end");
    let found: Vec<(Instruction, Elem)> = outcome.findings.iter().map(|f| (f.instruction, f.elem)).collect();
    // Its f64 is cut wrongly as well where the CPU has no AVX-512.
    let is_known = device.info().driver.starts_with("llvmpipe Mesa 22.3.6");
    if is_known {
        let wider = [Elem::I8, Elem::I16, Elem::I32].map(|elem| (Instruction::Cast(Elem::I64), elem));
        let fused = [Elem::F32, Elem::F64].map(|elem| (Instruction::Fma, elem));
        let trunc = found.iter().copied().filter(|row| *row == (Instruction::Trunc, Elem::F64));
        let expected: Vec<_> = wider.into_iter().chain(fused).chain(trunc).collect();
        assert_eq!(outcome.numbers.replaced(), expected);
    }
    for (instruction, elem) in outcome.numbers.replaced() {
        assert!(found.contains(&(*instruction, *elem)));
    }
}

#[test]
fn every_replacement_gives_the_bits_of_the_op_table() {
    let Some(device) = device() else { return };
    let numbers = Numbers::all_replaced();
    let replaced = |elem: &Elem| numbers.replaced().iter().any(|row| row.1 == *elem);
    let ask = |elem| (elem, wrong(&device, device.info().features, &numbers, elem));
    let answers: Vec<_> = Elem::ALL.into_iter().filter(replaced).map(ask).collect();
    assert!(answers.iter().all(|(_, wrong)| *wrong == Ok(vec![])), "{answers:#?}");
}

#[test]
fn without_f64_everything_else_is_right() {
    let Some(device) = device() else { return };
    let features = Features { float64: false, ..device.info().features };
    let numbers = Numbers::all_replaced();
    assert_eq!(wrong(&device, features, &numbers, Elem::F32), Ok(vec![]));
    assert_eq!(wrong(&device, features, &numbers, Elem::I64), Ok(vec![]));
}
