//! Wavefront parallelism by tiling: nests of two sequential loops on several threads.
//!
//! Where iteration `t` of the outer loop needs what iteration `t - 1` made in the same and in earlier iterations `s` of
//! the inner loop, and `s` needs `s - 1`, nothing is independent; but `(t, s + 1)` and `(t + 1, s)` are, and so on along
//! the diagonal. Layers of a recurrent net, sweeps over a grid and tables of dynamic programming are such nests. Here they
//! become one loop over tiles and stages, whose iterations wait for those that they need ([`Wave`](cotan_loops::Wave)). Order
//! that shows is kept, so no bit depends on it: of two iterations that meet in memory the earlier one comes first, as
//! shown in `legal.rs`; one that can't be shown to be so leaves the nest alone, and so does whatever may fail, print or
//! call.
//!
//! It runs before lanes, which the loops inside have as ever. Where iterations are straight-line code, the diagonals themselves
//! have lanes, on one thread (`lanes`); that comes first.

mod access;
pub(crate) mod bounds;
pub(crate) mod lanes;
mod legal;
pub(crate) mod plan;
mod rewrite;
mod steps;
pub(crate) mod values;
mod write;

use cotan_loops::node::{For, LoopFunction, Node};
use cotan_loops::{NestPass, TaskSizes};
use plan::{Survey, is_sequential, list_of, plan};
use rewrite::rewrite;

/// The record of this pass.
pub(crate) static PASS: NestPass = NestPass {
    name: "wavefronts",
    doc: "Makes wavefronts for threads of nests of two sequential loops.",
    run: |f, context| wavefronts(f, &context.tasks),
};

/// Loops in a body that are tried as the inner one.
const TRIED: usize = 3;

/// Makes wavefronts of nests, in pieces of about these sizes, where that is shown to keep every dependence.
pub fn wavefronts(f: &mut LoopFunction, sizes: &TaskSizes) {
    if !f.body.iter().any(has_nest) {
        return;
    }
    let survey = Survey::of(f);
    let mut body = std::mem::take(&mut f.body);
    Tiling { f, survey, sizes }.list(&mut body);
    f.body = body;
}

/// Whether nodes outside of loops have a loop that may be the outer one.
fn has_nest(node: &Node) -> bool {
    if let Node::For(l) = node {
        return !candidates(l).is_empty();
    }
    !matches!(node, Node::While(..)) && node.lists().into_iter().flatten().any(has_nest)
}

/// The loops in the body of a sequential one that may be the inner one, those with most in them first.
fn candidates(outer: &For) -> Vec<usize> {
    if !is_sequential(outer) {
        return Vec::new();
    }
    let list = list_of(&outer.body);
    let is_inner = |k: &usize| matches!(&list[*k], Node::For(l) if is_sequential(l));
    let mut found: Vec<usize> = (0..list.len()).filter(is_inner).collect();
    found.sort_by_key(|k| std::cmp::Reverse(weight(&list[*k])));
    found.truncate(TRIED);
    found
}

/// How much is in a node, loops counting many times.
fn weight(node: &Node) -> usize {
    let inside = |list: &[Node]| list.iter().map(weight).fold(1, usize::saturating_add);
    let all = node.lists().into_iter().map(inside).fold(1, usize::saturating_add);
    if matches!(node, Node::For(_) | Node::While(..)) { all.saturating_mul(16) } else { all }
}

struct Tiling<'a> {
    f: &'a mut LoopFunction,
    survey: Survey,
    sizes: &'a TaskSizes,
}

impl Tiling<'_> {
    /// Nests that stand in no other loop: others run often, and are small.
    fn list(&mut self, nodes: &mut [Node]) {
        for node in nodes {
            if let Node::For(outer) = node {
                let mut plans = candidates(outer).into_iter();
                if let Some(plan) = plans.find_map(|at| plan(self.f, &self.survey, outer, at)) {
                    let Node::For(outer) = std::mem::replace(node, Node::Scope(Vec::new())) else { continue };
                    *node = rewrite(self.f, &self.survey, self.sizes, &plan, *outer);
                }
            } else if !matches!(node, Node::While(..)) {
                node.lists_mut().into_iter().for_each(|list| self.list(list));
            }
        }
    }
}
