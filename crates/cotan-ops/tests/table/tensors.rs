//! Structural operations: values, adjoints, and errors that are values.

use cotan_ir::{Atom, Builder, Const, Dim, Elem, Module, Op, Ty, verify};
use cotan_ops::{
    ARGSORT, CONCAT, Derivative, Differentiability, FILL, FROM_ELEMENTS, IOTA, Inputs, Like, MATMUL, PAD, RESHAPE,
    REVERSE, SLICE, Shapes, TRANSPOSE, TensorRow, TensorUse, Value, count, row, tensor_table,
};
use expect_test::expect;
use std::collections::HashMap;
use std::slice;

fn run(record: &TensorRow, args: &[&Value], attrs: &[i64], dims: &[i64]) -> Result<Value, String> {
    let elem = args.first().map_or(Elem::F64, |a| a.elem);
    let shapes: Vec<(Elem, &[i64])> = args.iter().map(|a| (a.elem, a.dims.as_slice())).collect();
    (record.check)(&Shapes { args: &shapes, attrs, result: (elem, dims) })?;
    record.value(&Inputs { args, attrs, result: (elem, dims), in_field: false }).ok_or_else(|| "no value".to_owned())
}

/// A tensor of small whole numbers, so that sums are exact.
fn numbers(dims: &[i64], seed: i64) -> Value {
    let elements: Vec<f64> = (0..count(dims) as i64).map(|k| ((k * 7 + seed * 5) % 11 - 4) as f64).collect();
    Value::f64s(dims, &elements)
}

fn at(lo: i64) -> Value {
    Const::i64(lo).into()
}

#[test]
fn values_are_those_of_the_formulas() {
    let x = Value::f64s(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let is = |found: Result<Value, String>, dims: &[i64], expected: &[f64]| {
        assert_eq!(found, Ok(Value::f64s(dims, expected)));
    };
    is(run(&FILL, &[&Value::f64s(&[2], &[1.0, 2.0])], &[], &[2, 2]), &[2, 2], &[1.0, 2.0, 1.0, 2.0]);
    is(run(&RESHAPE, &[&x], &[], &[3, 2]), &[3, 2], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    is(run(&TRANSPOSE, &[&x], &[1, 0], &[3, 2]), &[3, 2], &[1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
    is(run(&REVERSE, &[&x], &[1], &[2, 3]), &[2, 3], &[3.0, 2.0, 1.0, 6.0, 5.0, 4.0]);
    is(run(&REVERSE, &[&x], &[0], &[2, 3]), &[2, 3], &[4.0, 5.0, 6.0, 1.0, 2.0, 3.0]);
    is(run(&SLICE, &[&x, &at(1)], &[1], &[2, 2]), &[2, 2], &[2.0, 3.0, 5.0, 6.0]);
    is(run(&SLICE, &[&x, &at(2)], &[0], &[0, 3]), &[0, 3], &[]);
    is(run(&PAD, &[&x, &at(1)], &[0], &[3, 3]), &[3, 3], &[0.0, 0.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let y = Value::f64s(&[2, 1], &[7.0, 8.0]);
    is(run(&CONCAT, &[&x, &y], &[1], &[2, 4]), &[2, 4], &[1.0, 2.0, 3.0, 7.0, 4.0, 5.0, 6.0, 8.0]);
    is(run(&IOTA, &[], &[], &[3]), &[3], &[0.0, 1.0, 2.0]);
    let pair: [Value; 2] = [Const::f64(7.0).into(), Const::f64(8.0).into()];
    is(run(&FROM_ELEMENTS, &[&pair[0], &pair[1]], &[], &[2, 1]), &[2, 1], &[7.0, 8.0]);
    let three = Value::f64s(&[3, 2, 1], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    is(run(&TRANSPOSE, &[&three], &[2, 0, 1], &[1, 3, 2]), &[1, 3, 2], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
}

#[test]
fn products_are_those_of_the_formula() {
    for (a, b, y) in [
        (vec![3], vec![3], vec![]),
        (vec![2, 3], vec![3], vec![2]),
        (vec![3], vec![3, 4], vec![4]),
        (vec![2, 3], vec![3, 4], vec![2, 4]),
        (vec![5, 2, 3], vec![5, 3, 4], vec![5, 2, 4]),
        (vec![2, 0], vec![0, 4], vec![2, 4]),
    ] {
        let (va, vb) = (numbers(&a, 1), numbers(&b, 2));
        let found = run(&MATMUL, &[&va, &vb], &[0], &y).expect("shapes that go together");
        let (fa, fb) = (va.floats().expect("floats"), vb.floats().expect("floats"));
        let k = a[a.len() - 1] as usize;
        let m = if a.len() == 1 { 1 } else { a[a.len() - 2] as usize };
        let n = if b.len() == 1 { 1 } else { b[b.len() - 1] as usize };
        let n_batch = count(&y) / (m * n);
        let element = |s: usize, i: usize, j: usize| -> f64 {
            (0..k).map(|l| fa[(s * m + i) * k + l] * fb[(s * k + l) * n + j]).sum()
        };
        let expected: Vec<f64> = (0..n_batch * m * n).map(|t| element(t / (m * n), t / n % m, t % n)).collect();
        assert_eq!(found.floats(), Some(expected), "{a:?} @ {b:?}");
        assert_eq!(run(&MATMUL, &[&va, &vb], &[1], &y), Ok(found), "zeros that meet finite factors change nothing");
    }
    let (zero, inf) = (Value::f64s(&[1], &[0.0]), Value::f64s(&[1], &[f64::INFINITY]));
    let strong = run(&MATMUL, &[&zero, &inf], &[1], &[]).expect("vectors");
    assert_eq!(strong.floats(), Some(vec![0.0]));
    let plain = run(&MATMUL, &[&zero, &inf], &[0], &[]).expect("vectors");
    assert!(plain.floats().is_some_and(|y| y[0].is_nan()));
}

/// Runs straight-line code of tensor operations and scalar primitives.
fn interpret(b: &mut Builder, env: &mut HashMap<Atom, Value>, result: Atom) -> Value {
    for stmt in std::mem::take(b.stmts()) {
        let get = |a: &Atom, env: &HashMap<Atom, Value>| match a {
            Atom::Const(c) => Value::from(*c),
            Atom::Var(_) => env[a].clone(),
        };
        let out = stmt.results[0];
        let value = if let Op::Prim { prim, args } = &stmt.op {
            let args: Vec<Const> = args.iter().map(|a| get(a, env).scalar().expect("a scalar")).collect();
            row(*prim).eval(&args).expect("well typed").into()
        } else if let Op::Tensor { op, args, attrs } = &stmt.op {
            let values: Vec<Value> = args.iter().map(|a| get(a, env)).collect();
            let dims: Vec<i64> = b.var_ty(out).dims.iter().map(constant_dim).collect();
            let refs: Vec<&Value> = values.iter().collect();
            run(cotan_ops::tensor_row(*op), &refs, attrs, &dims).expect("shapes that go together")
        } else if let Op::Index { array, indices } = &stmt.op {
            let (array, [at]) = (get(array, env), indices.as_slice()) else { panic!("an element of a vector") };
            let at = get(at, env).integers().expect("an i64")[0];
            array.get(at as usize).into()
        } else {
            panic!("straight-line code, found {:?}", stmt.op)
        };
        env.insert(out.into(), value);
    }
    env[&result].clone()
}

fn constant_dim(d: &Dim) -> i64 {
    d.atom().constant().and_then(Const::as_i64).expect("a constant dim")
}

fn dot(x: &Value, y: &Value) -> f64 {
    let (x, y) = (x.floats().expect("floats"), y.floats().expect("floats"));
    x.iter().zip(&y).map(|(a, b)| a * b).sum()
}

/// `<u, A v> = <A^T u, v>` in every float operand, exactly, because all numbers are small and whole.
fn check_adjoint(record: &'static TensorRow, args: &[Value], attrs: &[i64], dims: &[i64]) {
    let mut b = Builder::new();
    let mut env = HashMap::new();
    let mut atoms = Vec::new();
    for value in args {
        let ty = Ty::new(value.elem, value.dims.iter().map(|d| Dim::Const(*d)).collect());
        let atom = Atom::from(b.param("x", ty));
        env.insert(atom, value.clone());
        atoms.push(atom);
    }
    let ty = Ty::new(Elem::F64, dims.iter().map(|d| Dim::Const(*d)).collect());
    let cot = Atom::from(b.param("cot", ty.clone()));
    let u = numbers(dims, 9);
    env.insert(cot, u.clone());
    let at = TensorUse { args: &atoms, attrs, result: &ty };
    for operand in (0..args.len()).filter(|k| args[*k].elem == Elem::F64) {
        let v = numbers(&args[operand].dims, 4);
        let mut tangents: Vec<Value> = args
            .iter()
            .map(|a| if a.elem == Elem::F64 { Value::zeros(Elem::F64, &a.dims) } else { a.clone() })
            .collect();
        let (tan, transposed) = match &record.derivative {
            Derivative::Linear { transpose } => {
                tangents[operand] = v.clone();
                let refs: Vec<&Value> = tangents.iter().collect();
                let tan = run(record, &refs, attrs, dims).expect("shapes that go together");
                (tan, transpose(&mut b, &at, cot, operand))
            }
            Derivative::Multilinear { push, transpose } => {
                let tan = Atom::from(b.param("tan", b.ty(atoms[operand])));
                env.insert(tan, v.clone());
                let pushed = push(&mut b, &at, tan, operand);
                (interpret(&mut b, &mut env, pushed), transpose(&mut b, &at, cot, operand))
            }
            Derivative::Rule { .. } => panic!("{} is held against finite differences", record.name()),
            Derivative::None { reason } => panic!("{}: {reason}", record.name()),
        };
        let back = interpret(&mut b, &mut env, transposed);
        assert_eq!(back.dims, args[operand].dims, "{} operand {operand}", record.name());
        assert_eq!(dot(&u, &tan), dot(&back, &v), "{} operand {operand}", record.name());
    }
}

#[test]
fn transposes_are_adjoint() {
    let x = numbers(&[2, 3, 4], 3);
    check_adjoint(&FILL, slice::from_ref(&x), &[], &[2, 3, 4]);
    check_adjoint(&RESHAPE, slice::from_ref(&x), &[], &[6, 4]);
    check_adjoint(&TRANSPOSE, slice::from_ref(&x), &[2, 0, 1], &[4, 2, 3]);
    check_adjoint(&REVERSE, slice::from_ref(&x), &[1], &[2, 3, 4]);
    check_adjoint(&SLICE, &[x.clone(), at(1)], &[2], &[2, 3, 2]);
    check_adjoint(&PAD, &[x.clone(), at(2)], &[1], &[2, 6, 4]);
    check_adjoint(&CONCAT, &[x.clone(), numbers(&[2, 1, 4], 5), numbers(&[2, 2, 4], 6)], &[1], &[2, 6, 4]);
    let scalars: Vec<Value> = (1..=4).map(|k| numbers(&[], k)).collect();
    check_adjoint(&FROM_ELEMENTS, &scalars, &[], &[2, 2]);
    check_adjoint(&FROM_ELEMENTS, &scalars, &[], &[4]);
    for (a, b, y) in [
        (vec![3], vec![3], vec![]),
        (vec![2, 3], vec![3], vec![2]),
        (vec![3], vec![3, 4], vec![4]),
        (vec![2, 3], vec![3, 4], vec![2, 4]),
        (vec![2, 2, 3], vec![2, 3, 4], vec![2, 2, 4]),
    ] {
        check_adjoint(&MATMUL, &[numbers(&a, 1), numbers(&b, 2)], &[0], &y);
    }
}

#[test]
fn copies_are_summed_back_over_the_new_dims() {
    let mut b = Builder::new();
    let n = b.param("n", Ty::scalar(Elem::I64));
    let x = Atom::from(b.param("x", Ty::new(Elem::F64, vec![Dim::Const(3)])));
    let ty = Ty::new(Elem::F64, vec![n.into(), Dim::Const(2), Dim::Const(3)]);
    let cot = Atom::from(b.param("cot", ty.clone()));
    let Derivative::Linear { transpose } = &FILL.derivative else { panic!("filling is linear") };
    let x_cot = transpose(&mut b, &TensorUse { args: &[x], attrs: &[], result: &ty }, cot, 0);
    let f = b.finish("back", vec![x_cot]);
    assert_eq!(verify(&Module::default(), &f), Ok(()));
    expect![[r#"
        fn back(n: i64, x: f64[3], cot: f64[n, 2, 3]) {
          fill: f64[3] = fill 0.0
          elem: f64[3] = par i < n, i.1 < 2 (add from fill) {
            elem.1: f64[3] = cot[i, i.1]
            yield elem.1
          }
          return elem
        }
    "#]]
    .assert_eq(&f.to_string());
}

#[test]
fn shapes_that_do_not_fit_are_errors() {
    let x = numbers(&[2, 3], 0);
    let flag = Value { elem: Elem::Bool, dims: vec![3], bits: vec![0; 3] };
    let (one, truth) = (numbers(&[], 1), Value { elem: Elem::Bool, dims: vec![], bits: vec![1] });
    type Case<'a> = (&'static TensorRow, Vec<&'a Value>, Vec<i64>, Vec<i64>);
    let cases: Vec<Case> = vec![
        (&FILL, vec![], vec![], vec![2]),
        (&FILL, vec![&x], vec![], vec![3, 2]),
        (&RESHAPE, vec![&x], vec![], vec![5]),
        (&RESHAPE, vec![&x], vec![], vec![1 << 40, 1 << 40]),
        (&RESHAPE, vec![&x], vec![], vec![-2, -3]),
        (&TRANSPOSE, vec![&x], vec![0, 0], vec![2, 2]),
        (&TRANSPOSE, vec![&x], vec![0, 5], vec![2, 3]),
        (&TRANSPOSE, vec![&x], vec![1, 0], vec![2, 3]),
        (&REVERSE, vec![&x], vec![2], vec![2, 3]),
        (&REVERSE, vec![&x], vec![-1], vec![2, 3]),
        (&REVERSE, vec![&x], vec![], vec![2, 3]),
        (&SLICE, vec![&x], vec![0], vec![1, 3]),
        (&SLICE, vec![&x, &x], vec![0], vec![1, 3]),
        (&SLICE, vec![&x, &x], vec![0], vec![]),
        (&CONCAT, vec![], vec![0], vec![2]),
        (&CONCAT, vec![&x, &flag], vec![0], vec![5, 3]),
        (&CONCAT, vec![&x, &x], vec![0], vec![2, 6]),
        (&FROM_ELEMENTS, vec![&x], vec![], vec![1]),
        (&FROM_ELEMENTS, vec![&one, &one], vec![], vec![3]),
        (&FROM_ELEMENTS, vec![&one, &truth], vec![], vec![2]),
        (&IOTA, vec![], vec![], vec![2, 3]),
        (&MATMUL, vec![&x, &x], vec![0], vec![2, 3]),
        (&MATMUL, vec![&x], vec![0], vec![2]),
        (&MATMUL, vec![&flag, &flag], vec![0], vec![]),
    ];
    for (record, args, attrs, dims) in cases {
        assert!(run(record, &args, &attrs, &dims).is_err(), "{} {attrs:?} {dims:?}", record.name());
    }
    assert!(run(&SLICE, &[&x, &at(0)], &[1], &[2, 4]).is_err(), "a slice does not grow");
    assert!(run(&PAD, &[&x, &at(0)], &[1], &[2, 2]).is_err(), "padding does not shrink");
}

#[test]
fn sorted_positions_are_stable_with_nan_last_in_every_row() {
    let x = Value::f64s(&[2, 4], &[2.0, f64::NAN, -1.0, 2.0, 0.0, -0.0, f64::NEG_INFINITY, f64::NAN]);
    assert_eq!(run(&ARGSORT, &[&x], &[], &[2, 4]), Err("expected a result of i64, found f64".to_owned()));
    let found = eval_positions(&x);
    assert_eq!(found, [2, 0, 3, 1, 2, 0, 1, 3]);
    let unsigned = Value { elem: Elem::U64, dims: vec![3], bits: vec![u64::MAX, 1, 1 << 63] };
    assert_eq!(eval_positions(&unsigned), [1, 2, 0]);
    let signed = Value { elem: Elem::I8, dims: vec![3], bits: vec![1, -128i64 as u64, 0] };
    assert_eq!(eval_positions(&signed), [1, 2, 0]);
}

fn eval_positions(x: &Value) -> Vec<u64> {
    let result = (Elem::I64, x.dims.as_slice());
    let shapes = Shapes { args: &[(x.elem, &x.dims)], attrs: &[], result };
    assert_eq!((ARGSORT.check)(&shapes), Ok(()));
    ARGSORT.value(&Inputs { args: &[x], attrs: &[], result, in_field: false }).expect("a value").bits
}

#[test]
fn operands_have_names_and_agree_with_the_derivative_and_the_samples() {
    for record in tensor_table() {
        let is_smooth = record.operands.iter().any(|operand| match operand.differentiability {
            Differentiability::Smooth { .. } | Differentiability::Piecewise { .. } => true,
            Differentiability::Zero { reason } | Differentiability::None { reason } => {
                assert!(reason.len() > 10, "{}: {reason}", record.name());
                false
            }
        });
        let has_derivative = !matches!(record.derivative, Derivative::None { .. });
        assert_eq!(is_smooth, has_derivative, "{}", record.name());
        for (k, operand) in record.operands.iter().enumerate() {
            assert!(record.operands[..k].iter().all(|other| other.name != operand.name), "{}", record.name());
            assert_eq!(operand.repeated, operand.repeated && k + 1 == record.operands.len(), "{}", record.name());
        }
        for sample in record.samples {
            let n = record.operands.len();
            let is_open = record.operands.last().is_some_and(|operand| operand.repeated);
            assert!(sample.args.len() == n || is_open && sample.args.len() >= n, "{}", record.name());
            for (operand, arg) in record.operands.iter().zip(sample.args) {
                let is_position = matches!(arg.like, Like::Position(_));
                assert_eq!(operand.ty == "i64", is_position, "{}: {}", record.name(), operand.name);
            }
        }
    }
    assert_eq!(SLICE.signature(), "(T[..], i64) -> T[..]");
    assert_eq!(CONCAT.signature(), "(T[..], ..) -> T[..]");
}
