//! The threads of a kernel, one after the other.

use crate::error::{Outcome, RuntimeError, bug};
use crate::machine::{Frame, Machine};
use crate::memory::Address;
use cotan_device::{Kernel, Launch, Plan, Shape};
use cotan_loops::{Buffer, Local, Operand, Target};

/// What is done for each index tuple.
type Each<'e, T, M> = dyn FnMut(&T, &mut M, &[(Local, i64)]) -> Outcome<()> + 'e;

/// A launch.
pub(super) struct Threads<'d, 'k> {
    pub(super) plan: &'k Plan,
    pub(super) kernel: &'k Kernel,
    pub(super) launch: &'d Launch<'d, Address>,
    pub(super) scalars: &'d mut Vec<Option<u64>>,
    pub(super) names: &'d mut Vec<Option<Address>>,
}

impl<'k> Threads<'_, 'k> {
    pub(super) fn run(&mut self, machine: &mut Machine<'k>) -> Outcome<()> {
        let kernel = self.kernel;
        if let Some(live) = kernel.only_if {
            match self.scalars[self.plan.cells.locals[&live].0 as usize] {
                Some(0) => return Ok(()),
                Some(_) => {}
                None => return bug("a condition of a kernel is read before it is written"),
            }
        }
        let mut first = self.frame()?;
        match &kernel.shape {
            Shape::One => {
                self.thread(machine, &mut first)?;
                self.leave(&first)
            }
            Shape::InOrder { index, count } => {
                for k in 0..self.count(*count) {
                    machine.spend(1)?;
                    first.set(*index, k as u64);
                    self.thread(machine, &mut first)?;
                }
                self.leave(&first)
            }
            Shape::Each(indices) => {
                if !kernel.writes.is_empty() || !kernel.writes_names.is_empty() {
                    return bug("many threads write one cell");
                }
                let mut frame = self.frame()?;
                machine.memory.begin_launch();
                self.each(machine, indices, &mut Vec::new(), &mut |threads, machine, at| {
                    frame.become_like(&first);
                    at.iter().for_each(|(index, k)| frame.set(*index, *k as u64));
                    machine.memory.begin_thread();
                    threads.thread(machine, &mut frame)
                })?;
                machine.memory.end_launch();
                Ok(())
            }
            Shape::Reduce { indices, sums } => {
                let is_sum = |local: &Local| sums.iter().any(|sum| sum.target == Target::Local(*local));
                if !kernel.writes.iter().all(is_sum) || !kernel.writes_names.is_empty() {
                    return bug("many threads write one cell");
                }
                for sum in sums {
                    first.open(sum)?;
                }
                let mut frame = self.frame()?;
                frame.reducing = std::mem::take(&mut first.reducing);
                machine.memory.begin_launch();
                self.each(machine, indices, &mut Vec::new(), &mut |threads, machine, at| {
                    frame.become_like(&first);
                    at.iter().for_each(|(index, k)| frame.set(*index, *k as u64));
                    machine.memory.begin_thread();
                    threads.thread(machine, &mut frame)
                })?;
                machine.memory.end_launch();
                frame.reducing.into_iter().try_for_each(|sum| machine.finish(&mut first, sum))?;
                self.leave(&first)
            }
        }
    }

    /// What a thread's frame begins as: the index tuple is not in it yet.
    fn frame(&self) -> Outcome<Frame<'k>> {
        let (plan, kernel) = (self.plan, self.kernel);
        let mut frame = Frame::new(&plan.function);
        for local in &kernel.arguments {
            frame.set(*local, self.launch.scalars[local.index()]);
        }
        for local in &kernel.reads {
            // What no kernel has written yet is written here first.
            if let Some(bits) = self.scalars[plan.cells.locals[local].0 as usize] {
                frame.set(*local, bits);
            }
        }
        for buffer in &kernel.buffers {
            let Some(at) = self.launch.address(*buffer) else {
                return bug(format!("the host gives `{}` no memory", self.name(*buffer)));
            };
            frame.buffers[buffer.index()] = Some(at);
        }
        for buffer in &kernel.reads_names {
            frame.buffers[buffer.index()] = self.names[plan.cells.buffers[buffer].0 as usize];
        }
        Ok(frame)
    }

    /// Runs the body, and releases what the thread took.
    fn thread(&self, machine: &mut Machine<'k>, frame: &mut Frame<'k>) -> Outcome<()> {
        let (mark, n_sums) = (machine.memory.mark(), frame.reducing.len());
        machine.growth.begin_thread();
        match machine.list(frame, &self.kernel.body) {
            Ok(()) => {}
            // The thread has left, maybe in the middle of a sum.
            Err(RuntimeError::TooLittleRoom) => frame.reducing.truncate(n_sums),
            Err(error) => return Err(error),
        }
        machine.memory.release(mark);
        machine.free_arrays(frame);
        Ok(())
    }

    /// What the kernel hands over.
    fn leave(&mut self, frame: &Frame<'k>) -> Outcome<()> {
        for local in &self.kernel.writes {
            self.scalars[self.plan.cells.locals[local].0 as usize] = Some(frame.bits((*local).into()));
        }
        for buffer in &self.kernel.writes_names {
            self.names[self.plan.cells.buffers[buffer].0 as usize] = Some(frame.base(*buffer)?);
        }
        Ok(())
    }

    /// Visits index tuples, row-major.
    fn each(
        &self,
        machine: &mut Machine<'k>,
        indices: &[(Local, Operand)],
        at: &mut Vec<(Local, i64)>,
        thread: &mut Each<'_, Self, Machine<'k>>,
    ) -> Outcome<()> {
        let Some(((index, count), inner)) = indices.split_first() else { return thread(self, machine, at) };
        for k in 0..self.count(*count) {
            machine.spend(1)?;
            at.push((*index, k));
            self.each(machine, inner, at, thread)?;
            at.pop();
        }
        Ok(())
    }

    // ---- what the host knows

    fn count(&self, operand: Operand) -> i64 {
        match operand {
            Operand::Const(c) => c.bits() as i64,
            Operand::Local(local) => self.launch.scalars[local.index()] as i64,
        }
    }

    fn name(&self, buffer: Buffer) -> &str {
        &self.plan.function.buffers[buffer.index()].name
    }
}
