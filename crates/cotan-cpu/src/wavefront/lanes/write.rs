//! Writing the diagonals of a nest.
//!
//! A step of a strip of rows runs the iterations `(row, step - skew * row)`. In most steps each row has one; in the first
//! and the last ones, and in a strip with rows to spare, a test says which have.

use super::super::write::Writer;
use super::forward::{Ring, Slots};
use super::nest::Nest;
use crate::invariants::give_own_names;
use cotan_ir::Elem;
use cotan_loops::node::{Expr, For, Independence, Node, Operand, Target, Threads, combining};
use cotan_ops::Instruction;

/// Whether a nest with these counts has iterations.
pub(super) fn runs(w: &mut Writer, [rows, columns]: [Operand; 2]) -> Operand {
    let [has_rows, has_columns] = [rows, columns].map(|count| w.is(Instruction::Gt, count, Operand::i64(0)));
    both(w, has_rows, has_columns)
}

/// The conjunction of two truth values.
pub(super) fn both(w: &mut Writer, a: Operand, b: Operand) -> Operand {
    let args = vec![a, b];
    w.define("is", Elem::Bool, Expr::Native { instruction: Instruction::And, elem: Elem::Bool, args })
}

/// A nest without checks that becomes one of strips, diagonals and rows.
pub(super) struct Skewed<'a> {
    pub(super) nest: &'a Nest,
    /// The counts, in front of the nest.
    pub(super) counts: [Operand; 2],
    /// How many iterations a row lags behind the one before.
    pub(super) skew: i64,
    /// How many rows a strip has.
    pub(super) rows: i64,
    /// What is kept of the diagonals before.
    pub(super) rings: &'a [Ring],
}

impl Skewed<'_> {
    /// Writes it, to run under a condition; gives the loop over the rows of a diagonal that has an iteration in each.
    pub(super) fn write(&self, w: &mut Writer, runs: Operand) -> For {
        w.open();
        self.rings.iter().for_each(|ring| w.push(ring.allocate()));
        let last = w.i64(Instruction::Add, self.counts[0], Operand::i64(self.rows - 1));
        let strips = w.i64(Instruction::Div, last, Operand::i64(self.rows));
        let strip = w.local("strip", Elem::I64);
        w.open();
        let diagonal = self.strip(w, strip.into());
        let body = w.close();
        let threads = Threads::One;
        w.push(Node::For(Box::new(For {
            index: strip,
            count: strips,
            threads,
            independence: Independence::None,
            lanes: 1,
            may_flush: self.nest.may_flush,
            body,
        })));
        let nodes = w.close();
        w.push(Node::If(runs, nodes, Vec::new()));
        diagonal
    }

    fn strip(&self, w: &mut Writer, strip: Operand) -> For {
        let [rows, columns] = self.counts;
        let first = w.i64(Instruction::Mul, strip, Operand::i64(self.rows));
        let left = w.i64(Instruction::Sub, rows, first);
        let n_rows = w.i64(Instruction::Min, left, Operand::i64(self.rows));
        let is_whole = w.is(Instruction::Eq, n_rows, Operand::i64(self.rows));
        let last = w.i64(Instruction::Sub, n_rows, Operand::i64(1));
        let lag = w.i64(Instruction::Mul, last, Operand::i64(self.skew));
        let steps = w.i64(Instruction::Add, columns, lag);
        let step = w.local("step", Elem::I64);
        w.open();
        let first_column = self.rings.iter().map(Ring::first_column).max().unwrap_or(0);
        let first_step = Operand::i64(self.skew * (self.rows - 1) + first_column);
        let has_begun = w.is(Instruction::Ge, step.into(), first_step);
        let goes_on = w.is(Instruction::Lt, step.into(), columns);
        let is_inside = both(w, has_begun, goes_on);
        let is_full = both(w, is_inside, is_whole);
        let slots: Vec<Slots> = self.rings.iter().map(|ring| ring.slots(w, step.into())).collect();
        w.open();
        self.rings.iter().zip(&slots).for_each(|(ring, slots)| ring.fill(w, self.nest, slots, [first, step.into()]));
        let full = self.diagonal(w, first, step.into(), &slots, None);
        w.push(looped(full.clone()));
        let in_full = w.close();
        let partial = self.diagonal(w, first, step.into(), &slots, Some(n_rows));
        w.push(Node::If(is_full, in_full, vec![looped(partial)]));
        let body = w.close();
        let (threads, independence) = (Threads::One, Independence::None);
        w.push(looped(For { index: step, count: steps, threads, independence, lanes: 1, may_flush: false, body }));
        full
    }

    /// The iterations of a diagonal: those of `n_rows` rows whose counter is in range, or one of every row.
    fn diagonal(&self, w: &mut Writer, first: Operand, step: Operand, slots: &[Slots], n_rows: Option<Operand>) -> For {
        let row = w.local("row", Elem::I64);
        let [i, j] = self.nest.indices;
        let iteration = self.iteration(w, row.into(), slots, n_rows.is_none());
        w.open();
        w.define_as(i, Instruction::Add, first, row.into());
        let lag = w.i64(Instruction::Mul, row.into(), Operand::i64(self.skew));
        w.define_as(j, Instruction::Sub, step, lag);
        if let Some(n_rows) = n_rows {
            let has_begun = w.is(Instruction::Ge, j.into(), Operand::i64(0));
            let goes_on = w.is(Instruction::Lt, j.into(), self.counts[1]);
            let is_row = w.is(Instruction::Lt, row.into(), n_rows);
            let is_inside = both(w, has_begun, goes_on);
            let is_inside = both(w, is_inside, is_row);
            w.push(Node::If(is_inside, iteration, Vec::new()));
        } else {
            iteration.into_iter().for_each(|node| w.push(node));
        }
        let mut body = w.close();
        give_own_names(w.f, &mut body);
        let (threads, independence) = (Threads::One, Independence::All);
        let count = Operand::i64(self.rows);
        For { index: row, count, threads, independence, lanes: 1, may_flush: false, body }
    }

    /// An iteration, which keeps what it stores, and in a full diagonal takes what others have kept.
    fn iteration(&self, w: &mut Writer, row: Operand, slots: &[Slots], is_full: bool) -> Vec<Node> {
        w.open();
        self.nest.before.iter().for_each(|node| w.push(node.clone()));
        for (position, node) in self.nest.body.iter().enumerate() {
            let rings = self.rings.iter().zip(slots);
            if let Node::Load(local, _) = node
                && is_full
                && let Some(place) = rings.clone().find_map(|(ring, slots)| ring.forwarded(w, slots, row, position))
            {
                w.push(Node::Load(*local, place));
                continue;
            }
            taken_apart(w, node.clone()).into_iter().for_each(|node| w.push(node));
            if let Node::Store(_, value) = node {
                rings.for_each(|(ring, slots)| ring.keep(w, slots, row, position, *value));
            }
        }
        w.close()
    }
}

fn looped(l: For) -> Node {
    Node::For(Box::new(l))
}

/// What is combined with an element as a load and a store: iterations that do so with one element have an order.
fn taken_apart(w: &mut Writer, mut node: Node) -> Vec<Node> {
    let Node::Combine { monoid, target: Target::Element(place), value } = node else {
        node.map_lists(|list| list.into_iter().flat_map(|node| taken_apart(w, node)).collect());
        return vec![node];
    };
    let elem = w.f.buffers[place.buffer.index()].elem;
    let (old, new) = (w.local("old", elem), w.local("new", elem));
    let expr = Expr::Native { instruction: combining(monoid), elem, args: vec![old.into(), value] };
    vec![Node::Load(old, place), Node::Let(new, expr), Node::Store(place, new.into())]
}
