//! Loop distribution with scalar expansion: a parallel loop is split around products of a matrix with a vector of each iteration,
//! which become one product of matrices.
//!
//! A network that is written for one sample multiplies its weights by a vector in every iteration, and its reverse sweep adds
//! an outer product to the derivative of the weights. The loop is split there: one loop makes the vectors of all iterations, the rows
//! of a matrix; then comes the product of matrices, which a library computes; and another loop reads the rows of the result. A sum
//! of outer products becomes the product of the two matrices of their vectors, behind the loops. What else is added to the same sum is
//! added up by the loops as before, and both are added.
//!
//! Every element of such a product has the terms of the product with a vector, in the same order, so values keep their bits; sums
//! of outer products belong to derivatives, whose order is free. Vectors of all iterations take memory, and small matrices are better off
//! in lanes, so both forms are there, and the run chooses by the sizes (`pays.rs`).

mod body;
mod pays;
mod plan;
mod split;
mod unnest;

use super::rename::lengths;
use crate::analysis::splats::Splats;
use crate::pass::{Pass, Promise};
use cotan_ir::{Block, Builder, Function, Op, Par, Stmt, Var};
use plan::Plan;
use rustc_hash::FxHashSet;

/// The record of the pass.
pub static PASS: Pass = Pass {
    name: "distribute_products",
    doc: "Parallel loops are split around products with a matrix, which become products of matrices where the sizes are large.",
    promise: Promise::Bits,
    // The loop as it was stays, for small sizes.
    is_idempotent: false,
    run: |f, _| distribute_products(f),
};

/// The function with products of parallel loops taken together, but for loops in other parallel loops.
pub fn distribute_products(mut f: Function) -> Function {
    let (lengths, splats) = (lengths(&f.vars), Splats::of(&f.body));
    let body = std::mem::take(&mut f.body);
    let body = Distribute { f: &mut f, lengths, splats }.block(body);
    Function { body, ..f }
}

struct Distribute<'a> {
    f: &'a mut Function,
    /// The variables that types name.
    lengths: FxHashSet<Var>,
    splats: Splats,
}

impl Distribute<'_> {
    fn block(&mut self, block: Block) -> Block {
        let mut stmts = Vec::with_capacity(block.stmts.len());
        for mut s in block.stmts {
            if let Op::Par(p) = &s.op {
                match self.two_forms(&s, p) {
                    Some(written) => stmts.extend(written),
                    None => stmts.push(s),
                }
            } else {
                s.op.map_blocks(|b| self.block(b));
                stmts.push(s);
            }
        }
        Block { stmts, ..block }
    }

    /// A branch on the sizes, with the loop split in the one arm and as it is in the other one, if it can be split.
    fn two_forms(&mut self, s: &Stmt, p: &Par) -> Option<Vec<Stmt>> {
        let unnested = unnest::unnested(self.f, p);
        let p = unnested.as_ref().unwrap_or(p);
        let f = &*self.f;
        let plan = Plan::of(f, &self.lengths, p)?;
        let mut b = Builder::on(f.vars.clone());
        b.set_span(s.span);
        b.open_block();
        let pays = pays::test(&mut b, p, &plan);
        let split = split::split(&mut b, f, &self.splats, p, &plan);
        let results: Vec<Var> = s.results.iter().map(|r| b.var(f.name_of(*r), f.ty(*r).clone())).collect();
        let values = results.iter().copied().map(Into::into).collect();
        let whole = Block { stmts: vec![Stmt { results, op: s.op.clone(), span: s.span }], results: values };
        b.push(s.results.clone(), Op::Switch { selector: pays, arms: vec![split, whole] });
        let written = b.close_block(Vec::new());
        self.f.vars = b.into_vars();
        Some(written.stmts)
    }
}
