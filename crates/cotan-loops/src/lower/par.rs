//! The parallel loop: nested counted loops. Stacked results are written straight to their places.

use super::memory::Offer;
use super::reduction::Reduction;
use super::{Held, Lowering};
use crate::cost::cost;
use crate::nest::{Cost, Independence, Node, Operand, Place, Tensor};
use cotan_ir::{Block, Par, ParResult, Stmt, Var, written_accs};
use rustc_hash::FxHashSet;

/// Where a result of the body goes.
enum Sink {
    Stacked(Tensor),
    Reduced(Reduction),
}

impl Sink {
    /// Whether this is a reduction that may be of more than one block.
    fn fills_blocks(&self) -> bool {
        match self {
            Sink::Stacked(_) => false,
            Sink::Reduced(reduction) => reduction.may_fill_block(),
        }
    }
}

impl<'a> Lowering<'a> {
    pub(super) fn par(&mut self, stmt: &'a Stmt, p: &'a Par) {
        let extents: Vec<Operand> = p.extents.iter().map(|e| self.scalar(*e)).collect();
        let (stacked_or_reduced, final_accs) = stmt.results.split_at(p.kinds.len());
        let total = self.count(&extents);
        let mut sinks = Vec::new();
        for (kind, result) in p.kinds.iter().zip(stacked_or_reduced) {
            sinks.push(match kind {
                ParResult::Stacked => Sink::Stacked(self.allocate_for(*result)),
                ParResult::Reduced { monoid, init } => {
                    Sink::Reduced(self.open_reduction(*monoid, *init, *result, total))
                }
            });
        }
        for (acc, result) in p.accs.iter().zip(final_accs) {
            self.open_accumulator(acc, &stmt.op, *result);
        }
        if sinks.iter().any(Sink::fills_blocks)
            && let [index] = p.indices[..]
        {
            self.blocks(p, index, &extents, &sinks);
        } else {
            let may_fork = self.loop_depth == 0 && writes_own_slots_only(p);
            self.level(p, &extents, &mut Vec::new(), &sinks, may_fork);
        }
        for (sink, result) in sinks.into_iter().zip(stacked_or_reduced) {
            let held = match sink {
                Sink::Stacked(tensor) => Held::Tensor(tensor),
                Sink::Reduced(reduction) => self.finish_reduction(&reduction),
            };
            self.bind(*result, held);
        }
        for (acc, result) in p.accs.iter().zip(final_accs) {
            self.close_accumulator(acc, *result);
        }
    }

    /// The loop of a single index, cut along the blocks of reductions, so that the inner loop is free of their ends.
    fn blocks(&mut self, p: &'a Par, index: Var, extents: &[Operand], sinks: &[Sink]) {
        let name = self.f.name_of(index).to_owned();
        self.for_blocks(
            &name,
            extents[0],
            |this, i| {
                this.par_body(p, extents, &[i], sinks);
            },
            |this, last| this.close_blocks(sinks, last),
        );
    }

    fn close_blocks(&mut self, sinks: &[Sink], number: Operand) {
        for sink in sinks {
            if let Sink::Reduced(reduction) = sink {
                self.close_full_blocks(reduction, number);
            }
        }
    }

    /// The loops from the next index on; `at` holds the indices of those outside.
    fn level(&mut self, p: &'a Par, extents: &[Operand], at: &mut Vec<Operand>, sinks: &[Sink], may_fork: bool) {
        let Some(index) = p.indices.get(at.len()) else {
            let number = self.par_body(p, extents, at, sinks);
            return self.close_blocks(sinks, number);
        };
        let count = extents[at.len()];
        let name = self.f.name_of(*index).to_owned();
        self.counted(&name, count, independence(sinks, at.len() + 1 == extents.len()), |this, i| {
            at.push(i);
            this.level(p, extents, at, sinks, false);
            at.pop();
        });
        if may_fork && let Some(Node::For(outermost)) = self.open.last_mut().and_then(|nodes| nodes.last_mut()) {
            outermost.parallel = Some(Cost(cost(&outermost.body)));
        }
    }

    /// One iteration; gives its row-major number.
    fn par_body(&mut self, p: &'a Par, extents: &[Operand], at: &[Operand], sinks: &[Sink]) -> Operand {
        self.scopes.open(&p.body, true);
        for (index, i) in p.indices.iter().zip(at) {
            self.bind(*index, Held::Scalar(*i));
        }
        let number = self.flat(extents, at);
        let slots: Vec<Option<Place>> = sinks
            .iter()
            .map(|sink| match sink {
                Sink::Stacked(tensor) => {
                    let size = self.count(&tensor.dims[extents.len()..]);
                    let offset = self.mul(number, size);
                    Some(self.shifted(tensor.place, offset))
                }
                Sink::Reduced(_) => None,
            })
            .collect();
        let offers = p.body.results.iter().zip(&slots).filter_map(|(r, slot)| Some((*r, Offer::Place((*slot)?))));
        self.offer(&offers.collect::<Vec<_>>());
        self.statements(&p.body);
        let results: Vec<Held> = p.body.results.iter().map(|r| self.held(*r)).collect();
        for (held, sink) in results.iter().zip(sinks.iter()) {
            if let Sink::Reduced(reduction) = sink {
                self.reduce(reduction, held, number);
            }
        }
        let slots = results.into_iter().zip(slots).filter_map(|(held, slot)| Some((held, slot?)));
        self.fill_slots(slots.collect());
        self.scopes.close();
        number
    }

    /// Writes results of a body to their slots.
    pub(super) fn fill_slots(&mut self, slots: Vec<(Held, Place)>) {
        let mut moves = Vec::new();
        for (held, slot) in slots {
            match held {
                Held::Scalar(operand) => self.store(slot, operand),
                Held::Tensor(tensor) => moves.push((tensor, slot)),
            }
        }
        self.deliver(moves);
    }
}

/// Which iterations of a loop of a `par` are independent. The last index counts the values of reductions.
fn independence(sinks: &[Sink], is_last: bool) -> Independence {
    let reduces = sinks.iter().any(|sink| matches!(sink, Sink::Reduced(_)));
    match (reduces, is_last) {
        (false, _) => Independence::All,
        (true, true) => Independence::Block,
        (true, false) => Independence::None,
    }
}

/// Whether no two iterations write to the same memory: every result is stacked, and no accumulator from outside, or
/// introduced by the loop itself, is written.
fn writes_own_slots_only(p: &Par) -> bool {
    let all_stacked = p.kinds.iter().all(|k| matches!(k, ParResult::Stacked));
    let mut inner = FxHashSet::default();
    introduced(&p.body, &mut inner);
    all_stacked && !p.indices.is_empty() && written_accs(&p.body).is_subset(&inner)
}

fn introduced(block: &Block, accs: &mut FxHashSet<Var>) {
    for stmt in &block.stmts {
        accs.extend(stmt.op.accs().iter().map(|a| a.var));
        stmt.op.blocks().iter().for_each(|b| introduced(b, accs));
    }
}
