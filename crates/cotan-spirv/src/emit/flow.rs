//! Structured control flow: what runs under a condition, and loops of a known number of turns.

use super::emitter::{Emitter, OPEN, Value};
use super::register::Register;
use rspirv::spirv::{LoopControl, Op, SelectionControl};

impl Emitter<'_> {
    /// What is written by `body` runs where the condition holds.
    pub fn when(&mut self, condition: Value, body: impl FnOnce(&mut Self)) {
        let (then, after) = (self.builder.id(), self.builder.id());
        self.builder.selection_merge(after, SelectionControl::NONE).expect(OPEN);
        self.builder.branch_conditional(condition.0, then, after, []).expect(OPEN);
        self.open(then);
        body(self);
        self.jump(after);
    }

    /// A loop of so many turns, at least one. `body` gets what is carried, and gives it anew.
    pub(crate) fn repeat<const N: usize>(
        &mut self,
        turns: u32,
        start: [(Register, Value); N],
        body: impl FnOnce(&mut Self, [Value; N]) -> [Value; N],
    ) -> [Value; N] {
        let [head, inside, next, after] = [0; 4].map(|_| self.builder.id());
        let before = self.block;
        let zero = self.int(Register::Int32, 0);
        self.jump(head);
        let turned = self.builder.id();
        let turn = self.phi(Register::Int32, [(zero, before), (Value(turned), next)]);
        let ends = start.map(|_| self.builder.id());
        let mut k = 0;
        let carried = start.map(|(register, value)| {
            k += 1;
            self.phi(register, [(value, before), (Value(ends[k - 1]), next)])
        });
        self.builder.loop_merge(after, next, LoopControl::NONE, []).expect(OPEN);
        self.jump(inside);
        let results = body(self, carried);
        self.jump(next);
        for (k, (register, _)) in start.into_iter().enumerate() {
            self.op_as(ends[k], Op::CopyObject, register, &[results[k]]);
        }
        let one = self.int(Register::Int32, 1);
        self.op_as(turned, Op::IAdd, Register::Int32, &[turn, one]);
        let turns = self.int(Register::Int32, turns.into());
        let goes_on = self.compare(Op::ULessThan, Value(turned), turns);
        self.builder.branch_conditional(goes_on.0, head, after, []).expect(OPEN);
        self.open(after);
        ends.map(Value)
    }

    fn phi(&mut self, register: Register, sources: [(Value, u32); 2]) -> Value {
        let ty = self.ty(register);
        Value(self.builder.phi(ty, None, sources.map(|(value, label)| (value.0, label))).expect(OPEN))
    }
}
