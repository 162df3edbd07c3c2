//! Partial derivatives against finite differences, at kinks, and at special values.

use super::samples::{same, samples, special_points, types_of};
use cotan_ir::{Const, Elem, OperandElem};
use cotan_ops::{Partial, PrimRow, Term, table, typed_number};

fn float(c: Const) -> f64 {
    c.as_float().expect("a float")
}

/// The derivative of `f` at `x` by central differences, extrapolated twice.
fn richardson(f: impl Fn(f64) -> f64, x: f64) -> f64 {
    let central = |h: f64| (f(x + h) - f(x - h)) / (2.0 * h);
    let (h, n) = (8e-3, 3);
    let mut d: Vec<f64> = (0..n).map(|k| central(h / f64::from(1 << k))).collect();
    for level in 1..n {
        let factor = f64::from(1 << (2 * level));
        for k in (level..n).rev() {
            d[k as usize] = (factor * d[k as usize] - d[k as usize - 1]) / (factor - 1.0);
        }
    }
    d[n as usize - 1]
}

fn value(r: &'static PrimRow, point: &[Const]) -> Const {
    r.eval(point).expect("operands of the right types")
}

fn moved(point: &[Const], operand: usize, x: f64) -> Vec<Const> {
    let mut point = point.to_vec();
    point[operand] = Const::f64(x);
    point
}

fn partial_at(r: &'static PrimRow, operand: usize, elem: Elem, point: &[Const]) -> f64 {
    match &r.partials[operand] {
        Partial::Term { term, .. } => float(term.eval(elem, point, value(r, point)).expect("a well-typed term")),
        Partial::Convert => 1.0,
        Partial::Zero { .. } => 0.0,
    }
}

fn near(found: f64, expected: f64, tolerance: f64) -> bool {
    (found - expected).abs() <= tolerance * expected.abs().max(1.0)
}

/// Rows from f64 to f64, and their f64 operands.
fn differentiable() -> Vec<(&'static PrimRow, usize)> {
    let mut all = Vec::new();
    for r in table().iter().copied().filter(|r| r.sig.domain.has(Elem::F64)) {
        let point = &samples(r, Elem::F64)[0];
        let operands = (0..point.len()).filter(|k| r.sig.operands[*k] == OperandElem::T);
        if value(r, point).elem() == Elem::F64 && point.iter().any(|c| c.elem() == Elem::F64) {
            all.extend(operands.map(|k| (r, k)));
        }
    }
    all
}

#[test]
fn samples_lie_in_the_domain() {
    for (r, _) in differentiable() {
        for point in samples(r, Elem::F64) {
            let numbers: Vec<f64> = point.iter().map(|c| c.as_float().unwrap_or(c.bits() as i64 as f64)).collect();
            assert!(r.domain.iter().all(|condition| condition.holds(&numbers)), "{}{point:?}", r.name());
        }
    }
}

#[test]
fn partials_are_derivatives() {
    for (r, k) in differentiable().into_iter().filter(|(r, _)| !r.redirects_derivative()) {
        for point in samples(r, Elem::F64) {
            let expected = richardson(|x| float(value(r, &moved(&point, k, x))), float(point[k]));
            let found = partial_at(r, k, Elem::F64, &point);
            assert!(near(found, expected, 1e-8), "d{}/da{k} at {point:?}: {found}, not {expected}", r.name());
        }
    }
}

/// Value and tangent of a term when operand `k` moves, by the chain rule over the table.
fn push(term: &Term, point: &[Const], result: (Const, f64), k: usize) -> (Const, f64) {
    let elem = Elem::F64;
    match term {
        Term::Arg(n) => (point[*n], if *n == k { 1.0 } else { 0.0 }),
        Term::Result => result,
        Term::Number(x) => (typed_number(elem, *x), 0.0),
        Term::Named(constant) => (typed_number(elem, constant.value), 0.0),
        Term::Int(n) => (Const::i64(*n), 0.0),
        Term::ToT(inner) => {
            let (inner, tan) = push(inner, point, result, k);
            (cotan_ops::cast_to(elem).eval(&[inner]).expect("a well-typed term"), tan)
        }
        Term::Apply(row, operands) => {
            let pairs: Vec<(Const, f64)> = operands.iter().map(|t| push(t, point, result, k)).collect();
            let values: Vec<Const> = pairs.iter().map(|(value, _)| *value).collect();
            let contribution = |(n, (_, tan)): (usize, &(Const, f64))| {
                if *tan == 0.0 { 0.0 } else { tan * partial_at(row, n, elem, &values) }
            };
            (value(row, &values), pairs.iter().enumerate().map(contribution).sum())
        }
    }
}

#[test]
fn partials_of_partials_are_second_derivatives() {
    for (r, k) in differentiable() {
        let Partial::Term { term, .. } = &r.partials[k] else { continue };
        for (_, j) in differentiable().into_iter().filter(|(other, _)| std::ptr::eq(*other, r)) {
            for point in samples(r, Elem::F64) {
                let expected = richardson(|x| partial_at(r, k, Elem::F64, &moved(&point, j, x)), float(point[j]));
                let result = (value(r, &point), partial_at(r, j, Elem::F64, &point));
                let (_, found) = push(term, &point, result, j);
                let at = format!("d2{}/da{k}da{j} at {point:?}", r.name());
                assert!(near(found, expected, 1e-6), "{at}: {found}, not {expected}");
            }
        }
    }
}

#[test]
fn partials_in_single_precision_agree_with_double() {
    for (r, k) in differentiable().into_iter().filter(|(r, _)| r.sig.domain.has(Elem::F32)) {
        let singles = samples(r, Elem::F32);
        for point in singles {
            let widen = |c: &Const| if c.elem() == Elem::F32 { Const::f64(float(*c)) } else { *c };
            let wide: Vec<Const> = point.iter().map(widen).collect();
            if value(r, &point).elem() != Elem::F32 {
                continue;
            }
            let (found, expected) = (partial_at(r, k, Elem::F32, &point), partial_at(r, k, Elem::F64, &wide));
            assert!(near(found, expected, 2e-5), "d{}/da{k} at {point:?}: {found}, not {expected}", r.name());
        }
    }
}

#[test]
fn edge_points_follow_the_conventions() {
    for r in table() {
        for edge in r.edge_points {
            for t in [Elem::F64, Elem::F32] {
                let constant = |(x, want): (&f64, &OperandElem)| match want {
                    OperandElem::T => typed_number(t, *x),
                    OperandElem::Is(elem) => typed_number(*elem, *x),
                };
                let point: Vec<Const> = edge.at.iter().zip(r.sig.operands).map(constant).collect();
                let found = value(r, &point);
                assert!(same(found, typed_number(t, edge.value)), "{}{point:?} = {found}", r.name());
                for (k, expected) in edge.partials.iter().enumerate() {
                    let found = Const::f64(partial_at(r, k, t, &point));
                    let zeros = float(found) == 0.0 && *expected == 0.0;
                    let at = format!("d{}/da{k} at {point:?}", r.name());
                    assert!(zeros || same(found, Const::f64(*expected)), "{at}: {found}, not {expected}");
                }
            }
        }
    }
}

#[test]
fn partials_marked_finite_are_finite_everywhere() {
    for (r, k) in differentiable() {
        let Partial::Term { always_finite: true, .. } = r.partials[k] else { continue };
        for point in special_points(r, Elem::F64) {
            let found = partial_at(r, k, Elem::F64, &point);
            assert!(found.is_finite(), "d{}/da{k} at {point:?}: {found}", r.name());
        }
    }
}

#[test]
fn a_nan_of_a_function_of_one_operand_makes_its_derivative_nan() {
    for r in table().iter().copied().filter(|r| r.sig.operands.len() == 1) {
        let Partial::Term { always_finite: false, .. } = r.partials[0] else { continue };
        for t in types_of(r).into_iter().filter(|t| t.is_float()) {
            for point in special_points(r, t) {
                if float(value(r, &point)).is_nan() {
                    let found = partial_at(r, 0, t, &point);
                    assert!(found.is_nan(), "{}'({}) = {found} beside a NaN value", r.name(), point[0]);
                }
            }
        }
    }
}
