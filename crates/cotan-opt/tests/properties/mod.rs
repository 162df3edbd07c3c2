//! Every pass keeps what random programs compute, bit for bit, and the error that they end with.
//!
//! `COTAN_PROGRAMS` sets how many programs are tried: 250 without it, 2,000 in the campaign.

mod generator;
mod rng;

use cotan_ad::{Limits, expand};
use cotan_interp::{Numbers, Options, RuntimeError, run};
use cotan_ir::{Derived, Function, Item, Mode, Module, parse_function, verify};
use cotan_ops::{Registry, Value};
use cotan_opt::{BEFORE_AD, PASSES, PIPELINES, Pass, PassContext, Pipeline, Promise};
use generator::{Arithmetic, program};
use rng::Rng;
use std::ops::Range;

/// A pass or a pipeline.
#[derive(Clone, Copy)]
enum Tested {
    Pass(&'static Pass),
    Pipeline(&'static Pipeline),
}

impl Tested {
    /// All passes and pipelines.
    fn all() -> Vec<Tested> {
        let passes = PASSES.iter().copied().map(Tested::Pass);
        passes.chain(PIPELINES.iter().copied().map(Tested::Pipeline)).collect()
    }

    fn name(self) -> &'static str {
        match self {
            Tested::Pass(pass) => pass.name,
            Tested::Pipeline(pipeline) => pipeline.name,
        }
    }

    fn is_idempotent(self) -> bool {
        match self {
            Tested::Pass(pass) => pass.is_idempotent,
            Tested::Pipeline(pipeline) => pipeline.is_idempotent,
        }
    }

    /// A pipeline promises what its passes do, the most cautious of them first.
    fn promise(self) -> Promise {
        match self {
            Tested::Pass(pass) => pass.promise,
            Tested::Pipeline(pipeline) => {
                let promises = || pipeline.passes().into_iter().map(|pass| pass.promise);
                let other = promises().find(|promise| *promise != Promise::Bits);
                other.unwrap_or(Promise::Bits)
            }
        }
    }

    fn run(self, module: &Module, f: &Function) -> Function {
        let context = PassContext { module: Some(module), ..PassContext::default() };
        match self {
            Tested::Pass(pass) => pass.apply(f.clone(), &context),
            Tested::Pipeline(pipeline) => pipeline.run(f.clone(), &context),
        }
    }
}

/// Whether a run is as it was, by the promise of a pass.
fn is_kept(promise: Promise, before: &Outcome, after: &Outcome) -> bool {
    match promise {
        Promise::Bits | Promise::Rounding => before == after,
        Promise::UnlessNan => match (before, after) {
            (Some(Ok(before)), Some(Ok(after))) => after.iter().any(has_nan) || same_numbers(before, after),
            _ => before == after,
        },
        Promise::Traps => before == after || matches!(after, Some(Err(_))),
    }
}

fn floats_of(v: &Value) -> impl Iterator<Item = f64> {
    let is_float = v.elem == cotan_ir::Elem::F64;
    v.bits.iter().filter(move |_| is_float).map(|bits| f64::from_bits(*bits))
}

fn has_nan(v: &Value) -> bool {
    floats_of(v).any(f64::is_nan)
}

/// Whether all are equal but for the signs of zeros.
fn same_numbers(before: &[Value], after: &[Value]) -> bool {
    let is_float = |v: &Value| v.elem == cotan_ir::Elem::F64;
    let are_equal =
        |a: &Value, b: &Value| is_float(a) && is_float(b) && a.dims == b.dims && floats_of(a).eq(floats_of(b));
    let is_same = |(a, b): (&Value, &Value)| a == b || are_equal(a, b);
    before.len() == after.len() && before.iter().zip(after).all(is_same)
}

fn seeds() -> Range<u64> {
    let n = std::env::var("COTAN_PROGRAMS").ok().and_then(|n| n.parse().ok());
    0..n.unwrap_or(if std::env::var_os("COTAN_CAMPAIGN").is_some() { 2000 } else { 250 })
}

/// What a program computes; `None` where the interpreter finds its contracts broken or the numbers lacking.
type Outcome = Option<Result<Vec<Value>, RuntimeError>>;

fn outcome(module: &Module, f: &Function, args: &[Value], numbers: Numbers) -> Outcome {
    let mut module = module.clone();
    module.insert(f.clone());
    match run(&module, &f.name, args, &Options { numbers, ..Options::default() }) {
        Err(RuntimeError::Bug(_) | RuntimeError::Undefined(_)) => None,
        result => Some(result),
    }
}

/// Arguments of `f(n, k, c, x, y, a, d)`; residues where floats are none.
fn arguments(rng: &mut Rng, numbers: Numbers) -> Vec<Value> {
    let n = rng.choice(&[0, 1, 2, 3, 3]);
    let float = |rng: &mut Rng| match numbers {
        Numbers::Ieee => rng.choice(&[1.5, -0.0, -2.0, 0.0, 0.25, 3.0, -0.7, 1e-200, f64::INFINITY]).to_bits(),
        Numbers::Mod61 => rng.below(1 << 40) as u64,
    };
    let floats = |rng: &mut Rng, dims: &[i64]| {
        let bits = (0..cotan_ops::count(dims)).map(|_| float(rng)).collect();
        let elem = if numbers == Numbers::Ieee { cotan_ir::Elem::F64 } else { cotan_ir::Elem::U64 };
        Value { elem, dims: dims.to_vec(), bits }
    };
    let k = rng.below(6) as i64 - 1;
    let c = cotan_ir::Const::bool(rng.chance(2)).into();
    let (x, y) = (floats(rng, &[]), floats(rng, &[]));
    let (a, d) = (floats(rng, &[n as i64]), floats(rng, &[3]));
    vec![Value::i64s(&[], &[n as i64]), Value::i64s(&[], &[k]), c, x, y, a, d]
}

fn assert_verified(what: &str, module: &Module, f: &Function) {
    verify(module, f).unwrap_or_else(|errors| panic!("{what}: {}\n{f}", errors[0]));
}

/// Holds a pass against a function: the output verifies, a second run changes nothing, and results are kept.
fn check(tested: Tested, module: &Module, f: &Function, runs: &[(Vec<Value>, Outcome)], numbers: Numbers) {
    let name = tested.name();
    let made = tested.run(module, f);
    assert_verified(&format!("{name} of\n{f}"), module, &made);
    if tested.is_idempotent() {
        let again = tested.run(module, &made).to_string();
        assert!(again == made.to_string(), "a second run of {name} makes\n{again}of\n{made}");
    }
    for (args, before) in runs {
        if before.is_some() {
            let after = outcome(module, &made, args, numbers);
            let is_kept = is_kept(tested.promise(), before, &after);
            assert!(is_kept, "{name} changes\n{before:?} to\n{after:?} for {args:?}\n{f}\n{made}");
        }
    }
}

/// The passes that are held against runs with rounded numbers.
fn of_floats() -> Vec<Tested> {
    Tested::all().into_iter().filter(|tested| tested.promise() != Promise::Rounding).collect()
}

#[test]
fn passes_keep_results_and_errors_of_random_programs() {
    let (mut n_values, mut n_errors) = (0, 0);
    for seed in seeds() {
        let module = program(seed, Arithmetic::Floats);
        let f = module.function("f").expect("a program has a function `f`");
        assert_verified(&format!("seed {seed}"), &module, f);
        let text = f.to_string();
        assert_eq!(parse_function(&text, Registry::standard()).map(|f| f.to_string()), Ok(text), "seed {seed}");
        let mut rng = Rng::new(seed);
        let runs: Vec<(Vec<Value>, Outcome)> = (0..4)
            .map(|_| {
                let args = arguments(&mut rng, Numbers::Ieee);
                let before = outcome(&module, f, &args, Numbers::Ieee);
                assert!(
                    before.is_some(),
                    "seed {seed} breaks a contract: {:?}\n{f}",
                    run(&module, "f", &args, &Options::default())
                );
                (args, before)
            })
            .collect();
        for (_, before) in &runs {
            let is_value = before.as_ref().is_some_and(Result::is_ok);
            *(if is_value { &mut n_values } else { &mut n_errors }) += 1;
        }
        for tested in of_floats() {
            check(tested, &module, f, &runs, Numbers::Ieee);
        }
    }
    assert!(n_values > n_errors && n_errors > n_values / 20, "{n_values} runs with a value, {n_errors} with an error");
}

#[test]
fn passes_that_round_elsewhere_are_exact_in_a_field() {
    for seed in seeds() {
        let module = program(seed, Arithmetic::Field);
        let f = module.function("f").expect("a program has a function `f`");
        let mut rng = Rng::new(seed);
        let runs: Vec<(Vec<Value>, Outcome)> = (0..3)
            .map(|_| {
                let args = arguments(&mut rng, Numbers::Mod61);
                let before = outcome(&module, f, &args, Numbers::Mod61);
                (args, before)
            })
            .collect();
        for tested in Tested::all().into_iter().filter(|tested| tested.promise() == Promise::Rounding) {
            check(tested, &module, f, &runs, Numbers::Mod61);
        }
    }
}

#[test]
fn passes_keep_derivatives_of_random_programs_and_derivatives_keep_their_primal() {
    for seed in seeds() {
        let mut module = program(seed, Arithmetic::Floats);
        let f = module.function("f").expect("a program has a function `f`").as_ref().clone();
        let context = PassContext { module: Some(&module), ..PassContext::default() };
        let prepared = BEFORE_AD.run(f, &context);
        let f = module.insert(prepared);
        let outs: Vec<usize> = (0..f.body.results.len()).filter(|k| f.is_float(f.body.results[*k])).collect();
        let modes = [("rev", "f", Mode::Vjp), ("fwd", "f", Mode::Jvp), ("over", "fwd", Mode::Vjp)];
        for (name, of, mode) in &modes[..2 + usize::from(seed % 8 == 0)] {
            let (wrt, outs) = if *of == "f" { (vec![3, 4, 5, 6], outs.clone()) } else { (vec![3, 5], vec![0]) };
            module.items.insert((*name).into(), Item::Derived(Derived { of: (*of).into(), mode: *mode, wrt, outs }));
        }
        expand(&mut module, &Limits::default()).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        let mut rng = Rng::new(seed);
        let primal_args: Vec<Vec<Value>> = (0..2).map(|_| arguments(&mut rng, Numbers::Ieee)).collect();
        for (name, _, _) in &modes[..2 + usize::from(seed % 8 == 0)] {
            let g = module.function(name).expect("a derivative was written").clone();
            let runs: Vec<(Vec<Value>, Outcome)> = primal_args
                .iter()
                .map(|args| {
                    let args = derivative_arguments(&module, &g, args);
                    let before = outcome(&module, &g, &args, Numbers::Ieee);
                    if *name != "over" {
                        let primal = run(&module, "f", &args[..7], &Options::default());
                        let kept = before.clone().map(|r| {
                            r.map(|mut v| {
                                v.truncate(f.body.results.len());
                                v
                            })
                        });
                        assert!(
                            kept == Some(primal.clone()),
                            "seed {seed}: {name} gives {kept:?}, the primal {primal:?}\n{f}\n{g}"
                        );
                    }
                    (args, before)
                })
                .collect();
            for tested in of_floats() {
                check(tested, &module, &g, &runs, Numbers::Ieee);
            }
        }
    }
}

/// The arguments of the primal, and then ones and zeros of whatever shapes the parameters ask for.
fn derivative_arguments(module: &Module, g: &Function, primal: &[Value]) -> Vec<Value> {
    let results = run(module, "f", primal, &Options::default()).unwrap_or_default();
    let mut args = primal.to_vec();
    for p in &g.params[primal.len()..] {
        let ty = g.ty(*p);
        if ty.elem == cotan_ir::Elem::I64 {
            // The length of the last result, which stands before it.
            let length = results.len().checked_sub(2).and_then(|at| results[at].integers());
            args.push(Value::i64s(&[], &[length.map_or(0, |n| n[0])]));
            continue;
        }
        let dims: Vec<i64> = ty
            .dims
            .iter()
            .map(|d| match d.atom().constant() {
                Some(c) => c.as_i64().expect("an i64"),
                None => {
                    let position = g.params.iter().position(|q| Some(*q) == d.var()).expect("a length");
                    args[position].integers().expect("an i64")[0]
                }
            })
            .collect();
        let ones = vec![1.0f64.to_bits(); cotan_ops::count(&dims)];
        args.push(Value { elem: ty.elem, dims, bits: ones });
    }
    args
}
