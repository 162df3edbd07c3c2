//! Linearity analysis: a loop that is linear in its carried values does not need them in its reverse.

use crate::analysis::activity::VarSet;
use cotan_ir::{Atom, Block, Function, Loop, Op, OperandRole, Var};
use cotan_ops::{Partial, Term};
use rustc_hash::FxHashSet;

/// Whether the reverse of an iteration reads nothing that depends on the values that the loop carries.
pub(crate) fn is_linear_in_carried(f: &Function, active: &VarSet, l: &Loop) -> bool {
    let mut dependent: FxHashSet<Var> = l.params.iter().copied().collect();
    !Reads { f, active }.block(&l.body, &mut dependent)
}

struct Reads<'a> {
    f: &'a Function,
    active: &'a VarSet,
}

impl Reads<'_> {
    /// Whether the reverse of a block reads one of the `dependent` variables; those that the block binds are added.
    fn block(&self, block: &Block, dependent: &mut FxHashSet<Var>) -> bool {
        block.stmts.iter().any(|s| {
            let is_dependent = |a: &Atom| a.var().is_some_and(|v| dependent.contains(&v));
            let is_active = || s.results.iter().any(|r| self.active.has(*r));
            let operands = s.op.operands();
            let mut reaches = operands.iter().any(is_dependent);
            let is_controlled = || s.op.operands_as(OperandRole::is_control).iter().any(is_dependent);
            let reads = if let Op::Prim { prim, args } = &s.op {
                is_active() && self.partials_read(cotan_ops::row(*prim).partials, args, s.results[0], dependent)
            } else if let Op::Tensor { args, .. } = &s.op {
                is_active() && reaches && args.len() > 1
            } else if s.op.is_value() {
                is_active() && is_controlled()
            } else {
                let effects = s.op.effects();
                is_controlled() || effects.may_not_end || effects.calls.is_some() && is_active()
            };
            if reads {
                return true;
            }
            for b in s.op.blocks() {
                let free = cotan_ir::free_vars(self.f, b, &[]);
                if reaches || free.iter().any(|v| dependent.contains(v)) {
                    reaches = true;
                    dependent.extend(s.op.binders());
                }
                if self.block(b, dependent) {
                    return true;
                }
            }
            if reaches {
                dependent.extend(&s.results);
            }
            false
        })
    }

    fn partials_read(&self, partials: &[Partial], args: &[Atom], result: Var, dependent: &FxHashSet<Var>) -> bool {
        let is_dependent = |a: Atom| a.var().is_some_and(|v| dependent.contains(&v));
        let depends = args.iter().any(|a| is_dependent(*a));
        args.iter().zip(partials).any(|(a, partial)| match partial {
            Partial::Term { term, .. } => {
                self.active.member(*a).is_some()
                    && reads(term, &|k| is_dependent(args[k]), depends && self.active.has(result))
            }
            Partial::Convert | Partial::Zero { .. } => false,
        })
    }
}

/// Whether a term reads an operand of some kind, or the result if that counts.
fn reads(term: &Term, operand: &impl Fn(usize) -> bool, result: bool) -> bool {
    match term {
        Term::Arg(k) => operand(*k),
        Term::Result => result,
        Term::Number(_) | Term::Named(..) | Term::Int(_) => false,
        Term::ToT(inner) => reads(inner, operand, result),
        Term::Apply(_, terms) => terms.iter().any(|t| reads(t, operand, result)),
    }
}
