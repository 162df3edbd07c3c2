//! The exact fma against the CPU's, on triples of all exponents.

use crate::common::{device, is_campaign};
use cotan_ir::{Const, Elem};
use cotan_ops::Instruction;
use cotan_spirv::emit::{Computation, Mapping, NotEmitted, Value};
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

/// Factors in a range, and an addend that decides where their product is cut: nothing is scaled, which is less code.
#[test]
fn fma_of_clamped_numbers_is_exact_without_scaling() {
    let Some(device) = device() else { return };
    let features = device.info().features;
    let n_triples = if is_campaign() { MANY / 10 } else { CHUNK / 4 };
    let most = 2f64.powi(400);
    for addend in [0.3, -2f64.powi(-800), 3e250, -1e-200, 6755399441055744.0] {
        let loaded = load_as(&device, features, |code, [a, b, _]| {
            let [a, b] = [clamped(code, a, most)?, clamped(code, b, most)?];
            let addend = code.constant(Const::float(Elem::F64, addend));
            code.instruction(Instruction::Fma, Elem::F64, &[a, b, addend])
        });
        compare_with(&loaded, n_triples, |a, b, _| clamp(a, most).mul_add(clamp(b, most), addend));
    }
}

/// Factors that are f32, whose products f64 has all bits of, and whole numbers.
#[test]
fn fma_of_coarse_numbers_is_exact_without_scaling() {
    let Some(device) = device() else { return };
    let features = device.info().features;
    let n_triples = if is_campaign() { MANY / 10 } else { CHUNK / 4 };
    let most = 2f64.powi(100);
    let narrow = |x: f64| clamp(f64::from(x as f32), most);
    let loaded = load_as(&device, features, |code, operands| {
        // The addend keeps all its bits, and may be as small as any.
        let [a, b, c] = operands;
        let args = [coarse(code, a, most)?, coarse(code, b, most)?, clamped(code, c, most)?];
        code.instruction(Instruction::Fma, Elem::F64, &args)
    });
    compare_with(&loaded, n_triples, |a, b, c| narrow(a).mul_add(narrow(b), clamp(c, most)));
    let loaded = load_as(&device, features, |code, [a, b, c]| {
        let mut args = Vec::new();
        for x in [a, b] {
            let x = code.instruction(Instruction::Cast(Elem::I64), Elem::F64, &[x])?;
            args.push(code.instruction(Instruction::Cast(Elem::F64), Elem::I64, &[x])?);
        }
        args.push(clamped(code, c, most)?);
        code.instruction(Instruction::Fma, Elem::F64, &args)
    });
    let whole = |x: f64| x as i64 as f64;
    // What the rounding of a product leaves.
    let rest = load_as(&device, features, |code, [a, b, _]| {
        let [a, b] = [coarse(code, a, most)?, coarse(code, b, most)?];
        let product = code.instruction(Instruction::Mul, Elem::F64, &[a, b])?;
        let minus = code.instruction(Instruction::Neg, Elem::F64, &[product])?;
        code.instruction(Instruction::Fma, Elem::F64, &[b, a, minus])
    });
    compare_with(&rest, n_triples, |a, b, _| narrow(a).mul_add(narrow(b), -(narrow(a) * narrow(b))));
    compare_with(&loaded, n_triples, |a, b, c| whole(a).mul_add(whole(b), clamp(c, most)));
}

/// A number within `most` of zero, as elementary functions clamp their operands.
fn clamped(code: &mut Computation<'_, '_>, x: Value, most: f64) -> Result<Value, NotEmitted> {
    let [low, high] = [-most, most].map(|bound| code.constant(Const::float(Elem::F64, bound)));
    let is_low = code.instruction(Instruction::Lt, Elem::F64, &[x, low])?;
    let raised = code.instruction(Instruction::Select, Elem::F64, &[is_low, low, x])?;
    let is_high = code.instruction(Instruction::Lt, Elem::F64, &[high, raised])?;
    code.instruction(Instruction::Select, Elem::F64, &[is_high, high, raised])
}

/// A number of f32 within `most` of zero.
fn coarse(code: &mut Computation<'_, '_>, x: Value, most: f64) -> Result<Value, NotEmitted> {
    let x = code.instruction(Instruction::Cast(Elem::F32), Elem::F64, &[x])?;
    let x = code.instruction(Instruction::Cast(Elem::F64), Elem::F32, &[x])?;
    clamped(code, x, most)
}

fn clamp(x: f64, most: f64) -> f64 {
    if x < -most {
        -most
    } else if most < x {
        most
    } else {
        x
    }
}

/// A kernel with one fma that is not scaled, and so is shorter than one that is.
fn load_as(
    device: &Device,
    features: Features,
    code: impl Fn(&mut Computation<'_, '_>, [Value; 3]) -> Result<Value, NotEmitted>,
) -> LoadedMapping {
    let mut numbers = Numbers::of_driver();
    assert!(numbers.replace(Instruction::Fma, Elem::F64));
    let mapping = Mapping::new(features, &numbers, N_OPERANDS, |out, words| {
        let args = [0, 1, 2].map(|k| out.of_word(Elem::F64, words[k]));
        Ok(vec![(Elem::F64, code(out, args)?)])
    });
    let mapping = mapping.expect("there is an fma");
    let words = |mapping: &Mapping| mapping.kernel().words().len();
    let (found, scaled) = (words(&mapping), words(&one_fma(features, Elem::F64)));
    assert!(found < scaled, "{found} words, where one that is scaled has {scaled}");
    device.load_mapping(&mapping).expect("it is compiled")
}

fn compare_with(loaded: &LoadedMapping, n_triples: usize, expected: impl Fn(f64, f64, f64) -> f64) {
    let mut random = Random::new(11);
    let mut left = n_triples;
    while left > 0 {
        let n = left.min(CHUNK);
        left -= n;
        let inputs = triples(Elem::F64, &mut random, n);
        let found = loaded.run(&inputs).expect("it runs");
        for (k, found) in found[0].iter().enumerate() {
            let [a, b, c] = [0, 1, 2].map(|operand| f64::from_bits(inputs[operand][k]));
            let (expected, found) = (expected(a, b, c), f64::from_bits(*found));
            let is_same = expected.to_bits() == found.to_bits() || expected.is_nan() && found.is_nan();
            assert!(is_same, "fma({a:e}, {b:e}, {c:e}) is {expected:e}, not {found:e}");
        }
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
    device.load_mapping(&one_fma(features, elem)).expect("it is compiled")
}

fn one_fma(features: Features, elem: Elem) -> Mapping {
    let mut numbers = Numbers::of_driver();
    assert!(numbers.replace(Instruction::Fma, elem));
    let mapping = Mapping::new(features, &numbers, N_OPERANDS, |code, words| {
        let args: Vec<_> = words.iter().map(|word| code.of_word(elem, *word)).collect();
        Ok(vec![(elem, code.instruction(Instruction::Fma, elem, &args)?)])
    });
    mapping.expect("there is an fma")
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
