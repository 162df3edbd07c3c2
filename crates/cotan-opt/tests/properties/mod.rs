//! Every pass keeps what random programs compute, bit for bit, and the error that they end with.
//!
//! `COTAN_PROGRAMS` sets how many programs are tried.

mod generator;
mod rng;

use cotan_ad::{Limits, expand};
use cotan_interp::{Numbers, Options, RuntimeError, run};
use cotan_ir::{Derived, Function, Item, Mode, Module, parse_function, verify};
use cotan_ops::{Registry, Value};
use cotan_opt::passes::{
    accumulate_to_map::accumulate_to_map, compose_reads::compose_reads, contract_fma::contract_fma, cse::cse, dce::dce,
    drop_order::drop_order, eliminate_checks::eliminate_checks, flatten_reductions::flatten_reductions,
    forward_stores::forward_stores, fuse::fuse, guard_zeros::guard_zeros, inline::InlineLimit, inline::inline,
    licm::Moves, licm::licm, merge_switches::merge_switches, recognize_matmul::recognize_matmul,
    region_cse::region_cse, region_cse::reuse_iteration_values, renumber::renumber,
    scalar_replacement::scalar_replacement, scatter_to_gather::scatter_to_gather, sum_before_map::sum_before_map,
    unroll::unroll,
};
use generator::{Arithmetic, program};
use rng::Rng;
use std::ops::Range;

type Pass = fn(&Module, &Function) -> Function;

/// The passes that change no bit of any result.
const EXACT: [(&str, Pass); 25] = [
    ("dce", |_, f| dce(f.clone())),
    ("cse", |_, f| cse(f.clone())),
    ("licm_integers", |_, f| licm(f.clone(), Moves::Integers)),
    ("licm", |_, f| licm(f.clone(), Moves::All)),
    ("eliminate_checks", |_, f| eliminate_checks(f.clone(), &[])),
    ("compose_reads", |_, f| compose_reads(f.clone())),
    ("forward_stores", |_, f| forward_stores(f.clone())),
    ("fuse", |_, f| fuse(f.clone())),
    ("flatten_reductions", |_, f| flatten_reductions(f.clone())),
    ("region_cse", |_, f| region_cse(f.clone(), &[])),
    ("drop_order", |_, f| drop_order(f.clone())),
    ("reuse_iteration_values", |_, f| reuse_iteration_values(f.clone())),
    ("scatter_to_gather", |_, f| scatter_to_gather(f.clone())),
    ("optimize", |_, f| cotan_opt::optimize(f.clone())),
    ("accumulate_to_map", |_, f| accumulate_to_map(f.clone())),
    ("renumber", |_, f| renumber(f.clone())),
    ("inline", |m, f| inline(m, f, InlineLimit::default())),
    ("simplify", |_, f| cotan_opt::simplify(f.clone())),
    ("guard_zeros", |_, f| guard_zeros(f.clone())),
    ("unroll", |_, f| unroll(f.clone())),
    ("scalar_replacement", |_, f| scalar_replacement(f.clone())),
    ("recognize_matmul", |_, f| recognize_matmul(f.clone())),
    ("sum_before_map", |_, f| sum_before_map(f.clone())),
    ("merge_switches", |_, f| merge_switches(f.clone())),
    ("straighten", |_, f| cotan_opt::straighten(f.clone())),
];

fn seeds() -> Range<u64> {
    let n = std::env::var("COTAN_PROGRAMS").ok().and_then(|n| n.parse().ok());
    0..n.unwrap_or(500)
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
fn check(name: &str, pass: Pass, module: &Module, f: &Function, runs: &[(Vec<Value>, Outcome)], numbers: Numbers) {
    let made = pass(module, f);
    assert_verified(&format!("{name} of\n{f}"), module, &made);
    // What one run of these finds may open the way to more: `simplify` and `straighten` repeat `cse` and `unroll`, and
    // `optimize` does not hoist twice, and `twins` leaves dead code behind.
    let again = pass(module, &made).to_string();
    let opens_the_way = ["cse", "unroll", "eliminate_checks", "region_cse", "optimize"].contains(&name);
    assert!(opens_the_way || again == made.to_string(), "a second run of {name} makes\n{again}of\n{made}");
    for (args, before) in runs {
        if before.is_some() {
            let after = outcome(module, &made, args, numbers);
            assert!(after == *before, "{name} changes\n{before:?} to\n{after:?} for {args:?}\n{f}\n{made}");
        }
    }
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
        for (name, pass) in EXACT {
            check(name, pass, &module, f, &runs, Numbers::Ieee);
        }
    }
    assert!(n_values > n_errors && n_errors > n_values / 20, "{n_values} runs with a value, {n_errors} with an error");
}

#[test]
fn contraction_is_exact_in_a_field_and_prepared_code_is_contracted_code() {
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
        check("contract_fma", |_, f| contract_fma(f.clone()), &module, f, &runs, Numbers::Mod61);
        check("prepare", |m, f| cotan_opt::prepare(m, f, InlineLimit::default()), &module, f, &runs, Numbers::Mod61);
    }
}

#[test]
fn passes_keep_derivatives_of_random_programs_and_derivatives_keep_their_primal() {
    for seed in seeds() {
        let mut module = program(seed, Arithmetic::Floats);
        let prepared = cotan_opt::prepare(
            &module,
            module.function("f").expect("a program has a function `f`"),
            InlineLimit::default(),
        );
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
            for (pass_name, pass) in EXACT {
                check(pass_name, pass, &module, &g, &runs, Numbers::Ieee);
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
