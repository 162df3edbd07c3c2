//! Loops and branches of lanes.

use super::{FALSE, Mask, SHORT_ARM, Shape, TRUE, Value, Writer};
use cotan_ir::{Elem, Monoid};
use cotan_loops::node::{Expr, For, Independence, Local, Node, Operand, Threads};
use cotan_ops::Instruction;

impl Writer<'_, '_> {
    pub(super) fn push_loop(&mut self, index: Local, count: Operand, body: Vec<Node>, may_flush: bool) {
        let independence = Independence::None;
        let threads = Threads::One;
        self.push(Node::For(Box::new(For { index, count, threads, independence, lanes: 1, may_flush, body })));
    }

    /// A loop whose number of trips may differ between lanes.
    pub(super) fn trips(&mut self, count: Operand, may_flush: bool, write: impl FnOnce(&mut Self, Operand)) {
        let index = self.tables.local("k", Elem::I64, 1, false);
        if self.shapes.is_uniform(count) {
            let count = self.scalar(count);
            let body = self.list(|w| write(w, index.into()));
            return self.push_loop(index, count, body, may_flush);
        }
        let counts = self.in_lanes(count);
        let most = self.most(counts);
        let body = self.list(|w| w.trip(index.into(), counts, |w| write(w, index.into())));
        self.push_loop(index, most, body, may_flush);
    }

    /// The most that a running lane has of what is not negative.
    pub(super) fn most(&mut self, counts: Operand) -> Operand {
        let mut wanted = counts;
        if let Some(running) = self.running() {
            wanted = self.native(Instruction::Select, Elem::I64, Elem::I64, &[running, counts, Operand::i64(0)]);
        }
        self.define("most", Elem::I64, 1, Expr::Fold(Monoid::Max, wanted))
    }

    /// A trip of the lanes that have one of this number.
    fn trip(&mut self, number: Operand, counts: Operand, write: impl FnOnce(&mut Self)) {
        let goes = self.native(Instruction::Lt, Elem::I64, Elem::Bool, &[number, counts]);
        let lanes = self.both(self.mask.lanes, goes);
        let mask = self.new_mask(lanes);
        self.guarded(mask, write);
    }

    /// What runs under a mask, if any lane does.
    pub(super) fn guarded(&mut self, mask: Mask, write: impl FnOnce(&mut Self)) {
        let outside = std::mem::replace(&mut self.mask, mask);
        let running = self.running().unwrap_or(TRUE);
        let any = self.define("any", Elem::Bool, 1, Expr::Any(running));
        let nodes = self.list(write);
        self.mask = outside;
        self.push(Node::If(any, nodes, Vec::new()));
    }

    pub(super) fn counted(&mut self, l: &For) {
        if self.shapes.runs_backward(l) {
            return self.backward(l);
        }
        self.trips(l.count, l.may_flush, |w, k| {
            w.values.insert(l.index, Value::Scalar(k));
            w.inner.push((l.index, l.count));
            w.nodes_with_records(&l.body);
            w.inner.pop();
        });
    }

    /// A loop whose trips are numbered from the last one back: all lanes end together, see [`Lockstep`].
    ///
    /// [`Lockstep`]: crate::vector::lockstep::Lockstep
    fn backward(&mut self, l: &For) {
        let index = self.tables.local("k", Elem::I64, 1, false);
        let counts = self.in_lanes(l.count);
        let most = self.most(counts);
        let last = self.i64(Instruction::Add, most, Operand::i64(-1));
        let body = self.list(|w| {
            let number = w.i64(Instruction::Sub, last, index.into());
            w.trip(number, counts, |w| {
                let lasts = w.i64(Instruction::Add, counts, Operand::i64(-1));
                let before = w.i64(Instruction::Sub, lasts, number);
                w.values.insert(l.index, Value::Lanes(before));
                w.from_the_end.insert(l.index, number);
                w.nodes_with_records(&l.body);
            });
        });
        self.push_loop(index, most, body, l.may_flush);
    }

    pub(super) fn repeat_while(&mut self, go: Local, body: &[Node]) {
        let variable = self.mutable[&go];
        let is_varying = self.shapes.of_operand(go.into()) == Shape::Varying;
        if !is_varying && self.failing.is_none() {
            let body = self.list(|w| w.nodes_with_records(body));
            return self.push(Node::While(variable.local, body));
        }
        let any = self.tables.local("any", Elem::Bool, 1, true);
        let live = self.live(variable.local, self.mask.lanes);
        let some = self.any_runs(live);
        self.push(Node::Set(any, some));
        let nodes = self.list(|w| {
            // Read again: `live` of the last iteration is the mask of this one.
            let live = w.live(variable.local, w.mask.lanes);
            let mask = w.new_mask(live);
            let nodes = w.under(mask, |w| w.nodes_with_records(body));
            nodes.into_iter().for_each(|node| w.push(node));
            let live = w.live(variable.local, Some(live));
            let some = w.any_runs(live);
            w.push(Node::Set(any, some));
        });
        self.push(Node::While(any, nodes));
    }

    /// The lanes of a mask for which a mutable bool is true.
    pub(super) fn live(&mut self, go: Local, mask: Option<Operand>) -> Operand {
        let lanes = self.tables.locals[go.index()].lanes;
        let goes = self.define("go", Elem::Bool, lanes, Expr::Copy(go.into()));
        let mut live = self.both(mask, goes);
        if self.lanes_of(live) == 1 {
            let args = vec![live, TRUE, FALSE];
            let expr = Expr::Native { instruction: Instruction::Select, elem: Elem::Bool, args };
            live = self.define("live", Elem::Bool, self.lanes, expr);
        }
        live
    }

    pub(super) fn any_runs(&mut self, live: Operand) -> Operand {
        let mut running = live;
        if let Some(failing) = self.failing.clone() {
            let alive = self.define("alive", Elem::Bool, self.lanes, Expr::Copy(failing.alive.into()));
            running = self.both(Some(live), alive);
        }
        self.define("any", Elem::Bool, 1, Expr::Any(running))
    }

    pub(super) fn branches(&mut self, cond: Operand, yes: &[Node], no: &[Node]) {
        if self.shapes.is_uniform(cond) {
            let cond = self.scalar(cond);
            let yes = self.list(|w| w.nodes(yes));
            let no = self.list(|w| w.nodes(no));
            return self.push(Node::If(cond, yes, no));
        }
        let cond = self.in_lanes(cond);
        let opposite = self.native(Instruction::Not, Elem::Bool, Elem::Bool, &[cond]);
        for (takes, arm) in [(cond, yes), (opposite, no)] {
            if !arm.is_empty() {
                self.arm(takes, arm);
            }
        }
    }

    /// An arm of a branch, for the lanes that take it.
    pub(super) fn arm(&mut self, takes: Operand, arm: &[Node]) {
        let lanes = self.both(self.mask.lanes, takes);
        let mask = self.new_mask(lanes);
        if arm.len() <= SHORT_ARM && arm.iter().all(|node| self.is_cheap(node)) {
            let nodes = self.under(mask, |w| w.nodes(arm));
            return nodes.into_iter().for_each(|node| self.push(node));
        }
        self.guarded(mask, |w| w.nodes(arm));
    }

    /// Whether lanes that do not run may run a node all the same.
    pub(super) fn is_cheap(&self, node: &Node) -> bool {
        if let Node::Let(_, expr) = node {
            return !matches!(expr, Expr::Host { .. });
        }
        if let Node::Load(_, place) = node {
            // A place of its own in each lane is masked; one that all share may not be there if no lane takes the arm.
            return !self.shapes.is_uniform(place.offset);
        }
        if let Node::Store(place, _) = node {
            return self.buffers.contains_key(&place.buffer) || !self.shapes.is_uniform(place.offset);
        }
        matches!(node, Node::Set(..))
    }

    pub(super) fn switch(&mut self, on: Operand, arms: &[Vec<Node>]) {
        if self.shapes.is_uniform(on) {
            let on = self.scalar(on);
            let arms = arms.iter().map(|arm| self.list(|w| w.nodes(arm))).collect();
            return self.push(Node::Switch(on, arms));
        }
        let on = self.in_lanes(on);
        let at_least = self.i64(Instruction::Max, on, Operand::i64(0));
        let at = self.i64(Instruction::Min, at_least, Operand::i64(arms.len() as i64 - 1));
        for (k, arm) in arms.iter().enumerate() {
            if !arm.is_empty() {
                let number = Operand::i64(k as i64);
                let takes = self.native(Instruction::Eq, Elem::I64, Elem::Bool, &[at, number]);
                self.arm(takes, arm);
            }
        }
    }
}
