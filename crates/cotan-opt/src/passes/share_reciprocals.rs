//! Strength reduction of quotients: `(a / b) * (1 / b)` becomes `(a * (1 / b)) * (1 / b)`, with one division where there were two.
//!
//! That is the slope of a quotient in its divisor. A reverse sweep that computes the quotient anew, as loops do that keep only
//! what they need, has no other use for it, and divisions take several times as long as products. It is done for plain
//! products alone ([`relax_products`](super::relax_products)): these belong to derivatives, which may be rounded elsewhere, and a result that is NaN
//! repeats the call.

use crate::pass::{Pass, Promise};
use cotan_ir::{Atom, Block, Function, Op, Prim, Stmt, Var, count_uses};
use cotan_ops::{DIV, MULC};
use rustc_hash::FxHashMap;

/// The record of the pass.
pub static PASS: Pass = Pass {
    name: "share_reciprocals",
    doc: "Quotients that are only multiplied with the reciprocal of their divisor are products with it.",
    promise: Promise::Rounding,
    is_idempotent: true,
    run: |f, _| share_reciprocals(f),
};

/// The function with such quotients as products.
pub fn share_reciprocals(mut f: Function) -> Function {
    let uses = count_uses(&f.body, &f.vars);
    let body = std::mem::take(&mut f.body);
    let body = Sharing { f: &f, uses }.block(body);
    Function { body, ..f }
}

struct Sharing<'f> {
    f: &'f Function,
    uses: Vec<u32>,
}

/// A quotient of a block.
#[derive(Clone, Copy)]
struct Quotient {
    dividend: Atom,
    divisor: Atom,
    /// The position of its statement.
    at: usize,
}

impl Sharing<'_> {
    fn block(&self, mut block: Block) -> Block {
        let mut quotients: FxHashMap<Var, Quotient> = FxHashMap::default();
        for at in 0..block.stmts.len() {
            block.stmts[at].op.map_blocks(|inner| self.block(inner));
            let result = block.stmts[at].results.first().copied();
            if let Some([dividend, divisor]) = args_of(&block.stmts[at], DIV.prim())
                && let Some(result) = result
                && self.f.is_float(result.into())
            {
                quotients.insert(result, Quotient { dividend, divisor, at });
            } else if let Some([a, b]) = args_of(&block.stmts[at], MULC.prim()) {
                let pair = self.quotient_and_reciprocal(&quotients, a, b);
                let Some((quotient, reciprocal)) = pair.or_else(|| self.quotient_and_reciprocal(&quotients, b, a))
                else {
                    continue;
                };
                let args = vec![quotient.dividend, reciprocal];
                let mut product = block.stmts[quotient.at].clone();
                product.op = Op::Prim { prim: MULC.prim(), args };
                block.stmts.insert(at, product);
                block.stmts.remove(quotient.at);
                quotients.values_mut().filter(|other| other.at > quotient.at).for_each(|other| other.at -= 1);
            }
        }
        block
    }

    /// A quotient that is used nowhere else, and the reciprocal of its divisor.
    fn quotient_and_reciprocal(
        &self,
        quotients: &FxHashMap<Var, Quotient>,
        quotient: Atom,
        reciprocal: Atom,
    ) -> Option<(Quotient, Atom)> {
        let (var, other) = (quotient.var()?, *quotients.get(&reciprocal.var()?)?);
        let found = *quotients.get(&var)?;
        let is_reciprocal = other.dividend.constant().and_then(|c| c.as_float()) == Some(1.0);
        let is_one = is_reciprocal && found.divisor == other.divisor && found.dividend.constant().is_none();
        (is_one && self.uses[var.index()] == 1).then_some((found, reciprocal))
    }
}

/// The operands of a primitive of two.
fn args_of(s: &Stmt, prim: Prim) -> Option<[Atom; 2]> {
    s.op.args_of(prim)?.try_into().ok()
}
