//! Lists, loops and branches: what runs when, and so what is defined and bound where.

use super::scope::Mark;
use super::{Checked, NestError, Verifier, require};
use crate::print::heading;
use crate::{BufferKind, For, Local, Node, Operand, Reduce, Sharing, Threads, Wave};
use cotan_ir::Elem;

/// What was there where a list begins.
#[derive(Clone, Copy)]
struct Here {
    locals: Mark,
    buffers: Mark,
}

impl<'a> Verifier<'a> {
    pub(super) fn list(&mut self, nodes: &'a [Node]) -> Result<(), NestError> {
        nodes.iter().try_for_each(|node| self.node(node))
    }

    /// What is wrong with a node, if anything is.
    pub(super) fn about(&self, node: &Node, checked: Checked) -> Result<(), NestError> {
        checked.map_err(|message| self.error(&heading(self.f, node), message))
    }

    pub(super) fn scope(&mut self, body: &'a [Node]) -> Result<(), NestError> {
        let mark = self.buffers.mark();
        self.list(body)?;
        self.buffers.close(mark, true);
        Ok(())
    }

    pub(super) fn counted(&mut self, node: &Node, l: &'a For) -> Result<(), NestError> {
        let head = self.head(l);
        self.about(node, head)?;
        let (lanes, n_shared) = (self.lanes, self.shared.len());
        self.lanes = lanes.max(l.lanes);
        self.enter(l);
        let here = self.mark();
        let defined = self.define(l.index);
        self.about(node, defined)?;
        self.list(&l.body)?;
        self.close(here);
        self.shared.truncate(n_shared);
        self.lanes = lanes;
        Ok(())
    }

    fn head(&self, l: &For) -> Checked {
        self.value(l.count, Elem::I64)?;
        self.same_elem(self.info(l.index)?.elem, Elem::I64)?;
        require(self.info(l.index)?.lanes == 1, || "a loop counts in lanes".to_owned())?;
        require(l.lanes.is_power_of_two(), || format!("a loop of {} lanes", l.lanes))?;
        match &l.threads {
            Threads::One | Threads::Each => Ok(()),
            Threads::Wave(Wave { stages, slots }) => self.i64s(&[*stages, *slots]),
            Threads::May(Sharing { steps, sums }) => {
                self.value(*steps, Elem::F64)?;
                sums.iter().try_for_each(|sum| self.sum(sum))
            }
        }
    }

    /// Goes into a loop whose iterations threads may share, in any order. In a wavefront the stages of one number keep
    /// their order, so that they may set a variable from outside.
    fn enter(&mut self, l: &'a For) {
        let sums = match &l.threads {
            Threads::One | Threads::Wave(_) => return,
            Threads::May(Sharing { sums, .. }) => sums.as_slice(),
            Threads::Each => &[],
        };
        self.n_shared += 1;
        self.shared.push((self.n_shared, sums));
    }

    pub(super) fn reduction(&mut self, node: &Node, reduction: &'a Reduce) -> Result<(), NestError> {
        let head = self.head_of_reduction(reduction);
        self.about(node, head)?;
        let n_shared = self.shared.len();
        // What else iterations combine into keeps the loop that it belongs to.
        self.shared.push((self.shared_here(), &reduction.sums));
        let here = self.mark();
        let defined = reduction.indices.iter().try_for_each(|(index, _)| self.define(*index));
        self.about(node, defined)?;
        self.list(&reduction.body)?;
        self.close(here);
        self.shared.truncate(n_shared);
        Ok(())
    }

    fn head_of_reduction(&self, Reduce { indices, sums, body: _ }: &Reduce) -> Checked {
        require(!indices.is_empty() && !sums.is_empty(), || "a reduction without indices, or without sums".to_owned())?;
        for (index, count) in indices {
            self.value(*count, Elem::I64)?;
            self.same_elem(self.info(*index)?.elem, Elem::I64)?;
            require(self.info(*index)?.lanes == 1, || "a reduction counts in lanes".to_owned())?;
        }
        sums.iter().try_for_each(|sum| self.sum(sum))
    }

    pub(super) fn repeated(&mut self, node: &Node, go: Local, body: &'a [Node]) -> Result<(), NestError> {
        let may_end = self.may_end(go);
        self.about(node, may_end)?;
        self.branch(body).map(|_| ())
    }

    fn may_end(&self, go: Local) -> Checked {
        let info = self.info(go)?;
        require(info.is_mutable && info.lanes == 1, || format!("`{}` can't end a loop", info.name))?;
        self.same_elem(info.elem, Elem::Bool)?;
        self.variable_read(go)
    }

    pub(super) fn either(
        &mut self,
        node: &Node,
        cond: Operand,
        yes: &'a [Node],
        no: &'a [Node],
    ) -> Result<(), NestError> {
        self.about(node, self.value(cond, Elem::Bool))?;
        let first = self.branch(yes)?;
        let around = std::mem::replace(&mut self.in_second_arm, true);
        let second = self.branch(no)?;
        self.in_second_arm = around;
        self.join(&[first, second]);
        Ok(())
    }

    pub(super) fn switch(&mut self, node: &Node, on: Operand, arms: &'a [Vec<Node>]) -> Result<(), NestError> {
        self.about(node, require(!arms.is_empty(), || "a switch without arms".to_owned()))?;
        self.about(node, self.value(on, Elem::I64))?;
        let bound = arms.iter().map(|arm| self.branch(arm)).collect::<Result<Vec<_>, _>>()?;
        self.join(&bound);
        Ok(())
    }

    /// A list that may not run. Gives the names that it binds.
    fn branch(&mut self, nodes: &'a [Node]) -> Result<Vec<usize>, NestError> {
        let here = self.mark();
        self.list(nodes)?;
        let is_bound = |k: &usize| self.f.buffers[*k].kind == BufferKind::Bound;
        let bound = self.buffers.since(here.buffers).iter().copied().filter(is_bound).collect();
        self.close(here);
        Ok(bound)
    }

    /// What every one of several lists binds, of which one runs, is bound behind them.
    fn join(&mut self, arms: &[Vec<usize>]) {
        let Some((first, others)) = arms.split_first() else { return };
        for name in first {
            if others.iter().all(|arm| arm.contains(name)) {
                self.buffers.show(*name);
            }
        }
    }

    fn mark(&self) -> Here {
        Here { locals: self.locals.mark(), buffers: self.buffers.mark() }
    }

    fn close(&mut self, here: Here) {
        self.locals.close(here.locals, false);
        self.buffers.close(here.buffers, false);
    }
}
