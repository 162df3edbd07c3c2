//! Values of lanes: definitions, and variables that lanes set under masks.

use super::{Shape, Value, Variable, Writer};
use cotan_ir::{Elem, bug};
use cotan_loops::node::{Expr, Local, LocalInfo, Node, Operand};
use cotan_ops::Instruction;

impl Writer<'_, '_> {
    pub(super) fn definition(&mut self, local: Local, expr: &Expr) {
        let info = self.f.locals[local.index()].clone();
        let shape = self.shapes.of_operand(local.into());
        let is_varying = shape == Shape::Varying;
        if let Some(number) = self.shapes.counts_down(expr).and_then(|index| self.from_the_end.get(&index)) {
            self.values.insert(local, Value::Scalar(*number));
            return;
        }
        let expr = match expr {
            Expr::Copy(Operand::Local(from)) if self.f.locals[from.index()].is_mutable => {
                let variable = self.mutable.get(from);
                let in_step = variable.and_then(|v| v.in_step).filter(|_| self.shapes.steps_with(local));
                Expr::Copy(in_step.or(variable.map(|v| v.local)).unwrap_or(*from).into())
            }
            Expr::Copy(operand) => {
                let value = if is_varying { self.in_lanes(*operand) } else { self.scalar(*operand) };
                let value = if is_varying { Value::Lanes(value) } else { Value::Scalar(value) };
                self.values.insert(local, value);
                return;
            }
            Expr::Native { instruction: Instruction::And, elem: Elem::I64, .. }
                if shape != Shape::Uniform && !is_varying =>
            {
                // The number of a partial result, see `Shapes::is_lane_of_block`.
                self.values.insert(local, Value::Scalar(Operand::i64(0)));
                return;
            }
            Expr::Native { instruction, elem, args } => {
                Expr::Native { instruction: *instruction, elem: *elem, args: self.args(args, is_varying) }
            }
            Expr::Host { prim, elem, args } => {
                Expr::Host { prim: *prim, elem: *elem, args: self.args(args, is_varying) }
            }
            Expr::Iota(_) | Expr::Any(_) | Expr::First(_) | Expr::Fold(..) | Expr::Lane(_) => {
                bug!("vectorise", self.f, "the definition of {local:?} has lanes already")
            }
        };
        let lanes = if is_varying { self.lanes } else { 1 };
        let value = self.define(&info.name, info.elem, lanes, expr);
        self.values.insert(local, if is_varying { Value::Lanes(value) } else { Value::Scalar(value) });
    }

    pub(super) fn args(&mut self, args: &[Operand], is_varying: bool) -> Vec<Operand> {
        args.iter().map(|a| if is_varying { self.in_lanes(*a) } else { self.scalar(*a) }).collect()
    }

    pub(super) fn assign(&mut self, local: Local, to: Operand) {
        let is_varying = self.shapes.of_operand(local.into()) == Shape::Varying;
        let value = if is_varying { self.in_lanes(to) } else { self.scalar(to) };
        let info = self.f.locals[local.index()].clone();
        let variable = self.variable(local, is_varying);
        if let Some(in_step) = variable.in_step {
            let value = self.scalar(to);
            self.push(Node::Set(in_step, value));
        }
        let value = match self.mask.lanes {
            Some(mask) if is_varying && self.mask.number != variable.first_mask => {
                let old = self.define(&info.name, info.elem, self.lanes, Expr::Copy(variable.local.into()));
                self.native(Instruction::Select, info.elem, info.elem, &[mask, value, old])
            }
            Some(_) | None => value,
        };
        self.push(Node::Set(variable.local, value));
    }

    /// What a mutable local has become, which begins here if nothing has set it.
    fn variable(&mut self, local: Local, is_varying: bool) -> Variable {
        if let Some(variable) = self.mutable.get(&local) {
            return *variable;
        }
        let LocalInfo { name, elem, .. } = self.f.locals[local.index()].clone();
        let new = self.tables.local(&name, elem, if is_varying { self.lanes } else { 1 }, true);
        let in_step = self.shapes.is_stepped(local).then(|| self.tables.local(&name, elem, 1, true));
        let variable = Variable { local: new, first_mask: self.mask.number, in_step };
        self.mutable.insert(local, variable);
        variable
    }
}
