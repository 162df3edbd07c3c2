//! Values of an iteration, computed again in another loop.

use super::nest::Nest;
use crate::cost::{self, COSTS};
use cotan_ir::{Atom, Function, Op, Stmt, Var, VarInfo};
use cotan_ops::{MUL, MULZ, NEG};
use rustc_hash::{FxHashMap, FxHashSet};

/// What is rather computed again than written and read.
const LITTLE: u64 = 3;

/// What computing a value again costs, once the number of the iteration is known. `None` where that cannot be done, or
/// where `may_read` does not allow to: what is read must be in range.
pub(super) fn cost(f: &Function, nest: &Nest, a: Atom, may_read: bool) -> Option<u64> {
    cost_beside(f, nest, a, may_read, &mut FxHashSet::default())
}

fn cost_beside(f: &Function, nest: &Nest, a: Atom, may_read: bool, seen: &mut FxHashSet<Var>) -> Option<u64> {
    let Some(v) = a.var().filter(|v| nest.is_bound(*v) && !nest.indices.contains(v) && seen.insert(*v)) else {
        return Some(0);
    };
    let s = nest.made.get(&v)?;
    let own = if let Op::Prim { prim, .. } = &s.op
        && *prim == MULZ.prim()
    {
        // It runs as a plain product, nearly always.
        COSTS.step
    } else if matches!(s.op, Op::Prim { .. }) {
        cost::stmt(&f.vars, s)
    } else if matches!(s.op, Op::Index { .. }) && may_read {
        COSTS.step
    } else {
        return None;
    };
    let operands = s.op.operands();
    operands.into_iter().try_fold(own, |sum, a| Some(sum + cost_beside(f, nest, a, may_read, seen)?))
}

/// The value that a contribution is made of by changes of its sign and factors, if these cost little and it does not. `None`
/// where all of it costs little.
pub(super) fn dear_part(f: &Function, nest: &Nest, a: Atom) -> Option<Var> {
    let is_dear = |a: &Atom| cost(f, nest, *a, true).is_none_or(|cost| cost > LITTLE);
    let v = a.var().filter(|_| is_dear(&a))?;
    if let Some(Op::Prim { prim, args }) = nest.made.get(&v).map(|s| &s.op)
        && [NEG.prim(), MUL.prim(), MULZ.prim()].contains(prim)
    {
        let mut dear = args.iter().filter(|a| is_dear(a));
        if let (Some(part), None) = (dear.next(), dear.next()) {
            return dear_part(f, nest, *part);
        }
    }
    Some(v)
}

/// A value of an iteration; `known` has the number of that iteration, what was read, and what was computed again before.
pub(super) fn again(
    f: &mut Function,
    nest: &Nest,
    a: Atom,
    known: &mut FxHashMap<Var, Atom>,
    out: &mut Vec<Stmt>,
) -> Atom {
    let Some(v) = a.var() else { return a };
    if let Some(value) = known.get(&v) {
        return *value;
    }
    let Some(s) = nest.made.get(&v) else { return a };
    let mut op = s.op.clone();
    op.map_operands(&mut |a| again(f, nest, a, known, out));
    let copy = f.add_var(VarInfo { record: None, ..f.vars[v.index()].clone() });
    out.push(Stmt { results: vec![copy], op, span: s.span });
    known.insert(v, copy.into());
    copy.into()
}
