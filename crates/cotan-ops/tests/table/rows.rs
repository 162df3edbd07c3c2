//! What holds of every row.

use super::samples::{same, samples, special_points, types_of};
use cotan_ir::{Atom, Builder, Const, Elem, OperandElem, Ty};
use cotan_ops::{
    Codegen, HostFn, Law, Partial, PrimRow, Registry, Sample, Term, explain, host_functions, lookup, lookup_tensor,
    manifest, row, table, tensor_row, tensor_table, typed_number,
};
use std::collections::BTreeSet;

#[test]
fn names_are_unique_and_lead_back() {
    let mut names = BTreeSet::new();
    for r in table() {
        assert!(names.insert(r.name()), "{} is there twice", r.name());
        assert!(std::ptr::eq(row(r.prim()), *r));
        assert!(std::ptr::eq(lookup(r.name()).expect("found by name"), *r));
        assert!(std::ptr::eq(Registry::standard().prim(r.name()).expect("found by name"), *r));
    }
    for t in tensor_table() {
        assert!(names.insert(t.name()), "{} is there twice", t.name());
        assert!(std::ptr::eq(tensor_row(t.op()), *t));
        assert!(std::ptr::eq(lookup_tensor(t.name()).expect("found by name"), *t));
        assert!(std::ptr::eq(Registry::standard().tensor_op(t.name()).expect("found by name"), *t));
    }
    assert!(Registry::standard().prim("no such operation").is_none());
}

#[test]
fn every_row_is_documented_and_sampled() {
    for r in table() {
        let n = r.sig.operands.len();
        assert!(r.doc.ends_with('.') && r.doc.len() > 10, "doc of {}", r.name());
        assert_eq!((r.partials.len(), r.samples.len()), (n, n), "{}", r.name());
        for (want, sample) in r.sig.operands.iter().zip(r.samples) {
            let fits = match sample {
                Sample::Span(lo, hi) => *want == OperandElem::T && lo < hi,
                Sample::Whole(lo, hi) => lo <= hi,
                Sample::Truth => *want == OperandElem::Is(Elem::Bool),
            };
            assert!(fits, "{}: {sample:?} for {want:?}", r.name());
        }
        for point in r.edge_points {
            assert_eq!((point.at.len(), point.partials.len()), (n, n), "{}", r.name());
        }
    }
    assert_eq!(explain("no such operation"), None);
    let entries = manifest(Registry::standard());
    assert_eq!(entries.len(), table().len() + tensor_table().len());
    for entry in entries {
        // Operands have names there, not the numbers of the table.
        let is_told = explain(&entry.name).is_some_and(|text| text.contains(&entry.doc));
        assert!(is_told && !entry.doc.contains("`a0`"), "{}: {}", entry.name, entry.doc);
    }
}

#[test]
fn a_zero_partial_has_a_reason_that_is_told() {
    let mut flat = BTreeSet::new();
    for r in table() {
        for partial in r.partials {
            if let Partial::Zero { reason } = partial {
                assert!(reason.len() > 10, "{}: {reason}", r.name());
                assert!(explain(r.name()).is_some_and(|text| text.contains(reason)), "{}: {reason}", r.name());
                flat.insert(r.name());
            }
        }
    }
    for name in ["sign", "floor", "lt", "eq"] {
        assert!(flat.contains(name), "{name} is flat: {flat:?}");
    }
}

#[test]
fn every_kernel_is_total_and_defined_exactly_on_its_domain() {
    for r in table() {
        for t in types_of(r) {
            for point in special_points(r, t) {
                assert!(r.eval(&point).is_ok(), "{}{point:?}", r.name());
            }
        }
        let kernel = |t: Elem| (r.kernels)(cotan_ops::Carrier::Elem(t)).is_some();
        if r.sig.operands.contains(&OperandElem::T) {
            for t in Elem::ALL {
                assert_eq!(kernel(t), r.sig.domain.has(t), "{} on {t}", r.name());
            }
        }
    }
}

/// Builds the term on variables of the operands' types; the builder panics on an ill-typed use.
fn emit(r: &'static PrimRow, t: Elem, term: &Term) -> Elem {
    let mut b = Builder::new();
    let elem_of = |want: &OperandElem| match want {
        OperandElem::T => t,
        OperandElem::Is(elem) => *elem,
    };
    let args: Vec<Atom> = r.sig.operands.iter().map(|w| b.param("a", Ty::scalar(elem_of(w))).into()).collect();
    let result = b.prim(r.prim(), &args).into();
    let emitted = term.emit(&mut b, t, &args, result);
    b.ty(emitted).elem
}

#[test]
fn terms_are_well_typed() {
    for r in table() {
        for t in types_of(r) {
            let elems: Vec<Elem> = samples(r, t)[0].iter().map(|c| c.elem()).collect();
            let result = r.prim().result_elem(&elems).expect("operands of the right types");
            if let Codegen::Term(term) = &r.codegen {
                assert_eq!(emit(r, t, term), result, "expansion of {} on {t}", r.name());
            }
            for partial in r.partials.iter().filter(|_| t.is_float()) {
                if let Partial::Term { term, .. } = partial {
                    assert_eq!(emit(r, t, term), t, "partial of {} on {t}", r.name());
                }
            }
        }
    }
}

#[test]
fn partials_that_are_multiplied_before_the_cotangent_are_at_most_1() {
    for r in table() {
        for partial in r.partials {
            let Partial::Term { term, beside: true, .. } = partial else { continue };
            for t in types_of(r) {
                for point in samples(r, t).into_iter().chain(special_points(r, t)) {
                    let kernel = r.eval(&point).expect("operands of the right types");
                    let slope = term.eval(t, &point, kernel).expect("operands of the right types");
                    let size = slope.as_float().expect("a float").abs();
                    assert!(size <= 1.0 || size.is_nan(), "{}{point:?}: {slope}", r.name());
                }
            }
        }
    }
}

#[test]
fn expansions_give_the_bits_of_the_kernel() {
    for r in table() {
        let Codegen::Term(term) = &r.codegen else { continue };
        for t in types_of(r) {
            for point in samples(r, t).into_iter().chain(special_points(r, t)) {
                let kernel = r.eval(&point).expect("operands of the right types");
                let expanded = term.eval(t, &point, kernel).expect("operands of the right types");
                assert!(same(kernel, expanded), "{}{point:?}: kernel {kernel}, expansion {expanded}", r.name());
            }
        }
    }
}

#[test]
fn host_functions_give_the_bits_of_the_kernel() {
    let bits = |c: Const| c.bits() as i64;
    let float = |c: Const| c.as_float().expect("a float");
    for host in host_functions() {
        assert_eq!(host.name, format!("cotan_{}_{}", host.row.name(), host.elem));
        for point in samples(host.row, host.elem).into_iter().chain(special_points(host.row, host.elem)) {
            let kernel = host.row.eval(&point).expect("operands of the right types");
            let single = |k: usize| float(point[k]) as f32;
            let found = match host.function {
                HostFn::F64x1(f) => Const::f64(f(float(point[0]))),
                HostFn::F64x2(f) => Const::f64(f(float(point[0]), float(point[1]))),
                HostFn::F64I64(f) => Const::f64(f(float(point[0]), bits(point[1]))),
                HostFn::F32x1(f) => Const::f32(f(single(0))),
                HostFn::F32x2(f) => Const::f32(f(single(0), single(1))),
                HostFn::F32I64(f) => Const::f32(f(single(0), bits(point[1]))),
                HostFn::I64x2(f) => Const::from_bits(kernel.elem(), f(bits(point[0]), bits(point[1])) as u64),
            };
            assert!(same(kernel, found), "{}{point:?}: kernel {kernel}, host {found}", host.name);
        }
    }
}

#[test]
fn there_is_a_host_function_exactly_where_the_lowering_says() {
    let mut expected = BTreeSet::new();
    for r in table() {
        for t in types_of(r) {
            let is_host = match r.codegen {
                Codegen::Host | Codegen::Power => true,
                Codegen::NativeOrHost(_) => t.is_float(),
                Codegen::Expansion(formula) => formula.code(t).beyond.is_some(),
                Codegen::Native(_) | Codegen::Term(_) => false,
            };
            if is_host {
                expected.insert(format!("cotan_{}_{t}", r.name()));
            }
        }
    }
    let found: BTreeSet<String> = host_functions().map(|host| host.name.to_owned()).collect();
    assert_eq!(found, expected);
    assert_eq!(host_functions().count(), found.len());
}

/// What a law says at one point: pairs that must be equal. Points that do not have the form of the law give none.
fn instances(r: &'static PrimRow, law: Law, point: &[Const]) -> Vec<(Const, Const)> {
    let f = |operands: &[Const]| r.eval(operands).expect("operands of the right types");
    let number = |like: Const, x: f64| typed_number(like.elem(), x);
    let n = point.len();
    match law {
        Law::Commutative => vec![(f(point), f(&[point[1], point[0]]))],
        Law::Associative => {
            let c = f(&[point[0], point[0]]);
            vec![(f(&[f(&[point[0], point[1]]), c]), f(&[point[0], f(&[point[1], c])]))]
        }
        Law::Neutral { operand, value, gives } => {
            let mut point = point.to_vec();
            point[operand] = number(point[operand], value);
            vec![(f(&point), point[gives])]
        }
        Law::Absorbing { operand, value, result } => {
            let mut point = point.to_vec();
            point[operand] = number(point[operand], value);
            let found = f(&point);
            vec![(found, number(found, result))]
        }
        Law::Idempotent => {
            let mut point = point.to_vec();
            point[n - 1] = point[n - 2];
            vec![(f(&point), point[n - 1])]
        }
        Law::Same(result) => {
            let found = f(&[point[0], point[0]]);
            vec![(found, number(found, result))]
        }
        Law::Involution => vec![(f(&[f(point)]), point[0])],
        Law::Projection => vec![(f(&[f(point)]), f(point))],
    }
}

#[test]
fn identities_hold_bit_for_bit() {
    for r in table() {
        for identity in r.identities {
            for t in types_of(r).into_iter().filter(|t| identity.on.has(*t)) {
                for point in samples(r, t).into_iter().chain(special_points(r, t)) {
                    for (found, expected) in instances(r, identity.law, &point) {
                        let law = identity.law;
                        assert!(same(found, expected), "{} {law:?} {point:?}: {found}, not {expected}", r.name());
                    }
                }
            }
        }
    }
}

#[test]
fn a_row_that_passes_nan_on_does_so_and_shows_the_sign_of_a_zero_by_a_zero_alone() {
    let others = [0.0, -0.0, 1.5, -2.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
    let mut passing = BTreeSet::new();
    for r in table() {
        for operand in (0..r.sig.operands.len()).filter(|k| r.passes_on(*k)) {
            for other in others {
                let with = |x: f64| {
                    let of = |(k, want): (usize, &OperandElem)| match want {
                        OperandElem::T => Const::f64(if k == operand { x } else { other }),
                        // A choice chooses the operand.
                        OperandElem::Is(_) => Const::bool(operand == 1),
                    };
                    let args: Vec<Const> = r.sig.operands.iter().enumerate().map(of).collect();
                    r.eval(&args).ok().and_then(|c| c.as_float())
                };
                // Rows of integers alone have no floats to pass on.
                let (Some(of_nan), Some(of_zero), Some(of_negative)) = (with(f64::NAN), with(0.0), with(-0.0)) else {
                    continue;
                };
                assert!(of_nan.is_nan(), "{} of NaN and {other}: {of_nan}", r.name());
                let agree = of_zero == of_negative || of_zero.is_nan() && of_negative.is_nan();
                assert!(agree, "{} of zeros and {other}: {of_zero}, {of_negative}", r.name());
                passing.insert(r.name());
            }
        }
    }
    let products_and_sums = ["abs", "add", "div", "fma", "max", "min", "mul", "mulc", "neg", "select", "sub"];
    assert!(products_and_sums.iter().all(|name| passing.contains(name)), "{passing:?}");
    assert!(!["mulz", "sqrt", "rem", "floor", "pow"].iter().any(|name| passing.contains(name)), "{passing:?}");
}
