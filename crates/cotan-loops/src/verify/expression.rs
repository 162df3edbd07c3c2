//! The values of definitions: types and lanes.

use super::{Checked, Verifier, require};
use crate::{Expr, Local, Operand};
use cotan_ir::Elem;
use cotan_ops::reduce::monoid_row;
use cotan_ops::row;

impl Verifier<'_> {
    /// The value of a local.
    pub(super) fn expression(&self, to: Local, expr: &Expr) -> Checked {
        let info = self.info(to)?;
        let (elem, lanes) = (info.elem, info.lanes);
        match expr {
            Expr::Copy(Operand::Local(from)) if self.info(*from)?.is_mutable => {
                self.variable_read(*from)?;
                let from = self.info(*from)?;
                self.same_elem(from.elem, elem)?;
                require(from.lanes == lanes, || format!("{} lanes of a variable of {}", lanes, from.lanes))
            }
            Expr::Copy(operand) => self.spread(*operand, elem, lanes),
            Expr::Native { instruction, elem: of, args } => {
                let (operands, n, result) = instruction.signature(*of);
                require(args.len() == n, || format!("{} operands of an instruction that takes {n}", args.len()))?;
                args.iter().zip(operands).try_for_each(|(arg, elem)| self.spread(*arg, elem, lanes))?;
                self.same_elem(elem, result)
            }
            Expr::Host { prim, elem: of, args } => {
                let elems = args.iter().map(|arg| self.elem_of(*arg)).collect::<Result<Vec<Elem>, _>>()?;
                args.iter().zip(&elems).try_for_each(|(arg, elem)| self.spread(*arg, *elem, lanes))?;
                self.same_elem(elem, prim.result_elem(&elems)?)?;
                self.same_elem(*of, row(*prim).t_of(&elems).unwrap_or(Elem::I64))
            }
            Expr::Iota(first) => {
                self.value(*first, Elem::I64)?;
                require(lanes > 1, || "numbers of lanes in a value without lanes".to_owned())?;
                self.same_elem(elem, Elem::I64)
            }
            Expr::Any(mask) => self.of_all_lanes(*mask, Elem::Bool, (Elem::Bool, elem), lanes),
            Expr::First(mask) => self.of_all_lanes(*mask, Elem::Bool, (Elem::I64, elem), lanes),
            Expr::Fold(monoid, value) => {
                require(monoid_row(*monoid).sig.domain.has(elem), || {
                    format!("`{}` is not defined on {elem}", monoid.name())
                })?;
                self.of_all_lanes(*value, elem, (elem, elem), lanes)
            }
            Expr::Lane([value, number]) => {
                self.value(*number, Elem::I64)?;
                self.of_all_lanes(*value, elem, (elem, elem), lanes)
            }
        }
    }

    /// One value that is made of all lanes of another.
    fn of_all_lanes(&self, from: Operand, of: Elem, (expected, found): (Elem, Elem), lanes: u32) -> Checked {
        self.spread(from, of, self.lanes_of(from)?)?;
        require(lanes == 1, || format!("one value of all lanes in {lanes} lanes"))?;
        self.same_elem(found, expected)
    }
}
