//! Contexts of operations: every operation inside other programs, for each position of an axis, of arguments that are views, of numbers in
//! storage, on tensors of every rank, and beside NaN.

use super::subjects::{Use, of_row, ty};
use super::{Operation, Report};
use crate::derived_case::{Case, Subject, float_value, floats};
use crate::oracles::{Verdict, beside_nan, close_all, compiled_once, dot_product, finite_difference, same_bits, tape};
use crate::parallel;
use crate::tolerances::Property;
use cotan_ir::{Atom, Builder, Elem, Loop, ParResult, ReversePolicy, Ty};
use cotan_ops::{Registry, TRANSPOSE, Value, cast_to, count};
use std::ops::Range;

/// The positions of an axis that an operation is gone over, each with arguments of its own.
const POSITIONS: Range<u64> = 0..3;

/// The extents of tensors that primitives are applied to: ranks 1 to 4, one element, and none.
const EXTENTS: [&[i64]; 7] = [&[5], &[2, 3], &[2, 1, 3], &[2, 1, 3, 2], &[1, 1], &[0], &[2, 0, 3]];

/// Puts every operation in all forms before the oracles that judge derivatives and compiled code.
pub fn check_forms(registry: &Registry) -> Report {
    let mut report = Report::default();
    let operations = Operation::all(registry);
    for (operation, (points, failures)) in operations.iter().zip(parallel::map(&operations, |it| forms(*it))) {
        report.operations += usize::from(points > 0);
        report.points += points;
        report.failures.extend(failures.into_iter().map(|e| format!("{} {e}", operation.name())));
    }
    report
}

/// How many programs were asked, and what is wrong.
fn forms(operation: Operation) -> (usize, Vec<String>) {
    let (mut points, mut failures) = (0, Vec::new());
    let mut ask = |what: &str, outcome: Result<(), String>| {
        points += 1;
        failures.extend(outcome.err().map(|e| format!("{what}: {e}")));
    };
    let uses = operation.uses(Elem::F64, POSITIONS);
    for positions in uses.chunks(POSITIONS.count()) {
        ask("in a parallel loop", mapped(operation, positions, parallel_loop));
        ask("in a loop", mapped(operation, positions, sequential_loop));
        ask("of views", of_views(operation, &positions[0]));
    }
    for used in operation.uses(Elem::F32, 0..1) {
        for elem in [Elem::F16, Elem::BF16] {
            ask(&format!("of {elem}"), stored(&used, elem));
        }
    }
    if let Operation::Prim(row) = operation {
        for dims in EXTENTS {
            for used in of_row(row, Elem::F64, dims, 0..1) {
                ask(&format!("on {dims:?}"), on_elements(operation, &used));
            }
        }
    }
    for used in operation.uses(Elem::F64, 0..1) {
        for x in [f64::NAN, f64::INFINITY] {
            let (n, told) = not_a_number(&used, x).unwrap_or_else(|e| (0, vec![e]));
            points += n;
            failures.extend(told);
        }
    }
    (points, failures)
}

/// The oracles, for a program with one operation.
fn judged(operation: Operation, case: &Case) -> Result<(), String> {
    let oracles = [compiled_once, dot_product, tape, finite_difference];
    let n = if operation.redirects_derivative() { oracles.len() - 1 } else { oracles.len() };
    oracles[..n].iter().try_for_each(|ask| holds(ask(case)))
}

fn holds(verdict: Verdict) -> Result<(), String> {
    match verdict {
        Verdict::Holds | Verdict::Unusable(_) => Ok(()),
        Verdict::Fails(reason) => Err(reason),
    }
}

/// The results and cotangents are these.
fn gives(case: &Case, results: &[Value], cotangents: &[Value]) -> Result<(), String> {
    same_bits(&case.results, results, "value")?;
    close_all(&case.run_vjp()?.1, cotangents, Property::Rewritten, case, "cotangent")
}

/// The body of a loop over positions: the arguments there, and the operation of them.
fn body(used: &Use, b: &mut Builder, args: &[Atom], at: Atom) -> Atom {
    let here: Vec<Atom> = args.iter().map(|arg| b.index(*arg, &[at]).into()).collect();
    used.emit(b, &here)
}

fn parallel_loop(used: &Use, b: &mut Builder, args: &[Atom], n: Atom) -> Atom {
    let at = b.var("i", Ty::scalar(Elem::I64));
    b.open_block();
    let result = body(used, b, args, at.into());
    let body = b.close_block(vec![result]);
    b.finish_par(vec![at], vec![n], vec![ParResult::Stacked], Vec::new(), body)[0].into()
}

fn sequential_loop(used: &Use, b: &mut Builder, args: &[Atom], n: Atom) -> Atom {
    let index = b.var("i", Ty::scalar(Elem::I64));
    b.open_block();
    let result = body(used, b, args, index.into());
    let body = b.close_block(vec![result]);
    let (params, inits, accs) = (Vec::new(), Vec::new(), Vec::new());
    let l = Loop { index, count: Some(n), params, inits, accs, body, kept: ReversePolicy::default() };
    b.finish_loop(l, &[])[0].into()
}

/// For each position of an axis it gives what it gives alone.
fn mapped(
    operation: Operation,
    positions: &[Use],
    in_loop: fn(&Use, &mut Builder, &[Atom], Atom) -> Atom,
) -> Result<(), String> {
    let alone = positions.iter().map(|used| Case::new(used.alone())).collect::<Result<Vec<Case>, String>>()?;
    let column = |k: usize| stacked(positions.iter().map(|used| &used.args[k]));
    let args = (0..positions[0].args.len()).map(column).collect();
    let n = Atom::i64(positions.len() as i64);
    let mut case = Case::new(positions[0].subject(args, |b, args| in_loop(&positions[0], b, args, n)))?;
    case.cotangents = vec![stacked(alone.iter().map(|one| &one.cotangents[0]))];
    let cotangents = alone.iter().map(|one| Ok(one.run_vjp()?.1)).collect::<Result<Vec<_>, String>>()?;
    let cotangents: Vec<Value> = (0..case.wrt.len()).map(|k| stacked(cotangents.iter().map(|all| &all[k]))).collect();
    gives(&case, &[stacked(alone.iter().map(|one| &one.results[0]))], &cotangents)?;
    judged(operation, &case)
}

/// Tensors of the same extents one after the other, along a new first axis.
fn stacked<'a>(values: impl ExactSizeIterator<Item = &'a Value> + Clone) -> Value {
    let n = values.len() as i64;
    let bits = values.clone().flat_map(|v| v.bits.iter().copied()).collect();
    let first = values.into_iter().next().expect("invariant: an axis has positions");
    Value { elem: first.elem, dims: [&[n], first.dims.as_slice()].concat(), bits }
}

/// Whether an argument is given with its last two axes exchanged; others are the second of three in a row.
fn is_across(v: &Value) -> bool {
    v.dims.len() > 1
}

/// The order of axes with the last two exchanged.
fn across(rank: usize) -> Vec<i64> {
    let mut order: Vec<i64> = (0..rank as i64).collect();
    order.swap(rank - 2, rank - 1);
    order
}

/// What is given for an argument that is a view, with `around` beside it.
fn given(v: &Value, around: &Value) -> Value {
    if is_across(v) { exchanged(v) } else { stacked([around, v, around].into_iter()) }
}

/// The last two axes exchanged.
fn exchanged(v: &Value) -> Value {
    let order = across(v.dims.len());
    let dims: Vec<i64> = order.iter().map(|k| v.dims[*k as usize]).collect();
    let (rows, columns) = (v.dims[v.dims.len() - 2] as usize, v.dims[v.dims.len() - 1] as usize);
    let of_matrix = |m: &[u64]| (0..columns * rows).map(|k| m[k % rows * columns + k / rows]).collect::<Vec<u64>>();
    let bits = v.bits.chunks((rows * columns).max(1)).flat_map(of_matrix).collect();
    Value { elem: v.elem, dims, bits }
}

/// Of arguments that are views it gives what it gives of tensors of their own; beside them there is NaN.
fn of_views(operation: Operation, used: &Use) -> Result<(), String> {
    let alone = Case::new(used.alone())?;
    let nothing = |v: &Value| if v.elem.is_float() { float_value(v, &vec![f64::NAN; v.bits.len()]) } else { v.clone() };
    let args = used.args.iter().map(|v| given(v, &nothing(v))).collect();
    let subject = used.subject(args, |b, args| {
        let taken = |(arg, v): (&Atom, &Value)| -> Atom {
            if is_across(v) {
                b.tensor(TRANSPOSE.op(), &[*arg], &across(v.dims.len()), ty(v.elem, &v.dims)).into()
            } else {
                b.index(*arg, &[Atom::i64(1)]).into()
            }
        };
        let taken: Vec<Atom> = args.iter().zip(&used.args).map(taken).collect();
        used.emit(b, &taken)
    });
    let mut case = Case::new(subject)?;
    case.cotangents = alone.cotangents.clone();
    let zeros = |v: &Value| Value::zeros(v.elem, &v.dims);
    let cotangents: Vec<Value> = alone.run_vjp()?.1.iter().map(|v| given(v, &zeros(v))).collect();
    gives(&case, &alone.results, &cotangents)?;
    judged(operation, &case)
}

/// Of numbers in storage it gives what it gives of them in f32, stored again.
fn stored(used: &Use, elem: Elem) -> Result<(), String> {
    let to = |v: &Value, elem: Elem| {
        if v.elem.is_float() { float_value(&Value { elem, ..v.clone() }, &floats(v)) } else { v.clone() }
    };
    let args: Vec<Value> = used.args.iter().map(|v| to(v, elem)).collect();
    let subject: Subject = used.subject(args.clone(), |b, atoms| {
        let taken = |(atom, v): (&Atom, &Value)| -> Atom {
            if v.elem.is_float() { b.prim(cast_to(Elem::F32).prim(), &[*atom]).into() } else { *atom }
        };
        let taken: Vec<Atom> = atoms.iter().zip(&args).map(taken).collect();
        let result = used.emit(b, &taken);
        b.prim(cast_to(elem).prim(), &[result]).into()
    });
    let case = Case::new(subject)?;
    let single = used.with(args.iter().map(|v| to(v, Elem::F32)).collect());
    let mut single = Case::new(single.alone())?;
    single.cotangents = vec![to(&case.cotangents[0], single.cotangents[0].elem)];
    let results: Vec<Value> = single.results.iter().map(|v| to(v, elem)).collect();
    gives(&case, &results, &single.run_vjp()?.1)?;
    [compiled_once, dot_product, tape].iter().try_for_each(|ask| holds(ask(&case)))
}

/// On tensors a primitive gives what it gives on each element.
fn on_elements(operation: Operation, used: &Use) -> Result<(), String> {
    let case = Case::new(used.alone())?;
    for k in 0..count(&case.results[0].dims) {
        let element = |v: &Value| Value { elem: v.elem, dims: Vec::new(), bits: vec![v.bits[k]] };
        let one = used.with(used.args.iter().map(element).collect());
        same_bits(&Case::new(one.alone())?.results, &[element(&case.results[0])], &format!("element {k}"))?;
    }
    judged(operation, &case)
}

/// Beside a result that is NaN no derivative is a number without a reason, and compiled code gives the same.
fn not_a_number(used: &Use, x: f64) -> Result<(usize, Vec<String>), String> {
    let case = Case::new(used.alone())?;
    let at = |args: Vec<Value>| {
        let case = case.at(args)?;
        holds(compiled_once(&case))?;
        Ok(Some(case))
    };
    Ok(beside_nan(&case, x, &at))
}
