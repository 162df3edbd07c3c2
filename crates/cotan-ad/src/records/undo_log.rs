//! Undo log: a loop that updates an array in place logs overwritten elements, and its reverse restores the array from them.
//!
//! The lineage of a carried array is followed back from its next value through updates, branches and inner loops to the
//! parameter. In the forward loop every update on it first logs the overwritten value and the indices, at a position that is
//! threaded through the inner loops and branches. So the log of one loop is flat at any depth of its nest, and undoing an
//! iteration is one counted loop over its part of the log, backwards. The reverse loop carries the array itself, from its
//! final value; an iteration first undoes, then re-executes, then reverses.
//!
//! This is closed: logs are differentiable results, the undo loop updates elements and records nothing itself, and the
//! array that is carried backwards has the undo loop as its lineage one order up.

use crate::analysis::lineage::lineage;
use crate::state::{Patch, Reverse, ReverseLoop};
use cotan_ir::{Acc, AccKind, Atom, Block, Dim, Elem, Loop, Op, Record, ReversePolicy, Stmt, Ty, Var, bug};

/// The logs of overwritten values and of indices: accumulators, or their final arrays.
struct Log {
    old: Var,
    indices: Vec<Var>,
}

impl Reverse<'_, '_> {
    /// Restores carried array `q` by undoing, if its lineage allows it.
    pub(crate) fn restore_by_undoing(
        &mut self,
        reverse: &mut ReverseLoop<'_>,
        q: usize,
        placeholder: Var,
        forward: &mut Patch,
    ) -> bool {
        let Some(line) = lineage(&forward.l.body, forward.l.body.results[q]) else { return false };
        let Some(arity) = line.arities.first().copied() else { return false };
        if line.start != Atom::Var(forward.l.params[q]) || line.arities.iter().any(|a| *a != arity) {
            return false;
        }

        // The forward loop: logs, and the position in them.
        let i64 = Ty::scalar(Elem::I64);
        let array_ty = self.b.var_ty(forward.l.params[q]).clone();
        let pos = self.b.var("pos", i64.clone());
        let total = self.b.var("total", i64.clone());
        let (old, olds) = self.add_log(forward, "old", array_ty.inner(arity), Record::Old);
        let (accs, indices): (Vec<Var>, Vec<Var>) =
            (0..arity).map(|_| self.add_log(forward, "at", i64.clone(), Record::Place)).unzip();
        for log in indices.iter().chain([&olds]) {
            self.b.info_mut(*log).ty.dims[0] = Dim::Var(total);
        }
        let body = std::mem::take(&mut forward.l.body);
        let end = body.results[q];
        let (body, next) = self.logged(body, end, pos.into(), &Log { old, indices: accs });
        forward.l.body = body;
        forward.add_carried(pos, Atom::i64(0), next, total);

        // The reverse loop: the array, from its final value on.
        let records = Log { old: olds, indices };
        let info = self.b.info(placeholder).clone();
        let current = self.b.var(&info.name, info.ty.clone());
        let result = self.b.var(&info.name, info.ty.clone());
        reverse.add_carried(current, forward.carried(q).into(), placeholder.into(), result);
        if line.is_straight {
            // Every iteration makes the same updates, so their positions need not be recorded.
            let n = line.path.len() as i64;
            let lo = self.b.named("lo").prim(cotan_ops::MUL.prim(), &[reverse.iteration, Atom::i64(n)]);
            let mut array = current;
            for k in (0..n).rev() {
                let at = self.b.named("at").prim(cotan_ops::ADD.prim(), &[lo.into(), Atom::i64(k)]);
                let put_back = self.put_back(array, at, &records);
                array = if k > 0 { self.b.var(&info.name, info.ty.clone()) } else { placeholder };
                self.b.push(vec![array], put_back);
            }
        } else {
            // The end of the part of the log that is not undone yet is carried; positions are recorded.
            let starts = self.add_stacked(forward, pos.into(), Record::Start);
            let lo = self.b.named("lo").index(starts.into(), &[reverse.iteration]);
            let hi = self.b.var("hi", i64.clone());
            let result = self.b.var("hi", i64);
            reverse.add_carried(hi, total.into(), lo.into(), result);
            self.undo(lo, hi, current, placeholder, &records);
        }
        true
    }

    /// Emits the loop that undoes the entries from `lo` to `hi` of the log, last first.
    fn undo(&mut self, lo: Var, hi: Var, current: Var, restored: Var, records: &Log) {
        let n = self.b.prim(cotan_ops::SUB.prim(), &[hi.into(), lo.into()]);
        let last = self.b.prim(cotan_ops::SUB.prim(), &[hi.into(), Atom::i64(1)]);
        let index = self.b.var("back", Ty::scalar(Elem::I64));
        let info = self.b.info(current).clone();
        let param = self.b.var(&info.name, info.ty.clone());
        self.b.open_block();
        let at = self.b.named("at").prim(cotan_ops::SUB.prim(), &[last.into(), index.into()]);
        let put_back = self.put_back(param, at, records);
        let next = self.b.var(&info.name, info.ty);
        self.b.push(vec![next], put_back);
        let body = self.b.close_block(vec![next.into()]);
        let (params, inits) = (vec![param], vec![current.into()]);
        let l = Loop {
            index,
            count: Some(n.into()),
            params,
            inits,
            accs: Vec::new(),
            body,
            kept: ReversePolicy::default(),
        };
        self.b.push(vec![restored], Op::Loop(Box::new(l)));
    }

    /// The update that undoes entry `at` of the log.
    fn put_back(&mut self, array: Var, at: Var, records: &Log) -> Op {
        let read = |r: &mut Self, record: Var| Atom::Var(r.b.index(record.into(), &[at.into()]));
        let indices = records.indices.iter().map(|i| read(self, *i)).collect();
        let value = read(self, records.old);
        Op::Update { array: array.into(), indices, value }
    }

    /// Adds a log of elements to a loop: gives the accumulator and the result, whose length is set by the caller.
    pub(crate) fn add_log(&mut self, forward: &mut Patch, name: &str, element: Ty, record: Record) -> (Var, Var) {
        let ty = element.stacked([Dim::Const(0)]);
        let var = self.b.var(name, ty.clone());
        let result = self.b.var(name, ty);
        self.b.info_mut(result).record = Some(record);
        forward.add_acc(Acc { var, kind: AccKind::Log, init: None }, result);
        (var, result)
    }

    /// The block with logging before every update on the lineage of `end`, from position `pos` on. Gives the block and the
    /// position behind the last entry.
    fn logged(&mut self, block: Block, end: Atom, mut pos: Atom, log: &Log) -> (Block, Atom) {
        let line = lineage(&block, end).expect("invariant: only arrays with a lineage are logged");
        let mut path = line.path.into_iter().rev().peekable();
        self.b.open_block();
        for (k, s) in block.stmts.into_iter().enumerate() {
            let Some((_, at)) = path.next_if(|(on, _)| *on == k) else {
                self.b.stmts().push(s);
                continue;
            };
            let outer_span = self.b.span();
            self.b.set_span(s.span);
            let s = self.logged_stmt(s, at, &mut pos, log);
            self.b.stmts().push(s);
            self.b.set_span(outer_span);
        }
        let block = self.b.close_block(block.results);
        (block, pos)
    }

    /// One statement on the lineage; result `at` is the array.
    fn logged_stmt(&mut self, mut s: Stmt, at: usize, pos: &mut Atom, log: &Log) -> Stmt {
        if let Op::Update { array, ref indices, .. } = s.op {
            let old = self.b.named("old").index(array, indices);
            self.b.acc_add(log.old, &[*pos], old.into());
            for (acc, index) in log.indices.iter().zip(indices) {
                self.b.acc_add(*acc, &[*pos], *index);
            }
            *pos = self.b.named("pos").prim(cotan_ops::ADD.prim(), &[*pos, Atom::i64(1)]).into();
            return s;
        }
        if let Op::Switch { selector, arms } = s.op {
            let each = |arm: Block| {
                let end = arm.results[at];
                let (mut arm, behind) = self.logged(arm, end, *pos, log);
                arm.results.push(behind);
                arm
            };
            let arms = arms.into_iter().map(each).collect();
            let behind = self.b.var("pos", Ty::scalar(Elem::I64));
            s.results.push(behind);
            *pos = behind.into();
            return Stmt { op: Op::Switch { selector, arms }, ..s };
        }
        let Op::Loop(l) = s.op else {
            bug!("derivatives, undo log", format_args!("{s:?}"), "a lineage goes through updates, branches and loops")
        };
        let mut patch = Patch { results: s.results, l: *l, span: s.span };
        let end = patch.l.body.results[at - usize::from(patch.l.count.is_none())];
        let param = self.b.var("pos", Ty::scalar(Elem::I64));
        let behind = self.b.var("pos", Ty::scalar(Elem::I64));
        let body = std::mem::take(&mut patch.l.body);
        let (body, next) = self.logged(body, end, param.into(), log);
        patch.l.body = body;
        patch.add_carried(param, *pos, next, behind);
        *pos = behind.into();
        Stmt { results: patch.results, op: Op::Loop(Box::new(patch.l)), span: patch.span }
    }
}
