//! Loops whose length only the device knows (predicated execution): the host queues rounds ahead of what it knows, and
//! kernels of rounds that are not to be do nothing. So it waits once for many rounds.

use super::writer::Writer;
use super::{Cut, Row};
use crate::plan::{Rounds, Shape, Step};
use cotan_ir::Elem;
use cotan_loops::{Expr, Local, Node, Operand, Place};
use cotan_ops::Instruction;
use rustc_hash::FxHashSet;

impl Cut<'_> {
    /// A `while` on a condition that the device has. Its rounds are queued ahead if nothing in them asks the host for what only
    /// the device knows.
    pub(super) fn device_loop(&mut self, go: Local, body: &[Node], row: &mut Row) {
        let mut writer = Writer { f: self.f };
        let [live, count] = [writer.mutable("live", Elem::Bool), writer.mutable("rounds", Elem::I64)];
        let next = writer.local("t", Elem::I64);
        self.device.locals.extend([live, count, next]);
        let first = [Node::Set(count, Operand::i64(0)), Node::Set(live, go.into())];
        first.iter().for_each(|node| self.node(node, row));
        self.flush(row);
        let add =
            Expr::Native { instruction: Instruction::Add, elem: Elem::I64, args: vec![count.into(), Operand::i64(1)] };
        let last = [Node::Let(next, add), Node::Set(count, next.into()), Node::Set(live, go.into())];
        let first_kernel = self.kernels.len();
        self.in_device_loop += 1;
        let mut inside = Row::default();
        body.iter().chain(&last).for_each(|node| self.node(node, &mut inside));
        self.flush(&mut inside);
        self.in_device_loop -= 1;
        let mut steps = inside.steps;
        if self.knows_enough(&steps) {
            self.kernels[first_kernel..].iter_mut().for_each(|kernel| kernel.only_if = Some(live));
            row.steps.push(Step::Rounds(Rounds { live, count, body: steps }));
        } else {
            self.read_back(&[live.into()], &mut row.steps);
            self.read_back(&[live.into()], &mut steps);
            row.steps.push(Step::While(live, steps));
        }
    }

    /// A copy, as a kernel.
    pub(super) fn copy_kernel(&mut self, from: Place, to: Place, count: Operand, row: &mut Row) {
        let elem = self.f.buffers[from.buffer.index()].elem;
        let mut writer = Writer { f: self.f };
        let (index, mut body) = (writer.local("k", Elem::I64), Vec::new());
        let mut moved = |place: Place, body: &mut Vec<Node>| {
            let offset = writer.int(Instruction::Add, place.offset, index.into(), body);
            Place { offset, ..place }
        };
        let [from, to] = [from, to].map(|place| moved(place, &mut body));
        let element = writer.local("e", elem);
        body.extend([Node::Load(element, from), Node::Store(to, element.into())]);
        self.device.locals.extend((index.0..self.f.locals.len() as u32).map(Local));
        self.read_back(&[count], &mut row.steps);
        self.launch(Shape::Each(vec![(index, count)]), body, row);
    }

    /// Whether the host can take steps without waiting for the device, as often as it likes: a loop, an array or a kernel in them whose
    /// size changes from round to round could take long, or much memory, for rounds that are not to be.
    fn knows_enough(&self, steps: &[Step]) -> bool {
        let mut defined = FxHashSet::default();
        each_step(steps, &mut |step| {
            if let Step::Node(Node::Let(local, _) | Node::Set(local, _)) = step {
                defined.insert(*local);
            }
        });
        let changes = |count: &Operand| matches!(count, Operand::Local(local) if defined.contains(local));
        let mut is_free = true;
        each_step(steps, &mut |step| {
            is_free &= match step {
                Step::Node(Node::Alloc { extents, .. }) => !extents.iter().any(changes),
                Step::Node(node) => !matches!(node, Node::Routine(_) | Node::Print { .. } | Node::Copy { .. }),
                Step::For { count, .. } => !changes(count),
                Step::Launch(id) => !self.kernels[id.index()].shape.indices().iter().any(|(_, count)| changes(count)),
                Step::ReadBack(_) | Step::ReadName(_) | Step::While(..) | Step::Rounds(_) => false,
                Step::Scope(_) | Step::If(..) | Step::Switch(..) => true,
            };
        });
        is_free
    }
}

fn each_step(steps: &[Step], see: &mut impl FnMut(&Step)) {
    for step in steps {
        see(step);
        step.lists().into_iter().for_each(|list| each_step(list, see));
    }
}
