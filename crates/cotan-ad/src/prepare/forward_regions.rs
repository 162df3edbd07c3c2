//! Cross-mode differentiation: the choice of loops that are differentiated forward inside a reverse sweep.
//!
//! Note [Regions]: a loop whose results depend on a few scalars has a small Jacobian, with one entry for each result and each
//! of these scalars. Forward mode computes it beside the values, in as many directions as there are scalars; the reverse sweep
//! then records nothing, runs nothing again, and multiplies the cotangents of the results with the matrix.
//!
//! The record, re-execution and products of the reverse loop are weighed against the tangents by the figures of
//! `analysis/region_cost.rs`. The choice is made before checkpoints and does not look at them: they must not change the bits of
//! a gradient.
//!
//! Not every loop has the choice. All active values that cross its border must be scalars. A custom rule of a function that it
//! calls must be used in its own mode. And unless its author asks for forward mode, no function in it may have an infinite slope
//! at a finite value, as a root has at 0: reverse mode gives 0 there where cotangents cancel, and forward mode, which subtracts
//! infinite tangents, a NaN.

use crate::analysis::accumulators::written_around;
use crate::analysis::activity::{VarSet, directions, inputs};
use crate::analysis::linearity::is_linear_in_carried;
use crate::analysis::region_cost::{RegionCost, region_cost};
use crate::report::{Refusal, Reversal, ReversedLoop};
use crate::state::{ForwardRegions, Session};
use cotan_ir::{Function, Loop, Mode, Op, Stmt, Symbol, Var};
use rustc_hash::{FxHashMap, FxHashSet};

/// Chooses among the loops of a function, outermost first.
pub(super) fn choose_regions(session: &mut Session<'_>, f: &Function, active: &VarSet) -> ForwardRegions {
    let mut choice = Choice { session, f, active, chosen: FxHashMap::default() };
    choice.among(&f.body.stmts);
    ForwardRegions(choice.chosen)
}

struct Choice<'a, 'm> {
    session: &'a mut Session<'m>,
    f: &'a Function,
    active: &'a VarSet,
    chosen: FxHashMap<Var, RegionCost>,
}

impl Choice<'_, '_> {
    fn among(&mut self, stmts: &[Stmt]) {
        for s in stmts {
            if let Some(l) = s.op.as_loop()
                && let Some(cost) = self.choice(s, l)
            {
                self.chosen.insert(l.index, cost);
                continue;
            }
            s.op.blocks().iter().for_each(|b| self.among(&b.stmts));
        }
    }

    /// The cost of a loop in either mode, if it is chosen.
    fn choice(&mut self, s: &Stmt, l: &Loop) -> Option<RegionCost> {
        let is_active = l.params.iter().any(|p| self.active.has(*p));
        if !is_active || l.kept.mode == Some(Mode::Vjp) {
            return None;
        }
        if let Some(reason) = self.refusal(s, l) {
            if l.kept.mode == Some(Mode::Jvp) {
                self.session.report(ReversedLoop { span: s.span, how: Reversal::Refused(reason) });
            }
            return None;
        }
        let inputs = inputs(self.f, l, self.active);
        let is_asked_for = l.kept.mode == Some(Mode::Jvp);
        let may_pay = inputs.len() <= self.session.limits().tangents
            && !self.has_vertical_slope(s)
            && !is_linear_in_carried(self.f, self.active, l);
        if !is_asked_for && !may_pay {
            return None;
        }
        let directions = directions(self.f, s, &inputs, self.active);
        let cost = region_cost(self.f, l, self.active, &directions);
        (is_asked_for || cost.forward <= cost.reverse).then_some(cost)
    }

    /// The reason why a loop can't be differentiated forward inside a reverse sweep, if there is one.
    fn refusal(&self, s: &Stmt, l: &Loop) -> Option<Refusal> {
        let is_active = |v: &Var| self.active.has(*v);
        let crossing = inputs(self.f, l, self.active).into_iter().chain(s.results.iter().copied());
        let mut crossing = crossing.chain(l.params.iter().copied()).filter(is_active);
        let array = crossing.find(|v| !self.f.ty(*v).is_scalar());
        // A write to an accumulator around the loop, even a scalar sum, has its cotangent only when the accumulator is complete.
        let written = || written_around(s).filter(is_active).min();
        if let Some(v) = array.or_else(written) {
            return Some(Refusal::Array(self.f.vars[v.index()].name.clone()));
        }
        self.rule_in(s).map(Refusal::Rule)
    }

    /// A function with a rule of its own that a statement calls, at any depth, if derivatives flow through the call.
    fn rule_in(&self, s: &Stmt) -> Option<Symbol> {
        let mut open = vec![(s, true)];
        let mut seen: FxHashSet<&Symbol> = FxHashSet::default();
        while let Some((s, is_here)) = open.pop() {
            open.extend(s.op.blocks().iter().flat_map(|b| &b.stmts).map(|inner| (inner, is_here)));
            let Op::Call { callee, .. } = &s.op else { continue };
            // Activity inside another function is not known.
            let may_be_active = !is_here || s.results.iter().any(|r| self.active.has(*r));
            if may_be_active
                && seen.insert(callee)
                && let Some(f) = self.session.module().function(callee)
            {
                if f.custom_vjp.is_some() || f.custom_jvp.is_some() {
                    return Some(callee.clone());
                }
                open.extend(f.body.stmts.iter().map(|inner| (inner, false)));
            }
        }
        None
    }

    /// Whether something active has an infinite partial derivative where its value is finite.
    fn has_vertical_slope(&self, s: &Stmt) -> bool {
        s.walk().filter(|s| s.results.iter().any(|r| self.active.has(*r))).any(|s| {
            if let Op::Prim { prim, .. } = &s.op {
                cotan_ops::row(*prim).has_vertical_slope()
            } else {
                // The body of a call that was not inlined is not analysed.
                s.op.effects().calls.is_some()
            }
        })
    }
}
