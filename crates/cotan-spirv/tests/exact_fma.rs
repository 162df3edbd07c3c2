//! The exact fma against the CPU's, on triples of all exponents.

use crate::common::{device, is_campaign};
use cotan_ir::Elem;
use cotan_ops::Instruction;
use cotan_spirv::emit::Mapping;
use cotan_spirv::features::Features;
use cotan_spirv::numbers::Numbers;
use cotan_spirv::probe::{N_OPERANDS, Random, awkward};
use cotan_spirv::vulkan::{Device, LoadedMapping};

/// Triples of one launch.
const CHUNK: usize = 500_000;

/// Triples of each way in the campaign, which take ten minutes together; else there is half a launch of them.
const MANY: usize = 100_000_000;

/// How an fma is computed.
#[derive(Clone, Copy)]
enum Way {
    Double,
    SingleByDouble,
    Single,
}

#[test]
fn fma_of_f64_is_exact_for_all_exponents() {
    check_way(Way::Double);
}

#[test]
fn fma_of_f32_by_f64_is_exact_for_all_exponents() {
    check_way(Way::SingleByDouble);
}

#[test]
fn fma_of_f32_alone_is_exact_for_all_exponents() {
    check_way(Way::Single);
}

/// Operands at which something was wrong once: a subnormal factor of one bit, next to one of all bits.
#[test]
fn a_factor_of_one_bit_is_split_right() {
    let Some(device) = device() else { return };
    let features = device.info().features;
    let double = [0x5aff_ffff_ffff_ffff, 0x400_0000, 0x1570_0000_0000_0008];
    check_tuples(&device, features, Elem::F64, &double.map(|x| vec![x]));
    let single = [0xdaff_ffff, 0x800, 0x480_0008].map(|x| vec![x]);
    for float64 in [false, true] {
        check_tuples(&device, Features { float64, ..features }, Elem::F32, &single);
    }
}

fn check_way(way: Way) {
    let n_triples = if is_campaign() { MANY } else { CHUNK / 2 };
    let Some(device) = device() else { return };
    let features = device.info().features;
    match way {
        Way::Double => check(&device, features, Elem::F64, n_triples),
        Way::SingleByDouble => check(&device, features, Elem::F32, n_triples),
        Way::Single => check(&device, Features { float64: false, ..features }, Elem::F32, n_triples),
    }
}

fn check(device: &Device, features: Features, elem: Elem, n_triples: usize) {
    let loaded = load(device, features, elem);
    let mut random = Random::new(7);
    let mut left = n_triples;
    while left > 0 {
        let n = left.min(CHUNK);
        left -= n;
        compare(&loaded, elem, &triples(elem, &mut random, n));
    }
}

fn check_tuples(device: &Device, features: Features, elem: Elem, inputs: &[Vec<u64>]) {
    compare(&load(device, features, elem), elem, inputs);
}

/// The kernel of the exact fma.
fn load(device: &Device, features: Features, elem: Elem) -> LoadedMapping {
    let mut numbers = Numbers::of_driver();
    assert!(numbers.replace(Instruction::Fma, elem));
    let mapping = Mapping::new(features, &numbers, N_OPERANDS, |code, words| {
        let args: Vec<_> = words.iter().map(|word| code.of_word(elem, *word)).collect();
        Ok(vec![(elem, code.instruction(Instruction::Fma, elem, &args)?)])
    });
    device.load_mapping(&mapping.expect("there is an fma")).expect("it is compiled")
}

fn compare(loaded: &LoadedMapping, elem: Elem, inputs: &[Vec<u64>]) {
    let found = loaded.run(inputs).expect("it runs");
    for (k, found) in found[0].iter().enumerate() {
        let [a, b, c] = [0, 1, 2].map(|operand| inputs[operand][k]);
        let expected = fma(elem, a, b, c);
        assert!(
            *found == expected || is_nan(elem, *found) && is_nan(elem, expected),
            "{elem} fma({a:#x}, {b:#x}, {c:#x}) is {expected:#x}, not {found:#x}"
        );
    }
}

/// The awkward triples of the probe, and random ones in which few bits are set now and then, with addends in reach of
/// the product three times out of four.
fn triples(elem: Elem, random: &mut Random, n: usize) -> Vec<Vec<u64>> {
    let mut inputs = awkward(elem, n / 10);
    for _ in n / 10..n {
        for (input, number) in inputs.iter_mut().zip(triple(elem, random)) {
            input.push(number);
        }
    }
    inputs
}

fn triple(elem: Elem, random: &mut Random) -> [u64; 3] {
    let (fraction, fields) = if elem == Elem::F64 { (52, 2047) } else { (23, 255) };
    let width = 8 * elem.bytes();
    let all = (1 << fraction) - 1;
    let mut number = |field: i64| {
        let bits = random.bits();
        let shape = bits >> (fraction + 1) & 7;
        let kept = match shape {
            0 => 0,
            1 => all & !((1 << (fraction / 2)) - 1),
            2 => all & !((1 << (fraction - 4)) - 1),
            3 => 7,
            _ => all,
        };
        let flipped = if shape < 4 && bits >> (fraction + 4) & 1 == 1 { all } else { 0 };
        let sign = bits >> 63 << (width - 1);
        sign | ((field.clamp(0, fields) as u64) << fraction) | ((bits & kept) ^ flipped)
    };
    let mut any = Random::new(number(0));
    let mut field = |n: i64| any.below(n as u64) as i64;
    let (a, b) = (field(fields), field(fields + 1));
    let reach = 3 * fraction + 4;
    let c = match field(4) {
        0 => field(fields + 1),
        _ => a + b - fields / 2 - reach + field(2 * reach),
    };
    [a, b, c].map(number)
}

fn fma(elem: Elem, a: u64, b: u64, c: u64) -> u64 {
    if elem == Elem::F64 {
        let [a, b, c] = [a, b, c].map(f64::from_bits);
        return a.mul_add(b, c).to_bits();
    }
    let [a, b, c] = [a, b, c].map(|x| f32::from_bits(x as u32));
    a.mul_add(b, c).to_bits().into()
}

fn is_nan(elem: Elem, bits: u64) -> bool {
    if elem == Elem::F64 { f64::from_bits(bits).is_nan() } else { f32::from_bits(bits as u32).is_nan() }
}
