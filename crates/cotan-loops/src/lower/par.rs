//! The parallel loop: nested counted loops. Stacked results are written straight to their places.
//!
//! For CPUs, the outermost loop of one that stands in no other loop may run on several threads. The blocks of its
//! reductions are then reduced apart, see [`block_reduction`](super::block_reduction). For devices reductions stay whole,
//! see [`whole_reduction`](super::whole_reduction).

pub(super) mod output;

use super::block_reduction::{blocks_apart, has_blocks_apart};
use super::memory::Destination;
use super::whole_reduction::{combine, reduce, total};
use super::work::sharing;
use super::{Lowering, Value};
use crate::node::{Independence, Node, Operand, Place, Sharing, Threads};
use cotan_ir::{Par, ParResult, Stmt, Var};
use output::Output;

impl<'a> Lowering<'a> {
    pub(super) fn par(&mut self, stmt: &'a Stmt, p: &'a Par) {
        let extents: Vec<Operand> = p.extents.iter().map(|e| self.scalar(*e)).collect();
        let (results, final_accs) = stmt.results.split_at(p.kinds.len());
        for (acc, result) in p.accs.iter().zip(final_accs) {
            self.open_accumulator(acc, &stmt.op, *result);
        }
        // What is printed has an order.
        let prints = p.body.walk().any(|s| s.op.effects().prints);
        let is_in_par = std::mem::replace(&mut self.is_in_par, true);
        let forks = !is_in_par && self.target.estimates_work && !prints;
        let reduces = p.kinds.iter().any(|kind| matches!(kind, ParResult::Reduced { .. }));
        let sharing = if forks { sharing(self, p, reduces) } else { None };
        match (sharing, &p.indices[..]) {
            (_, _) if reduces && self.target.keeps_reductions => reduce(self, p, &extents, results),
            (Some(sharing), _) if reduces && has_blocks_apart(self, &sharing, p, results, &extents) => {
                blocks_apart(self, p, &extents, results, sharing);
            }
            (sharing, _) => nest(self, p, &extents, results, sharing.filter(|_| !reduces)),
        }
        self.is_in_par = is_in_par;
        for (acc, result) in p.accs.iter().zip(final_accs) {
            self.close_accumulator(acc, *result);
        }
    }

    /// Binds the results of a `par` whose loops are written.
    pub(super) fn bind_outputs(&mut self, outputs: Vec<Output>, results: &[Var]) {
        for (output, result) in outputs.into_iter().zip(results) {
            let value = match output {
                Output::Stacked(tensor) | Output::Block(tensor) | Output::Lanes(_, tensor) => Value::Tensor(tensor),
                Output::Reduced(reduction) => self.finish_reduction(&reduction),
                Output::Whole(sum) => total(self, sum),
            };
            self.bind(*result, value);
        }
    }

    /// Lets the loop that was written last run on several threads.
    pub(super) fn may_fork(&mut self, sharing: Sharing) {
        if let Some(Node::For(l)) = self.open.last_mut().and_then(|nodes| nodes.last_mut()) {
            l.threads = Threads::May(sharing);
        }
    }

    /// One iteration; `in_block` is its number in the block of [`Output::Block`], else its row-major number.
    pub(super) fn par_body(
        &mut self,
        p: &'a Par,
        extents: &[Operand],
        at: &[Operand],
        outputs: &[Output],
        in_block: Operand,
    ) {
        self.scopes.open(&p.body, true);
        for (index, i) in p.indices.iter().zip(at) {
            self.bind(*index, Value::Scalar(*i));
        }
        let number = self.flat(extents, at);
        let slots: Vec<Option<Place>> = outputs
            .iter()
            .map(|output| match output {
                Output::Stacked(tensor) => {
                    let size = self.count(&tensor.dims[extents.len()..]);
                    let offset = self.mul(number, size);
                    Some(self.shifted(tensor.place, offset))
                }
                Output::Block(values) => Some(self.shifted(values.place, in_block)),
                Output::Reduced(_) | Output::Lanes(..) | Output::Whole(_) => None,
            })
            .collect();
        let destinations =
            p.body.results.iter().zip(&slots).filter_map(|(r, slot)| Some((*r, Destination::Place((*slot)?))));
        self.offer(&destinations.collect::<Vec<_>>());
        self.statements(&p.body);
        let results: Vec<Value> = p.body.results.iter().map(|r| self.value_of(*r)).collect();
        for (value, output) in results.iter().zip(outputs.iter()) {
            match output {
                Output::Reduced(reduction) => self.reduce(reduction, value, in_block),
                Output::Lanes(monoid, lanes) => self.take_up(*monoid, lanes, value, in_block),
                Output::Whole(sum) => combine(self, sum, value),
                Output::Stacked(_) | Output::Block(_) => {}
            }
        }
        let slots = results.into_iter().zip(slots).filter_map(|(value, slot)| Some((value, slot?)));
        self.fill_slots(slots.collect());
        self.scopes.close();
    }

    /// Writes results of a body to their slots.
    pub(super) fn fill_slots(&mut self, slots: Vec<(Value, Place)>) {
        let mut moves = Vec::new();
        for (value, slot) in slots {
            match value {
                Value::Scalar(operand) => self.store(slot, operand),
                Value::Tensor(tensor) => moves.push((tensor, slot)),
            }
        }
        self.deliver(moves);
    }
}

/// The loops of a `par`, one for each index.
fn nest<'a>(this: &mut Lowering<'a>, p: &'a Par, extents: &[Operand], results: &[Var], sharing: Option<Sharing>) {
    let total = this.count(extents);
    let mut outputs = Vec::new();
    for (kind, result) in p.kinds.iter().zip(results) {
        outputs.push(match kind {
            ParResult::Stacked => Output::Stacked(this.allocate_for(*result)),
            ParResult::Reduced { monoid, init } => Output::Reduced(this.open_reduction(*monoid, *init, *result, total)),
        });
    }
    if outputs.iter().any(Output::fills_blocks)
        && let [index] = p.indices[..]
    {
        blocks(this, p, index, extents, &outputs);
    } else {
        level(this, p, extents, &mut Vec::new(), &outputs, sharing);
    }
    this.bind_outputs(outputs, results);
}

/// The loop of a single index, cut along the blocks of reductions, so that the inner loop is free of their ends.
fn blocks<'a>(this: &mut Lowering<'a>, p: &'a Par, index: Var, extents: &[Operand], outputs: &[Output]) {
    let name = this.f.name_of(index).to_owned();
    this.for_blocks(
        &name,
        extents[0],
        |this, i| {
            this.par_body(p, extents, &[i], outputs, i);
        },
        |this, last| close_blocks(this, outputs, last),
    );
}

fn close_blocks(this: &mut Lowering, outputs: &[Output], number: Operand) {
    for output in outputs {
        if let Output::Reduced(reduction) = output {
            this.close_full_blocks(reduction, number);
        }
    }
}

/// The loops from the next index on; `at` holds the indices of those outside.
fn level<'a>(
    this: &mut Lowering<'a>,
    p: &'a Par,
    extents: &[Operand],
    at: &mut Vec<Operand>,
    outputs: &[Output],
    sharing: Option<Sharing>,
) {
    let Some(index) = p.indices.get(at.len()) else {
        let number = this.flat(extents, at);
        this.par_body(p, extents, at, outputs, number);
        return close_blocks(this, outputs, number);
    };
    let count = extents[at.len()];
    let name = this.f.name_of(*index).to_owned();
    this.counted(&name, count, independence(outputs, at.len() + 1 == extents.len()), |this, i| {
        at.push(i);
        level(this, p, extents, at, outputs, None);
        at.pop();
    });
    if let Some(sharing) = sharing {
        this.may_fork(sharing);
    }
}

/// Which iterations of a loop of a `par` are independent. The last index counts the values of reductions.
fn independence(outputs: &[Output], is_last: bool) -> Independence {
    let reduces = outputs.iter().any(|output| matches!(output, Output::Reduced(_)));
    match (reduces, is_last) {
        (false, _) => Independence::All,
        (true, true) => Independence::Block,
        (true, false) => Independence::None,
    }
}
