//! Blocked summation: the sum of an element of a product is cut into runs of at most 512 terms, as a library cuts it.

use super::super::Lowering;
use crate::node::{Node, Operand, Tensor};
use cotan_ir::{Elem, Monoid};
use cotan_ops::reduce::neutral;
use cotan_ops::{ADD, Instruction, RUN, is_one_run};

/// Where sums are cut into runs, as [`runs`](cotan_ops::runs) says. All of it is i64.
pub(super) struct Runs {
    /// All terms.
    terms: Operand,
    /// How the runs follow from that; nothing if there is surely one.
    cut: Option<Cut>,
}

struct Cut {
    n: Operand,
    /// Terms that every run has.
    length: Operand,
    /// The first runs have one more, so many of them.
    n_longer: Operand,
}

/// One of the runs: its number, its first term and how many there are, i64.
#[derive(Clone, Copy)]
pub(super) struct Run {
    number: Operand,
    pub(super) low: Operand,
    pub(super) length: Operand,
}

impl Runs {
    /// The runs of sums of so many terms, in a product with these attributes.
    pub(super) fn of(this: &mut Lowering, terms: Operand, attrs: &[i64]) -> Runs {
        if is_one_run(attrs) || terms.as_i64().is_some_and(|n| n <= RUN as i64) {
            return Runs { terms, cut: None };
        }
        let others = others(this, terms);
        let others = this.i64_of(Instruction::Div, others, Operand::i64(RUN as i64));
        let n = this.add(others, Operand::i64(1));
        let length = this.i64_of(Instruction::Div, terms, n);
        let n_longer = this.i64_of(Instruction::Rem, terms, n);
        Runs { terms, cut: Some(Cut { n, length, n_longer }) }
    }

    /// Nodes for each run, in order.
    pub(super) fn each(&self, this: &mut Lowering, write: impl FnOnce(&mut Lowering, Run)) {
        let Some(cut) = &self.cut else {
            return write(this, Run { number: Operand::i64(0), low: Operand::i64(0), length: self.terms });
        };
        this.for_each("run", cut.n, |this, number| {
            let start = |this: &mut Lowering, number: Operand| {
                let shorter = this.mul(number, cut.length);
                let longer = this.i64_of(Instruction::Min, number, cut.n_longer);
                this.add(shorter, longer)
            };
            let low = start(this, number);
            let next = this.add(number, Operand::i64(1));
            let high = start(this, next);
            let length = this.sub(high, low);
            write(this, Run { number, low, length });
        });
    }

    /// The total of the sums of all runs, given what gives one.
    pub(super) fn total(
        &self,
        this: &mut Lowering,
        elem: Elem,
        sum: impl FnOnce(&mut Lowering, Run) -> Operand,
    ) -> Operand {
        if self.cut.is_none() {
            let mut only = None;
            self.each(this, |this, run| only = Some(sum(this, run)));
            return only.expect("invariant: it is written once");
        }
        // It changes no bit of the first run, not even the sign of a zero.
        let total = this.variable("total", elem, Operand::Const(neutral(Monoid::Add, elem)));
        self.each(this, |this, run| {
            let sum = sum(this, run);
            let old = this.read(total);
            let new = this.apply("total", &ADD, &[old, sum]);
            this.push(Node::Set(total, new));
        });
        this.read(total)
    }

    /// Adds the sum of a run to the total of the runs before it, which an element holds.
    pub(super) fn add_to(&self, this: &mut Lowering, run: Run, element: &Tensor, sum: Operand) {
        if self.cut.is_none() {
            return this.store(element.place, sum);
        }
        let total = this.variable("total", element.elem, Operand::Const(neutral(Monoid::Add, element.elem)));
        let is_later = this.native(Instruction::Gt, Elem::I64, Elem::Bool, &[run.number, Operand::i64(0)]);
        let before = this.nodes(|this| {
            let before = this.load("total", element.elem, element.place);
            this.push(Node::Set(total, before));
        });
        this.push(Node::If(is_later, before, Vec::new()));
        let old = this.read(total);
        let new = this.apply("total", &ADD, &[old, sum]);
        this.store(element.place, new);
    }
}

/// One less than so many, where there are any.
pub(super) fn others(this: &mut Lowering, n: Operand) -> Operand {
    let others = this.i64_of(Instruction::Sub, n, Operand::i64(1));
    this.i64_of(Instruction::Max, others, Operand::i64(0))
}

impl Lowering<'_> {
    /// An instruction on two i64.
    pub(super) fn i64_of(&mut self, instruction: Instruction, a: Operand, b: Operand) -> Operand {
        self.native(instruction, Elem::I64, Elem::I64, &[a, b])
    }
}
