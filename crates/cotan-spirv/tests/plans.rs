//! Plans on a device have the bits and the errors of the reference device, in workgroups of every size, and their kernels are
//! valid.

use crate::common::{device, device_with, is_campaign, validate};
use cotan_device::{Plan, RunError, plan, plan_watching};
use cotan_ir::{Const, Elem, parse_module, verify_module};
use cotan_loops::pipeline::{FOR_DEVICES, run};
use cotan_loops::{DEVICE, NestContext, VerifiedNests, lower};
use cotan_nest::{Options, run_plan};
use cotan_ops::{Instruction, Registry, Value};
use cotan_spirv::numbers::Numbers;
use cotan_spirv::probe::probe;
use cotan_spirv::runner::{Argument, Array, CallLimits, KernelStore, LoadOptions, LoadedPlan, Outcome, modules};
use cotan_spirv::vulkan::{Device, OpenOptions};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::time::Instant;

/// The nests of a module.
fn nests(text: &str) -> VerifiedNests {
    let module = parse_module(text, Registry::standard()).unwrap_or_else(|e| panic!("{e}\n{text}"));
    verify_module(&module).unwrap_or_else(|e| panic!("{e:?}\n{text}"));
    let nests = module.functions().map(|f| {
        let mut nest = lower(f, &DEVICE);
        run(FOR_DEVICES, &mut nest, &NestContext::default());
        nest
    });
    VerifiedNests::new(nests.collect()).expect("they are verified")
}

/// The plan of the function `f`.
fn planned(text: &str) -> Plan {
    plan(&nests(text), "f").expect("it has a plan")
}

/// The bits of the elements; every NaN is the same.
fn bits(value: &Value) -> Vec<u64> {
    let is_nan = |bits: u64| match value.elem {
        Elem::F64 => f64::from_bits(bits).is_nan(),
        Elem::F32 => f32::from_bits(bits as u32).is_nan(),
        Elem::F16 => bits & 0x7fff > 0x7c00,
        Elem::BF16 => bits & 0x7fff > 0x7f80,
        Elem::Bool | Elem::I8 | Elem::I16 | Elem::I32 | Elem::I64 | Elem::U8 | Elem::U16 | Elem::U32 | Elem::U64 => {
            false
        }
    };
    value.bits.iter().map(|bits| if is_nan(*bits) { u64::MAX } else { *bits }).collect()
}

/// Calls of a program with these arguments give in workgroups of every size what the reference device gives.
fn same_in_all_workgroups(text: &str, calls: &[Vec<Value>]) {
    same_in_workgroups(&Numbers::of_driver(), text, calls, &[32, 64, 256]);
}

/// The same in those of one size, or of all where everything is asked for.
fn same_as_reference(text: &str, calls: &[Vec<Value>]) {
    same_with(&Numbers::of_driver(), text, calls);
}

/// The same with these numbers: drivers get those of the narrower types wrong.
fn same_with(numbers: &Numbers, text: &str, calls: &[Vec<Value>]) {
    same_in_workgroups(numbers, text, calls, if is_campaign() { &[32, 64, 256] } else { &[64] });
}

fn same_in_workgroups(numbers: &Numbers, text: &str, calls: &[Vec<Value>], workgroups: &[u32]) {
    let plan = planned(text);
    let Some(device) = device() else { return };
    for (k, module) in modules(&device, numbers, &plan).expect("it has code").iter().enumerate() {
        validate(&format!("module {k} of\n{plan}"), module);
    }
    for workgroup in workgroups {
        let loaded = LoadedPlan::in_workgroups(&device, numbers, plan.clone(), *workgroup).expect("it is compiled");
        for args in calls {
            let expected = run_plan(&plan, args, &Options::default());
            let found = loaded.call(args, &CallLimits::default(), &mut |_| {}).map(|called| called.values);
            let same = match (&found, &expected) {
                (Ok(found), Ok(expected)) => found.iter().map(bits).eq(expected.iter().map(bits)),
                (Err(found), Err(expected)) => found == expected,
                (Ok(_), Err(_)) | (Err(_), Ok(_)) => false,
            };
            let sizes: Vec<&[i64]> = args.iter().map(|arg| arg.dims.as_slice()).collect();
            assert!(same, "{sizes:?} in groups of {workgroup}:\n{found:?}\n{expected:?}\n{plan}");
        }
    }
}

/// Sizes at which blocks begin and end.
const SIZES: [i64; 14] = [0, 1, 2, 15, 16, 17, 33, 255, 4095, 4096, 4097, 8192, 12_289, 81_927];

/// Numbers of very different size, so that every order has sums of its own.
fn uneven(n: i64) -> Vec<f64> {
    (0..n).map(|k| ((k * 7919 % 101) as f64 - 50.0) * 10.0_f64.powi((k * 31 % 17) as i32 - 8)).collect()
}

fn with_size(n: i64) -> Vec<Value> {
    vec![Const::i64(n).into(), Value::f64s(&[n], &uneven(n))]
}

#[test]
fn sums_have_the_documented_order_at_every_size() {
    let calls: Vec<Vec<Value>> = SIZES.into_iter().map(with_size).collect();
    same_in_all_workgroups(
        "fn f(n: i64, x: f64[n]) {
          s: f64 = par j < n (add from 0.5) {
            g: f64 = x[j]
            yield g
          }
          return s
        }",
        &calls,
    );
}

#[test]
fn several_sums_of_every_monoid_are_reduced_together() {
    let calls: Vec<Vec<Value>> = [0, 1, 17, 4097, 8192].into_iter().map(with_size).collect();
    same_as_reference(
        "fn f(n: i64, x: f64[n]) {
          s: f64, p: f64, lo: f64, hi: f64, all: bool, any: bool, k: i64, most: i64 = par j < n (add from 1.0, mul from 1.0, min from 3.0, max from -3.0, and from true, or from false, add from 7, max from 5) {
            g: f64 = x[j]
            small: f64 = mul g, 0.000001
            near: f64 = add small, 1.0
            is_positive: bool = gt g, 0.0
            is_large: bool = gt g, 1000.0
            yield g, near, g, g, is_positive, is_large, j, j
          }
          return s, p, lo, hi, all, any, k, most
        }",
        &calls,
    );
}

#[test]
fn a_sum_over_several_indices_is_one_over_row_major_numbers() {
    let calls: Vec<Vec<Value>> = [[0, 3], [3, 0], [1, 1], [5, 7], [64, 64], [67, 129], [3, 5000]]
        .into_iter()
        .map(|[n, m]| {
            let x = Value { dims: vec![n, m], ..Value::f64s(&[n * m], &uneven(n * m)) };
            vec![Const::i64(n).into(), Const::i64(m).into(), x]
        })
        .collect();
    same_as_reference(
        "fn f(n: i64, m: i64, x: f64[n, m]) {
          s: f64, w: f64 = par i < n, j < m (add from 0.25, max from 0.0) {
            g: f64 = x[i, j]
            h: f64 = mul g, g
            yield g, h
          }
          return s, w
        }",
        &calls,
    );
}

#[test]
fn sums_of_the_smaller_types_are_rounded_after_each_step() {
    let calls: Vec<Vec<Value>> = [1, 16, 17, 4096, 5000].into_iter().map(with_size).collect();
    same_with(
        &Numbers::all_replaced(),
        "fn f(n: i64, x: f64[n]) {
          s.0: f32 = to_f32 0.5
          k.0: i8 = to_i8 3
          s: f32, k: i8 = par j < n (add from s.0, add from k.0) {
            g: f64 = x[j]
            a: f32 = to_f32 g
            c: i8 = to_i8 j
            yield a, c
          }
          return s, k
        }",
        &calls,
    );
}

#[test]
fn the_lowest_iteration_that_fails_is_told() {
    let call = |bad: &[i64]| {
        let n = 100_000;
        let numbers = (0..n).map(|k| if bad.contains(&k) { -1 - k } else { k }).collect::<Vec<i64>>();
        vec![Const::i64(n).into(), Value::i64s(&[n], &numbers)]
    };
    let calls = [call(&[]), call(&[99_999]), call(&[70_001, 4_099, 4_096 * 9 + 1]), call(&[17, 33, 18, 5]), call(&[0])];
    let text = "fn f(n: i64, x: i64[n]) {
      s: i64 = par j < n (add from 0) {
        g: i64 = x[j]
        fits: bool = ge g, 0
        h: i64 = check fits R0001(g, n) g
        yield h
      }
      return s
    }";
    same_as_reference(text, &calls);
    let failed = run_plan(&planned(text), &calls[2], &Options::default());
    assert!(matches!(failed, Err(RunError::Check { ref args, .. }) if args[0] == -4_100), "{failed:?}");
}

#[test]
fn short_and_long_sums_of_a_thread_have_the_documented_order() {
    let calls: Vec<Vec<Value>> = [0, 1, 16, 17, 4095, 4096, 4097, 9000].into_iter().map(with_size).collect();
    for count in ["n", "0", "3", "16", "17", "4097"] {
        let text = format!(
            "fn f(n: i64, x: f64[n]) {{
              y: f64[20] = par i < 20 (stack) {{
                s: f64, m: f64 = par j < {count} (add from 0.5, max from 0.0) {{
                  k: i64 = min j, n
                  a: f64 = to_f64 k
                  b: f64 = mul 0.1, a
                  c: f64 = to_f64 i
                  d: f64 = add b, c
                  yield d, d
                }}
                t: f64 = add s, m
                yield t
              }}
              return y
            }}"
        );
        same_as_reference(&text, &calls);
    }
}

/// Arguments of a scatter of `n` numbers to `m` elements.
fn scattered(n: i64, m: i64) -> Vec<Value> {
    let places: Vec<i64> = (0..n).map(|i| (i * i * 31 + i / 7) % m.max(1)).collect();
    let (x, z) = (Value::f64s(&[n], &uneven(n)), Value::f64s(&[m], &uneven(m)));
    vec![Const::i64(n).into(), Const::i64(m).into(), Value::i64s(&[n], &places), x, z]
}

#[test]
fn contributions_are_added_as_the_plan_says() {
    let sizes = [(0, 3), (1, 1), (1024, 7), (1025, 65), (2000, 1), (5000, 64), (30_000, 100), (3000, 70_000)];
    let calls: Vec<Vec<Value>> = sizes.into_iter().map(|(n, m)| scattered(n, m)).collect();
    same_in_all_workgroups(include_str!("../../../tests/plans/scatter.cir"), &calls);
    same_as_reference(include_str!("../../../tests/plans/sum_and_scatter.cir"), &calls);
    let calls: Vec<Vec<Value>> =
        calls.into_iter().map(|args| args.into_iter().chain([Const::f64(0.5).into()]).collect()).collect();
    same_as_reference(include_str!("../../../tests/plans/several_targets.cir"), &calls);
}

#[test]
fn elements_are_computed_where_they_are_read() {
    let calls: Vec<Vec<Value>> = [2, 3, 1000].into_iter().map(with_size).collect();
    same_in_all_workgroups(include_str!("../../../tests/plans/neighbours.cir"), &calls);
}

#[test]
fn a_nan_in_a_result_is_told_where_results_are_watched() {
    let Some(device) = device() else { return };
    // One result is stored to, the other added to, and one is narrower than the numbers of its kernel.
    for (elem, text) in [
        (
            Elem::F64,
            "fn f(n: i64, x: f64[n], z: f64[n]) {
          r: f64[n] = par i < n (stack) {
            e: f64 = x[i]
            p: f64 = mulc e, 0.0
            yield p
          }
          return r
        }",
        ),
        (
            Elem::F64,
            "fn f(n: i64, x: f64[n], z: f64[n]) {
          r: f64[n] = par i < n acc (h: f64[n] add from z) {
            e: f64 = x[i]
            p: f64 = mulc e, 0.0
            acc_add h[i] = p
            yield
          }
          return r
        }",
        ),
        (
            Elem::F16,
            "fn f(n: i64, x: f16[n], z: f16[n]) {
          r: f16[n] = par i < n (stack) {
            e: f16 = x[i]
            w: f32 = to_f32 e
            m: f32 = mulc w, 0.0_f32
            p: f16 = to_f16 m
            yield p
          }
          return r
        }",
        ),
    ] {
        told_where_watched(&device, text, elem);
    }
}

fn told_where_watched(device: &Device, text: &str, elem: Elem) {
    let plan = plan_watching(&nests(text), "f").expect("it has a plan");
    let loaded = LoadedPlan::new(device, &Numbers::of_driver(), plan.clone()).expect("it is compiled");
    let called = |at: usize, number: f64| {
        let element = |k: i64| if k as usize == at { number } else { (k % 101 - 50) as f64 };
        let bits = (0..1000).map(|k| Const::float(elem, element(k)).bits()).collect();
        let x = Value { elem, dims: vec![1000], bits };
        let args = [Const::i64(1000).into(), x, Value::zeros(elem, &[1000])];
        let on_reference = run_plan(&plan, &args, &Options::default()).err();
        let found = loaded.call(&args, &CallLimits::default(), &mut |_| {}).map(drop).err();
        assert_eq!(found, on_reference, "{plan}");
        found
    };
    assert_eq!(called(3, 1.0), None);
    for at in [0, 999] {
        assert_eq!(called(at, f64::INFINITY), Some(RunError::ForHost), "{plan}");
    }
    assert_eq!(called(5, 60_000.0), None, "what one call has told is no matter of the next");
}

#[test]
fn what_needs_f64_is_for_the_host_where_there_is_none() {
    let options = OpenOptions { is_without_f64: true, ..OpenOptions::default() };
    let Some(device) = device_with(options) else { return };
    let numbers = probe(&device).expect("it computes").numbers;
    for function in ["digamma e", "polygamma e, order"] {
        let text = format!(
            "fn f(n: i64, x: f32[n], order: i64) {{
              r: f32[n] = par i < n (stack) {{
                e: f32 = x[i]
                p: f32 = {function}
                yield p
              }}
              return r
            }}"
        );
        let loaded = LoadedPlan::new(&device, &numbers, planned(&text)).expect("it is compiled");
        let x = Value { elem: Elem::F32, dims: vec![1], bits: vec![1.5_f32.to_bits().into()] };
        let args = [Const::i64(1).into(), x, Const::i64(1).into()];
        let found = loaded.call(&args, &CallLimits::default(), &mut |_| {}).map(drop);
        assert_eq!(found, Err(RunError::ForHost), "{function}");
    }
}

#[test]
fn elements_of_an_iteration_are_added_to_by_its_thread() {
    let calls: Vec<Vec<Value>> = [(0, 2), (3, 0), (1000, 5)]
        .into_iter()
        .map(|(n, m)| {
            let x = Value { dims: vec![n, m], ..Value::f64s(&[n * m], &uneven(n * m)) };
            let z = Value { dims: vec![n, 2], ..Value::f64s(&[n * 2], &uneven(n * 2)) };
            vec![Const::i64(n).into(), Const::i64(m).into(), x, z]
        })
        .collect();
    same_as_reference(include_str!("../../../tests/plans/own_elements.cir"), &calls);
}

#[test]
fn groups_of_iterations_add_to_copies_of_their_own() {
    let calls: Vec<Vec<Value>> =
        [(0, 3), (1, 1), (33, 7), (3000, 20)].into_iter().map(|(n, m)| scattered(n, m)).collect();
    same_as_reference(include_str!("../../../tests/plans/steps_of_data.cir"), &calls);
}

/// Floats of all exponents, their neighbours, zeros, infinities and NaN.
fn awkward() -> Vec<f64> {
    let mut all = vec![0.0, f64::MIN_POSITIVE, f64::from_bits(1), f64::MAX, f64::INFINITY, f64::NAN, 1.0, 3.0, 0.1];
    let mut state = 88_172_645_463_325_252_u64;
    for exponent in (0..2047).step_by(89) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        all.push(f64::from_bits(exponent << 52 | state >> 12));
    }
    let negated: Vec<f64> = all.iter().map(|x| -x).collect();
    all.extend(negated);
    all
}

#[test]
fn remainders_are_exact() {
    let numbers = awkward();
    let n = numbers.len() as i64;
    let args = vec![Const::i64(n).into(), Value::f64s(&[n], &numbers)];
    same_as_reference(
        "fn f(n: i64, x: f64[n]) {
          r: f64[n, n], s: f32[n, n] = par i < n, j < n (stack, stack) {
            a: f64 = x[i]
            b: f64 = x[j]
            c: f64 = rem a, b
            a.1: f32 = to_f32 a
            b.1: f32 = to_f32 b
            d: f32 = rem a.1, b.1
            yield c, d
          }
          return r, s
        }",
        &[args],
    );
}

#[test]
fn whole_powers_that_fit_are_found() {
    let bases: Vec<i64> = [0, 1, 2, 3, 5, 11, 16, 127, 128, 181, 46_340, 1 << 31, 3_037_000_499, i64::MAX]
        .into_iter()
        .flat_map(|x| [x, -x, i64::MIN.wrapping_add(x)])
        .collect();
    let exponents = [-1, 0, 1, 2, 3, 4, 7, 8, 15, 16, 31, 62, 63, 64, 65, 1 << 33, i64::MAX, i64::MIN];
    let (n, m) = (bases.len() as i64, exponents.len() as i64);
    let args =
        vec![Const::i64(n).into(), Const::i64(m).into(), Value::i64s(&[n], &bases), Value::i64s(&[m], &exponents)];
    for elem in ["i8", "i32", "i64", "u8", "u64"] {
        let text = format!(
            "fn f(n: i64, m: i64, x: i64[n], y: i64[m]) {{
              r: bool[n, m] = par i < n, j < m (stack) {{
                a: i64 = x[i]
                a.1: {elem} = to_{elem} a
                b: i64 = y[j]
                c: bool = powi_fits a.1, b
                yield c
              }}
              return r
            }}"
        );
        let text = text.replace("a.1: i64 = to_i64 a\n", "a.1: i64 = add a, 0\n");
        same_with(&Numbers::all_replaced(), &text, std::slice::from_ref(&args));
    }
}

#[test]
fn the_digamma_function_and_its_derivatives_take_the_steps_of_the_op_table() {
    let numbers = [1e-300, 0.25, 1.0, 2.5, 11.99, 12.0, 15.5, 40.0, 1e10, f64::INFINITY, f64::NAN, 0.0, -0.0, -2.0];
    let n = numbers.len() as i64;
    let args = |x: &[f64]| vec![Const::i64(n).into(), Value::f64s(&[n], x)];
    let text = "fn f(n: i64, x: f64[n]) {
      d: f64[n], s: f32[n], p: f64[n, 5] = par i < n (stack, stack, stack) {
        a: f64 = x[i]
        b: f64 = digamma a
        c: f32 = to_f32 a
        e: f32 = digamma c
        g: f64[5] = par j < 5 (stack) {
          k: i64 = sub j, 1
          h: f64 = polygamma a, k
          yield h
        }
        yield b, e, g
      }
      return d, s, p
    }";
    same_as_reference(text, &[args(&numbers)]);
}

/// Where kernels are kept, for a test.
#[derive(Default)]
struct Store {
    kept: RefCell<BTreeMap<String, Vec<u8>>>,
    n_stored: RefCell<usize>,
}

impl KernelStore for Store {
    fn load(&self, name: &[&str]) -> Option<Vec<u8>> {
        self.kept.borrow().get(&name.join("\0")).cloned()
    }

    fn store(&self, name: &[&str], bytes: &[u8]) {
        *self.n_stored.borrow_mut() += 1;
        self.kept.borrow_mut().insert(name.join("\0"), bytes.to_vec());
    }
}

const WAVES: &str = "fn f(n: i64, x: f64[n]) {
  y: f64[n] = par j < n (stack) {
    a: f64 = x[j]
    b: f64 = sin a
    c: f64 = exp b
    yield c
  }
  return y
}";

#[test]
#[expect(clippy::print_stderr, reason = "figures are to be read")]
fn kernels_that_are_kept_are_loaded_and_damaged_ones_are_written_anew() {
    let Some(device) = device() else { return };
    let store = Store::default();
    let plan = planned(WAVES);
    let args = with_size(1000);
    let options = LoadOptions { store: Some(&store), ..LoadOptions::default() };
    let values_with = |numbers: &Numbers| {
        let start = Instant::now();
        let loaded = LoadedPlan::load(&device, numbers, plan.clone(), options).expect("it is compiled");
        let is_loaded = start.elapsed();
        let called = loaded.call(&args, &CallLimits::default(), &mut |_| {}).expect("it runs");
        if is_campaign() {
            eprintln!("loaded in {is_loaded:?}, the first call is over at {:?}", start.elapsed());
        }
        called.values
    };
    if is_campaign() {
        let mut fused = Numbers::of_driver();
        fused.replace(Instruction::Fma, Elem::F64);
        assert_eq!(values_with(&fused), values_with(&fused));
        store.kept.borrow_mut().clear();
        store.n_stored.replace(0);
    }
    let values = || values_with(&Numbers::of_driver());
    let first = values();
    assert_eq!((values(), *store.n_stored.borrow()), (first.clone(), 1));
    for at in [0, 20, 30, 60, 500] {
        for bytes in store.kept.borrow_mut().values_mut() {
            bytes[at] ^= 4;
        }
        assert_eq!(values(), first, "{at}");
    }
    assert_eq!(*store.n_stored.borrow(), 6);
    for bytes in store.kept.borrow_mut().values_mut() {
        bytes.truncate(100);
    }
    assert_eq!((values(), *store.n_stored.borrow()), (first, 7));
}

#[test]
fn arrays_are_given_and_kept_on_the_device() {
    let Some(device) = device() else { return };
    let loaded = LoadedPlan::new(&device, &Numbers::of_driver(), planned(WAVES)).expect("it is compiled");
    let [n, x] = <[Value; 2]>::try_from(with_size(1000)).expect("two arguments");
    let expected = loaded.call(&[n.clone(), x.clone()], &CallLimits::default(), &mut |_| {}).expect("it runs").values;
    let array = Array::upload(&device, &x).expect("there is memory");
    let call = |args: &[Argument<'_>]| loaded.call_resident(args, &CallLimits::default(), &mut |_| {});
    for arg in [Argument::Array(&array), Argument::Value(&x)] {
        let (found, taken) = call(&[Argument::Value(&n), arg]).expect("it runs");
        let [Outcome::Array(y)] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!((y.read().expect("it is there"), y.dims()), (expected[0].clone(), &[1000][..]));
        assert_eq!(taken.moved_bytes, if matches!(arg, Argument::Array(_)) { 0 } else { 8000 });
    }
    // A size is a number, and an array of another open device is none of this one's.
    let size = Array::upload(&device, &n).expect("there is memory");
    assert!(matches!(call(&[Argument::Array(&size), Argument::Array(&array)]), Err(RunError::Arguments(_))));
    let other = crate::common::device().expect("it was there before");
    let there = Array::upload(&other, &x).expect("there is memory");
    assert!(matches!(call(&[Argument::Value(&n), Argument::Array(&there)]), Err(RunError::Arguments(_))));
}
