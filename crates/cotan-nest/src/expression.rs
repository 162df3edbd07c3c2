//! The values of definitions, lane by lane.

use crate::error::{Outcome, bug};
use crate::instruction::kernel;
use crate::machine::Frame;
use cotan_ir::{Const, Elem, Monoid, Prim};
use cotan_loops::{Expr, Local, Operand, combining};
use cotan_ops::{Carrier, Instruction, Kernel, row};

/// The most operands of an instruction or of a primitive.
const MOST_OPERANDS: usize = 3;

impl Frame<'_> {
    /// Defines a local.
    pub(crate) fn define(&mut self, to: Local, expr: &Expr) -> Outcome<()> {
        match expr {
            Expr::Copy(operand) => self.each_lane(to, |frame, lane| Ok(frame.lane(*operand, lane))),
            Expr::Native { instruction: Instruction::Bitcast(target), elem: _, args } => {
                let cast = |bits| Const::from_bits(*target, bits).bits();
                self.each_lane(to, |frame, lane| Ok(cast(frame.lane(args[0], lane))))
            }
            Expr::Native { instruction, elem, args } => self.apply(to, kernel(*instruction, *elem)?, args),
            Expr::Host { prim, elem, args } => self.apply(to, host_kernel(*prim, *elem)?, args),
            Expr::Iota(first) => {
                let first = self.int(*first);
                self.each_lane(to, |_, lane| Ok(first.wrapping_add(lane as i64) as u64))
            }
            Expr::Any(mask) => {
                let any = self.lanes(*mask).iter().any(|bit| *bit != 0);
                self.each_lane(to, |_, _| Ok(any.into()))
            }
            Expr::First(mask) => {
                let lanes = self.lanes(*mask);
                let first = lanes.iter().position(|bit| *bit != 0).unwrap_or(lanes.len());
                self.each_lane(to, |_, _| Ok(first as u64))
            }
            Expr::Fold(monoid, value) => {
                let total = fold(self.lanes(*value), *monoid, self.f.elem(to))?;
                self.each_lane(to, |_, _| Ok(total))
            }
            Expr::Lane([value, number]) => {
                let (lanes, number) = (self.lanes(*value), self.int(*number));
                let Some(bits) = usize::try_from(number).ok().and_then(|n| lanes.get(n).copied()) else {
                    return bug(format!("lane {number} of {}", lanes.len()));
                };
                self.each_lane(to, |_, _| Ok(bits))
            }
        }
    }

    fn apply(&mut self, to: Local, kernel: Kernel, args: &[Operand]) -> Outcome<()> {
        let mut operands = [0; MOST_OPERANDS];
        let Some(operands) = operands.get_mut(..args.len()) else { return bug("too many operands") };
        self.each_lane(to, |frame, lane| {
            for (operand, arg) in operands.iter_mut().zip(args) {
                *operand = frame.lane(*arg, lane);
            }
            Ok(kernel(operands))
        })
    }
}

fn host_kernel(prim: Prim, elem: Elem) -> Outcome<Kernel> {
    match (row(prim).kernels)(Carrier::Elem(elem)) {
        Some(kernel) => Ok(kernel),
        None => bug(format!("`{}` is not defined on {elem}", prim.name())),
    }
}

/// Halves combined pairwise until one lane is left.
fn fold(mut lanes: Vec<u64>, monoid: Monoid, elem: Elem) -> Outcome<u64> {
    let kernel = kernel(combining(monoid), elem)?;
    while lanes.len() > 1 {
        let high = lanes.split_off(lanes.len() / 2);
        lanes.iter_mut().zip(high).for_each(|(low, high)| *low = kernel(&[*low, high]));
    }
    Ok(lanes[0])
}
