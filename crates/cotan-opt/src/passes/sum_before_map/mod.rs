//! Distributivity: sums are taken before linear maps.
//!
//! A reverse sweep over many points takes the cotangents of each point through the transposed maps of the function, and
//! adds up what comes out: `means_cot[k] += L[k]' row_cot` for every point. Where the map is the same for all points, the
//! sum can be taken before it, `L[k]' (sum of row_cot)`: the loop over points adds up what goes into the map, and the map
//! is done once behind it. That pays where the map is a loop of its own and what goes into it is fewer numbers than it has
//! products.
//!
//! Only products in which an exact zero wins ([`MULZ`](cotan_ops::MULZ)) are taken for linear: they belong to derivatives,
//! whose order of adding up is free. Sums of the program are rounded in the order that is documented, and stay.
//!
//! What is done once is a copy of the whole nest, with the sums in the place of what goes into the map; everything else
//! in the copy is dead. It runs only if the nest does, so it reads nothing and checks nothing that the nest does not.

mod nest;
mod pull;
mod slice;

use super::dce::dce;
use crate::analysis::splats::Splats;
use crate::pass::{Pass, Promise};
use cotan_ir::{Atom, Block, Function, Op, Stmt, Var};
use nest::Nest;
use pull::pull;
use rustc_hash::FxHashSet;
use slice::{Slice, slice_of};

/// The record of the pass.
pub static PASS: Pass = Pass {
    name: "sum_before_map",
    doc: "Sums over loops are taken before the linear maps that they go through.",
    promise: Promise::Rounding,
    is_idempotent: true,
    run: |f, _| sum_before_map(f),
};

/// The function with sums taken before linear maps, where that pays.
pub fn sum_before_map(mut f: Function) -> Function {
    loop {
        let splats = Splats::of(&f.body);
        let n_vars = f.vars.len();
        let body = std::mem::take(&mut f.body);
        f.body = block(&mut f, body, &splats);
        if f.vars.len() == n_vars {
            return f;
        }
        // The map in the loop over points is dead now, and nothing should be made of it.
        f = dce(f);
    }
}

fn block(f: &mut Function, b: Block, splats: &Splats) -> Block {
    let stmts = b.stmts.into_iter().flat_map(|s| stmt(f, s, splats)).collect();
    Block { stmts, results: b.results }
}

/// A statement with what comes in front of it and behind it; outer nests first, which have more points.
fn stmt(f: &mut Function, mut s: Stmt, splats: &Splats) -> Vec<Stmt> {
    if let Some(found) = find(f, &s, splats) {
        let (mut stmts, behind) = pull(f, &mut s, &found);
        stmts.push(s);
        stmts.extend(behind);
        return stmts;
    }
    for inner in s.op.blocks_mut() {
        *inner = block(f, std::mem::take(inner), splats);
    }
    vec![s]
}

/// A sum that can be taken before a map.
struct Found {
    /// Which accumulator of the nest.
    acc: usize,
    /// The indices of the nest that are summed over.
    points: FxHashSet<Var>,
    /// The map.
    slice: Slice,
}

fn find(f: &Function, s: &Stmt, splats: &Splats) -> Option<Found> {
    let Op::Par(p) = &s.op else { return None };
    if p.accs.is_empty() || prints(&p.body) {
        return None;
    }
    p.accs.iter().enumerate().find_map(|(number, acc)| {
        let indices = nest::indices_of_write(&p.body, acc.var)?;
        let is_point = |index: &Var| !indices.contains(&Atom::Var(*index));
        let points: FxHashSet<Var> = p.indices.iter().copied().filter(is_point).collect();
        let nest = Nest::of(f, p, &points, splats);
        let slice = slice_of(&nest, acc)?;
        Some(Found { acc: number, points, slice })
    })
}

/// Whether a block writes to the output, which must not be done again.
fn prints(block: &Block) -> bool {
    block.walk().any(|s| s.op.effects().prints)
}

#[cfg(test)]
mod tests;
