//! Induction variable analysis: carried values that follow from the iteration number.

use crate::report::Restored;
use cotan_ir::{Atom, Block, Elem, Function, Loop, Op, Ty, Var};

/// A carried value as a function of the iteration number. It is never recorded.
pub(crate) enum ClosedForm {
    /// It keeps its start value.
    Unchanged,
    /// An i64 that grows by this in every iteration.
    Induction(i64),
}

impl ClosedForm {
    pub(crate) fn restored(&self) -> Restored {
        match self {
            ClosedForm::Unchanged => Restored::Unchanged,
            ClosedForm::Induction(_) => Restored::Counted,
        }
    }
}

/// The closed form of carried value `q`, if it has one.
pub(crate) fn closed_form(f: &Function, l: &Loop, q: usize) -> Option<ClosedForm> {
    let (p, next) = (l.params[q], l.body.results[q]);
    if next == Atom::Var(p) {
        return Some(ClosedForm::Unchanged);
    }
    let is_i64 = *f.ty(p) == Ty::scalar(Elem::I64);
    if is_i64 { induction(&l.body, p, next).map(ClosedForm::Induction) } else { None }
}

/// The constant by which a carried i64 grows in every iteration, if it does. Checks against overflow pass it through.
fn induction(body: &Block, p: Var, next: Atom) -> Option<i64> {
    let mut step = 0i64;
    let mut at = next;
    while at != Atom::Var(p) {
        let v = at.var()?;
        let s = body.stmts.iter().find(|s| s.results.contains(&v))?;
        if let Op::Check { value, .. } = &s.op {
            at = *value;
            continue;
        }
        let Op::Prim { prim, args } = &s.op else { return None };
        let (a, c) = match (args.first()?, args.get(1)?) {
            (a, Atom::Const(c)) if *prim == cotan_ops::ADD.prim() => (*a, c.as_i64()?),
            (Atom::Const(c), a) if *prim == cotan_ops::ADD.prim() => (*a, c.as_i64()?),
            (a, Atom::Const(c)) if *prim == cotan_ops::SUB.prim() => (*a, c.as_i64()?.wrapping_neg()),
            _ => return None,
        };
        step = step.wrapping_add(c);
        at = a;
    }
    Some(step)
}
