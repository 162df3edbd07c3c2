//! Checkpointing: a loop becomes a loop over segments, each a loop of its own.
//!
//! This is all of it, done before a function is reversed: the outer loop records its carried values at the start of each
//! segment, and its reverse runs a segment again, which then records those in between. The iterations, their order and
//! their contributions to accumulators stay the same, so the gradient keeps its bits.
//!
//! The reverse of such a loop needs two facts ([`Segmented`]). A loop over segments records an array whole at the start of a
//! segment where a log would grow with the iterations: else the log would hold every element that the loop ever overwrote. And
//! a loop with a budget of bytes chooses its checkpoints while it runs backwards (`records/replay.rs`).
//!
//! A loop that stacks a result stays as it is, because its segments would have different lengths. The source has none: such
//! loops are derivatives of loops whose checkpoints are set already.

mod budget;
mod online;

use super::pass::Pass;
use crate::analysis::lineage::straight_updates;
use crate::state::{ForwardRegions, Segmented};
use cotan_ir::{
    Acc, Atom, Block, Checkpoint, Const, Dim, Elem, Function, Loop, Mode, Op, ReversePolicy, Span, Stmt, Ty, Var,
    VarInfo,
};
use cotan_ops::{ADD, CEIL, FLOOR_DIV, MAX, MIN, MUL, POW, PrimRow, SQRT, SUB, cast_to};

/// The record of the pass.
pub(super) static PASS: Pass = Pass {
    name: "checkpoints",
    doc: "A loop with checkpoints becomes a loop over segments, each a loop of its own.",
    modes: &[Mode::Vjp],
    is_idempotent: true,
    run: |mut f, preparation| {
        preparation.segmented = segment_loops(&mut f, &preparation.regions);
        f
    },
};

/// Rewrites every loop with checkpoints; `regions` are the loops that record nothing.
fn segment_loops(f: &mut Function, regions: &ForwardRegions) -> Segmented {
    let body = std::mem::take(&mut f.body);
    let mut segments = Segments { f, regions, segmented: Segmented::default() };
    let body = segments.block(body);
    let segmented = segments.segmented;
    f.body = body;
    segmented
}

/// The number of elements for each update of an iteration up to which an array is recorded whole and not logged.
const SMALL: i64 = 16;

struct Segments<'a> {
    f: &'a mut Function,
    regions: &'a ForwardRegions,
    segmented: Segmented,
}

impl Segments<'_> {
    fn block(&mut self, block: Block) -> Block {
        let mut stmts = Vec::with_capacity(block.stmts.len());
        for mut s in block.stmts {
            if self.regions.contains(&s) {
                stmts.push(s);
                continue;
            }
            for b in s.op.blocks_mut() {
                *b = self.block(std::mem::take(b));
            }
            let Op::Loop(l) = s.op else {
                stmts.push(s);
                continue;
            };
            let checkpoint = l.kept.checkpoint.filter(|_| !l.split(&s.results).has_stacked());
            let s = match (l.count, checkpoint) {
                (Some(count), Some(checkpoint)) => {
                    let segments = self.segments(*l, count, checkpoint, s.span, &mut stmts);
                    Stmt { op: Op::Loop(Box::new(segments)), span: span_of(checkpoint, s.span), ..s }
                }
                (None, Some(checkpoint)) => self.online_segments(*l, s.results, checkpoint, s.span, &mut stmts),
                (Some(_) | None, None) => Stmt { op: Op::Loop(l), ..s },
            };
            stmts.push(s);
        }
        Block { stmts, results: block.results }
    }

    /// The loop over segments; the statements in front of it are appended to `before`.
    fn segments(&mut self, l: Loop, count: Atom, checkpoint: Checkpoint, span: Span, before: &mut Vec<Stmt>) -> Loop {
        let mut code = Code { f: self.f, stmts: before, span };
        let wanted = match checkpoint {
            Checkpoint::Every(n) => Atom::i64(n),
            Checkpoint::Sqrt => code.root(count),
            Checkpoint::Levels(1) => return Loop { kept: without_checkpoint(l.kept), ..l },
            // Read by the reverse of the loop.
            Checkpoint::All => return l,
            Checkpoint::Levels(n) => code.power(count, (n - 1) as f64 / n as f64),
            Checkpoint::Budget(bytes) => code.affordable(&l, Some(count), bytes),
        };
        // At least one iteration, and at most all, so that no arithmetic below overflows.
        let length = code.prim(&MIN, &[wanted, count], Elem::I64);
        let length = code.prim(&MAX, &[length, Atom::i64(1)], Elem::I64);
        let rounded = code.prim(&SUB, &[length, Atom::i64(1)], Elem::I64);
        let rounded = code.prim(&ADD, &[count, rounded], Elem::I64);
        let n_segments = code.prim(&FLOOR_DIV, &[rounded, length], Elem::I64);

        let segment = code.var("segment", Ty::scalar(Elem::I64));
        let params: Vec<Var> = l.params.iter().map(|p| code.copy_of(*p)).collect();
        let results: Vec<Var> = l.params.iter().map(|p| code.copy_of(*p)).collect();
        self.note(&l, segment, &params, checkpoint);
        let mut stmts = Vec::new();
        let mut code = Code { f: self.f, stmts: &mut stmts, span };
        let start = code.prim(&MUL, &[segment.into(), length], Elem::I64);
        let left = code.prim(&SUB, &[count, start], Elem::I64);
        let n = code.prim(&MIN, &[length, left], Elem::I64);
        let inner = self.inner(&l, start, n, &params, checkpoint, span, &mut stmts);
        let inner_span = match checkpoint {
            Checkpoint::Levels(levels) => span_of(Checkpoint::Levels(levels - 1), span),
            Checkpoint::Every(_) | Checkpoint::Sqrt | Checkpoint::Budget(_) | Checkpoint::All => span,
        };
        stmts.push(Stmt { results: results.clone(), op: Op::Loop(Box::new(inner)), span: inner_span });
        let accs: Vec<Acc> = l.accs;
        let body = Block { stmts, results: results.into_iter().map(Atom::Var).collect() };
        let kept = without_checkpoint(l.kept);
        Loop { index: segment, count: Some(n_segments), params, inits: l.inits, accs, body, kept }
    }

    /// Notes the record of the loop over segments of `l`, which has this index and these carried values.
    fn note(&mut self, l: &Loop, segment: Var, params: &[Var], checkpoint: Checkpoint) {
        self.segmented.plain.insert(segment);
        for (q, p) in l.params.iter().enumerate() {
            let updates = straight_updates(l, q).map(|arities| arities.len() as i64);
            let is_small = |n: i64| known_size(self.f.ty(*p)).is_some_and(|size| size <= SMALL.saturating_mul(n));
            if updates.is_none_or(is_small) {
                self.segmented.whole.insert(params[q]);
            }
            match checkpoint {
                // An array that the budget counts whole is not logged either.
                Checkpoint::Budget(_) if updates.is_none() => self.segmented.whole.insert(*p),
                Checkpoint::Budget(_)
                | Checkpoint::Every(_)
                | Checkpoint::Sqrt
                | Checkpoint::Levels(_)
                | Checkpoint::All => false,
            };
        }
        match checkpoint {
            Checkpoint::Budget(bytes) => self.segmented.budgets.insert(segment, bytes / 2 - budget::alignment(bytes)),
            Checkpoint::Every(_) | Checkpoint::Sqrt | Checkpoint::Levels(_) | Checkpoint::All => None,
        };
    }

    /// Notes the record of one segment, a loop with this index: with a budget, no more than was counted.
    fn note_segment(&mut self, index: Var, checkpoint: Checkpoint) {
        match checkpoint {
            Checkpoint::Budget(_) => self.segmented.plain.insert(index),
            Checkpoint::Every(_) | Checkpoint::Sqrt | Checkpoint::Levels(_) | Checkpoint::All => false,
        };
    }

    /// The loop over one segment. It writes to the accumulators of the loop around it.
    #[expect(clippy::too_many_arguments, reason = "what one segment is made of")]
    fn inner(
        &mut self,
        l: &Loop,
        start: Atom,
        n: Atom,
        inits: &[Var],
        checkpoint: Checkpoint,
        span: Span,
        before: &mut Vec<Stmt>,
    ) -> Loop {
        let mut code = Code { f: self.f, stmts: before, span };
        let index = code.var("i", Ty::scalar(Elem::I64));
        self.note_segment(index, checkpoint);
        let add = Op::Prim { prim: ADD.prim(), args: vec![start, index.into()] };
        let mut stmts = vec![Stmt { results: vec![l.index], op: add, span }];
        stmts.extend(l.body.stmts.iter().cloned());
        let body = Block { stmts, results: l.body.results.clone() };
        let inits = inits.iter().map(|v| Atom::Var(*v)).collect();
        let kept = without_checkpoint(l.kept);
        let inner = Loop { index, count: Some(n), params: l.params.clone(), inits, accs: Vec::new(), body, kept };
        match checkpoint {
            Checkpoint::Levels(levels) => self.segments(inner, n, Checkpoint::Levels(levels - 1), span, before),
            Checkpoint::Every(_) | Checkpoint::Sqrt | Checkpoint::Budget(_) | Checkpoint::All => inner,
        }
    }
}

/// The number of elements, if the type fixes it.
fn known_size(ty: &Ty) -> Option<i64> {
    ty.dims.iter().try_fold(1i64, |size, dim| match dim {
        Dim::Const(n) => size.checked_mul(*n),
        Dim::Var(_) => None,
    })
}

/// The span of the loop over segments: with one level it is the loop itself.
fn span_of(checkpoint: Checkpoint, span: Span) -> Span {
    if checkpoint == Checkpoint::Levels(1) { span } else { span.segments() }
}

fn without_checkpoint(kept: ReversePolicy) -> ReversePolicy {
    ReversePolicy { checkpoint: None, ..kept }
}

/// Writes statements.
struct Code<'a> {
    f: &'a mut Function,
    stmts: &'a mut Vec<Stmt>,
    span: Span,
}

impl Code<'_> {
    fn var(&mut self, name: &str, ty: Ty) -> Var {
        self.f.add_var(VarInfo { name: name.into(), ty, record: None })
    }

    fn copy_of(&mut self, v: Var) -> Var {
        let info = self.f.vars[v.index()].clone();
        self.f.add_var(info)
    }

    fn prim(&mut self, row: &'static PrimRow, args: &[Atom], result: Elem) -> Atom {
        let v = self.var("n", Ty::scalar(result));
        self.stmts.push(Stmt {
            results: vec![v],
            op: Op::Prim { prim: row.prim(), args: args.to_vec() },
            span: self.span,
        });
        v.into()
    }

    fn float(&mut self, n: Atom) -> Atom {
        self.prim(cast_to(Elem::F64), &[n], Elem::F64)
    }

    fn rounded_up(&mut self, x: Atom) -> Atom {
        let x = self.prim(&CEIL, &[x], Elem::F64);
        self.prim(cast_to(Elem::I64), &[x], Elem::I64)
    }

    fn root(&mut self, count: Atom) -> Atom {
        let x = self.float(count);
        let x = self.prim(&SQRT, &[x], Elem::F64);
        self.rounded_up(x)
    }

    fn power(&mut self, count: Atom, exponent: f64) -> Atom {
        let x = self.float(count);
        let x = self.prim(&POW, &[x, Const::float(Elem::F64, exponent).into()], Elem::F64);
        self.rounded_up(x)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cotan_ir::Builder;
    use cotan_ops::{LE, SIN};

    /// `n` times the sine, with checkpoints.
    fn sines(checkpoint: Checkpoint) -> Function {
        let mut b = Builder::new();
        let x = b.param("x", Ty::scalar(Elem::F64));
        let n = b.param("n", Ty::scalar(Elem::I64));
        let index = b.var("i", Ty::scalar(Elem::I64));
        let y = b.var("y", Ty::scalar(Elem::F64));
        b.open_block();
        let next = b.prim(SIN.prim(), &[y.into()]);
        let body = b.close_block(vec![next.into()]);
        let kept = ReversePolicy { checkpoint: Some(checkpoint), ..ReversePolicy::default() };
        let (params, inits) = (vec![y], vec![x.into()]);
        let l = Loop { index, count: Some(n.into()), params, inits, accs: Vec::new(), body, kept };
        let results = b.finish_loop(l, &[]);
        b.finish("f", vec![results[0].into()])
    }

    /// Halves until one is reached, with checkpoints.
    fn halvings(checkpoint: Checkpoint) -> Function {
        let mut b = Builder::new();
        let x = b.param("x", Ty::scalar(Elem::F64));
        let index = b.var("i", Ty::scalar(Elem::I64));
        let running = b.var("running", Ty::scalar(Elem::Bool));
        let y = b.var("y", Ty::scalar(Elem::F64));
        let one: Atom = Const::float(Elem::F64, 1.0).into();
        let is_above = b.prim(LE.prim(), &[one, x.into()]);
        b.open_block();
        let next = b.prim(MUL.prim(), &[y.into(), Const::float(Elem::F64, 0.5).into()]);
        let goes_on = b.prim(LE.prim(), &[one, next.into()]);
        let body = b.close_block(vec![goes_on.into(), next.into()]);
        let kept = ReversePolicy { checkpoint: Some(checkpoint), ..ReversePolicy::default() };
        let (params, inits) = (vec![running, y], vec![is_above.into(), x.into()]);
        let l = Loop { index, count: None, params, inits, accs: Vec::new(), body, kept };
        let results = b.finish_loop(l, &[]);
        b.finish("f", vec![results[0].into(), results[2].into()])
    }

    fn depth(block: &Block) -> usize {
        let below = |s: &Stmt| s.op.blocks().iter().map(|b| 1 + depth(b)).max().unwrap_or(0);
        block.stmts.iter().map(below).max().unwrap_or(0)
    }

    #[test]
    fn a_loop_becomes_a_loop_over_segments() {
        for (checkpoint, loops) in [
            (Checkpoint::Every(4), 2),
            (Checkpoint::Sqrt, 2),
            (Checkpoint::Budget(64), 2),
            (Checkpoint::Levels(1), 1),
            (Checkpoint::Levels(3), 3),
        ] {
            let mut f = sines(checkpoint);
            segment_loops(&mut f, &ForwardRegions::default());
            assert_eq!(depth(&f.body), loops, "{f}");
            assert!(!f.to_string().contains("checkpoint"), "{f}");
            assert_eq!(cotan_ir::verify(&cotan_ir::Module::default(), &f), Ok(()), "{f}");
        }
    }

    #[test]
    fn a_while_becomes_a_while_over_segments() {
        for (checkpoint, loops) in [
            (Checkpoint::Every(4), 2),
            (Checkpoint::Sqrt, 2),
            (Checkpoint::Budget(64), 2),
            (Checkpoint::Levels(1), 1),
            (Checkpoint::Levels(3), 3),
        ] {
            let mut f = halvings(checkpoint);
            segment_loops(&mut f, &ForwardRegions::default());
            assert_eq!(depth(&f.body), loops, "{f}");
            assert!(!f.to_string().contains("checkpoint"), "{f}");
            assert_eq!(cotan_ir::verify(&cotan_ir::Module::default(), &f), Ok(()), "{f}");
        }
    }
}
