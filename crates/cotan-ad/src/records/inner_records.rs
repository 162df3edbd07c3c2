//! Hoisting the record of an inner loop into the forward copy of the outer loop.
//!
//! The reverse of an inner loop makes its re-executed copy record values. Instead of running that copy again in every
//! iteration of the outer reverse, the forward copy of the outer loop runs it in place of its own, and records the results
//! that the reverse reads: a result of a shape known outside of the outer loop is stacked, a record whose length differs
//! from iteration to iteration goes into a log, one iteration behind the other. Repeated from the inside to the outside,
//! this leaves one record of a whole nest, and its body runs forward twice at any depth.
//!
//! The copies compute the same bits, so only the records change. A loop that writes to accumulators of regions around it stays
//! in place, because such writes are erased from the re-executed copy.

use crate::state::{Patch, Reverse, ReverseLoop};
use cotan_ir::{Atom, Block, Dim, Elem, Env, Loop, Op, Record, Span, Stmt, Ty, Var, bug};

/// The part of a value's shape that is known outside of the loop whose body binds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// All of it.
    Fixed,
    /// All but the length of the first axis.
    Growing(Var),
    /// Not enough to record it.
    Varying,
}

impl Shape {
    pub(crate) fn of(ty: &Ty, is_inside: impl Fn(Var) -> bool) -> Shape {
        let inside = |d: &Dim| d.var().filter(|v| is_inside(*v));
        match ty.dims.split_first() {
            None => Shape::Fixed,
            Some((_, rest)) if rest.iter().any(|d| inside(d).is_some()) => Shape::Varying,
            Some((first, _)) => inside(first).map_or(Shape::Fixed, Shape::Growing),
        }
    }
}

/// An inner loop whose results are recorded.
#[derive(Clone, Debug)]
pub(crate) struct InnerLoop {
    /// Its re-executed copy.
    pub(crate) recomputed: Stmt,
    /// The results that are recorded.
    pub(crate) recorded: Vec<Var>,
}

impl Reverse<'_, '_> {
    /// Moves the re-executed copy of a loop to the forward loop, in place of the copy there, and records its results.
    /// Their readers in the body of the reverse loop read the records. `names` maps the variables of the reverse body to
    /// those of the forward loop.
    pub(crate) fn move_inner(
        &mut self,
        reverse: &ReverseLoop<'_>,
        forward: &mut Patch,
        names: &Env,
        inner: InnerLoop,
        body: &mut Block,
    ) {
        let InnerLoop { recomputed: inner, recorded } = inner;
        let mut names = names.clone();
        let known = inner.results.iter().find_map(|r| names.get(r)?.var());
        let stmts = &forward.l.body.stmts;
        let at = stmts.iter().position(|s| known.is_some_and(|r| s.results.contains(&r)));
        let at = at.expect("invariant: a loop stands in both copies of the body around it");
        for r in &inner.results {
            if !names.contains_key(r) {
                let info = self.b.info(*r).clone();
                let new = self.b.var(&info.name, names.ty(&info.ty));
                names.insert(*r, new.into());
            }
        }
        let mut moved = inner;
        self.rename_op(&mut moved, &names);
        moved.results.iter_mut().for_each(|r| *r = names.var(*r));
        forward.l.body.stmts[at] = moved;

        let mut growing: Vec<(Var, Vec<Var>)> = Vec::new();
        for r in recorded {
            self.b.info_mut(r).record = None;
            match Shape::of(self.b.var_ty(r), |d| names.contains_key(&d)) {
                Shape::Fixed => self.restore_recorded(reverse, r, names.atom(r.into()), Record::Inner, forward),
                Shape::Growing(length) => match growing.iter_mut().find(|(of, _)| *of == length) {
                    Some((_, together)) => together.push(r),
                    None => growing.push((length, vec![r])),
                },
                Shape::Varying => {
                    bug!(
                        "derivatives, inner records",
                        format_args!("{r:?}"),
                        "the shape of a record is known outside of its loop"
                    )
                }
            }
        }
        for (length, together) in growing {
            self.log_together(reverse, forward, at, &together, length, &names, body);
        }
    }

    /// Writes records of one run-time length, results of statement `at` of the forward loop's body, to logs.
    #[expect(clippy::too_many_arguments, reason = "two loops, and what joins them")]
    fn log_together(
        &mut self,
        reverse: &ReverseLoop<'_>,
        forward: &mut Patch,
        at: usize,
        records: &[Var],
        length: Var,
        names: &Env,
        body: &mut Block,
    ) {
        let i64 = Ty::scalar(Elem::I64);
        let pos = self.b.var("pos", i64.clone());
        let total = self.b.var("total", i64.clone());
        let behind = self.b.var("pos", i64);
        let mut logs = Vec::new();
        for r in records {
            let info = self.b.info(*r).clone();
            let (acc, log) = self.add_log(forward, &info.name, info.ty.inner(1), Record::Inner);
            self.b.info_mut(log).ty.dims[0] = Dim::Var(total);
            let inner = &mut forward.l.body.stmts[at];
            self.write_to_log(inner, names.var(*r), acc, pos);
            logs.push((*r, log));
        }
        let args = vec![pos.into(), names.atom(length.into())];
        let span = forward.span;
        forward.l.body.stmts.push(add(behind, args, span));
        forward.add_carried(pos, Atom::i64(0), behind.into(), total);
        let starts = self.add_stacked(forward, pos.into(), Record::Start);
        let start = self.b.named("lo").index(starts.into(), &[reverse.iteration]);
        for (r, log) in logs {
            self.read_from_log(body, r, log, start);
        }
    }

    /// Makes a loop write its result `record`, a stacked one or a log, to an accumulator from `pos` on.
    fn write_to_log(&mut self, s: &mut Stmt, record: Var, acc: Var, pos: Var) {
        let span = s.span;
        let Op::Loop(l) = &mut s.op else {
            bug!("derivatives, inner records", format_args!("{s:?}"), "the copy of a loop is a loop")
        };
        let position = s.results.iter().position(|r| *r == record);
        let position = position.expect("invariant: a record is a result of its loop");
        s.results.remove(position);
        let first_acc = usize::from(l.count.is_none()) + l.params.len();
        let Loop { accs, params, body, index, .. } = &mut **l;
        match (position - first_acc).checked_sub(accs.len()) {
            Some(stacked) => {
                let element = body.results.remove(params.len() + stacked);
                let place = self.b.var("at", Ty::scalar(Elem::I64));
                body.stmts.push(add(place, vec![pos.into(), (*index).into()], span));
                let op = Op::AccAdd { acc, indices: vec![place.into()], value: element };
                body.stmts.push(Stmt { results: Vec::new(), op, span });
            }
            None => {
                let own = accs.remove(position - first_acc).var;
                self.shift_writes(body, own, acc, pos);
            }
        }
    }

    /// Redirects every write to one log to another, from `pos` on.
    fn shift_writes(&mut self, block: &mut Block, from: Var, to: Var, pos: Var) {
        let mut stmts = Vec::with_capacity(block.stmts.len());
        for mut s in std::mem::take(&mut block.stmts) {
            s.op.blocks_mut().iter_mut().for_each(|b| self.shift_writes(b, from, to, pos));
            if let Op::AccAdd { acc, indices, .. } = &mut s.op
                && *acc == from
            {
                *acc = to;
                stmts.push(self.shifted(&mut indices[0], pos, s.span));
            }
            stmts.push(s);
        }
        block.stmts = stmts;
    }

    /// Redirects every read of one array to another one, from `start` on.
    fn read_from_log(&mut self, block: &mut Block, from: Var, to: Var, start: Var) {
        let mut stmts = Vec::with_capacity(block.stmts.len());
        for mut s in std::mem::take(&mut block.stmts) {
            s.op.blocks_mut().iter_mut().for_each(|b| self.read_from_log(b, from, to, start));
            if let Op::Index { array, indices } = &mut s.op
                && *array == Atom::Var(from)
            {
                *array = to.into();
                stmts.push(self.shifted(&mut indices[0], start, s.span));
            }
            stmts.push(s);
        }
        block.stmts = stmts;
    }

    /// Adds `start` to an index; gives the statement that does it.
    fn shifted(&mut self, index: &mut Atom, start: Var, span: Span) -> Stmt {
        let at = self.b.var("at", Ty::scalar(Elem::I64));
        let args = vec![start.into(), *index];
        *index = at.into();
        add(at, args, span)
    }

    /// Renames the operands of an operation, also in the types of its inner variables.
    fn rename_op(&mut self, s: &mut Stmt, names: &Env) {
        s.op.map_operands(&mut |a| names.atom(a));
        s.op.binders().iter().for_each(|v| self.rename_ty(*v, names));
        for b in s.op.blocks_mut() {
            for s in &mut b.stmts {
                self.rename_op(s, names);
                s.results.iter().for_each(|v| self.rename_ty(*v, names));
            }
            b.results.iter_mut().for_each(|a| *a = names.atom(*a));
        }
    }

    fn rename_ty(&mut self, v: Var, names: &Env) {
        let ty = names.ty(self.b.var_ty(v));
        self.b.info_mut(v).ty = ty;
    }
}

fn add(result: Var, args: Vec<Atom>, span: Span) -> Stmt {
    Stmt { results: vec![result], op: Op::Prim { prim: cotan_ops::ADD.prim(), args }, span }
}

/// Maps the variables of the re-executed statements to those of the forward loop.
pub(crate) fn forward_names(reverse: &ReverseLoop<'_>) -> Env {
    let both = |(v, copy): (&Var, &Atom)| Some((copy.var()?, *reverse.forward_copy.env.get(v)?));
    reverse.env.iter().filter_map(both).filter(|(copy, forward)| Atom::Var(*copy) != *forward).collect()
}
