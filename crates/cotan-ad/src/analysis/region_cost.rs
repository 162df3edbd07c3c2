//! Cost model of a loop in either mode: an iteration with its tangents against its record, re-execution and cotangents.

use crate::analysis::activity::VarSet;
use cotan_ir::{Block, Function, Loop, Op, Par, Stmt};
use cotan_opt::cost::{COSTS, Size, elements, extent, stmt, trips};

/// The cost of an iteration of a loop in either mode. The partial derivatives of its statements, which both modes compute,
/// are left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RegionCost {
    /// The values, and a tangent of each in every direction in which it has one.
    pub(crate) forward: u64,
    /// The values, once more under every loop around them, the record, and the cotangents.
    pub(crate) reverse: u64,
}

/// The cost of an iteration of a loop, with these active variables and these directions.
pub(crate) fn region_cost(f: &Function, l: &Loop, active: &VarSet, directions: &[VarSet]) -> RegionCost {
    let mut iteration = Iteration { f, active, directions, cost: RegionCost::default() };
    iteration.loop_body(l, 1, 1);
    iteration.cost
}

struct Iteration<'a> {
    f: &'a Function,
    active: &'a VarSet,
    directions: &'a [VarSet],
    cost: RegionCost,
}

impl Iteration<'_> {
    /// Adds a body that runs `runs` times under `depth` loops.
    fn loop_body(&mut self, l: &Loop, runs: u64, depth: u64) {
        let recorded = l.params.iter().filter(|p| self.active.has(**p)).map(|p| Size::of(self.f.ty(*p)).cost());
        let recorded = recorded.fold(0, u64::saturating_add);
        self.cost.reverse = self.cost.reverse.saturating_add(runs.saturating_mul(recorded));
        self.block(&l.body, runs, depth);
    }

    fn block(&mut self, block: &Block, runs: u64, depth: u64) {
        for s in &block.stmts {
            if let Op::Loop(l) = &s.op {
                self.loop_body(l, runs.saturating_mul(trips(l)), depth + 1);
                continue;
            }
            let blocks = s.op.blocks();
            if blocks.is_empty() {
                self.stmt(s, runs, depth);
            }
            let n = if let Op::Par(p) = &s.op { extents(p) } else { 1 };
            blocks.iter().for_each(|b| self.block(b, runs.saturating_mul(n), depth));
        }
    }

    fn stmt(&mut self, s: &Stmt, runs: u64, depth: u64) {
        let value = stmt(&self.f.vars, s).saturating_mul(runs);
        // Each active operand takes a product and a sum; other operations are repeated.
        let each = if matches!(s.op, Op::Prim { .. }) {
            let n = s.results.first().map_or(1, |r| elements(self.f.ty(*r)));
            n.saturating_mul(COSTS.product).saturating_mul(runs)
        } else {
            value
        };
        let products = |active: &VarSet| {
            let is_active = s.results.iter().any(|r| active.has(*r));
            let n = s.op.operands().into_iter().filter(|a| is_active && active.member(*a).is_some()).count();
            each.saturating_mul(n as u64)
        };
        let tangents = self.directions.iter().map(products).fold(0, u64::saturating_add);
        let recomputed = value.saturating_mul(depth);
        let RegionCost { forward, reverse } = &mut self.cost;
        *forward = forward.saturating_add(value).saturating_add(tangents);
        *reverse = reverse.saturating_add(value).saturating_add(recomputed).saturating_add(products(self.active));
    }
}

/// About how many times the body of a parallel loop runs.
fn extents(p: &Par) -> u64 {
    p.extents.iter().fold(1u64, |n, e| n.saturating_mul(extent(*e)))
}
