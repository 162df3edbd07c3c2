//! Writing the diagonals of a nest.
//!
//! A step of a strip of rows runs the iterations `(row, step - skew * row)`. In most steps each row has one; in the first
//! and the last ones, and in a strip with rows to spare, a test says which have.

use super::super::write::Writer;
use super::nest::Nest;
use crate::invariants::give_own_names;
use cotan_ir::Elem;
use cotan_loops::node::{
    Expr, For, Independence, Local, LocalInfo, Node, Operand, Place, Target, Threads, combining, walk,
};
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
}

impl Skewed<'_> {
    /// Writes it, to run under a condition; gives the loop over the rows of a diagonal that has an iteration in each.
    pub(super) fn write(&self, w: &mut Writer, runs: Operand) -> For {
        w.open();
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
        let has_begun = w.is(Instruction::Ge, step.into(), Operand::i64(self.skew * (self.rows - 1)));
        let goes_on = w.is(Instruction::Lt, step.into(), columns);
        let is_inside = both(w, has_begun, goes_on);
        let is_full = both(w, is_inside, is_whole);
        let full = self.diagonal(w, first, step.into(), None);
        let partial = self.diagonal(w, first, step.into(), Some(n_rows));
        w.push(Node::If(is_full, vec![looped(full.clone())], vec![looped(partial)]));
        let body = w.close();
        let (threads, independence) = (Threads::One, Independence::None);
        w.push(looped(For { index: step, count: steps, threads, independence, lanes: 1, may_flush: false, body }));
        full
    }

    /// The iterations of a diagonal: those of `n_rows` rows whose counter is in range, or one of every row.
    fn diagonal(&self, w: &mut Writer, first: Operand, step: Operand, n_rows: Option<Operand>) -> For {
        let row = w.local("row", Elem::I64);
        let [i, j] = self.nest.indices;
        let mut iteration = [&self.nest.before[..], &self.nest.body].concat();
        add_in_place(w, &mut iteration);
        w.open();
        w.push(Node::Let(i, sum_of(Instruction::Add, first, row.into())));
        let lag = w.i64(Instruction::Mul, row.into(), Operand::i64(self.skew));
        w.push(Node::Let(j, sum_of(Instruction::Sub, step, lag)));
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
}

fn looped(l: For) -> Node {
    Node::For(Box::new(l))
}

fn sum_of(instruction: Instruction, a: Operand, b: Operand) -> Expr {
    Expr::Native { instruction, elem: Elem::I64, args: vec![a, b] }
}

/// Writes what is combined with an element as a load and a store: iterations that do so with one element have an order.
fn add_in_place(w: &mut Writer, nodes: &mut Vec<Node>) {
    let mut is_any = false;
    walk(nodes, &mut |node| is_any |= matches!(node, Node::Combine { target: Target::Element(_), .. }));
    if !is_any {
        return;
    }
    *nodes = std::mem::take(nodes).into_iter().flat_map(|node| taken_apart(w, node)).collect();
}

fn taken_apart(w: &mut Writer, mut node: Node) -> Vec<Node> {
    let Node::Combine { monoid, target: Target::Element(Place { buffer, offset }), value } = node else {
        node.lists_mut().into_iter().for_each(|list| add_in_place(w, list));
        return vec![node];
    };
    let elem = w.f.buffers[buffer.index()].elem;
    let place = Place { buffer, offset };
    let mut local = |name: &str| {
        w.f.locals.push(LocalInfo { name: name.into(), elem, is_mutable: false, lanes: 1 });
        Local(w.f.locals.len() as u32 - 1)
    };
    let (old, new) = (local("old"), local("new"));
    let expr = Expr::Native { instruction: combining(monoid), elem, args: vec![old.into(), value] };
    vec![Node::Load(old, place), Node::Let(new, expr), Node::Store(place, new.into())]
}
