//! Reductions in one node: each element takes up its values in the order of [`cotan_ops::reduce`], as in the interpreter of
//! the core IR.

use crate::error::{Outcome, bug};
use crate::instruction::kernel;
use crate::machine::{Frame, Machine};
use cotan_loops::{Local, Node, Operand, Reduce, Sum, Target, combining};
use cotan_ops::Kernel;
use cotan_ops::reduce::Reduction;

/// A value with what combines it with others.
#[derive(Clone, Copy)]
struct Term {
    bits: u64,
    kernel: Kernel,
}

fn combine(a: Term, b: Term) -> Term {
    Term { bits: (a.kernel)(&[a.bits, b.bits]), kernel: a.kernel }
}

/// The values that an element takes up.
type Element = Reduction<Term, fn(Term, Term) -> Term>;

/// A sum of a reduction around the node.
pub(crate) struct Reducing {
    target: Target,
    kernel: Kernel,
    elements: Vec<Element>,
}

impl Reducing {
    fn open(frame: &Frame, Sum { monoid, target, extents }: &Sum) -> Outcome<Reducing> {
        let elem = match target {
            Target::Local(local) => frame.f.elem(*local),
            Target::Element(place) => frame.info(place.buffer).elem,
        };
        let n = usize::try_from(frame.count(elem, extents)).unwrap_or(0);
        let elements = std::iter::repeat_with(|| Reduction::new(combine as fn(Term, Term) -> Term)).take(n);
        Ok(Reducing { target: *target, kernel: kernel(combining(*monoid), elem)?, elements: elements.collect() })
    }
}

impl Frame<'_> {
    /// Whether a reduction around reduces what a value is combined with, and has taken it up.
    pub(crate) fn take_up(&mut self, target: Target, value: Operand) -> Outcome<bool> {
        let Some(at) = self.reducing.iter().rposition(|sum| sum.target.has_memory_of(target)) else { return Ok(false) };
        let number = match target {
            Target::Local(_) => 0,
            Target::Element(place) => self.int(place.offset),
        };
        let bits = self.bits(value);
        let Reducing { kernel, elements, .. } = &mut self.reducing[at];
        match usize::try_from(number).ok().and_then(|number| elements.get_mut(number)) {
            Some(element) => element.push(Term { bits, kernel: *kernel }),
            None => return bug(format!("element {number} of a sum of {}", elements.len())),
        }
        Ok(true)
    }
}

impl<'p> Machine<'p> {
    pub(crate) fn reduction(&mut self, frame: &mut Frame<'p>, reduction: &'p Reduce) -> Outcome<()> {
        let Reduce { indices, sums, body } = reduction;
        let n_around = frame.reducing.len();
        for sum in sums {
            let opened = Reducing::open(frame, sum)?;
            frame.reducing.push(opened);
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
    fn finish(&mut self, frame: &mut Frame<'p>, Reducing { target, kernel, elements }: Reducing) -> Outcome<()> {
        for (number, element) in elements.into_iter().enumerate() {
            let total = |start: u64| element.finish(Term { bits: start, kernel }).bits;
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
