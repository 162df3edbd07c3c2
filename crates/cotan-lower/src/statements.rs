//! Statements from which control does not escape.

use super::Result;
use super::body::{Body, Value, ir_span};
use cotan_sema::typed::{AssignOp, Stmt, StmtKind, Target};

impl<'p> Body<'_, 'p> {
    /// One statement.
    pub(super) fn statement(&mut self, s: &'p Stmt) -> Result<()> {
        self.code.b.set_span(ir_span(s.span));
        match &s.kind {
            StmtKind::Let { pattern, value } => {
                let value = self.expr(value)?;
                self.bind(pattern, value)?;
            }
            StmtKind::Assign { target, op, value } => {
                let value = self.expr(value)?;
                self.code.b.set_span(ir_span(s.span));
                self.assign(target, *op, value)?;
            }
            StmtKind::Expr(e) => {
                self.expr(e)?;
            }
        }
        Ok(())
    }

    /// Stores a value. The parts of a tuple are all computed already.
    pub(super) fn assign(&mut self, target: &'p Target, op: AssignOp, value: Value) -> Result<()> {
        match target {
            Target::Place(place) => self.store(place, op, value),
            Target::Tuple(parts) => {
                let mut value = value.into_iter();
                for part in parts {
                    let n = n_target_leaves(self, part);
                    let part_value = value.by_ref().take(n).collect();
                    self.assign(part, op, part_value)?;
                }
                Ok(())
            }
        }
    }
}

fn n_target_leaves(body: &Body<'_, '_>, target: &Target) -> usize {
    match target {
        Target::Place(place) => body.layout.n_leaves(&place.ty),
        Target::Tuple(parts) => parts.iter().map(|part| n_target_leaves(body, part)).sum(),
    }
}
