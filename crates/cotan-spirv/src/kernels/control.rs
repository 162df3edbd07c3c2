//! Structured control: loops and branches.

use super::body::Body;
use super::{Ends, LONG, Unsupported};
use crate::emit::Value;
use cotan_loops::{For, Local, Node, Operand};
use rspirv::spirv::Op;

impl Body<'_> {
    /// A loop over i64s.
    pub(super) fn counted(
        &mut self,
        [first, end, step]: Ends,
        body: impl FnOnce(&mut Self, Value) -> Result<(), Unsupported>,
    ) -> Result<(), Unsupported> {
        let counter = self.out.variable(LONG);
        self.out.set(counter, first);
        let turn = self.out.begin_loop();
        let k = self.out.get(counter);
        let goes_on = self.out.compare(Op::SLessThan, k, end);
        self.out.begin_turn(turn, goes_on);
        body(self, k)?;
        let next = self.out.add(LONG, k, step);
        self.out.set(counter, next);
        self.out.end_loop(turn);
        let k = self.out.get(counter);
        let goes_on = self.out.compare(Op::SLessThan, k, end);
        self.leave_cut_loop(goes_on);
        Ok(())
    }

    /// A loop that ends although it should go on was cut by the driver: lavapipe gives all loops of a thread 65,535 turns
    /// together, and goes on behind the loop without a word. The call is then one for the host.
    pub(super) fn leave_cut_loop(&mut self, goes_on: Value) {
        self.leave_to_host(goes_on);
    }

    /// A loop from 0 up to a number.
    pub(super) fn up_to(
        &mut self,
        count: Value,
        body: impl FnOnce(&mut Self, Value) -> Result<(), Unsupported>,
    ) -> Result<(), Unsupported> {
        let [zero, one] = [0, 1].map(|n| self.out.int(LONG, n));
        self.counted([zero, count, one], body)
    }

    pub(super) fn for_loop(&mut self, l: &For) -> Result<(), Unsupported> {
        let count = self.operand(l.count);
        self.up_to(count, |body, k| {
            body.define(l.index, k);
            body.nodes(&l.body)
        })
    }

    pub(super) fn while_loop(&mut self, go: Local, nodes: &[Node]) -> Result<(), Unsupported> {
        let turn = self.out.begin_loop();
        let goes_on = self.operand(go.into());
        self.out.begin_turn(turn, goes_on);
        self.nodes(nodes)?;
        self.out.end_loop(turn);
        let goes_on = self.operand(go.into());
        self.leave_cut_loop(goes_on);
        Ok(())
    }

    pub(super) fn branches(&mut self, cond: Operand, yes: &[Node], no: &[Node]) -> Result<(), Unsupported> {
        let cond = self.operand(cond);
        let branches = self.out.begin_branches(cond);
        self.nodes(yes)?;
        self.out.otherwise(branches);
        self.nodes(no)?;
        self.out.end_branches(branches);
        Ok(())
    }

    /// Arms by number, asked for one after the other; a number out of range takes the nearest one.
    pub(super) fn switch(&mut self, number: Operand, arms: &[Vec<Node>]) -> Result<(), Unsupported> {
        let number = self.operand(number);
        self.arms(number, 0, arms)
    }

    fn arms(&mut self, number: Value, first: i64, arms: &[Vec<Node>]) -> Result<(), Unsupported> {
        let Some((arm, others)) = arms.split_first() else { return Ok(()) };
        if others.is_empty() {
            return self.nodes(arm);
        }
        let bound = self.out.int(LONG, first);
        let is_this = self.out.compare(Op::SLessThanEqual, number, bound);
        let branches = self.out.begin_branches(is_this);
        self.nodes(arm)?;
        self.out.otherwise(branches);
        self.arms(number, first + 1, others)?;
        self.out.end_branches(branches);
        Ok(())
    }
}
