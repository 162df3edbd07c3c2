//! Walks over nested statements: every statement at any depth, each before those inside it.

use super::{Block, Stmt};
use crate::Symbol;

/// Statements in preorder.
#[derive(Clone, Debug)]
pub struct Walk<'a> {
    /// What is left of each open block, the innermost last.
    open: Vec<std::slice::Iter<'a, Stmt>>,
}

impl<'a> Iterator for Walk<'a> {
    type Item = &'a Stmt;

    fn next(&mut self) -> Option<&'a Stmt> {
        loop {
            let Some(s) = self.open.last_mut()?.next() else {
                self.open.pop();
                continue;
            };
            self.open.extend(s.op.blocks().iter().rev().map(|b| b.stmts.iter()));
            return Some(s);
        }
    }
}

impl Block {
    /// The statements at any depth, each before those inside it, in order.
    pub fn walk(&self) -> Walk<'_> {
        Walk { open: vec![self.stmts.iter()] }
    }

    /// The functions that the block calls at any depth, one for each call, in order.
    pub fn callees(&self) -> impl Iterator<Item = &Symbol> {
        self.walk().filter_map(|s| s.op.effects().calls)
    }

    /// Visits the statements at any depth, to be changed, each before those inside it.
    pub fn walk_mut(&mut self, f: &mut dyn FnMut(&mut Stmt)) {
        for s in &mut self.stmts {
            f(s);
            s.op.blocks_mut().iter_mut().for_each(|b| b.walk_mut(f));
        }
    }
}

impl Stmt {
    /// The statement and those inside it, each before those inside it, in order.
    pub fn walk(&self) -> Walk<'_> {
        Walk { open: vec![std::slice::from_ref(self).iter()] }
    }
}
