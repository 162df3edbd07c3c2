//! Online checkpointing of a while, whose trip count is unknown before it ends.
//!
//! The length of a segment is known where it starts. The loop over segments is a while that ends where the source's
//! does; a segment is a while that ends there too, or when it is full. Segments that grow, `1 + 2 + 3 + ...`, are as many
//! as the longest of them is long, up to a factor, whenever the loop ends.

use super::{Code, Segments, without_checkpoint};
use cotan_ir::{Acc, Atom, Block, Checkpoint, Elem, Loop, Op, Span, Stmt, Ty, Var};
use cotan_ops::{ADD, AND, LT, MUL};

impl Segments<'_> {
    /// The statement that replaces a while with these results; the statements in front of it are appended to `before`.
    pub(super) fn online_segments(
        &mut self,
        l: Loop,
        results: Vec<Var>,
        checkpoint: Checkpoint,
        span: Span,
        before: &mut Vec<Stmt>,
    ) -> Stmt {
        if checkpoint == Checkpoint::All {
            return Stmt { results, op: Op::Loop(Box::new(l)), span };
        }
        if checkpoint == Checkpoint::Levels(1) {
            let l = Loop { kept: without_checkpoint(l.kept), ..l };
            return Stmt { results, op: Op::Loop(Box::new(l)), span };
        }
        let i64_ty = Ty::scalar(Elem::I64);
        let mut code = Code { f: self.f, stmts: before, span };
        let constant = match checkpoint {
            Checkpoint::Budget(bytes) => Some(code.affordable(&l, None, bytes)),
            Checkpoint::Every(n) => Some(Atom::i64(n)),
            Checkpoint::Sqrt | Checkpoint::Levels(_) | Checkpoint::All => None,
        };
        let segment = code.var("segment", i64_ty.clone());
        // The number of iterations done: the start of the segment, and in the end the trip count.
        let done = code.var("done", i64_ty.clone());
        let params: Vec<Var> = l.params.iter().map(|p| code.copy_of(*p)).collect();
        let segment_results: Vec<Var> = l.params.iter().map(|p| code.copy_of(*p)).collect();
        let (n_segments, n_inside) = (code.var("segments", i64_ty.clone()), code.var("trips", i64_ty));
        let full = code.var("running", Ty::scalar(Elem::Bool));

        self.note(&l, segment, &params, checkpoint);
        let mut stmts = Vec::new();
        let mut code = Code { f: self.f, stmts: &mut stmts, span };
        let length = constant.unwrap_or_else(|| code.growing_length(checkpoint, segment));
        let inner = code.segment(&l, done, length, &params);
        self.note_segment(inner.index, checkpoint);
        let inner_results: Vec<Var> = [n_inside, full].into_iter().chain(segment_results.iter().copied()).collect();
        let inner = match checkpoint {
            Checkpoint::Levels(levels) => {
                self.online_segments(inner, inner_results, Checkpoint::Levels(levels - 1), span, &mut stmts)
            }
            Checkpoint::Every(_) | Checkpoint::Sqrt | Checkpoint::Budget(_) | Checkpoint::All => {
                Stmt { results: inner_results, op: Op::Loop(Box::new(inner)), span }
            }
        };
        stmts.push(inner);
        let mut code = Code { f: self.f, stmts: &mut stmts, span };
        let next_done = code.prim(&ADD, &[done.into(), n_inside.into()], Elem::I64);

        let parts = l.split(&results);
        let outer_results: Vec<Var> = std::iter::once(n_segments)
            .chain(parts.carried.iter().copied())
            .chain(parts.trips)
            .chain(parts.accs.iter().copied())
            .collect();
        let next = segment_results.into_iter().map(Atom::Var).chain([next_done]).collect();
        let accs: Vec<Acc> = l.accs;
        let outer = Loop {
            index: segment,
            count: None,
            params: params.into_iter().chain([done]).collect(),
            inits: l.inits.into_iter().chain([Atom::i64(0)]).collect(),
            accs,
            body: Block { stmts, results: next },
            kept: without_checkpoint(l.kept),
        };
        Stmt { results: outer_results, op: Op::Loop(Box::new(outer)), span: span.segments() }
    }
}

impl Code<'_> {
    /// The number of iterations of a segment before the last: one more per segment, or a power of that with levels below.
    fn growing_length(&mut self, checkpoint: Checkpoint, segment: Var) -> Atom {
        let factors = match checkpoint {
            Checkpoint::Levels(levels) => levels - 1,
            Checkpoint::Sqrt | Checkpoint::Every(_) | Checkpoint::Budget(_) | Checkpoint::All => 1,
        };
        let side = self.prim(&ADD, &[segment.into(), Atom::i64(1)], Elem::I64);
        (1..factors).fold(side, |length, _| self.prim(&MUL, &[length, side], Elem::I64))
    }

    /// The while over one segment: the loop from iteration `done` on, which also ends after `length` iterations. It
    /// writes to the accumulators of the loop around it.
    fn segment(&mut self, l: &Loop, done: Var, length: Atom, inits: &[Var]) -> Loop {
        let index = self.var("i", Ty::scalar(Elem::I64));
        let go = self.var("running", Ty::scalar(Elem::Bool));
        let mut stmts = Vec::new();
        let mut code = Code { f: self.f, stmts: &mut stmts, span: self.span };
        let add = Op::Prim { prim: ADD.prim(), args: vec![done.into(), index.into()] };
        code.stmts.push(Stmt { results: vec![l.index], op: add, span: code.span });
        code.stmts.extend(l.body.stmts.iter().cloned());
        let next = code.prim(&ADD, &[index.into(), Atom::i64(1)], Elem::I64);
        let is_open = code.prim(&LT, &[next, length], Elem::Bool);
        let goes_on = code.prim(&AND, &[l.body.results[0], is_open], Elem::Bool);
        let results = std::iter::once(goes_on).chain(l.body.results.iter().copied()).collect();
        Loop {
            index,
            count: None,
            params: std::iter::once(go).chain(l.params.iter().copied()).collect(),
            // A segment begins only where the loop goes on.
            inits: std::iter::once(inits[0]).chain(inits.iter().copied()).map(Atom::Var).collect(),
            accs: Vec::new(),
            body: Block { stmts, results },
            kept: without_checkpoint(l.kept),
        }
    }
}
