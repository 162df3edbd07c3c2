//! How the reverse of a loop gets back the carried values that its body reads.
//!
//! Note [What a loop records]: the reverse body is built from placeholders for the carried values. After dead code
//! elimination the placeholders still read are what must be had again. Each takes the first of these that applies, and
//! only then is the forward copy of the loop, which stands already, changed:
//!
//! | | when | cost |
//! |---|---|---|
//! | unchanged | the next value is the parameter itself | nothing |
//! | induction | an i64 that grows by a constant | nothing |
//! | reads | an array of which the body, at its top, reads only scalars | one scalar per read |
//! | undo log | an array changed only by updates, at any depth (`undo.rs`) | old value and indices, per update |
//! | whole | anything else | the value, per iteration |
//!
//! This is the plain record. Results that are dear to compute again are recorded beside it or in its place (`keep.rs`).

use crate::inner::forward_names;
use crate::keep::{Keeps, Leaf};
use crate::undo;
use crate::vjp::{Reverse, Twin};
use crate::{Restored, Reversal, ReversedLoop};
use cotan_ir::{Atom, Block, Dim, Elem, Env, Function, Loop, Op, Record, Span, Stmt, Ty, Var};
use cotan_opt::cost::Size;
use cotan_opt::passes::dce::{Live, dce_block};
use rustc_hash::FxHashSet;

/// A reverse loop before its placeholders are settled.
pub(crate) struct ReverseLoop<'a> {
    pub(crate) source: &'a Loop,
    pub(crate) twin: &'a Twin,
    /// Source variables to target operands, around the loop.
    pub(crate) outer: &'a Env,
    /// The same in the reverse body.
    pub(crate) env: &'a Env,
    /// What stands for the carried values of the source in the reverse body.
    pub(crate) placeholders: &'a [Var],
    /// How many statements of the body, behind those, repeat the source's.
    pub(crate) n_again: usize,
    /// The iteration that is being reversed.
    pub(crate) iteration: Atom,
    /// The last one.
    pub(crate) last: Atom,
    /// How many there are.
    pub(crate) count: Atom,
    /// How many statements of the body compute the iteration number.
    pub(crate) head: usize,
    pub(crate) results: Vec<Var>,
    pub(crate) params: Vec<Var>,
    pub(crate) inits: Vec<Atom>,
    pub(crate) body: Block,
}

/// A loop taken out of its block to be given more results. They are addressed by role, because every addition shifts
/// the positions of others.
pub(crate) struct Patch {
    pub(crate) results: Vec<Var>,
    pub(crate) l: Loop,
    pub(crate) span: Span,
}

impl Patch {
    /// The final value of carried value `q`.
    pub(crate) fn carried(&self, q: usize) -> Var {
        self.l.split(&self.results).carried[q]
    }

    /// Carries one more value.
    pub(crate) fn add_carried(&mut self, param: Var, init: Atom, next: Atom, result: Var) {
        let at = self.l.params.len();
        let position = usize::from(self.l.count.is_none()) + at;
        self.results.insert(position, result);
        self.l.params.push(param);
        self.l.inits.push(init);
        self.l.body.results.insert(at, next);
    }

    /// Introduces one more accumulator.
    pub(crate) fn add_acc(&mut self, acc: cotan_ir::Acc, result: Var) {
        let position = usize::from(self.l.count.is_none()) + self.l.params.len() + self.l.accs.len();
        self.results.insert(position, result);
        self.l.accs.push(acc);
    }

    /// The number of iterations.
    pub(crate) fn length(&self) -> Dim {
        match self.l.count {
            Some(n) => Dim::from_atom(n),
            None => Dim::Var(self.results[0]),
        }
    }
}

impl Reverse<'_, '_> {
    /// Settles the placeholders of a reverse loop: changes the forward copy, completes the reverse one.
    pub(crate) fn restore<'a>(&mut self, mut reverse: ReverseLoop<'a>) -> ReverseLoop<'a> {
        if let Some(bytes) = self.segmented.budget(reverse.source) {
            return self.replay(reverse, bytes);
        }
        let at = reverse.twin.at;
        let Stmt { results, op: Op::Loop(l), span } = self.b.stmts().swap_remove(at) else {
            unreachable!("invariant: the copy of a loop is a loop");
        };
        let mut forward = Patch { results, l: *l, span };

        let rest = reverse.body.stmts.split_off(reverse.head);
        let again = self.again(&reverse, &rest[..reverse.n_again]);
        let results = std::mem::take(&mut reverse.body.results);
        let (mut body, mut live) = dce_block(self.b.vars(), Block { stmts: rest, results });
        let mut restored = vec![Restored::Unread; reverse.placeholders.len()];
        let mut reads = Vec::new();
        for ((p, placeholder), how) in reverse.source.params.iter().zip(reverse.placeholders).zip(&mut restored) {
            if live.has(*placeholder) && self.src.ty(*p).rank() > 0 {
                (body, live) = self.cut_reads(&reverse, *p, *placeholder, &mut reads, body, live);
                if !live.has(*placeholder) {
                    *how = Restored::Reads;
                }
            }
        }
        let leaves = self.leaves(&reverse, &reads, &live);
        let names = forward_names(&reverse);
        let (body, kept) = if self.segmented.is_plain(reverse.source) {
            (body, Keeps::default())
        } else {
            self.keep(&reverse, &names, again, body, &leaves)
        };
        for (placeholder, how) in reverse.placeholders.iter().zip(&mut restored) {
            if live.has(*placeholder) {
                *how = Restored::Replaced;
            }
        }
        let (mut body, live) = dce_block(self.b.vars(), body);

        self.b.open_block();
        // Before anything else is done to the loops that these replace.
        for inner in kept.loops {
            self.keep_inner(&reverse, &mut forward, &names, inner, &mut body);
        }
        for y in reads.into_iter().filter(|y| live.has(reverse.env.var(*y))) {
            let element = reverse.twin.env.atom(y.into());
            self.restore_recorded(&reverse, reverse.env.var(y), element, Record::Read, &mut forward);
        }
        reverse.body.results = body.results.clone();
        for (q, placeholder) in reverse.placeholders.iter().enumerate() {
            if live.has(*placeholder) {
                restored[q] = self.restore_value(&mut reverse, q, *placeholder, &mut forward);
            }
        }
        for residual in kept.residuals {
            let before =
                residual.carried.and_then(|q| Some((q, self.record_read_by(&reverse, reverse.placeholders[q])?)));
            match before {
                Some((q, record)) => self.restore_shifted(&reverse, residual.var, record, forward.carried(q)),
                None => {
                    let element = residual.forward.into();
                    self.restore_recorded(&reverse, residual.var, element, residual.record, &mut forward);
                }
            }
        }
        let head = self.b.close_block(Vec::new());
        reverse.body.stmts.extend(head.stmts);
        reverse.body.stmts.extend(body.stmts);

        self.report(&reverse, restored);
        let Patch { results, l, span } = forward;
        let stmts = self.b.stmts();
        stmts.push(Stmt { results, op: Op::Loop(Box::new(l)), span });
        let last = stmts.len() - 1;
        stmts.swap(at, last);
        reverse
    }

    /// Says how the carried values of a loop were settled.
    pub(crate) fn report(&mut self, reverse: &ReverseLoop<'_>, restored: Vec<Restored>) {
        let names = reverse.source.params.iter().map(|p| self.src.vars[p.index()].name.clone());
        // Whether a while goes on is no value of the source.
        let n_hidden = usize::from(reverse.source.count.is_none());
        let carried = names.zip(restored).skip(n_hidden).collect();
        self.session.tell(ReversedLoop { span: self.b.span(), how: Reversal::Backwards(carried) });
    }

    /// Cuts the scalars read from carried array `p` out of the body, if nothing else of it is needed: they are added to
    /// what is to be recorded.
    fn cut_reads(
        &self,
        reverse: &ReverseLoop<'_>,
        p: Var,
        placeholder: Var,
        recorded: &mut Vec<Var>,
        body: Block,
        live: Live,
    ) -> (Block, Live) {
        let mut reads = scalar_reads(self.src, &reverse.source.body, p);
        // What is made of two carried arrays is read once, and recorded once.
        let bound: FxHashSet<Var> = body.stmts.iter().flat_map(|s| s.results.iter().copied()).collect();
        reads.retain(|y| bound.contains(&reverse.env.var(*y)));
        let in_reverse: FxHashSet<Var> = reads.iter().map(|y| reverse.env.var(*y)).collect();
        let is_read = |s: &Stmt| s.results.first().is_some_and(|r| in_reverse.contains(r));
        let rest = body.stmts.iter().filter(|s| !is_read(s)).cloned().collect();
        let (cut, cut_live) = dce_block(self.b.vars(), Block { stmts: rest, results: body.results.clone() });
        if reads.is_empty() || cut_live.has(placeholder) {
            return (body, live);
        }
        recorded.extend(reads.into_iter().filter(|y| cut_live.has(reverse.env.var(*y))));
        (cut, cut_live)
    }

    /// What the plain record holds, for those of the placeholders and reads that are still read.
    fn leaves(&self, reverse: &ReverseLoop<'_>, reads: &[Var], live: &Live) -> Vec<Leaf> {
        let reads = reads.iter().map(|y| (reverse.env.var(*y), Size::of(self.src.ty(*y))));
        let placeholders = reverse.placeholders.iter().enumerate().map(|(q, v)| (*v, self.plain_size(reverse, q)));
        let leaves = reads.chain(placeholders).filter(|(var, _)| live.has(*var));
        leaves.map(|(var, size)| Leaf { var, size }).collect()
    }

    /// What having carried value `q` again takes in an iteration.
    fn plain_size(&self, reverse: &ReverseLoop<'_>, q: usize) -> Size {
        let l = reverse.source;
        let (p, next) = (l.params[q], l.body.results[q]);
        let ty = self.src.ty(p);
        if closed_form(self.src, l, q).is_some() {
            return Size::default();
        }
        let logged = if self.segmented.is_whole(p) { None } else { undo::logged(&l.body, p, next, ty) };
        logged.unwrap_or_else(|| Size::of(ty))
    }

    /// Has the forward loop record `element`, and `target` read it back in the iteration that is being reversed.
    pub(crate) fn restore_recorded(
        &mut self,
        reverse: &ReverseLoop<'_>,
        target: Var,
        element: Atom,
        kind: Record,
        forward: &mut Patch,
    ) {
        let record = self.add_stacked(forward, element, kind);
        self.b.push(vec![target], Op::Index { array: record.into(), indices: vec![reverse.iteration] });
    }

    /// The record that a statement of the open block reads to have `target`, if it does.
    fn record_read_by(&mut self, reverse: &ReverseLoop<'_>, target: Var) -> Option<Var> {
        let s = self.b.stmts().iter().find(|s| s.results == [target])?;
        match &s.op {
            Op::Index { array, indices } if *indices == [reverse.iteration] => array.var(),
            Op::Index { .. }
            | Op::Prim { .. }
            | Op::Tensor { .. }
            | Op::Update { .. }
            | Op::AccAdd { .. }
            | Op::Par(_)
            | Op::Loop(_)
            | Op::Switch { .. }
            | Op::Call { .. }
            | Op::Check { .. } => None,
        }
    }

    /// Makes the next value of a carried one: what was recorded for the next iteration, or at the end the final value.
    fn restore_shifted(&mut self, reverse: &ReverseLoop<'_>, target: Var, record: Var, last_value: Var) {
        let (i, last) = (reverse.iteration, reverse.last);
        let next = self.b.prim(cotan_ops::ADD.prim(), &[i, Atom::i64(1)]);
        let at = self.b.prim(cotan_ops::MIN.prim(), &[next.into(), last]);
        let is_last = self.b.prim(cotan_ops::EQ.prim(), &[i, last]);
        if self.b.var_ty(target).is_scalar() {
            let recorded = self.b.index(record.into(), &[at.into()]);
            let args = vec![is_last.into(), last_value.into(), recorded.into()];
            return self.b.push(vec![target], Op::Prim { prim: cotan_ops::SELECT.prim(), args });
        }
        self.b.open_block();
        let recorded = self.b.index(record.into(), &[at.into()]);
        let behind = self.b.close_block(vec![recorded.into()]);
        let end = Block { stmts: Vec::new(), results: vec![last_value.into()] };
        self.b.push(vec![target], Op::Switch { selector: is_last.into(), arms: vec![end, behind] });
    }

    /// Makes carried value `q` of the iteration that is being reversed.
    fn restore_value(
        &mut self,
        reverse: &mut ReverseLoop<'_>,
        q: usize,
        placeholder: Var,
        forward: &mut Patch,
    ) -> Restored {
        if let Some(form) = closed_form(self.src, reverse.source, q) {
            self.compute(reverse, q, &form, reverse.iteration, placeholder);
            return form.restored();
        }
        let p = reverse.source.params[q];
        let may_undo = self.src.ty(p).rank() > 0 && !self.segmented.is_whole(p);
        if may_undo && self.restore_by_undoing(reverse, q, placeholder, forward) {
            return Restored::Undone;
        }
        let value = forward.l.params[q].into();
        self.restore_recorded(reverse, placeholder, value, Record::Value, forward);
        Restored::Recorded
    }

    /// Makes `value`, carried value `q` at the start of an iteration, by its closed form.
    pub(crate) fn compute(
        &mut self,
        reverse: &ReverseLoop<'_>,
        q: usize,
        form: &ClosedForm,
        iteration: Atom,
        value: Var,
    ) {
        let init = reverse.outer.atom(reverse.source.inits[q]);
        let op = match form {
            // A read without indices is the value itself.
            ClosedForm::Unchanged => Op::Index { array: init, indices: Vec::new() },
            ClosedForm::Induction(step) => {
                let far = self.b.prim(cotan_ops::MUL.prim(), &[iteration, Atom::i64(*step)]);
                Op::Prim { prim: cotan_ops::ADD.prim(), args: vec![init, far.into()] }
            }
        };
        self.b.push(vec![value], op);
    }

    /// Has the forward loop record one value per iteration.
    pub(crate) fn add_stacked(&mut self, forward: &mut Patch, element: Atom, kind: Record) -> Var {
        let ty = self.b.ty(element).stacked([forward.length()]);
        let base = element.var().map(|v| self.b.info(v).name.clone());
        let base = base.as_deref().unwrap_or("value");
        // The record of a loop inside has its `s`.
        let name = if kind == Record::Inner { base.to_owned() } else { format!("{base}s") };
        let record = self.b.var(&name, ty);
        self.b.info_mut(record).record = Some(kind);
        forward.l.body.results.push(element);
        forward.results.push(record);
        record
    }
}

/// How a carried value that is never recorded follows from the iteration number.
pub(crate) enum ClosedForm {
    /// It keeps its start value.
    Unchanged,
    /// An i64 that grows by this in every iteration.
    Induction(i64),
}

impl ClosedForm {
    pub(crate) fn restored(&self) -> Restored {
        match self {
            ClosedForm::Unchanged => Restored::Unchanged,
            ClosedForm::Induction(_) => Restored::Counted,
        }
    }
}

/// The closed form of carried value `q`, if it has one.
pub(crate) fn closed_form(f: &Function, l: &Loop, q: usize) -> Option<ClosedForm> {
    let (p, next) = (l.params[q], l.body.results[q]);
    if next == Atom::Var(p) {
        return Some(ClosedForm::Unchanged);
    }
    let is_i64 = *f.ty(p) == Ty::scalar(Elem::I64);
    if is_i64 { induction(&l.body, p, next).map(ClosedForm::Induction) } else { None }
}

/// Scalars read at the top of a body from carried array `p`, or from arrays made of it.
pub(crate) fn scalar_reads(f: &Function, body: &Block, p: Var) -> Vec<Var> {
    let is_array = |v: &Var| f.ty(*v).rank() > 0;
    let mut made_of_it = FxHashSet::from_iter([p]);
    let mut reads = Vec::new();
    for s in &body.stmts {
        if let Op::Index { array: Atom::Var(array), .. } = &s.op
            && made_of_it.contains(array)
            && !is_array(&s.results[0])
        {
            reads.push(s.results[0]);
            continue;
        }
        let uses_it = |v: &Var| made_of_it.contains(v);
        let mut used = s.op.operands().into_iter().filter_map(Atom::var);
        let reaches = used.any(|v| uses_it(&v))
            || s.op.blocks().iter().any(|b| cotan_ir::free_vars(f, b, &[]).iter().any(uses_it));
        if reaches {
            made_of_it.extend(s.results.iter().copied().filter(is_array));
        }
    }
    reads
}

/// The constant by which a carried i64 grows in every iteration, if it does. Checks against overflow pass it through.
fn induction(body: &Block, p: Var, next: Atom) -> Option<i64> {
    let mut step = 0i64;
    let mut at = next;
    while at != Atom::Var(p) {
        let v = at.var()?;
        let s = body.stmts.iter().find(|s| s.results.contains(&v))?;
        match &s.op {
            Op::Check { value, .. } => at = *value,
            Op::Prim { prim, args } => {
                let (a, c) = match (args.first()?, args.get(1)?) {
                    (a, Atom::Const(c)) if *prim == cotan_ops::ADD.prim() => (*a, c.as_i64()?),
                    (Atom::Const(c), a) if *prim == cotan_ops::ADD.prim() => (*a, c.as_i64()?),
                    (a, Atom::Const(c)) if *prim == cotan_ops::SUB.prim() => (*a, c.as_i64()?.wrapping_neg()),
                    _ => return None,
                };
                step = step.wrapping_add(c);
                at = a;
            }
            Op::Tensor { .. }
            | Op::Index { .. }
            | Op::Update { .. }
            | Op::AccAdd { .. }
            | Op::Par(_)
            | Op::Loop(_)
            | Op::Switch { .. }
            | Op::Call { .. } => return None,
        }
    }
    Some(step)
}
