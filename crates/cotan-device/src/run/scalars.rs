//! Scalars of the host: the evaluators of the op table.

use super::Host;
use crate::device::{Device, RunError};
use cotan_ir::Const;
use cotan_loops::{Expr, Local, Operand};
use cotan_ops::{Carrier, Instruction, Kernel, instruction_kernel, row};

impl<D: Device> Host<'_, D> {
    /// Defines a scalar.
    pub(super) fn define(&mut self, to: Local, expr: &Expr) -> Result<(), RunError> {
        let bits = match expr {
            Expr::Copy(operand) => self.bits(*operand),
            Expr::Native { instruction: Instruction::Bitcast(target), elem: _, args } => {
                Const::from_bits(*target, self.bits(args[0])).bits()
            }
            Expr::Native { instruction, elem, args } => {
                let kernel = instruction_kernel(*instruction, *elem);
                self.apply(kernel, args, || format!("{instruction:?} on {elem}"))?
            }
            Expr::Host { prim, elem, args } => {
                let kernel = (row(*prim).kernels)(Carrier::Elem(*elem));
                self.apply(kernel, args, || format!("`{}` on {elem}", prim.name()))?
            }
            Expr::Iota(_) | Expr::Any(_) | Expr::First(_) | Expr::Fold(..) | Expr::Lane(_) => {
                return Err(RunError::Bug("lanes in a plan for a device".to_owned()));
            }
        };
        self.set(to, bits);
        Ok(())
    }

    fn apply(&self, kernel: Option<Kernel>, args: &[Operand], what: impl FnOnce() -> String) -> Result<u64, RunError> {
        let Some(kernel) = kernel else { return Err(RunError::Bug(format!("{} is not defined", what()))) };
        let operands: Vec<u64> = args.iter().map(|arg| self.bits(*arg)).collect();
        Ok(kernel(&operands))
    }
}
