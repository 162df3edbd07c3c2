//! Delayed rank-one updates: outer products that a sequential loop adds to a matrix become one product of matrices behind it.
//!
//! The reverse sweep of a recurrence adds `y x^T` to the derivative of a matrix in each of its iterations, which reads and
//! writes the whole matrix every time. Nobody reads an accumulator before its loop is done, so the loop keeps `x` and `y`, and the
//! sum is a product of matrices that have a row for each iteration. Its terms come in the order of the iterations, in [one
//! run](ONE_RUN): so checkpoints, which cut the loop into segments that add to one accumulator, change no bit of it.
//!
//! Vectors are kept that are no longer than the rows of a matrix from outside that has one for each iteration and that the loop
//! reads: a record, or the sequence itself. Parallel loops would need memory for each of their iterations, and are left alone. Only
//! products in which an exact zero wins ([`cotan_ops::MULZ`]) are taken: they belong to derivatives.

use super::batch_products::{bound_in, is_outside};
use super::nested_sums::{Level, Path, Write, drop_writes, writes};
use crate::analysis::splats::Splats;
use crate::pass::{Pass, Promise};
use cotan_ir::{Acc, AccKind, Atom, Block, Builder, Dim, Elem, Function, Loop, Monoid, Op, Stmt, Var};
use cotan_ops::{MATMUL, ONE_RUN, STRONG, TRANSPOSE};
use rustc_hash::FxHashSet;

/// The record of the pass.
pub static PASS: Pass = Pass {
    name: "delay_updates",
    doc: "Outer products that a sequential loop adds up become a product of matrices behind it.",
    promise: Promise::Bits,
    is_idempotent: true,
    run: |f, _| delay_updates(f),
};

/// The function with sums of outer products behind the sequential loops that made them.
pub fn delay_updates(mut f: Function) -> Function {
    let body = std::mem::take(&mut f.body);
    let splats = Splats::of(&body);
    let body = Delay { f: &mut f, splats }.block(body);
    Function { body, ..f }
}

struct Delay<'a> {
    f: &'a mut Function,
    splats: Splats,
}

/// Outer products that a loop adds to an accumulator.
struct Updates {
    /// Which accumulator of the loop.
    acc: usize,
    /// The position in the loop of the nest that adds.
    at: usize,
    /// Rows and columns.
    levels: [Level; 2],
    /// The factors of a product, of which the first belongs to a row and the second to a column.
    factors: [Atom; 2],
    /// What the nest computes on the way.
    computed: Vec<Stmt>,
}

impl Delay<'_> {
    fn block(&mut self, block: Block) -> Block {
        let mut stmts = Vec::with_capacity(block.stmts.len());
        for mut s in block.stmts {
            if !matches!(s.op, Op::Par(_)) {
                s.op.map_blocks(|b| self.block(b));
            }
            let mut behind = Vec::new();
            while let Some(updates) = self.updates(&s.op) {
                behind.extend(self.take_out(&mut s, &updates));
            }
            stmts.push(s);
            stmts.extend(behind);
        }
        Block { stmts, ..block }
    }

    fn updates(&self, op: &Op) -> Option<Updates> {
        let l = op.as_loop()?;
        let lengths = self.lengths_of_rows(l, l.count?);
        l.accs.iter().enumerate().find_map(|(number, acc)| self.updates_of(l, number, acc, &lengths))
    }

    /// How long the rows of matrices are that a loop reads, and that have a row for each iteration.
    fn lengths_of_rows(&self, l: &Loop, count: Atom) -> FxHashSet<Atom> {
        let inside = bound_in(l);
        let rows = l.body.walk().filter_map(|s| {
            let Op::Index { array, .. } = &s.op else { return None };
            let dims = self.f.atom_ty(*array).dims;
            match dims[..] {
                [n, length] if n.atom() == count && is_outside(*array, &inside) => Some(length.atom()),
                _ => None,
            }
        });
        rows.collect()
    }

    fn updates_of(&self, l: &Loop, number: usize, acc: &Acc, lengths: &FxHashSet<Atom>) -> Option<Updates> {
        let ty = self.f.ty(acc.var);
        let starts_from_zero = acc.init.is_some_and(|init| self.splats.is_zero(init));
        let is_sum = acc.kind == AccKind::Reduce(Monoid::Add) && starts_from_zero;
        let is_kept = ty.rank() == 2 && ty.dims.iter().all(|dim| lengths.contains(&dim.atom()));
        if !is_sum || !is_kept || !matches!(ty.elem, Elem::F32 | Elem::F64) || writes(&l.body, acc.var) != 1 {
            return None;
        }
        let (at, nest) = l.body.stmts.iter().enumerate().find_map(|(at, s)| {
            let Op::Par(p) = &s.op else { return None };
            (writes(&p.body, acc.var) > 0).then_some((at, p))
        })?;
        let mut path = Path::default();
        path.follow(nest, acc.var)?;
        let (indices, value) = path.written.clone()?;
        let levels: [Level; 2] = path.levels[..].try_into().ok()?;
        let levels = if indices[0] == Atom::Var(levels[0].index) { levels } else { [levels[1], levels[0]] };
        let is_whole = ty.dims.iter().zip(levels).all(|(dim, l)| dim.atom() == l.extent);
        if !is_whole || !indices.iter().copied().eq(levels.map(|l| Atom::Var(l.index))) {
            return None;
        }
        let factors = path.factors(self.f, value, levels.map(|l| FxHashSet::from_iter([l.index])))?;
        Some(Updates { acc: number, at, levels, factors, computed: path.computed })
    }

    /// Takes outer products out of a loop, which keeps their factors, and gives what adds them up behind it.
    fn take_out(&mut self, s: &mut Stmt, updates: &Updates) -> Vec<Stmt> {
        let at = s.op.first_acc() + updates.acc;
        let span = s.span;
        let Op::Loop(l) = &mut s.op else { return Vec::new() };
        let Some(count) = l.count else { return Vec::new() };
        let (acc, sum) = (l.accs.remove(updates.acc), s.results.remove(at));
        l.body.stmts[updates.at].op.map_blocks(|mut b| {
            drop_writes(&mut b, acc.var);
            b
        });
        let mut write = Write { f: self.f, written: Vec::new(), span };
        let sides = [0, 1].map(|side| (updates.levels[side], updates.factors[side]));
        let kept = sides.map(|(level, factor)| write.array(&[level], factor, &updates.computed));
        let written = write.written;
        l.body.stmts.splice(updates.at..updates.at, written);
        let mut b = Builder::on(std::mem::take(&mut self.f.vars));
        b.set_span(span);
        let n_others = s.results.len() - (l.body.results.len() - l.params.len());
        let rows = kept.map(|vector| {
            // One that is kept for another matrix serves this one too.
            let stacked = l.body.results.iter().skip(l.params.len()).position(|r| *r == vector);
            let stacked = stacked.unwrap_or_else(|| {
                let ty = b.ty(vector).stacked([Dim::from_atom(count)]);
                s.results.push(b.var("rows", ty));
                l.body.results.push(vector);
                s.results.len() - 1 - n_others
            });
            Atom::Var(s.results[n_others + stacked])
        });
        sum_of_products(&mut b, rows, sum);
        let behind = std::mem::take(b.stmts());
        self.f.vars = b.into_vars();
        behind
    }
}

/// The sum of the outer products of the rows of two matrices, in order.
fn sum_of_products(b: &mut Builder, [left, right]: [Atom; 2], sum: Var) {
    let mut turned = b.ty(left);
    turned.dims.reverse();
    let turned = b.tensor(TRANSPOSE.op(), &[left], &[1, 0], turned);
    let attrs = vec![STRONG[0] + ONE_RUN];
    b.push(vec![sum], Op::Tensor { op: MATMUL.op(), args: vec![turned.into(), right], attrs });
}
