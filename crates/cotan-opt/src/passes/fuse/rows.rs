//! Loops that make rows by inner loops: taken by rows, or distributed, so that their elements can be taken.
//!
//! The row of a Jacobian is a number of the iteration times a row from outside, which an inner loop computes. A loop over the same
//! rows takes up the inner loop whole. A reduction of all elements has an index for each axis; for that the loop is distributed: one loop
//! keeps the numbers of each iteration, and a perfect nest makes the elements, which fuses with the reduction. A reduction that stands
//! in no parallel loop has lanes and threads of its own, along the elements as they lie in memory, and is left alone.

use super::Fuse;
use crate::analysis::uses::{needs, uses};
use crate::passes::rename::rename_block;
use cotan_ir::{Atom, Block, Dim, Op, Par, ParResult, Stmt, Var, VarInfo, bug, print_stmt};

impl Fuse<'_> {
    /// Whether a statement is a loop that stacks what inner loops make, and does nothing else.
    pub(super) fn makes_rows(&self, s: &Stmt) -> bool {
        let Op::Par(p) = &s.op else { return false };
        let is_stacked = p.kinds.iter().all(|kind| matches!(kind, ParResult::Stacked)) && p.accs.is_empty();
        let ranks = || s.results.iter().map(|r| self.f.ty(*r).dims.len());
        let has_extents = |r: &Var| self.f.ty(*r).dims.iter().zip(&p.extents).all(|(d, extent)| d.atom() == *extent);
        let defines = |a: &Atom| p.body.stmts.iter().any(|s| a.var().is_some_and(|v| s.results.contains(&v)));
        is_stacked
            && ranks().any(|rank| rank > p.indices.len())
            && s.results.iter().all(has_extents)
            && p.body.results.iter().all(defines)
            && p.body.stmts.iter().all(|s| self.makes_a_part(s))
    }

    /// Whether a statement of a loop computes a scalar, or a row by an inner loop.
    fn makes_a_part(&self, s: &Stmt) -> bool {
        if s.results.iter().any(|r| self.lengths.contains(r)) {
            false
        } else if let Op::Par(p) = &s.op {
            let is_stacked = p.kinds.iter().all(|kind| matches!(kind, ParResult::Stacked)) && p.accs.is_empty();
            let are_elements = s.results.iter().all(|r| self.f.ty(*r).dims.len() == p.indices.len());
            is_stacked && are_elements && self.is_plain(&p.body, None, false)
        } else {
            matches!(s.op, Op::Prim { .. } | Op::Index { .. }) && s.results.iter().all(|r| self.f.ty(*r).is_scalar())
        }
    }

    /// Whether a loop reads what another one makes in its iterations, each in its own.
    pub(super) fn takes_rows(&self, s: &Stmt, producer: &Stmt) -> bool {
        let (Op::Par(p), Op::Par(made)) = (&s.op, &producer.op) else { return false };
        let (own, others) = self.reads(p, &producer.results);
        p.extents == made.extents && own > 0 && others == 0
    }

    /// Whether loops and operations inside of a loop take the elements of the rows that it reads of an array.
    pub(super) fn takes_elements_of_rows(&self, p: &Par, array: Var) -> bool {
        let mut rows = p.body.stmts.iter().filter_map(|s| self.own_read(p, s, &[array]).map(|_| s.results[0]));
        let uses = uses(self.f, &p.body);
        let takes = |row: Var, k: &usize| match p.body.stmts.get(*k).map(|s| &s.op) {
            Some(Op::Par(inner)) => {
                let dims = self.f.ty(row).dims.iter().map(|d| d.atom());
                let (own, others) = self.reads(inner, &[row]);
                dims.eq(inner.extents.iter().copied()) && own > 0 && others == 0
            }
            Some(Op::Prim { .. }) => self.f.ty(row).dims.len() == 1,
            Some(_) | None => false,
        };
        rows.all(|row| uses.get(&row).into_iter().flatten().all(|k| takes(row, k)))
    }

    /// Distributes the last loop of which another one takes elements that an inner loop makes. Whether there is one.
    pub(super) fn distribute(&mut self, block: &mut Block) -> bool {
        let uses = uses(self.f, block);
        let found = (0..block.stmts.len()).rev().find_map(|k| {
            let rows = self.rows_to_take(block, k)?;
            let [reader] = uses.get(&block.stmts[k].results[rows.result])?[..] else { return None };
            self.takes_elements(block, k, reader, rows.result).then_some((k, rows))
        });
        let Some((k, rows)) = found else { return false };
        let loops = self.distributed(&block.stmts[k], &rows);
        block.stmts.splice(k..=k, loops);
        true
    }

    /// The rows that a loop makes, if the only ones.
    fn rows_to_take(&self, block: &Block, k: usize) -> Option<Rows> {
        let s = &block.stmts[k];
        let Op::Par(p) = &s.op else { return None };
        if !self.makes_rows(s) {
            return None;
        }
        let is_row = |k: &usize| self.f.ty(s.results[*k]).dims.len() > p.indices.len();
        let rows: Vec<usize> = (0..s.results.len()).filter(is_row).collect();
        let [result] = rows[..] else { return None };
        let row = p.body.results[result];
        let inner: Vec<usize> = (0..p.body.stmts.len()).filter(|k| matches!(p.body.stmts[*k].op, Op::Par(_))).collect();
        let [inner] = inner[..] else { return None };
        let stmt = &p.body.stmts[inner];
        let Op::Par(nest) = &stmt.op else { return None };
        let is_outside = |a: &Atom| a.var().is_none_or(|v| !p.body.stmts.iter().any(|s| s.results.contains(&v)));
        let is_the_row = stmt.results.len() == 1 && row.var() == Some(stmt.results[0]);
        (is_the_row && nest.extents.iter().all(is_outside)).then_some(Rows { result, inner })
    }

    /// Whether a loop with an index for each axis takes the elements of rows and need not go through them as they lie in memory.
    fn takes_elements(&self, block: &Block, producer: usize, reader: usize, result: usize) -> bool {
        let Some(Op::Par(p)) = block.stmts.get(reader).map(|s| &s.op) else { return false };
        let array = block.stmts[producer].results[result];
        let dims = self.f.ty(array).dims.iter().map(|d| d.atom());
        let (own, others) = self.reads(p, &[array]);
        let is_stacked = p.kinds.iter().all(|kind| matches!(kind, ParResult::Stacked));
        dims.eq(p.extents.iter().copied()) && own > 0 && others == 0 && (self.is_in_par || is_stacked)
    }

    /// A loop that keeps what inner loops read of each iteration, and a nest that makes the elements of the rows.
    fn distributed(&mut self, s: &Stmt, rows: &Rows) -> Vec<Stmt> {
        let Op::Par(p) = &s.op else { bug!("fuse", print_stmt(self.f, s), "rows are made by a parallel loop") };
        let mut outer = p.as_ref().clone();
        let mut results = s.results.clone();
        let inner = outer.body.stmts.remove(rows.inner);
        let made = results.remove(rows.result);
        outer.kinds.remove(rows.result);
        outer.body.results.remove(rows.result);
        let Op::Par(mut nest) = inner.op.clone() else {
            bug!("fuse", print_stmt(self.f, s), "a row is made by a parallel loop")
        };
        let indices: Vec<Var> = p.indices.iter().map(|i| self.f.add_var(self.f.vars[i.index()].clone())).collect();
        let own: Vec<Atom> = indices.iter().copied().map(Atom::Var).collect();
        let is_inside = |v: &Var| outer.body.stmts.iter().any(|s| s.results.contains(v));
        let mut read: Vec<Var> = needs(self.f, &inner).into_iter().filter(is_inside).collect();
        read.sort();
        read.dedup();
        let mut copies: Vec<(Var, Var)> = p.indices.iter().copied().zip(indices.iter().copied()).collect();
        let mut reads = Vec::new();
        for v in read {
            let info = self.f.vars[v.index()].clone();
            let ty = info.ty.stacked(p.extents.iter().map(|e| Dim::from_atom(*e)));
            let array = self.f.add_var(VarInfo { ty, ..info.clone() });
            let element = self.f.add_var(info);
            outer.kinds.push(ParResult::Stacked);
            outer.body.results.push(v.into());
            results.push(array);
            let op = Op::Index { array: array.into(), indices: own.clone() };
            reads.push(Stmt { results: vec![element], op, span: s.span });
            copies.push((v, element));
        }
        let name = |v: Var| copies.iter().find(|(of, _)| *of == v).map_or(v, |(_, copy)| *copy);
        rename_block(&mut nest.body, &name);
        nest.body.stmts.splice(0..0, reads);
        nest.indices.splice(0..0, indices);
        nest.extents.splice(0..0, p.extents.iter().copied());
        let nest = Stmt { results: vec![made], op: Op::Par(nest), span: inner.span };
        if results.is_empty() {
            return vec![nest];
        }
        vec![Stmt { results, op: Op::Par(Box::new(outer)), span: s.span }, nest]
    }
}

/// Rows that a loop makes.
struct Rows {
    /// Which of its results they are.
    result: usize,
    /// The position in its body of the loop that makes one.
    inner: usize,
}
