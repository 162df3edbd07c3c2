//! Reductions in one node, executed.

use crate::error::{Outcome, bug};
use crate::instruction::kernel;
use crate::machine::{Frame, Machine};
use crate::sum::Reducing;
use cotan_loops::{Local, Node, Operand, Reduce, Sum, Target, combining};

impl Frame<'_> {
    /// Whether a reduction around reduces what a value is combined with, and has taken it up.
    pub(crate) fn take_up(&mut self, target: Target, value: Operand) -> Outcome<bool> {
        let Some(at) = self.reducing.iter().rposition(|sum| sum.target.has_memory_of(target)) else { return Ok(false) };
        let number = match target {
            Target::Local(_) => 0,
            Target::Element(place) => self.int(place.offset),
        };
        let bits = self.bits(value);
        let is_taken = usize::try_from(number).is_ok_and(|number| self.reducing[at].push(number, bits));
        if is_taken { Ok(true) } else { bug(format!("element {number} of a sum that has fewer")) }
    }

    /// Begins a sum.
    pub(crate) fn open(&mut self, sum: &Sum) -> Outcome<()> {
        let opened = self.opened(sum)?;
        self.reducing.push(opened);
        Ok(())
    }

    /// A sum that has taken up nothing.
    fn opened(&self, Sum { monoid, target, extents }: &Sum) -> Outcome<Reducing> {
        let elem = match target {
            Target::Local(local) => self.f.elem(*local),
            Target::Element(place) => self.info(place.buffer).elem,
        };
        let n = usize::try_from(self.count(elem, extents)).unwrap_or(0);
        Ok(Reducing::new(*target, kernel(combining(*monoid), elem)?, n))
    }
}

impl<'p> Machine<'p> {
    pub(crate) fn reduction(&mut self, frame: &mut Frame<'p>, reduction: &'p Reduce) -> Outcome<()> {
        let Reduce { indices, sums, body } = reduction;
        let n_around = frame.reducing.len();
        for sum in sums {
            frame.open(sum)?;
        }
        if indices.iter().all(|(_, count)| frame.int(*count) > 0) {
            self.iterations(frame, indices, body)?;
        }
        let reduced = frame.reducing.split_off(n_around);
        reduced.into_iter().try_for_each(|sum| self.finish(frame, sum))
    }

    /// The iterations from the next index on.
    fn iterations(&mut self, frame: &mut Frame<'p>, indices: &[(Local, Operand)], body: &'p [Node]) -> Outcome<()> {
        let Some(((index, count), inner)) = indices.split_first() else { return self.list(frame, body) };
        for k in 0..frame.int(*count) {
            self.spend(1)?;
            frame.set(*index, k as u64);
            self.iterations(frame, inner, body)?;
        }
        Ok(())
    }

    /// Combines start values with totals.
    pub(crate) fn finish(&mut self, frame: &mut Frame<'p>, sum: Reducing) -> Outcome<()> {
        let target = sum.target;
        for (number, total) in sum.totals().enumerate() {
            match target {
                Target::Local(local) => frame.set(local, total(frame.bits(local.into()))),
                Target::Element(place) => {
                    let address = frame.address(place)?.plus(number as i64);
                    let bits = total(self.memory.read(address)?);
                    self.memory.write(address, bits)?;
                }
            }
        }
        Ok(())
    }
}
