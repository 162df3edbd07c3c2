//! Reductions that many threads share (parallel reduction in a fixed order): a thread for each of the sixteen partial
//! results of each block, in the order of [`cotan_ops::reduce`].
//!
//! Partial results lie in device memory, sixteen words for each block. What blocks give are the values of the level above,
//! which is reduced by the same rule, level by level until one block is left; then its total is combined with what the sum
//! held before.

use super::body::Body;
use super::layout::Word;
use super::reduction::Scalar;
use super::{Ends, LONG, Unsupported};
use crate::emit::Value;
use cotan_ir::Elem;
use cotan_loops::{Local, Operand, Sum};
use cotan_ops::reduce::{BLOCK, LANES};
use rspirv::spirv::Op;

impl Body<'_> {
    /// Reduces the values of the iterations into partial results.
    pub(super) fn chains(&mut self, indices: &[(Local, Operand)], sums: &[Sum]) -> Result<(), Unsupported> {
        let kernel = self.kernel;
        self.each_chain(sums, |body, ends| body.each_iteration(indices, ends, |body| body.nodes(&kernel.body)))
    }

    /// Reduces the totals of the blocks of a level into partial results of the level above.
    pub(super) fn chains_of_totals(&mut self, sums: &[Sum]) -> Result<(), Unsupported> {
        self.each_chain(sums, |body, ends| {
            body.counted(ends, |body, block| {
                for (position, sum) in sums.iter().enumerate() {
                    let scalar = body.scalar(sum)?;
                    if let Some(total) = body.total_of_block(position, scalar, block)? {
                        body.take_up(sum.target, total)?;
                    }
                }
                Ok(())
            })
        })
    }

    /// Combines the totals of the last block with what the sums held before, in their cells.
    pub(super) fn combine_totals(&mut self, sums: &[Sum]) -> Result<(), Unsupported> {
        let block = self.out.int(LONG, 0);
        for (position, sum) in sums.iter().enumerate() {
            let scalar = self.scalar(sum)?;
            // A sum without a cell is one that nobody wants.
            if !self.kernel.writes.contains(&scalar.local) {
                continue;
            }
            self.read_scalars(&[scalar.local]);
            if let Some(total) = self.total_of_block(position, scalar, block)? {
                self.combine_with_start(scalar, total)?;
            }
            self.write_scalars(&[scalar.local]);
        }
        Ok(())
    }

    /// Has the values of each partial result that is the thread's taken up. They are each sixteenth value of a block.
    fn each_chain(
        &mut self,
        sums: &[Sum],
        inside: impl FnOnce(&mut Self, Ends) -> Result<(), Unsupported>,
    ) -> Result<(), Unsupported> {
        let n_around = self.reducing.len();
        let scalars = sums.iter().map(|sum| self.scalar(sum)).collect::<Result<Vec<Scalar>, Unsupported>>()?;
        let totals = scalars.iter().map(|scalar| self.begin_partial(*scalar)).collect::<Vec<_>>();
        let ends = [self.out.thread(), self.word(Word::Chains), self.word(Word::Threads)];
        self.counted(ends, |body, chain| {
            scalars.iter().zip(&totals).for_each(|(scalar, total)| body.empty(*scalar, *total));
            let ends = body.values_of_chain(chain);
            inside(body, ends)?;
            for (position, (scalar, total)) in scalars.iter().zip(&totals).enumerate() {
                let to = body.word(Word::To(position));
                let at = body.out.address(Elem::U64, to, chain);
                let total = body.out.get(*total);
                let word = body.out.as_word(scalar.elem, total);
                body.out.store(Elem::U64, at, word);
            }
            Ok(())
        })?;
        self.reducing.truncate(n_around);
        Ok(())
    }

    /// The numbers of the values of a partial result: the first, the end of the block, and the step.
    fn values_of_chain(&mut self, chain: Value) -> Ends {
        let [lanes, block_size] = [LANES, BLOCK].map(|n| self.out.int(LONG, n as i64));
        let lane = self.out.masked(LONG, chain, LANES as u64 - 1);
        let block = self.out.op(Op::UDiv, LONG, &[chain, lanes]);
        let start = self.out.mul(LONG, block, block_size);
        let first = self.out.add(LONG, start, lane);
        let end = self.out.add(LONG, start, block_size);
        let all = self.word(Word::Iterations);
        let is_full = self.out.compare(Op::SLessThan, end, all);
        [first, self.out.choose(LONG, is_full, end, all), lanes]
    }

    /// The total of a block whose partial results an earlier launch has left.
    fn total_of_block(&mut self, position: usize, scalar: Scalar, block: Value) -> Result<Option<Value>, Unsupported> {
        let (from, lanes) = (self.word(Word::From(position)), self.out.int(LONG, LANES as i64));
        let first = self.out.mul(LONG, block, lanes);
        let mut partials = Vec::new();
        for lane in 0..LANES {
            let lane = self.out.int(LONG, lane as i64);
            let at = self.out.add(LONG, first, lane);
            let at = self.out.address(Elem::U64, from, at);
            let word = self.out.load(Elem::U64, at);
            partials.push(self.of_word(scalar.elem, word));
        }
        self.tree(scalar, partials)
    }
}
