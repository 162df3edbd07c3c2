//! Reassociation: factors that are the same in all iterations of an inner loop are multiplied in front of it.
//!
//! What a derivative adds to a matrix is often a row from outside times numbers of the sample, one product after the other: the square
//! of a slope, twice a cotangent. Multiplied among themselves first, they are one factor of the row. That is one product for each
//! element, and `sum_before_map` then takes the sum over the samples before it.
//!
//! Only products in which an exact zero wins ([`MULZ`](cotan_ops::MULZ)) are taken, and only what is added to an accumulator: they belong
//! to derivatives, whose rounding is free.

use crate::pass::{Pass, Promise};
use cotan_ir::{Atom, Block, Const, Elem, Function, Op, Par, Span, Stmt, Ty, VarInfo};
use cotan_ops::{ADD, MULZ};

/// The record of the pass.
pub static PASS: Pass = Pass {
    name: "reassociate",
    doc: "Factors that are the same in all iterations of an inner loop are multiplied in front of it.",
    promise: Promise::Rounding,
    is_idempotent: true,
    run: |f, _| reassociate(f),
};

/// The function with factors of inner loops multiplied in front of them.
pub fn reassociate(mut f: Function) -> Function {
    let body = std::mem::take(&mut f.body);
    let body = Reassociate { f: &mut f }.block(body, false);
    Function { body, ..f }
}

struct Reassociate<'a> {
    f: &'a mut Function,
}

impl Reassociate<'_> {
    fn block(&mut self, block: Block, is_in_par: bool) -> Block {
        let mut stmts = Vec::with_capacity(block.stmts.len());
        for mut s in block.stmts {
            let span = s.span;
            let is_inside = is_in_par || matches!(s.op, Op::Par(_));
            s.op.map_blocks(|b| self.block(b, is_inside));
            if let Op::Par(p) = &mut s.op
                && is_in_par
            {
                self.group(p, span, &mut stmts);
            }
            stmts.push(s);
        }
        Block { stmts, ..block }
    }

    /// Multiplies the factors of what a loop adds up, at the end of `before`, where there are several.
    fn group(&mut self, p: &mut Par, span: Span, before: &mut Vec<Stmt>) {
        let mut k = 0;
        while k < p.body.stmts.len() {
            let mut factors = Vec::new();
            let added = if let Op::AccAdd { value, .. } = &p.body.stmts[k].op { Some(*value) } else { None };
            let ty = added.map(|value| self.f.atom_ty(value)).filter(Ty::is_scalar);
            let two = ty.filter(|ty| matches!(ty.elem, Elem::F32 | Elem::F64)).map(|ty| Const::float(ty.elem, 2.0));
            let base = added.zip(two).map(|(value, two)| take_apart(p, value, two, &mut factors));
            if let Some(base) = base
                && factors.len() > 1
            {
                let factor = factors.into_iter().reduce(|x, y| self.product(x, y, span, before));
                let factor = factor.expect("invariant: there are several");
                let mut inside = Vec::new();
                let product = self.product(base, factor, span, &mut inside);
                if let Op::AccAdd { value, .. } = &mut p.body.stmts[k].op {
                    *value = product;
                }
                k += inside.len();
                p.body.stmts.splice(k - inside.len()..k - inside.len(), inside);
            }
            k += 1;
        }
    }

    fn product(&mut self, x: Atom, y: Atom, span: Span, to: &mut Vec<Stmt>) -> Atom {
        let ty = Ty::scalar(self.f.atom_ty(x).elem);
        let result = self.f.add_var(VarInfo { name: "product".into(), ty, record: None });
        let op = Op::Prim { prim: MULZ.prim(), args: vec![x, y] };
        to.push(Stmt { results: vec![result], op, span });
        result.into()
    }
}

/// Takes a product apart: what is the same in all iterations of the loop goes to `factors`; gives the rest.
fn take_apart(p: &Par, a: Atom, two: Const, factors: &mut Vec<Atom>) -> Atom {
    let definition = |a: Atom| a.var().and_then(|v| p.body.stmts.iter().find(|s| s.results.contains(&v)));
    let is_same = |a: Atom| definition(a).is_none() && a.var().is_none_or(|v| !p.indices.contains(&v));
    let Some(s) = definition(a) else { return a };
    if let Some([x, y]) = s.op.args_of(MULZ.prim()) {
        let (rest, factor) = if is_same(*x) { (*y, *x) } else { (*x, *y) };
        if is_same(factor) && !is_same(rest) {
            let rest = take_apart(p, rest, two, factors);
            factors.push(factor);
            return rest;
        }
    } else if let Some([x, y]) = s.op.args_of(ADD.prim()) {
        let is_zero = |a: &Atom| a.constant().and_then(Const::as_float) == Some(0.0);
        if is_zero(x) {
            return take_apart(p, *y, two, factors);
        }
        if x == y {
            let rest = take_apart(p, *x, two, factors);
            factors.push(two.into());
            return rest;
        }
    }
    a
}
