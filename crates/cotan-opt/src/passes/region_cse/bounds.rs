//! Bounds of moved accesses.
//!
//! A reverse sweep reads and writes without checks what the value has checked. Where such code is to run earlier, checks are
//! put in front of it for a trial: range analysis must show that they hold.

use crate::analysis::integer_facts::IntegerFacts;
use cotan_ir::{Atom, CheckKind, Elem, Function, Op, Stmt, Ty, VarInfo};
use cotan_ops::IN_RANGE;

/// The number of indices in statements that are not seen to be in range, at any depth. They are checked from here on.
pub(super) fn guard(f: &mut Function, stmts: &mut Vec<Stmt>, facts: &IntegerFacts) -> usize {
    let mut guarded = 0;
    for mut s in std::mem::take(stmts) {
        for b in s.op.blocks_mut() {
            guarded += guard(f, &mut b.stmts, facts);
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
            if facts.is_in_range(*index, dim.atom()) {
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
