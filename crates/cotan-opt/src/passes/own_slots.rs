//! Accumulator to stacked result.
//!
//! An `add` accumulator of a `par` that is written once, at the top of the body, at exactly the indices of the `par`,
//! and whose leading dims are the extents, is a stacked result added to the start value. Values are kept; where the
//! start value is a fill with zero the addition is dropped, which can only change the sign of a zero.

use cotan_ir::{AccKind, Atom, Block, Const, Dim, Function, Monoid, Op, ParResult, Stmt, Var, VarInfo, written_accs};
use std::collections::HashSet;

/// The function with own-slot accumulators turned into stacked results.
pub fn own_slots(f: &Function) -> Function {
    let mut f = f.clone();
    let body = std::mem::take(&mut f.body);
    let mut pass = OwnSlots { zeros: HashSet::new(), f: &mut f };
    let body = pass.block(body);
    Function { body, ..f }
}

struct OwnSlots<'a> {
    f: &'a mut Function,
    /// Variables that are tensors of zeros.
    zeros: HashSet<Var>,
}

impl OwnSlots<'_> {
    fn block(&mut self, block: Block) -> Block {
        let mut stmts = Vec::with_capacity(block.stmts.len());
        for mut s in block.stmts {
            for b in s.op.blocks_mut() {
                *b = self.block(std::mem::take(b));
            }
            if let Op::Tensor { op, args, .. } = &s.op
                && *op == cotan_ops::FILL.op()
                && args[0].constant().is_some_and(|c| c == Const::zero(c.elem()))
            {
                self.zeros.insert(s.results[0]);
            }
            let sums = self.stmt(&mut s);
            stmts.push(s);
            stmts.extend(sums);
        }
        Block { stmts, results: block.results }
    }

    /// Rewrites one statement; gives the additions that come behind it.
    fn stmt(&mut self, s: &mut Stmt) -> Vec<Stmt> {
        let mut sums = Vec::new();
        let span = s.span;
        let Op::Par(p) = &mut s.op else { return sums };
        let lead: Vec<Dim> = p.extents.iter().map(|e| Dim::from_atom(*e)).collect();
        let mut q = 0;
        while q < p.accs.len() {
            let acc = &p.accs[q];
            let ty = self.f.ty(acc.var).clone();
            let write = own_write(&p.body, acc.var, &p.indices);
            let (Some(at), AccKind::Reduce(Monoid::Add), Some(init)) = (write, acc.kind, acc.init) else {
                q += 1;
                continue;
            };
            if !ty.dims.starts_with(&lead) {
                q += 1;
                continue;
            }
            let Op::AccAdd { value, .. } = p.body.stmts.remove(at).op else { continue };
            p.accs.remove(q);
            let total = s.results.remove(p.kinds.len() + q);
            let starts_at_zero = init.var().is_some_and(|v| self.zeros.contains(&v));
            let own = if starts_at_zero {
                total
            } else {
                let name = self.f.vars[total.index()].name.clone();
                let own = self.f.add_var(VarInfo { name, ty, is_record: false });
                let args = vec![init, Atom::Var(own)];
                let op = Op::Prim { prim: cotan_ops::ADD.prim(), args };
                sums.push(Stmt { results: vec![total], op, span });
                own
            };
            s.results.insert(p.kinds.len(), own);
            p.kinds.push(ParResult::Stacked);
            p.body.results.push(value);
        }
        sums
    }
}

/// The position of the only write to `acc` in a body, if it is at the top and at exactly these indices.
fn own_write(body: &Block, acc: Var, indices: &[Var]) -> Option<usize> {
    let is_own = |ids: &[Atom]| ids.len() == indices.len() && ids.iter().zip(indices).all(|(a, i)| *a == Atom::Var(*i));
    let mut found = None;
    for (at, s) in body.stmts.iter().enumerate() {
        if let Op::AccAdd { acc: a, indices: ids, .. } = &s.op
            && *a == acc
        {
            if found.is_some() || !is_own(ids) {
                return None;
            }
            found = Some(at);
        }
        if s.op.blocks().iter().any(|b| written_accs(b).contains(&acc)) {
            return None;
        }
    }
    found
}
