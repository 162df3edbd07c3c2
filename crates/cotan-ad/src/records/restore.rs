//! Restoring the carried values of a loop in its reverse, see Note [What a loop records].

use super::inner_records::forward_names;
use super::recompute_graph::Leaf;
use super::residuals::{Residual, Residuals};
use crate::analysis::closed_form::{ClosedForm, closed_form};
use crate::analysis::lineage::{is_overwritten, log_size, scalar_reads};
use crate::report::{Restored, Reversal, ReversedLoop};
use crate::state::{ForwardCopy, Patch, Reverse, ReverseLoop};
use cotan_ir::{Atom, Block, Loop, Op, Record, Stmt, Var, bug};
use cotan_opt::cost::Size;
use cotan_opt::passes::dce::{Live, dce_block};
use rustc_hash::FxHashSet;

impl Reverse<'_, '_> {
    /// Settles the placeholders of a reverse loop: changes the forward copy, completes the reverse one.
    pub(crate) fn restore<'a>(&mut self, mut reverse: ReverseLoop<'a>) -> ReverseLoop<'a> {
        if let Some(bytes) = self.segmented.budget(reverse.source) {
            return self.replay(reverse, bytes);
        }
        let mut forward = self.take_out_copy(reverse.forward_copy);
        let rest = reverse.body.stmts.split_off(reverse.head);
        let recomputed = self.recomputed(&reverse, &rest[..reverse.n_recomputed]);
        let results = std::mem::take(&mut reverse.body.results);
        let (mut body, mut live) = dce_block(self.b.vars(), Block { stmts: rest, results });
        let mut restored = vec![Restored::Unread; reverse.placeholders.len()];
        let mut reads = Vec::new();
        for ((p, placeholder), how) in reverse.source.params.iter().zip(reverse.placeholders).zip(&mut restored) {
            if live.has(*placeholder) && self.src.ty(*p).rank() > 0 {
                (body, live) = self.take_out_reads(&reverse, *p, *placeholder, &mut reads, body, live);
                if !live.has(*placeholder) {
                    *how = Restored::Reads;
                }
            }
        }
        let leaves = self.leaves(&reverse, &reads, &live);
        let names = forward_names(&reverse);
        let (body, residuals) = if self.segmented.is_plain(reverse.source) {
            (body, Residuals::default())
        } else {
            self.choose_residuals(&reverse, &names, recomputed, body, &leaves)
        };
        for (placeholder, how) in reverse.placeholders.iter().zip(&mut restored) {
            if live.has(*placeholder) {
                *how = Restored::Replaced;
            }
        }
        let (mut body, live) = dce_block(self.b.vars(), body);

        self.b.open_block();
        // First, because the loops replaced here must still be the source's.
        for inner in residuals.loops {
            self.move_inner(&reverse, &mut forward, &names, inner, &mut body);
        }
        for y in reads.into_iter().filter(|y| live.has(reverse.env.var(*y))) {
            let element = reverse.forward_copy.env.atom(y.into());
            self.restore_recorded(&reverse, reverse.env.var(y), element, Record::Read, &mut forward);
        }
        reverse.body.results = body.results.clone();
        for (q, placeholder) in reverse.placeholders.iter().enumerate() {
            if live.has(*placeholder) {
                restored[q] = self.restore_value(&mut reverse, q, *placeholder, &mut forward);
            }
        }
        for residual in residuals.values {
            self.restore_residual(&reverse, residual, &mut forward);
        }
        let head = self.b.close_block(Vec::new());
        reverse.body.stmts.extend(head.stmts);
        reverse.body.stmts.extend(body.stmts);

        self.report_backwards(&reverse, restored);
        self.put_back_copy(reverse.forward_copy, forward);
        reverse
    }

    /// Takes the forward copy of a loop out of the open block.
    fn take_out_copy(&mut self, copy: &ForwardCopy) -> Patch {
        let Stmt { results, op: Op::Loop(l), span } = self.b.stmts().swap_remove(copy.at) else {
            bug!("derivatives, records", format_args!("{copy:?}"), "the copy of a loop is a loop")
        };
        Patch { results, l: *l, span }
    }

    /// Puts the changed copy in its place again.
    fn put_back_copy(&mut self, copy: &ForwardCopy, forward: Patch) {
        let Patch { results, l, span } = forward;
        let stmts = self.b.stmts();
        stmts.push(Stmt { results, op: Op::Loop(Box::new(l)), span });
        let last = stmts.len() - 1;
        stmts.swap(copy.at, last);
    }

    /// Reports how the carried values of a loop are restored.
    pub(crate) fn report_backwards(&mut self, reverse: &ReverseLoop<'_>, restored: Vec<Restored>) {
        let names = reverse.source.params.iter().map(|p| self.src.vars[p.index()].name.clone());
        // The condition of a while is no value of the source.
        let n_hidden = usize::from(reverse.source.count.is_none());
        let carried = names.zip(restored).skip(n_hidden).collect();
        self.session.report(ReversedLoop { span: self.b.span(), how: Reversal::Backwards(carried) });
    }

    /// Removes the scalar reads of carried array `p` from the body, if nothing else reads the array: they are added to the
    /// record.
    fn take_out_reads(
        &self,
        reverse: &ReverseLoop<'_>,
        p: Var,
        placeholder: Var,
        recorded: &mut Vec<Var>,
        body: Block,
        live: Live,
    ) -> (Block, Live) {
        let mut reads = scalar_reads(self.src, &reverse.source.body, p);
        // A scalar derived from two carried arrays is recorded once.
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

    /// The plain record, for the placeholders and reads that are live.
    fn leaves(&self, reverse: &ReverseLoop<'_>, reads: &[Var], live: &Live) -> Vec<Leaf> {
        let reads = reads.iter().map(|y| (reverse.env.var(*y), Size::of(self.src.ty(*y))));
        let placeholders = reverse.placeholders.iter().enumerate().map(|(q, v)| (*v, self.plain_size(reverse, q)));
        let leaves = reads.chain(placeholders).filter(|(var, _)| live.has(*var));
        leaves.map(|(var, size)| Leaf { var, size }).collect()
    }

    /// The size of the plain record of carried value `q` in an iteration.
    fn plain_size(&self, reverse: &ReverseLoop<'_>, q: usize) -> Size {
        let l = reverse.source;
        let (p, next) = (l.params[q], l.body.results[q]);
        let ty = self.src.ty(p);
        if closed_form(self.src, l, q).is_some() {
            return Size::default();
        }
        let logged = if self.is_kept_whole(l, q) { None } else { log_size(&l.body, p, next, ty) };
        logged.unwrap_or_else(|| Size::of(ty))
    }

    /// Whether a carried array is not logged, whatever changes it.
    fn is_kept_whole(&self, l: &Loop, q: usize) -> bool {
        let p = l.params[q];
        self.segmented.is_whole(p) || is_overwritten(self.src, &l.body, p, l.body.results[q])
    }

    /// Has the forward loop record `element`, and `target` read it back in the iteration under reversal.
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

    /// The record from which a statement of the open block reads `target`, if there is one.
    fn record_read_by(&mut self, reverse: &ReverseLoop<'_>, target: Var) -> Option<Var> {
        let s = self.b.stmts().iter().find(|s| s.results == [target])?;
        let Op::Index { array, indices } = &s.op else { return None };
        array.var().filter(|_| *indices == [reverse.iteration])
    }

    /// Restores the next value of a carried one: the record of the next iteration, or at the end the final value.
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

    /// Restores a recorded result of the iteration under reversal.
    fn restore_residual(&mut self, reverse: &ReverseLoop<'_>, residual: Residual, forward: &mut Patch) {
        let recorded_before =
            residual.carried.and_then(|q| Some((q, self.record_read_by(reverse, reverse.placeholders[q])?)));
        match recorded_before {
            Some((q, record)) => self.restore_shifted(reverse, residual.var, record, forward.carried(q)),
            None => {
                let element = residual.forward.into();
                self.restore_recorded(reverse, residual.var, element, residual.record, forward);
            }
        }
    }

    /// Restores carried value `q` of the iteration under reversal.
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
        let is_array = self.src.ty(reverse.source.params[q]).rank() > 0;
        let may_undo = is_array && !self.is_kept_whole(reverse.source, q);
        if may_undo && self.restore_by_undoing(reverse, q, placeholder, forward) {
            return Restored::Undone;
        }
        let value = forward.l.params[q].into();
        self.restore_recorded(reverse, placeholder, value, Record::Value, forward);
        Restored::Recorded
    }

    /// Computes `value`, carried value `q` at the start of an iteration, by its closed form.
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
        // The name of an inner loop's record already has its `s`.
        let name = if kind == Record::Inner { base.to_owned() } else { format!("{base}s") };
        let record = self.b.var(&name, ty);
        self.b.info_mut(record).record = Some(kind);
        forward.l.body.results.push(element);
        forward.results.push(record);
        record
    }
}
