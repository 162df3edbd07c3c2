//! Sums of a whole loop: each lane adds up its own, and behind the strips the lanes are added up.
//!
//! A loop that is cut for threads adds up in every strip instead: its chunks have no lanes in common.

use super::Writer;
use cotan_ir::Monoid;
use cotan_loops::node::{Expr, Local, Node, Operand, Target, combining, rounds};
use cotan_ops::Instruction;
use cotan_ops::reduce::neutral;

/// What the lanes of a loop have combined with a local from outside.
#[derive(Clone, Copy)]
pub(super) struct LaneSum {
    monoid: Monoid,
    local: Local,
    lanes: Local,
}

impl Writer<'_, '_> {
    /// Combines the values of the lanes that run with a local from outside.
    pub(super) fn combine_outside(&mut self, monoid: Monoid, local: Local, value: Operand) {
        if !self.keeps_lane_sums {
            let value = self.folded(monoid, value);
            return self.push(Node::Combine { monoid, target: Target::Local(local), value });
        }
        let elem = self.elem_of(value);
        self.tables.regroups_sums |= rounds(monoid, elem);
        let lanes = self.lane_sum(monoid, local);
        let old = self.define("sum", elem, self.lanes, Expr::Copy(lanes.into()));
        let mut new = self.native(combining(monoid), elem, elem, &[old, value]);
        if let Some(running) = self.running() {
            new = self.native(Instruction::Select, elem, elem, &[running, new, old]);
        }
        self.push(Node::Set(lanes, new));
    }

    fn lane_sum(&mut self, monoid: Monoid, local: Local) -> Local {
        let known = self.lane_sums.iter().find(|sum| sum.local == local && sum.monoid == monoid);
        if let Some(known) = known {
            return known.lanes;
        }
        let info = self.f.locals[local.index()].clone();
        let lanes = self.tables.local(&info.name, info.elem, self.lanes, true);
        self.lane_sums.push(LaneSum { monoid, local, lanes });
        lanes
    }

    /// The strips, with the start of what their lanes add up in front of them and the sums of lanes behind.
    pub(super) fn around_lane_sums(&mut self, strips: Vec<Node>) -> Vec<Node> {
        let sums = std::mem::take(&mut self.lane_sums);
        let mut nodes = Vec::new();
        for LaneSum { monoid, lanes, .. } in &sums {
            let elem = self.tables.locals[lanes.index()].elem;
            nodes.push(Node::Set(*lanes, Operand::Const(neutral(*monoid, elem))));
        }
        nodes.extend(strips);
        nodes.extend(self.list(|w| {
            for LaneSum { monoid, local, lanes } in sums {
                let elem = w.tables.locals[lanes.index()].elem;
                let all = w.define("sum", elem, w.lanes, Expr::Copy(lanes.into()));
                let value = w.define("sum", elem, 1, Expr::Fold(monoid, all));
                w.push(Node::Combine { monoid, target: Target::Local(local), value });
            }
        }));
        nodes
    }
}
