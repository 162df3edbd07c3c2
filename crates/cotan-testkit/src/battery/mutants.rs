//! Broken rules: whether the battery notices.
//!
//! The rule of an operation shows in the derivatives of the program that is the operation alone: all statements that its
//! results do not need are the rule's. Each is broken in every way that fits it (its sign, a term or a factor left out,
//! operands exchanged, another constant, an attribute turned, the other side of a tie), and each derivative is left out
//! altogether. A mutant is noticed if an oracle fails at a point of the battery, or if it has a larger error than partials
//! may have where the rule has not (`digits`). It is real if what it gives differs from what the rule gives at some of many
//! more points; others are the same function, written otherwise.

use super::{Operation, POINTS, digits};
use crate::derived_case::{Case, Subject, floats, function, joined};
use crate::exact::Known;
use crate::oracles::{Verdict, dot_product, finite_difference, tape};
use crate::tolerances::close;
use cotan_ir::{Atom, Block, Const, Elem, Function, Mode, Op, Prim, Stmt, Symbol, TensorOp, Var, VarInfo};
use cotan_ops::{
    ADD, Derivative, EQ, FILL, GE, GT, LE, LT, MATMUL, MAX, MIN, NE, NEG, Partial, PrimRow, Registry, SELECT,
    ShapeRule, Shapes, Value, row, tensor_row,
};
use std::collections::{BTreeMap, BTreeSet};

/// Points at which a mutant may show that it is real, beside those of the battery.
const MORE_POINTS: u64 = 24;

/// Results that differ by more, relative to what they are, are not the same.
const DIFFERENCE: f64 = 1e-6;

/// What became of a mutant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fate {
    /// An oracle of the battery fails.
    Noticed,
    /// Nothing fails, and it differs from the rule.
    Missed,
    /// It gives what the rule gives, at all sampled points.
    Same,
}

/// A broken rule.
#[derive(Clone, Debug)]
pub struct Mutant {
    /// The operation.
    pub operation: &'static str,
    /// The mode whose rule is broken.
    pub mode: Mode,
    /// What was done, and where.
    pub what: String,
    /// What became of it.
    pub fate: Fate,
}

impl Mutant {
    /// The name of the mode.
    pub fn mode_name(&self) -> &'static str {
        match self.mode {
            Mode::Jvp => "jvp",
            Mode::Vjp => "vjp",
        }
    }
}

/// Every mutant of every rule of a registry.
pub fn judge_all(registry: &Registry) -> Result<Vec<Mutant>, String> {
    let operations = Operation::all(registry);
    let judged = crate::parallel::map(&operations, |operation| judge(*operation));
    let mut mutants = Vec::new();
    for of_one in judged {
        mutants.extend(of_one?);
    }
    Ok(mutants)
}

/// The operations without a derivative, each with its reason.
pub fn without_derivative(registry: &Registry) -> Vec<(&'static str, String)> {
    let of = |operation: Operation| match operation {
        Operation::Prim(row) => {
            let reasons: Vec<&str> = row
                .partials
                .iter()
                .filter_map(|partial| match partial {
                    Partial::Zero { reason } => Some(*reason),
                    Partial::Term { .. } | Partial::Convert => None,
                })
                .collect();
            (reasons.len() == row.partials.len()).then(|| (row.name(), reasons.join("; ")))
        }
        Operation::Tensor(record) => match record.derivative {
            Derivative::None { reason } => Some((record.name(), reason.to_owned())),
            Derivative::Linear { .. } | Derivative::Multilinear { .. } | Derivative::Rule { .. } => None,
        },
    };
    Operation::all(registry).into_iter().filter_map(of).collect()
}

/// The mutants of the rules of one operation.
pub fn judge(operation: Operation) -> Result<Vec<Mutant>, String> {
    let cases = |points| -> Result<Vec<Case>, String> {
        operation.subjects(Elem::F64, points).into_iter().map(Case::new).collect()
    };
    let battery: Vec<Case> = cases(0..POINTS)?.into_iter().chain(edge_cases(operation)?).collect();
    let more = cases(POINTS..POINTS + MORE_POINTS)?;
    let known = digits::known(operation);
    // The programs of different samples differ: each has rules of its own shapes. What is broken at one place of a rule
    // counts once, and is noticed if it is at some shape.
    let (mut fates, mut seen) = (BTreeMap::new(), BTreeSet::new());
    for case in battery.iter().filter(|case| !case.wrt.is_empty()) {
        for mode in [Mode::Jvp, Mode::Vjp] {
            let name = case.first(mode).canonical_name();
            let f = function(&case.subject.module, &name)?;
            let text = cotan_ir::print_function(f, cotan_ir::PrintOptions::default());
            if !seen.insert(text) {
                continue;
            }
            let fits = |other: &&Case| {
                other.subject.args.iter().map(|a| &a.dims).eq(case.subject.args.iter().map(|a| &a.dims))
            };
            let points: Vec<&Case> = battery.iter().filter(fits).collect();
            let more: Vec<&Case> = more.iter().filter(fits).collect();
            let attrs: Vec<i64> =
                f.body.stmts.first().map_or(Vec::new(), |s| {
                    if let Op::Tensor { attrs, .. } = &s.op { attrs.clone() } else { Vec::new() }
                });
            for (place, what, mutant) in mutated(f, case.results.len()) {
                let fate = fate(mode, &mutant, &points, &more, &known);
                let is_jvp = mode == Mode::Jvp;
                let key = (is_jvp, attrs.clone(), f.body.stmts.len(), place);
                let mutant = Mutant { operation: operation.name(), mode, what, fate };
                fates.entry(key).and_modify(|old: &mut Mutant| old.fate = old.fate.min(fate)).or_insert(mutant);
            }
        }
    }
    Ok(fates.into_values().collect())
}

/// The points of the table at which something is a matter of convention.
fn edge_cases(operation: Operation) -> Result<Vec<Case>, String> {
    let Operation::Prim(row) = operation else { return Ok(Vec::new()) };
    let Some(like) = operation.subjects(Elem::F64, 0..1).pop() else { return Ok(Vec::new()) };
    let mut cases = Vec::new();
    for (k, point) in row.edge_points.iter().enumerate() {
        let args = like.args.iter().zip(point.at).map(|(arg, x)| Value::from(cotan_ops::typed_number(arg.elem, *x)));
        cases.push(Case::new(Subject { args: args.collect(), seed: 1000 + k as u64, ..like.clone() })?);
    }
    Ok(cases)
}

fn fate(mode: Mode, mutant: &Function, battery: &[&Case], more: &[&Case], known: &[Known]) -> Fate {
    let changed = |case: &Case| {
        let mut case = case.clone();
        case.subject.module.insert(Function { name: case.first(mode).canonical_name(), ..mutant.clone() });
        case
    };
    let is_noticed = |case: &&Case| {
        let mutated = changed(case);
        let oracles = [dot_product, tape, finite_difference];
        // An oracle that has nothing to say of the rule itself says nothing of its mutants: at a kink, say.
        oracles.iter().any(|ask| ask(case) == Verdict::Holds && matches!(ask(&mutated), Verdict::Fails(_)))
    };
    if battery.iter().any(is_noticed) {
        return Fate::Noticed;
    }
    if battery.first().is_some_and(|case| digits::tells_apart(known, mode, case, &changed(case))) {
        return Fate::Noticed;
    }
    let differs = |case: &&Case| {
        let run = |case: &Case| match mode {
            Mode::Jvp => case.run_jvp().map(|(values, tangents)| joined(&[&values, &tangents])),
            Mode::Vjp => case.run_vjp().map(|(values, cotangents)| joined(&[&values, &cotangents])),
        };
        match (run(case), run(&changed(case))) {
            (Ok(a), Ok(b)) => !a.iter().zip(&b).all(|(a, b)| same(a, b)),
            (a, b) => a.is_ok() != b.is_ok(),
        }
    };
    if battery.iter().chain(more).any(differs) { Fate::Missed } else { Fate::Same }
}

fn same(a: &Value, b: &Value) -> bool {
    let (x, y) = (floats(a), floats(b));
    a.dims == b.dims && x.iter().zip(&y).all(|(x, y)| close(*x, *y, x.abs().max(y.abs()), DIFFERENCE))
}

/// Every way to break a derivative, each with the function that it gives. The first results are those of the operation.
///
/// Each has a name of the place and of what was done there, which does not depend on shapes, and a text for people.
fn mutated(f: &Function, n_primal: usize) -> Vec<(String, String, Function)> {
    let primal = needed(&f.body, &f.body.results[..n_primal]);
    let mut mutants = Vec::new();
    for (k, s) in f.body.stmts.iter().enumerate() {
        if !s.results.iter().any(|r| primal.contains(r)) {
            below(f, s, &mut vec![k], &mut mutants);
        }
    }
    for (k, result) in f.body.results.iter().enumerate().skip(n_primal) {
        let Atom::Var(v) = *result else { continue };
        let mut g = f.clone();
        let zero = zeros(&mut g, v);
        g.body.stmts.push(zero.1);
        g.body.results[k] = zero.0.into();
        let what = format!("result {k} left out");
        mutants.push((what.clone(), what, g));
    }
    mutants
}

/// The variables that the results of a block need.
fn needed(block: &Block, results: &[Atom]) -> BTreeSet<Var> {
    let mut needed: BTreeSet<Var> = results.iter().filter_map(|a| a.var()).collect();
    for s in block.stmts.iter().rev() {
        if s.results.iter().any(|r| needed.contains(r)) {
            needed.extend(s.results.iter().copied());
            s.op.each_operand(&mut |a| needed.extend(a.var()));
        }
    }
    needed
}

/// A statement that gives zeros of the type of a variable, and its result.
fn zeros(f: &mut Function, like: Var) -> (Var, Stmt) {
    let ty = f.ty(like).clone();
    let zero: Atom = Const::zero(ty.elem).into();
    let v = f.add_var(VarInfo { name: Symbol::from("zero"), ty, record: None });
    (
        v,
        Stmt {
            results: vec![v],
            op: Op::Tensor { op: FILL.op(), args: vec![zero], attrs: Vec::new() },
            span: Default::default(),
        },
    )
}

/// The mutants of a statement and of those in its blocks.
fn below(f: &Function, s: &Stmt, path: &mut Vec<usize>, mutants: &mut Vec<(String, String, Function)>) {
    for (what, stmts) in broken(f, s) {
        let mut g = f.clone();
        g.vars.extend(stmts.1);
        let at = format!("{what} in `{}`", cotan_ir::print_stmt(f, s).lines().next().unwrap_or_default().trim());
        replace(&mut g.body, path, stmts.0);
        mutants.push((format!("{path:?} {what}"), at, g));
    }
    for (b, block) in s.op.blocks().iter().enumerate() {
        for (k, inner) in block.stmts.iter().enumerate() {
            path.extend([b, k]);
            below(f, inner, path, mutants);
            path.truncate(path.len() - 2);
        }
    }
}

fn replace(block: &mut Block, path: &[usize], stmts: Vec<Stmt>) {
    match path {
        [k] => {
            block.stmts.splice(*k..=*k, stmts);
        }
        [k, b, rest @ ..] => replace(&mut block.stmts[*k].op.blocks_mut()[*b], rest, stmts),
        [] => {}
    }
}

/// Statements in the place of one, and the variables that they bring.
type Replacement = (Vec<Stmt>, Vec<VarInfo>);

/// The ways to break a statement.
fn broken(f: &Function, s: &Stmt) -> Vec<(String, Replacement)> {
    let mut ways = Vec::new();
    let mut with = |what: &str, op: Op| {
        // A sum with 0 without the 0 is that sum.
        if op != s.op {
            ways.push((what.to_owned(), (vec![Stmt { op, ..s.clone() }], Vec::new())));
        }
    };
    if let Op::Prim { prim, args } = &s.op {
        broken_prim(f, s, *prim, args, &mut with);
    } else if let Op::Tensor { op, args, attrs } = &s.op {
        broken_tensor_op(f, s, (*op, args, attrs), &mut with);
    } else if let Op::Index { array, indices } = &s.op {
        broken_index(f, *array, indices, &mut with);
    }
    if let [result] = s.results[..]
        && f.ty(result).is_float()
        && !matches!(s.op, Op::AccAdd { .. })
    {
        ways.push(("the sign".to_owned(), negated(f, s, result)));
    }
    ways
}

fn broken_prim(f: &Function, s: &Stmt, prim: Prim, args: &[Atom], with: &mut dyn FnMut(&str, Op)) {
    let row = row(prim);
    let is_float = f.ty(s.results[0]).is_float();
    for (k, a) in args.iter().enumerate() {
        // A sum without a term, a product without a factor, a function left out.
        let same_type = f.atom_ty(*a).elem == f.ty(s.results[0]).elem;
        let is_same_shape = f.atom_ty(*a).dims == f.ty(s.results[0]).dims;
        let is_choice = std::ptr::eq(row, &SELECT) && k == 0;
        if is_float && same_type && is_same_shape && !is_choice && !matches!(a, Atom::Const(_)) {
            with(
                &format!("operand {k} alone"),
                Op::Prim { prim: ADD.prim(), args: vec![*a, Const::zero(f.atom_ty(*a).elem).into()] },
            );
        }
        if let Atom::Const(c) = a {
            for (what, other) in other_constants(*c) {
                let mut args = args.to_vec();
                args[k] = other.into();
                with(what, Op::Prim { prim, args });
            }
        }
    }
    if let [.., a, b] = args[..]
        && f.atom_ty(a).elem == f.atom_ty(b).elem
        && a != b
        && !std::ptr::eq(row, &EQ)
        && !std::ptr::eq(row, &NE)
        && !row.identities.iter().any(|i| i.law == cotan_ops::Law::Commutative)
    {
        let mut args = args.to_vec();
        let n = args.len();
        args.swap(n - 2, n - 1);
        with("operands exchanged", Op::Prim { prim, args });
    }
    if let Some(other) = other_side(row) {
        with("the other side", Op::Prim { prim: other.prim(), args: args.to_vec() });
    }
}

fn broken_tensor_op(
    f: &Function,
    s: &Stmt,
    (op, args, attrs): (TensorOp, &[Atom], &[i64]),
    with: &mut dyn FnMut(&str, Op),
) {
    // Whether a zero wins in a product shows at infinity alone.
    let turned = if op == MATMUL.op() { &[] } else { attrs };
    let is_permutation = tensor_row(op).shape == ShapeRule::Permuted;
    for (k, attr) in turned.iter().enumerate() {
        for other in [attr - 1, attr + 1].into_iter().filter(|a| *a >= 0) {
            let mut attrs = attrs.to_vec();
            // A permutation stays one.
            if let Some(at) = attrs.iter().position(|a| *a == other).filter(|_| attrs.len() > 1 && is_permutation) {
                attrs[at] = *attr;
            }
            attrs[k] = other;
            if fits(f, s, op, args, &attrs) {
                with(&format!("attribute {k} is {other}"), Op::Tensor { op, args: args.to_vec(), attrs });
            }
        }
    }
    if let [a, b] = args[..]
        && f.atom_ty(a) == f.atom_ty(b)
        && a != b
        && fits(f, s, op, &[b, a], attrs)
    {
        with("operands exchanged", Op::Tensor { op, args: vec![b, a], attrs: attrs.to_vec() });
    }
}

fn broken_index(f: &Function, array: Atom, indices: &[Atom], with: &mut dyn FnMut(&str, Op)) {
    let n = indices.len();
    if n >= 2
        && indices[n - 2] != indices[n - 1]
        && f.atom_ty(array).dims.get(n - 2) == f.atom_ty(array).dims.get(n - 1)
    {
        let mut indices = indices.to_vec();
        indices.swap(n - 2, n - 1);
        with("indices exchanged", Op::Index { array, indices });
    }
}

/// The statement, and one that changes the sign of its result.
fn negated(f: &Function, s: &Stmt, result: Var) -> Replacement {
    let info = f.vars[result.index()].clone();
    let before = Var(f.vars.len() as u32);
    let first = Stmt { results: vec![before], ..s.clone() };
    let second =
        Stmt { results: vec![result], op: Op::Prim { prim: NEG.prim(), args: vec![before.into()] }, span: s.span };
    (vec![first, second], vec![info])
}

/// Other constants of the same type.
fn other_constants(c: Const) -> Vec<(&'static str, Const)> {
    match (c.as_float(), c.as_i64()) {
        (Some(x), _) if x.is_finite() => {
            let mut others = vec![("a constant more by 1", Const::float(c.elem(), x + 1.0))];
            if x != 0.0 {
                others.push(("a constant of the other sign", Const::float(c.elem(), -x)));
            }
            others
        }
        (Some(_), _) => vec![("a constant of 0", Const::zero(c.elem()))],
        (None, Some(n)) => vec![("a constant more by 1", Const::i64(n.wrapping_add(1)))],
        (None, None) => Vec::new(),
    }
}

/// The primitive that differs at a tie, or takes the other side.
fn other_side(of: &'static PrimRow) -> Option<&'static PrimRow> {
    let pairs: [(&PrimRow, &'static PrimRow); 8] =
        [(&LT, &LE), (&LE, &LT), (&GT, &GE), (&GE, &GT), (&EQ, &NE), (&NE, &EQ), (&MAX, &MIN), (&MIN, &MAX)];
    pairs.iter().find(|(row, _)| std::ptr::eq(*row, of)).map(|(_, other)| *other)
}

/// Whether other attributes or operands go with the type of a result.
fn fits(f: &Function, s: &Stmt, op: TensorOp, args: &[Atom], attrs: &[i64]) -> bool {
    let dims = |ty: &cotan_ir::Ty| -> Option<Vec<i64>> {
        ty.dims.iter().map(|d| d.atom().constant().and_then(|c| c.as_i64())).collect()
    };
    let tys: Vec<cotan_ir::Ty> = args.iter().map(|a| f.atom_ty(*a)).collect();
    let Some(found) = tys.iter().map(dims).collect::<Option<Vec<_>>>() else { return false };
    let Some(result) = dims(f.ty(s.results[0])) else { return false };
    let args: Vec<(Elem, &[i64])> = tys.iter().zip(&found).map(|(ty, dims)| (ty.elem, dims.as_slice())).collect();
    (tensor_row(op).check)(&Shapes { args: &args, attrs, result: (f.ty(s.results[0]).elem, &result) }).is_ok()
}
