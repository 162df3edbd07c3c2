//! The probe, and every replacement.

use crate::common::{device, is_campaign};
use cotan_ir::{Const, Elem};
use cotan_ops::Instruction;
use cotan_spirv::emit::Mapping;
use cotan_spirv::features::Features;
use cotan_spirv::numbers::Numbers;
use cotan_spirv::probe::{probe, wrong, wrong_with_constants};

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

/// In the campaign for all types, as kernels of hundreds of results take half a minute; else for one.
#[test]
fn constants_as_operands_are_no_exception() {
    let Some(device) = device() else { return };
    let types = if is_campaign() { &Elem::ALL[..] } else { &[Elem::I16] };
    let numbers = probe(&device).expect("everything is right in the end").numbers;
    let ask = |elem| (elem, wrong_with_constants(&device, device.info().features, &numbers, elem));
    let answers: Vec<_> = types.iter().copied().map(ask).collect();
    assert!(answers.iter().all(|(_, wrong)| *wrong == Ok(vec![])), "{answers:#?}");
}

#[test]
fn a_constant_zero_keeps_signs_and_nan() {
    let Some(device) = device() else { return };
    let with_zero = Mapping::new(device.info().features, &Numbers::of_driver(), 1, |code, words| {
        let x = code.of_word(Elem::F32, words[0]);
        let [zero, minus] = [0.0, -0.0].map(|x| code.constant(Const::float(Elem::F32, x)));
        let tuples = [
            (Instruction::Mul, [x, zero]),
            (Instruction::Add, [x, zero]),
            (Instruction::Sub, [x, minus]),
            (Instruction::Div, [zero, x]),
        ];
        let compute = tuples.map(|(op, args)| code.instruction(op, Elem::F32, &args).map(|value| (Elem::F32, value)));
        compute.into_iter().collect()
    });
    let loaded = device.load_mapping(&with_zero.expect("all have code")).expect("it is compiled");
    let numbers = [-1.5, 0.0, -0.0, f32::INFINITY];
    let found = loaded.run(&[numbers.map(|x| x.to_bits().into()).to_vec()]).expect("it runs");
    for (k, x) in numbers.into_iter().enumerate() {
        let expected = [x * 0.0, x + 0.0, x - -0.0, 0.0 / x];
        for (found, expected) in found.iter().zip(expected) {
            let found = f32::from_bits(found[k] as u32);
            assert!(found.to_bits() == expected.to_bits() || found.is_nan() && expected.is_nan(), "{x}: {found}");
        }
    }
}
