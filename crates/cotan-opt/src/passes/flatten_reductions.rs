//! Loop flattening: reductions over several indices become reductions over one.
//!
//! Values are numbered in row-major order, whatever indices they have, so a loop that reads nothing but whole tensors at its
//! own indices may as well go through their elements as they lie in memory. A single loop knows where the blocks of a
//! reduction end, and threads can share it.

use crate::pass::{Pass, Promise};
use cotan_ir::{Atom, Block, Dim, Elem, Function, Op, Par, ParResult, Span, Stmt, Ty, Var, VarInfo, free_vars};
use cotan_ops::{MUL, RESHAPE};
use rustc_hash::FxHashMap;

/// The record of the pass.
pub static PASS: Pass = Pass {
    name: "flatten_reductions",
    doc: "Reductions over several indices of whole tensors become reductions over one index.",
    promise: Promise::Bits,
    is_idempotent: true,
    run: |f, _| flatten_reductions(f),
};

/// The function with such reductions flattened.
pub fn flatten_reductions(mut f: Function) -> Function {
    let body = std::mem::take(&mut f.body);
    let body = Flatten { f: &mut f }.block(body);
    Function { body, ..f }
}

struct Flatten<'a> {
    f: &'a mut Function,
}

impl Flatten<'_> {
    fn block(&mut self, block: Block) -> Block {
        let mut stmts = Vec::with_capacity(block.stmts.len());
        for mut s in block.stmts {
            s.op.map_blocks(|b| self.block(b));
            if let Op::Par(p) = &mut s.op
                && let Some(tensors) = self.tensors(p)
            {
                self.flatten(p, &tensors, &mut stmts);
            }
            stmts.push(s);
        }
        Block { stmts, ..block }
    }

    /// The tensors that a reduction over several indices reads, if it needs its indices for nothing else.
    fn tensors(&self, p: &Par) -> Option<Vec<Var>> {
        let reduces = p.kinds.iter().all(|kind| matches!(kind, ParResult::Reduced { .. }));
        if p.indices.len() < 2 || !reduces || !p.accs.is_empty() {
            return None;
        }
        let mut tensors = Vec::new();
        let is_free = self.reads_whole(p, &p.body, &free_vars(self.f, &p.body, &p.indices), &mut tensors);
        (is_free && !tensors.is_empty()).then_some(tensors)
    }

    /// Whether a block of a loop has no use for its indices but to read tensors of its extents from outside.
    fn reads_whole(&self, p: &Par, block: &Block, outside: &[Var], tensors: &mut Vec<Var>) -> bool {
        let is_index = |a: Atom| a.var().is_some_and(|v| p.indices.contains(&v));
        block.stmts.iter().all(|s| {
            if let Some(tensor) = self.own_element(p, &s.op).filter(|v| outside.contains(v)) {
                if !tensors.contains(&tensor) {
                    tensors.push(tensor);
                }
                return true;
            }
            let names_index = |v: &Var| self.f.ty(*v).dims.iter().any(|d| is_index(d.atom()));
            !s.op.operands().into_iter().any(is_index)
                && !s.results.iter().chain(&s.op.binders()).any(names_index)
                && s.op.blocks().iter().all(|inner| self.reads_whole(p, inner, outside, tensors))
        }) && !block.results.iter().copied().any(is_index)
    }

    /// The tensor of which this reads the element at the indices of a loop, if it has the extents of the loop.
    fn own_element(&self, p: &Par, op: &Op) -> Option<Var> {
        let Op::Index { array: Atom::Var(array), indices } = op else { return None };
        let is_own = indices.iter().copied().eq(p.indices.iter().map(|i| Atom::Var(*i)));
        let dims = self.f.ty(*array).dims.iter().map(|d| d.atom());
        (is_own && dims.eq(p.extents.iter().copied())).then_some(*array)
    }

    fn flatten(&mut self, p: &mut Par, tensors: &[Var], before: &mut Vec<Stmt>) {
        let extents = self.f.ty(tensors[0]).dims.clone();
        let count = self.count(&extents, before);
        let index = self.var("k", Ty::scalar(Elem::I64));
        let mut flat = FxHashMap::default();
        for tensor in tensors {
            let ty = Ty::new(self.f.ty(*tensor).elem, vec![count]);
            let name = self.f.name_of(*tensor).to_owned();
            let row = self.var(&name, ty);
            let op = Op::Tensor { op: RESHAPE.op(), args: vec![(*tensor).into()], attrs: Vec::new() };
            before.push(Stmt { results: vec![row], op, span: Span::NONE });
            flat.insert(*tensor, row);
        }
        let own: Vec<Atom> = p.indices.iter().map(|i| Atom::Var(*i)).collect();
        read_flat(&mut p.body, &own, &flat, index);
        p.indices = vec![index];
        p.extents = vec![count.atom()];
    }

    /// The number of elements.
    fn count(&mut self, extents: &[Dim], before: &mut Vec<Stmt>) -> Dim {
        let known = |a: Dim, b: Dim| match (a, b) {
            // A tensor whose count overflows is never made, but its code stands behind the check that fails. The wrapped
            // product may be negative, so it is left to the run.
            (Dim::Const(a), Dim::Const(b)) => a.checked_mul(b).map(Dim::Const),
            (Dim::Const(1), n) | (n, Dim::Const(1)) => Some(n),
            _ => None,
        };
        let mut product = |this: &mut Self, a: Dim, b: Dim| {
            known(a, b).unwrap_or_else(|| {
                let v = this.var("count", Ty::scalar(Elem::I64));
                let op = Op::Prim { prim: MUL.prim(), args: vec![a.atom(), b.atom()] };
                before.push(Stmt { results: vec![v], op, span: Span::NONE });
                Dim::Var(v)
            })
        };
        extents.iter().fold(Dim::Const(1), |n, extent| product(self, n, *extent))
    }

    fn var(&mut self, name: &str, ty: Ty) -> Var {
        self.f.add_var(VarInfo { name: name.into(), ty, record: None })
    }
}

/// Reads elements at `own` indices from the flat tensor at `index`.
fn read_flat(block: &mut Block, own: &[Atom], flat: &FxHashMap<Var, Var>, index: Var) {
    for s in &mut block.stmts {
        if let Op::Index { array, indices } = &mut s.op
            && indices[..] == *own
            && let Some(row) = array.var().and_then(|v| flat.get(&v))
        {
            (*array, *indices) = ((*row).into(), vec![index.into()]);
        }
        s.op.blocks_mut().iter_mut().for_each(|inner| read_flat(inner, own, flat, index));
    }
}
