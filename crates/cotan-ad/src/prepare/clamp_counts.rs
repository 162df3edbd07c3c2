//! Trip counts clamped to lengths: no loop has a negative count.

use super::pass::Pass;
use cotan_ir::{Atom, Block, Dim, Elem, Function, Mode, Op, Span, Stmt, Ty, Var, VarInfo};

/// The record of the pass.
pub(super) static PASS: Pass = Pass {
    name: "clamp_counts",
    doc: "Every trip count that may be negative is clamped to zero, so that it is the length of a record.",
    modes: &[Mode::Vjp],
    is_idempotent: true,
    run: |mut f, _| {
        clamp_counts(&mut f);
        f
    },
};

/// Gives every loop a count that is a length. A loop over a negative count does not run, but its record must not have a
/// negative length.
fn clamp_counts(f: &mut Function) {
    let mut is_length = vec![false; f.vars.len()];
    let dims = f.vars.iter().flat_map(|v| v.ty.dim_vars());
    dims.for_each(|d| is_length[d.index()] = true);
    let body = std::mem::take(&mut f.body);
    f.body = Clamp { f, is_length }.block(body);
}

struct Clamp<'a> {
    f: &'a mut Function,
    /// Whether each variable of the source is never negative.
    is_length: Vec<bool>,
}

impl Clamp<'_> {
    fn block(&mut self, block: Block) -> Block {
        let mut stmts = Vec::with_capacity(block.stmts.len());
        for mut s in block.stmts {
            for b in s.op.blocks_mut() {
                *b = self.block(std::mem::take(b));
            }
            let is_natural = |a: &Atom| a.constant().and_then(|c| c.as_i64()).is_some_and(|n| n >= 0);
            if s.op.args_of(cotan_ops::MAX.prim()).is_some_and(|args| args.iter().any(is_natural)) {
                self.is_length[s.results[0].index()] = true;
            } else if let Op::Loop(l) = &mut s.op {
                stmts.extend(l.count.as_mut().and_then(|n| self.count(n, s.span)));
            }
            stmts.push(s);
        }
        Block { stmts, results: block.results }
    }

    /// Replaces a count that may be negative; gives the statement that clamps it.
    fn count(&mut self, count: &mut Atom, span: Span) -> Option<Stmt> {
        let is_length = match count {
            Atom::Const(c) => c.as_i64().is_some_and(|n| n >= 0),
            Atom::Var(v) => self.is_length.get(v.index()).copied().unwrap_or(true),
        };
        if is_length {
            return None;
        }
        let info = VarInfo { name: "count".into(), ty: Ty::scalar(Elem::I64), record: None };
        let clamped: Var = self.f.add_var(info);
        let args = vec![*count, Dim::Const(0).atom()];
        *count = clamped.into();
        Some(Stmt { results: vec![clamped], op: Op::Prim { prim: cotan_ops::MAX.prim(), args }, span })
    }
}
