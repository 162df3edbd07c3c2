//! Random straight-line programs of all scalar rules that are proved.

use crate::derived_case::Subject;
use crate::random::Rng;
use cotan_ir::{Atom, Builder, Const, Elem, Module, OperandElem, Ty, Var};
use cotan_ops::{AND, LE, LT, MUL, NOT, OR, PrimRow, Proof, Value, table};

/// Constants of programs, some of which a compiler folds with rounding.
const CONSTANTS: [f64; 8] = [2.0, 0.5, 3.0, -1.5, 0.1, 7.0, -0.3, 1.25];

/// The program of a seed: up to 60 uses of rules.
pub fn straight_line(seed: u64) -> Subject {
    let mut rng = Rng::new(seed ^ 0x57a1_6874);
    let mut b = Builder::new();
    let n_params = 2 + rng.below(4);
    let f64 = Ty::scalar(Elem::F64);
    let params: Vec<Var> = (0..n_params).map(|k| b.param(&format!("x{k}"), f64.clone())).collect();
    let mut values: Vec<Atom> = params.into_iter().map(Atom::Var).collect();
    let rows: Vec<&'static PrimRow> = table().iter().copied().filter(|row| is_scalar_rule(row)).collect();
    for _ in 0..5 + rng.below(56) {
        let row = rng.choice(&rows);
        let args: Vec<Atom> = row.sig.operands.iter().map(|elem| operand(&mut b, &mut rng, &values, *elem)).collect();
        // What is known of a number and itself, such as x / x = 1, is no question of derivatives; squares are.
        let is_square = std::ptr::eq(row, &MUL);
        let is_repeated = |k: usize| args[k].var().is_some() && args[..k].contains(&args[k]);
        if args.iter().any(|a| a.var().is_some()) && (is_square || !(0..args.len()).any(is_repeated)) {
            values.push(b.prim(row.prim(), &args).into());
        }
    }
    let results = if rng.chance(0.5) { vec![values[values.len() - 1]] } else { values[values.len() - 2..].to_vec() };
    let name = "straight";
    let mut module = Module::default();
    module.insert(cotan_opt::simplify(b.finish(name, results)));
    let args = (0..n_params).map(|_| Value::f64s(&[], &[rng.span(0.2, 0.9)])).collect();
    Subject { seed, ..Subject::new(format!("straight line {seed}"), module, name.into(), args) }
}

/// Whether a row has a proved rule on f64.
fn is_scalar_rule(row: &'static PrimRow) -> bool {
    row.proof == Proof::Proved
        && row.sig.domain.has(Elem::F64)
        && row.sig.operands.contains(&OperandElem::T)
        && row.prim().result_elem(&elems(row)) == Ok(Elem::F64)
}

fn elems(row: &PrimRow) -> Vec<Elem> {
    let elem = |operand: &OperandElem| match operand {
        OperandElem::T => Elem::F64,
        OperandElem::Is(elem) => *elem,
    };
    row.sig.operands.iter().map(elem).collect()
}

fn operand(b: &mut Builder, rng: &mut Rng, values: &[Atom], elem: OperandElem) -> Atom {
    match elem {
        OperandElem::T if rng.chance(0.15) => Const::f64(rng.choice(&CONSTANTS)).into(),
        OperandElem::T => *rng.recent(values),
        OperandElem::Is(Elem::Bool) => condition(b, rng, values, 2),
        OperandElem::Is(_) => Atom::i64(rng.choice(&[2, 3, 4, -1, -2])),
    }
}

fn condition(b: &mut Builder, rng: &mut Rng, values: &[Atom], depth: usize) -> Atom {
    let compared = rng.choice(&[&LT, &LE]);
    let connective = rng.choice(&[&AND, &OR]);
    match rng.below(4) {
        0 if depth > 0 => {
            let (p, q) = (condition(b, rng, values, depth - 1), condition(b, rng, values, depth - 1));
            b.prim(connective.prim(), &[p, q]).into()
        }
        1 if depth > 0 => {
            let p = condition(b, rng, values, depth - 1);
            b.prim(NOT.prim(), &[p]).into()
        }
        _ => {
            let (x, y) = (*rng.recent(values), *rng.recent(values));
            let y = if x == y { Const::f64(0.25).into() } else { y };
            b.prim(compared.prim(), &[x, y]).into()
        }
    }
}
