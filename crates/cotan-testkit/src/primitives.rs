//! Every primitive of the op table as a program of its own, under all oracles. Nothing here names a primitive.

use crate::case::{Case, Subject};
use crate::oracles::{COMPILED_AT_ALL_LEVELS, FIRST_ORDER, SECOND_ORDER, Verdict};
use crate::random::Rng;
use cotan_ir::{Builder, Const, Elem, Module, OperandElem, Ty};
use cotan_ops::{PrimRow, Sample, Value, table};

/// Sampled points of every primitive in each of its float types.
const POINTS: u64 = 8;

/// The oracle that sees values alone.
const FINITE_DIFFERENCE: &str = "finite difference";

/// What the battery found.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Primitives with a float among operands and results.
    pub primitives: usize,
    /// Points in all.
    pub points: usize,
    /// Points in f64, where finite differences are precise enough to judge.
    pub double_points: usize,
    /// Those of them at which they could.
    pub usable: usize,
    /// What is wrong.
    pub failures: Vec<String>,
}

/// Puts every primitive before all oracles.
pub fn check_all() -> Report {
    let mut report = Report::default();
    for row in table() {
        let elems: Vec<Elem> = [Elem::F64, Elem::F32].into_iter().filter(|e| is_float_at(row, *e)).collect();
        report.primitives += usize::from(!elems.is_empty());
        for elem in elems {
            for seed in 0..POINTS {
                report.points += 1;
                report.double_points += usize::from(elem == Elem::F64);
                match check(row, elem, seed) {
                    Ok(is_usable) => report.usable += usize::from(is_usable),
                    Err(e) => report.failures.push(format!("{} on {elem}, point {seed}: {e}", row.name())),
                }
            }
        }
    }
    report
}

/// The operand types for `T` = `elem`.
fn operands(row: &PrimRow, elem: Elem) -> Vec<Elem> {
    let operand = |o: &OperandElem| match o {
        OperandElem::T => elem,
        OperandElem::Is(e) => *e,
    };
    row.sig.operands.iter().map(operand).collect()
}

/// Whether the primitive takes this type for `T`, and gives a float then.
fn is_float_at(row: &'static PrimRow, elem: Elem) -> bool {
    row.sig.domain.has(elem) && row.prim().result_elem(&operands(row, elem)).is_ok_and(Elem::is_float)
}

/// Whether finite differences could judge, or what is wrong.
fn check(row: &'static PrimRow, elem: Elem, seed: u64) -> Result<bool, String> {
    let mut rng = Rng::new(seed);
    let mut b = Builder::new();
    let mut args = Vec::new();
    let mut values = Vec::new();
    for (k, (operand, sample)) in operands(row, elem).into_iter().zip(row.samples).enumerate() {
        args.push(b.param(&format!("a{k}"), Ty::scalar(operand)).into());
        values.push(Value::from(draw(&mut rng, operand, *sample)));
    }
    let result = b.prim(row.prim(), &args);
    let mut module = Module::default();
    let f = module.insert(b.finish("primitive", vec![result.into()]));
    let subject = Subject { seed, ..Subject::new(row.name().to_owned(), module, f.name.clone(), values) };
    let mut case = Case::new(subject)?;
    let mut is_usable = false;
    for oracle in FIRST_ORDER.iter().chain([&COMPILED_AT_ALL_LEVELS]) {
        if oracle.name == FINITE_DIFFERENCE && row.redirects_derivative() {
            is_usable = elem == Elem::F64;
            continue;
        }
        match (oracle.ask)(&case) {
            Verdict::Fails(reason) => return Err(format!("`{}`: {reason}", oracle.name)),
            Verdict::Holds => is_usable |= oracle.name == FINITE_DIFFERENCE,
            Verdict::Unusable(_) => {}
        }
    }
    case.derive_twice()?;
    match (SECOND_ORDER.ask)(&case) {
        Verdict::Fails(reason) => Err(format!("`{}`: {reason}", SECOND_ORDER.name)),
        Verdict::Holds | Verdict::Unusable(_) => Ok(is_usable),
    }
}

fn draw(rng: &mut Rng, elem: Elem, sample: Sample) -> Const {
    match sample {
        Sample::Span(low, high) if elem.is_float() => Const::float(elem, rng.span(low, high)),
        Sample::Whole(low, high) if elem.is_integer() => Const::integer(elem, rng.range(low, high + 1).into()),
        Sample::Truth => Const::bool(rng.chance(0.5)),
        Sample::Span(low, high) => Const::number(elem, rng.span(low, high) as i32),
        Sample::Whole(low, high) => Const::number(elem, rng.range(low, high + 1) as i32),
    }
}
