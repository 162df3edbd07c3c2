//! Gradients of the tape engine against closed forms and finite differences, through every construct.

use crate::engines::support::{f64, i64, i64s, module, vector};
use cotan_interp::tape::{self, NodeView, Operand};
use cotan_interp::{ArgumentError, Limit, Limits, Options, RuntimeError, run};
use cotan_ir::{Const, Elem};
use cotan_ops::{Mod61, Ring, Value};

/// Cotangents of the parameters in `wrt` for cotangent 1 of the first result.
fn gradient(text: &str, args: &[Value], wrt: &[usize]) -> Vec<Value> {
    let module = module(text);
    let options = Options::default();
    let (results, cots) = tape::vjp(&module, "f", args, wrt, &[0], &[f64(1.0)], &options).unwrap();
    assert_eq!(Ok(results), run(&module, "f", args, &options), "the trace has the bits of the interpreter");
    cots
}

/// The gradient agrees with central differences, and with the forward sweep for every basis vector.
fn check_gradient(text: &str, args: &[Value], wrt: usize) -> Vec<f64> {
    let module = module(text);
    let options = Options::default();
    let gradient = gradient(text, args, &[wrt])[0].floats().unwrap();
    let x = args[wrt].floats().unwrap();
    for k in 0..x.len() {
        let value = |h: f64| {
            let mut moved = x.clone();
            moved[k] += h;
            let mut args = args.to_vec();
            args[wrt] = Value::f64s(&args[wrt].dims, &moved);
            run(&module, "f", &args, &options).unwrap()[0].floats().unwrap()[0]
        };
        let difference = (value(1e-6) - value(-1e-6)) / 2e-6;
        assert!(
            (difference - gradient[k]).abs() <= 1e-7 * (1.0 + difference.abs()),
            "{difference} {gradient:?} at {k}"
        );

        let mut basis = vec![0.0; x.len()];
        basis[k] = 1.0;
        let tan = Value::f64s(&args[wrt].dims, &basis);
        let (_, tans) = tape::jvp(&module, "f", args, &[wrt], &[tan], &[0], &options).unwrap();
        let forward = tans[0].floats().unwrap()[0];
        assert!((forward - gradient[k]).abs() <= 1e-13 * (1.0 + forward.abs()), "{forward} {gradient:?} at {k}");
    }
    gradient
}

#[test]
fn a_shared_operand_gets_all_contributions() {
    let text = "fn f(x: f64, y: f64) {
        a: f64 = mul x, x
        b: f64 = sin a
        c: f64 = mul b, y
        d: f64 = add c, x
        return d
    }";
    let (x, y) = (0.7f64, 3.0);
    let cots = gradient(text, &[f64(x), f64(y)], &[0, 1]);
    let expected = [y * (x * x).cos() * 2.0 * x + 1.0, (x * x).sin()];
    for (cot, expected) in cots.iter().zip(expected) {
        assert!((cot.floats().unwrap()[0] - expected).abs() < 1e-14, "{cot:?} {expected}");
    }
    check_gradient(text, &[f64(x), f64(y)], 0);
}

#[test]
fn reads_and_updates_hand_on_nodes() {
    let text = "fn f(x: f64[3], i: i64) {
        a: f64 = x[i]
        b: f64 = mul a, a
        y: f64[3] = update x[i] = b
        c: f64 = y[i]
        d: f64 = y[0]
        e: f64 = mul c, d
        return e
    }";
    assert_eq!(gradient(text, &[vector(&[2.0, 3.0, 5.0]), i64(1)], &[0]), [vector(&[9.0, 12.0, 0.0])]);
    assert_eq!(gradient(text, &[vector(&[2.0, 3.0, 5.0]), i64(0)], &[0]), [vector(&[32.0, 0.0, 0.0])]);
}

#[test]
fn an_argument_that_is_returned_has_the_cotangent_of_the_result() {
    let text = "fn f(x: f64[2]) {
        return x, x
    }";
    let cots = [vector(&[1.0, 2.0]), vector(&[10.0, 20.0])];
    let x = vector(&[5.0, 6.0]);
    let (results, cots) =
        tape::vjp(&module(text), "f", std::slice::from_ref(&x), &[0], &[0, 1], &cots, &Options::default()).unwrap();
    assert_eq!(results, [x.clone(), x]);
    assert_eq!(cots, [vector(&[11.0, 22.0])]);
}

#[test]
fn parallel_loops_with_sums_and_stacks() {
    let text = "fn f(n: i64, w: f64[n], x: f64[n], y: f64) {
        s: f64, t: f64[n] = par i < n (add from y, stack) {
            a: f64 = w[i]
            b: f64 = x[i]
            c: f64 = mul a, b
            d: f64 = exp c
            yield d, c
        }
        u: f64[n] = mul t, t
        v: f64 = par j < n (add from s) {
            e: f64 = u[j]
            yield e
        }
        return v
    }";
    let args = [i64(3), vector(&[0.1, 0.2, 0.3]), vector(&[1.0, -2.0, 3.0]), f64(0.5)];
    check_gradient(text, &args, 1);
    check_gradient(text, &args, 2);
    assert_eq!(check_gradient(text, &args, 3), [1.0]);
}

#[test]
fn products_are_exact_with_any_number_of_zeros() {
    let text = "fn f(n: i64, x: f64[n]) {
        p: f64 = par i < n (mul from 2.0) {
            e: f64 = x[i]
            yield e
        }
        return p
    }";
    let of = |x: &[f64]| gradient(text, &[i64(x.len() as i64), vector(x)], &[1])[0].floats().unwrap();
    assert_eq!(of(&[3.0, 5.0]), [10.0, 6.0]);
    assert_eq!(of(&[3.0, 0.0, 5.0]), [0.0, 30.0, 0.0]);
    assert_eq!(of(&[0.0, 3.0, 0.0]), [0.0, 0.0, 0.0]);
    let x: Vec<f64> = (0..40).map(|k| if k == 20 { 0.0 } else { 1.0 + 0.01 * f64::from(k) }).collect();
    check_gradient(text, &[i64(40), vector(&x)], 1);
}

#[test]
fn the_greatest_elements_share_equally_with_the_start_value() {
    let text = "fn f(n: i64, x: f64[n], init: f64) {
        m: f64 = par i < n (max from init) {
            e: f64 = x[i]
            yield e
        }
        return m
    }";
    let of = |x: &[f64], init: f64| {
        let cots = gradient(text, &[i64(x.len() as i64), vector(x), f64(init)], &[1, 2]);
        (cots[0].floats().unwrap(), cots[1].floats().unwrap()[0])
    };
    assert_eq!(of(&[1.0, 4.0, 2.0], 0.0), (vec![0.0, 1.0, 0.0], 0.0));
    assert_eq!(of(&[4.0, 1.0, 4.0, 4.0], 4.0), (vec![0.25, 0.0, 0.25, 0.25], 0.25));
    assert_eq!(of(&[1.0], 2.0), (vec![0.0], 1.0));
    assert_eq!(of(&[], 2.0), (vec![], 1.0));
    let (cots, init) = of(&[1.0, f64::NAN], 2.0);
    assert!(cots.iter().all(|c| c.is_nan()) && init.is_nan(), "{cots:?} {init}");
}

#[test]
fn accumulators_scatter_sums_and_extremes() {
    let text = "fn f(n: i64, at: i64[n], x: f64[n], start: f64[2], w: f64[2]) {
        sums: f64[2], least: f64[2] = par i < n acc (a: f64[2] add from start, b: f64[2] min from start) {
            k: i64 = at[i]
            e: f64 = x[i]
            d: f64 = mul e, e
            acc_add a[k] = d
            acc_add b[k] = e
            yield
        }
        p: f64[2] = mul sums, least
        q: f64 = matmul p, w {0}
        return q
    }";
    let (at, x) = (i64s(&[0, 1, 0, 1]), vector(&[-1.0, 2.0, -2.0, 0.5]));
    let args = [i64(4), at, x, vector(&[0.1, 0.2]), vector(&[3.0, 5.0])];
    check_gradient(text, &args, 2);
    check_gradient(text, &args, 3);
    check_gradient(text, &args, 4);
    // The least of 2, 2, 2 and 7: a third each; the sum is 4 + 4 + 4 + 7.
    let tied = [i64(3), i64s(&[0, 0, 0]), vector(&[2.0, 2.0, 2.0]), vector(&[7.0, 0.0]), vector(&[1.0, 0.0])];
    let cots = gradient(text, &tied, &[2, 3]);
    let expected = 19.0 / 3.0 + 2.0 * 4.0;
    assert_eq!(cots[0].floats().unwrap(), [expected; 3]);
    assert_eq!(cots[1].floats().unwrap(), [2.0, 0.0]);
}

#[test]
fn sequential_loops_with_records_of_everything() {
    let text = "fn f(n: i64, x: f64[n], y: f64) {
        last: f64, h: f64, all: f64[n] = loop i < n (p: f64 = y) acc (a: f64 add from y) {
            e: f64 = x[i]
            s: f64 = sin p
            q: f64 = mul s, e
            acc_add a[] = q
            yield q, s
        }
        t: f64 = matmul all, x {0}
        u: f64 = add t, h
        v: f64 = add u, last
        return v
    }";
    let args = [i64(4), vector(&[0.9, -1.1, 1.3, 0.4]), f64(0.8)];
    check_gradient(text, &args, 1);
    check_gradient(text, &args, 2);
}

#[test]
fn a_while_runs_as_often_as_its_values_say() {
    // Newton's method for the square root of x.
    let text = "fn f(x: f64) {
        k: i64, on: bool, y: f64 = while i (go: bool = true, p: f64 = x) {
            a: f64 = div x, p
            b: f64 = add a, p
            q: f64 = mul b, 0.5
            c: f64 = sub q, p
            d: f64 = abs c
            more: bool = gt d, 1e-14
            yield more, q
        }
        return y, k
    }";
    for x in [0.5f64, 2.0, 40.0] {
        let cots = gradient(text, &[f64(x)], &[0]);
        assert!((cots[0].floats().unwrap()[0] - 0.5 / x.sqrt()).abs() < 1e-12, "{cots:?}");
    }
}

#[test]
fn logs_of_nested_whiles_carry_derivatives() {
    let text = "fn f(n: i64, x: f64[n]) {
        total: i64, seen: f64[total] = loop i < n (at: i64 = 0) acc (log: f64[0] log) {
            e: f64 = x[i]
            start: bool = gt e, 0.1
            k: i64, more: bool, z: f64, to: i64 = while j (go: bool = start, p: f64 = e, pos: i64 = at) {
                acc_add log[pos] = p
                q: f64 = mul p, p
                next: i64 = add pos, 1
                on: bool = gt q, 0.1
                yield on, q, next
            }
            yield to
        }
        s: f64 = par m < total (add from 0.0) {
            v: f64 = seen[m]
            yield v
        }
        return s
    }";
    let x = [0.9f64, 0.05, 0.5];
    // Powers 1, 2, 4, .. of the element as long as the power before is above 0.1.
    let expected: Vec<f64> = x
        .iter()
        .map(|x| {
            let powers = std::iter::successors(Some(1i32), |p| Some(2 * p));
            powers.take_while(|p| x.powi(*p) > 0.1).map(|p| f64::from(p) * x.powi(p - 1)).sum()
        })
        .collect();
    let cots = check_gradient(text, &[i64(3), vector(&x)], 1);
    for (cot, expected) in cots.iter().zip(&expected) {
        assert!((cot - expected).abs() < 1e-13, "{cots:?} {expected:?}");
    }
}

#[test]
fn only_the_arm_that_runs_contributes() {
    let text = "fn f(x: f64) {
        c: bool = gt x, 0.0
        y: f64 = switch c {
            a: f64 = log x
            yield a
        } {
            b: f64 = mul x, x
            yield b
        }
        return y
    }";
    assert_eq!(gradient(text, &[f64(4.0)], &[0]), [f64(0.25)]);
    assert_eq!(gradient(text, &[f64(-3.0)], &[0]), [f64(-6.0)]);
    assert_eq!(gradient(text, &[f64(0.0)], &[0]), [f64(0.0)]);
}

#[test]
fn an_exact_zero_wins_over_an_infinite_partial() {
    let text = "fn f(x: f64, y: f64) {
        a: f64 = sqrt x
        b: f64 = mul a, y
        return b
    }";
    let finite = gradient(text, &[f64(0.0), f64(0.0)], &[0, 1]);
    assert_eq!(finite, [f64(0.0), f64(0.0)]);
    assert_eq!(gradient(text, &[f64(0.0), f64(2.0)], &[0]), [f64(f64::INFINITY)]);
}

#[test]
fn structural_operations_and_products_carry_derivatives() {
    let text = "fn f(a: f64[2, 3], b: f64[3, 2], v: f64[2]) {
        c: f64[2, 2] = matmul a, b {0}
        t: f64[2, 2] = transpose c {1, 0}
        u: f64[2, 2] = matmul t, c {1}
        w: f64[2] = matmul u, v {0}
        p: f64[4] = pad w, 1 {0}
        q: f64[4] = reverse p {0}
        s: f64[3] = slice q, 0 {0}
        x: f64[6] = concat s, s {0}
        y: f64[3, 2] = reshape x
        z: f64[3] = matmul y, v {0}
        o: f64 = matmul z, s {0}
        return o
    }";
    let a = Value::f64s(&[2, 3], &[0.1, 0.2, 0.3, -0.4, 0.5, 0.6]);
    let b = Value::f64s(&[3, 2], &[1.0, -0.5, 0.2, 1.0, 0.7, 1.1]);
    let args = [a, b, vector(&[1.5, -0.5])];
    for wrt in 0..3 {
        let cots = check_gradient(text, &args, wrt);
        assert!(cots.iter().all(|c| *c != 0.0), "{cots:?}");
    }
}

#[test]
fn single_precision_and_conversions_keep_their_types() {
    let text = "fn f(x: f32, k: i64) {
        a: f32 = to_f32 k
        b: f32 = mul x, a
        c: f64 = to_f64 b
        d: f64 = mul c, c
        return d
    }";
    let cots = gradient(text, &[Value::from(Const::f32(1.5)), i64(2)], &[0]);
    assert_eq!(cots, [Value::from(Const::f32(12.0))]);
}

const POLYNOMIAL: &str = "fn f(n: i64, c: f64[n], x: f64) {
    y: f64 = loop i < n (p: f64 = 0.0) {
        e: f64 = c[i]
        q: f64 = mul p, x
        r: f64 = add q, e
        yield r
    }
    h: f64 = mul y, 0.5
    return h
}";

#[test]
fn programs_over_a_prime_field_are_exact() {
    let options = Options { numbers: cotan_interp::Numbers::Mod61, ..Options::default() };
    let residues = |dims: &[i64], r: &[u64]| Value { elem: Elem::U64, dims: dims.to_vec(), bits: r.to_vec() };
    let p = (1u64 << 61) - 1;
    // x = -2, coefficients 3, 5, 7: 3 * 4 - 2 * 5 + 7 = 9, halved; 1/2 is 2^60.
    let args = [i64(3), residues(&[3], &[3, 5, 7]), residues(&[], &[p - 2])];
    let half = 1u64 << 60;
    let nine_halves = residues(&[], &[(9 * u128::from(half) % u128::from(p)) as u64]);
    let module = module(POLYNOMIAL);
    assert_eq!(run(&module, "f", &args, &options), Ok(vec![nine_halves.clone()]));
    let (results, cots) = tape::vjp(&module, "f", &args, &[1, 2], &[0], &[residues(&[], &[2])], &options).unwrap();
    assert_eq!(results, [nine_halves]);
    // Cotangent 2 undoes the half: the powers of x, and 2 * 3 * x + 5.
    assert_eq!(cots, [residues(&[3], &[4, p - 2, 1]), residues(&[], &[p - 7])]);
    let (_, tans) = tape::jvp(&module, "f", &args, &[2], &[residues(&[], &[2])], &[0], &options).unwrap();
    assert_eq!(tans, [residues(&[], &[p - 7])]);
}

#[test]
fn integers_and_constants_have_residues() {
    let options = Options { numbers: cotan_interp::Numbers::Mod61, ..Options::default() };
    let text = "fn f(k: i64, c: bool, x: f32) {
        a: f64 = to_f64 k
        b: f64 = to_f64 c
        d: f64 = to_f64 x
        e: f64 = fma a, d, b
        g: f64 = div e, -0.25
        return g
    }";
    let residue = |r: u64| Value { elem: Elem::U64, dims: Vec::new(), bits: vec![r] };
    let p = (1u64 << 61) - 1;
    // (-3 * 5 + 1) / -0.25 = 56, and its derivative in x is -3 / -0.25 = 12.
    let args = [i64(-3), Value::from(Const::bool(true)), residue(5)];
    assert_eq!(run(&module(text), "f", &args, &options), Ok(vec![residue(56)]));
    let gradient = tape::vjp(&module(text), "f", &args, &[2], &[0], &[residue(1)], &options);
    assert_eq!(gradient, Ok((vec![residue(56)], vec![residue(12)])));
    // Residues are taken modulo p.
    let wrapped = [i64(-3), Value::from(Const::bool(true)), residue(p + 5)];
    assert_eq!(run(&module(text), "f", &wrapped, &options), Ok(vec![residue(56)]));
    let infinite = "fn f() {
        x: f64 = add 1.0, inf
        return x
    }";
    // What stands for infinity is -1.
    assert_eq!(run(&module(infinite), "f", &[], &options), Ok(vec![residue(0)]));
}

#[test]
fn other_functions_and_comparisons_over_a_prime_field_have_stand_ins() {
    let options = Options { numbers: cotan_interp::Numbers::Mod61, ..Options::default() };
    let text = "fn f(x: f64) {
        a: f64 = exp x
        b: f64 = sigmoid x
        c: f64 = max a, x
        d: f64 = hypot x, x
        return a, b, c, d
    }";
    let residue = |r: u64| Value { elem: Elem::U64, dims: Vec::new(), bits: vec![r] };
    let found = run(&module(text), "f", &[residue(2)], &options).unwrap();
    // Number n of the functions is x (x^2 + n + 1) + n: of exp 2 (4 + 2) + 1. What is a term of others is that term.
    let exp = |x: i128| Mod61::new(x * (x * x + 2) + 1);
    let one = Mod61::new(1);
    let sigmoid = one.div(one.add(exp(-2)));
    let sqrt_of_8 = 8 * (64 + 4) + 3;
    assert_eq!(found, [residue(13), residue(sigmoid.value()), residue(13), residue(sqrt_of_8)]);
}

#[test]
fn what_leads_from_a_prime_field_to_integers_is_refused_only_where_it_runs() {
    let options = Options { numbers: cotan_interp::Numbers::Mod61, ..Options::default() };
    let text = "fn f(c: bool, x: f64) {
        y: f64 = switch c {
            yield x
        } {
            k: i64 = to_i64 x
            d: f64 = to_f64 k
            yield d
        }
        return y
    }";
    let x = Value { elem: Elem::U64, dims: Vec::new(), bits: vec![12] };
    let truth = |b: bool| Value::from(Const::bool(b));
    assert_eq!(run(&module(text), "f", &[truth(true), x.clone()], &options), Ok(vec![x.clone()]));
    let refused = RuntimeError::Undefined("`to_i64` is not defined on the numbers of this run".to_owned());
    assert_eq!(run(&module(text), "f", &[truth(false), x.clone()], &options), Err(refused.clone()));
    assert_eq!(tape::vjp(&module(text), "f", &[truth(false), x.clone()], &[1], &[0], &[x], &options), Err(refused));
}

#[test]
fn the_tape_lists_operations_with_operands_of_smaller_numbers() {
    let text = "fn f(x: f64, c: bool) {
        a: f64 = mul x, 3.0
        b: f64 = select c, a, x
        return b
    }";
    let args = [f64(2.0), Value::from(Const::bool(true))];
    let traced = tape::trace(&module(text), "f", &args, &Options::default()).unwrap();
    let rows: Vec<NodeView<'_>> = (0..traced.tape.len() as u32).map(|id| traced.tape.node(id)).collect();
    let node = Operand::Node;
    let expected = [
        NodeView::Leaf,
        NodeView::Leaf,
        NodeView::Row { name: "mul", operands: vec![node(0), node(1)] },
        NodeView::Row { name: "select", operands: vec![Operand::Plain(Const::bool(true)), node(2), node(0)] },
    ];
    assert_eq!(rows, expected);
    let values: Vec<f64> = (0..4).map(|id| f64::from_bits(traced.tape.value(id))).collect();
    assert_eq!(values, [2.0, 3.0, 6.0, 6.0]);
    assert_eq!(traced.values(), [f64(6.0)]);
}

#[test]
fn derivatives_that_do_not_fit_are_errors_of_the_caller() {
    let text = "fn f(n: i64, x: f64[n]) {
        return x, n
    }";
    let (module, options) = (module(text), Options::default());
    let args = [i64(2), vector(&[1.0, 2.0])];
    let vjp =
        |wrt: &[usize], outs: &[usize], cots: &[Value]| match tape::vjp(&module, "f", &args, wrt, outs, cots, &options)
        {
            Err(RuntimeError::Argument(e)) => e,
            other => panic!("expected an error of the arguments, found {other:?}"),
        };
    assert_eq!(vjp(&[0], &[0], &[vector(&[1.0, 1.0])]), ArgumentError::NotDifferentiable { position: 0 });
    assert_eq!(vjp(&[1], &[1], &[i64(1)]), ArgumentError::NotDifferentiable { position: 1 });
    assert_eq!(vjp(&[2], &[0], &[vector(&[1.0, 1.0])]), ArgumentError::NotDifferentiable { position: 2 });
    assert_eq!(vjp(&[1], &[0], &[]), ArgumentError::Count { expected: 1, found: 0 });
    assert_eq!(
        vjp(&[1], &[0], &[vector(&[1.0])]),
        ArgumentError::Dims { position: 0, expected: vec![2], found: vec![1] }
    );
}

#[test]
fn a_tape_that_grows_too_long_stops_at_the_limit_of_bytes() {
    let text = "fn f(n: i64, x: f64) {
        y: f64 = loop i < n (p: f64 = x) {
            q: f64 = mul p, x
            yield q
        }
        return y
    }";
    let options = Options { limits: Limits { bytes: 1 << 20, ..Limits::default() }, ..Options::default() };
    let trace = |n: i64| tape::trace(&module(text), "f", &[i64(n), f64(0.5)], &options).map(|t| t.tape.len());
    assert_eq!(trace(1_000), Ok(1_001));
    assert_eq!(trace(i64::MAX), Err(RuntimeError::Limit(Limit::Tape)));
}
