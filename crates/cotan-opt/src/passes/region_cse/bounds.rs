//! Bounds of moved accesses.
//!
//! A reverse sweep reads and writes without checks what the value has checked. Where such code is to run earlier, checks are
//! put in front of it for a trial: range analysis must show that they hold.

use cotan_ir::{Atom, CheckKind, Dim, Elem, Function, Op, Stmt, Ty, Var, VarInfo};
use cotan_ops::IN_RANGE;
use rustc_hash::FxHashMap;

/// What is known of indices: each is below its extent.
#[derive(Default)]
pub(super) struct Extents {
    below: FxHashMap<Var, Atom>,
    /// The conditions that a value is below an extent.
    conditions: FxHashMap<Var, Atom>,
}

impl Extents {
    /// Takes note of indices and of checks, at any depth.
    pub(super) fn note(&mut self, s: &Stmt) {
        for s in s.walk() {
            self.below.extend(s.op.indices().into_iter().filter_map(|(index, n)| Some((index, n?))));
            if let Some(args) = s.op.args_of(IN_RANGE.prim()) {
                self.conditions.insert(s.results[0], args[1]);
            } else if let Op::Check { cond, .. } = &s.op {
                let extent = cond.var().and_then(|c| self.conditions.get(&c));
                self.below.extend(extent.map(|n| (s.results[0], *n)));
            }
        }
    }

    fn is_below(&self, index: Atom, dim: Dim) -> bool {
        match (index, dim) {
            (Atom::Const(c), Dim::Const(n)) => c.as_i64().is_some_and(|k| (0..n).contains(&k)),
            (Atom::Const(_), Dim::Var(_)) => false,
            (Atom::Var(v), dim) => self.below.get(&v) == Some(&dim.atom()),
        }
    }
}

/// The number of indices in statements that are not seen to be in range, at any depth. They are checked from here on.
pub(super) fn guard(f: &mut Function, stmts: &mut Vec<Stmt>, extents: &Extents) -> usize {
    let mut guarded = 0;
    for mut s in std::mem::take(stmts) {
        for b in s.op.blocks_mut() {
            guarded += guard(f, &mut b.stmts, extents);
        }
        let dims = |a: Atom| a.var().map_or_else(Vec::new, |v| f.ty(v).dims.clone());
        let (dims, indices) = if let Op::Index { array, indices } | Op::Update { array, indices, .. } = &mut s.op {
            (dims(*array), indices)
        } else if let Op::AccAdd { acc, indices, .. } = &mut s.op {
            (dims((*acc).into()), indices)
        } else {
            stmts.push(s);
            continue;
        };
        for (index, dim) in indices.iter_mut().zip(dims) {
            if extents.is_below(*index, dim) {
                continue;
            }
            guarded += 1;
            let mut scalar = |elem| f.add_var(VarInfo { name: "guard".into(), ty: Ty::scalar(elem), record: None });
            let (ok, checked) = (scalar(Elem::Bool), scalar(Elem::I64));
            let in_range = Op::Prim { prim: IN_RANGE.prim(), args: vec![*index, dim.atom()] };
            let check = Op::Check { cond: ok.into(), kind: CheckKind::IndexRange, args: Vec::new(), value: *index };
            stmts.push(Stmt { results: vec![ok], op: in_range, span: s.span });
            stmts.push(Stmt { results: vec![checked], op: check, span: s.span });
            *index = checked.into();
        }
        stmts.push(s);
    }
    guarded
}
