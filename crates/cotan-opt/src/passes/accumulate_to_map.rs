//! Accumulation to map: an accumulator whose elements are written once each becomes a stacked result.
//!
//! An `add` accumulator of a `par` that is written once, at the top of the body, at exactly the indices of the `par`,
//! and whose leading dims are the extents, is a stacked result added to the start value. A start value filled with one
//! constant is added inside the body; zero is no exception, because `0.0 + -0.0` is `0.0`.

use crate::analysis::splats::Splats;
use crate::pass::{Pass, Promise};
use cotan_ir::{AccKind, Atom, Block, Dim, Function, Monoid, Op, Par, ParResult, Stmt, Ty, Var, VarInfo};
use rustc_hash::FxHashMap;

/// The record of the pass.
pub static PASS: Pass = Pass {
    name: "accumulate_to_map",
    doc: "Accumulators whose elements are written once each, at the own index, become stacked results.",
    promise: Promise::Bits,
    is_idempotent: true,
    run: |f, _| accumulate_to_map(f),
};

/// The function with own-slot accumulators turned into stacked results.
pub fn accumulate_to_map(mut f: Function) -> Function {
    let body = std::mem::take(&mut f.body);
    let mut n_writes = FxHashMap::default();
    for acc in body.walk().filter_map(|s| s.op.written()) {
        *n_writes.entry(acc).or_default() += 1;
    }
    let body = OwnSlots { n_writes, splats: Splats::of(&body), f: &mut f }.block(body);
    Function { body, ..f }
}

struct OwnSlots<'a> {
    f: &'a mut Function,
    /// How often every accumulator is written in the text.
    n_writes: FxHashMap<Var, usize>,
    splats: Splats,
}

/// An accumulator of a `par` that is a stacked result.
struct OwnSlot {
    /// Its position among the accumulators.
    acc: usize,
    /// The position of its only write in the body.
    write: usize,
    value: Atom,
    init: Atom,
}

impl OwnSlots<'_> {
    fn block(&mut self, block: Block) -> Block {
        let mut stmts = Vec::with_capacity(block.stmts.len());
        for mut s in block.stmts {
            s.op.map_blocks(|b| self.block(b));
            let mut sums = Vec::new();
            while let Op::Par(p) = &mut s.op
                && let Some(slot) = self.own_slot(p)
            {
                sums.extend(self.stack(p, &mut s.results, slot));
            }
            let span = s.span;
            stmts.push(s);
            stmts.extend(sums.into_iter().map(|(total, op)| Stmt { results: vec![total], op, span }));
        }
        Block { stmts, results: block.results }
    }

    fn own_slot(&self, p: &Par) -> Option<OwnSlot> {
        let own_indices: Vec<Atom> = p.indices.iter().map(|i| Atom::Var(*i)).collect();
        let extents: Vec<Dim> = p.extents.iter().map(|e| Dim::from_atom(*e)).collect();
        p.body.stmts.iter().enumerate().find_map(|(write, s)| {
            let Op::AccAdd { acc: v, indices, value } = &s.op else { return None };
            let acc = p.accs.iter().position(|acc| acc.var == *v)?;
            let (AccKind::Reduce(Monoid::Add), Some(init)) = (p.accs[acc].kind, p.accs[acc].init) else { return None };
            let ty = self.f.ty(*v);
            // An element whose dims are named otherwise may be sized inside the body, which nothing stacked may be.
            let is_own = *indices == own_indices
                && ty.dims.starts_with(&extents)
                && self.f.atom_ty(*value) == ty.inner(indices.len())
                && self.n_writes.get(v) == Some(&1);
            is_own.then_some(OwnSlot { acc, write, value: *value, init })
        })
    }

    /// Turns the accumulator into a stacked result. The addition of the start value, if it comes behind the `par`, is
    /// given back.
    fn stack(&mut self, p: &mut Par, results: &mut Vec<Var>, slot: OwnSlot) -> Option<(Var, Op)> {
        let acc = p.accs.remove(slot.acc);
        let total = results.remove(p.kinds.len() + slot.acc);
        let sum = |init: Atom, value: Atom| Op::Prim { prim: cotan_ops::ADD.prim(), args: vec![init, value] };
        let (element, stacked, behind) = match self.splats.constant(slot.init) {
            Some(c) => {
                let element = self.like(total, self.f.atom_ty(slot.value));
                let write = &mut p.body.stmts[slot.write];
                *write = Stmt { results: vec![element], op: sum(c.into(), slot.value), span: write.span };
                (element.into(), total, None)
            }
            None => {
                p.body.stmts.remove(slot.write);
                let stacked = self.like(total, self.f.ty(acc.var).clone());
                (slot.value, stacked, Some((total, sum(slot.init, stacked.into()))))
            }
        };
        results.insert(p.kinds.len(), stacked);
        p.kinds.push(ParResult::Stacked);
        p.body.results.push(element);
        behind
    }

    fn like(&mut self, v: Var, ty: Ty) -> Var {
        let name = self.f.vars[v.index()].name.clone();
        self.f.add_var(VarInfo { name, ty, record: None })
    }
}
