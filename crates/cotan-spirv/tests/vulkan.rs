//! Devices: memory, kernels, refusals.

use crate::common::{device, device_with};
use cotan_ir::Elem;
use cotan_ops::Instruction;
use cotan_spirv::emit::Mapping;
use cotan_spirv::numbers::Numbers;
use cotan_spirv::vulkan::{Choice, Device, DeviceError, OpenOptions, Vulkan};
use std::time::Duration;

/// `a + b` in i64.
fn sum(device: &Device) -> Mapping {
    Mapping::new(device.info().features, &Numbers::of_driver(), 2, |code, words| {
        let args = [code.of_word(Elem::I64, words[0]), code.of_word(Elem::I64, words[1])];
        Ok(vec![(Elem::I64, code.instruction(Instruction::Add, Elem::I64, &args)?)])
    })
    .expect("there is an addition")
}

#[test]
fn the_list_has_the_device_that_is_opened() {
    let Some(device) = device() else { return };
    let devices = Vulkan::load().expect("it was loaded before").devices().expect("they were listed before");
    assert_eq!(devices.get(device.info().number), Some(device.info()));
    assert!(device.info().runs_kernels() && device.info().limits.workgroup >= 64, "{:?}", device.info());
}

#[test]
fn a_device_that_is_not_there_is_an_error() {
    let Some(_) = device() else { return };
    let vulkan = Vulkan::load().expect("it was loaded before");
    let opened = vulkan.open(&Choice::of_text("no such device"), &OpenOptions::default());
    assert!(matches!(opened, Err(DeviceError::NoSuchDevice { .. })), "{opened:?}");
}

#[test]
fn memory_holds_what_was_written_directly_and_by_copies() {
    for is_staged in [false, true] {
        let Some(device) = device_with(OpenOptions { is_staged, ..OpenOptions::default() }) else { return };
        let mut memory = device.allocate(100).expect("it is small");
        assert_ne!(memory.address(), 0);
        device.write(&mut memory, 0, &[7; 100]).expect("it fits");
        device.write(&mut memory, 10, &[1, 2, 3]).expect("it fits");
        let mut found = [0; 6];
        device.read(&memory, 8, &mut found).expect("it is inside");
        assert_eq!(found, [7, 7, 1, 2, 3, 7]);
        device.write(&mut memory, 100, &[]).expect("it is nothing");
        let outside = DeviceError::OutOfBounds { end: 101, bytes: 100 };
        assert_eq!(device.write(&mut memory, 98, &[0; 3]), Err(outside.clone()));
        assert_eq!(device.read(&memory, 100, &mut [0]), Err(outside));
    }
}

#[test]
fn a_mapping_computes_every_element() {
    for is_staged in [false, true] {
        let Some(device) = device_with(OpenOptions { is_staged, ..OpenOptions::default() }) else { return };
        let loaded = device.load_mapping(&sum(&device)).expect("it is compiled");
        for n in [0, 1, 63, 64, 65, 1000] {
            let a: Vec<u64> = (0..n).collect();
            let b: Vec<u64> = (0..n).map(|k| k.wrapping_mul(k).wrapping_neg()).collect();
            let expected: Vec<u64> = a.iter().zip(&b).map(|(a, b)| a.wrapping_add(*b)).collect();
            assert_eq!(loaded.run(&[a, b]), Ok(vec![expected]), "{n}");
        }
    }
}

#[test]
fn arrays_of_different_lengths_are_refused() {
    let Some(device) = device() else { return };
    let loaded = device.load_mapping(&sum(&device)).expect("it is compiled");
    let refused = Err(DeviceError::WrongArrays { wanted: (2, 1) });
    assert_eq!(loaded.run(&[vec![1], vec![]]), refused);
    assert_eq!(loaded.run(&[vec![1]]), refused);
}

#[test]
fn too_much_memory_is_an_error() {
    let Some(device) = device() else { return };
    let refused = device.allocate(1 << 50).map(|memory| memory.bytes());
    assert!(matches!(refused, Err(DeviceError::Refused { .. })), "{refused:?}");
    device.allocate(8).expect("the device is still there");
}

#[test]
fn a_device_that_does_not_come_back_is_left_alone() {
    let limit = Duration::from_millis(1);
    let Some(device) = device_with(OpenOptions { limit, ..OpenOptions::default() }) else { return };
    // Roots digit by digit, so many that they take longer.
    let numbers = Numbers::all_replaced();
    let roots = Mapping::new(device.info().features, &numbers, 1, |code, words| {
        let root = code.of_word(Elem::F32, words[0]);
        Ok(vec![(Elem::F32, code.instruction(Instruction::Sqrt, Elem::F32, &[root])?)])
    });
    let loaded = device.load_mapping(&roots.expect("there is a root")).expect("it is compiled");
    let hung = Err(DeviceError::Hung { limit });
    assert_eq!(loaded.run(&[vec![1; 500_000]]), hung);
    // Nothing is asked of it from now on, and nothing freed.
    assert_eq!(loaded.run(&[vec![1]]), hung);
    assert_eq!(device.allocate(8).map(|memory| memory.bytes()), Err(DeviceError::Hung { limit }));
}
