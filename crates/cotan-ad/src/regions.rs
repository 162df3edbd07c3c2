//! Loops that are differentiated forward inside a reverse sweep.
//!
//! Note [Regions]: a loop whose results depend on a few scalars has a small matrix of partial derivatives, one for each
//! result and each of these. Forward mode computes it beside the values, in as many lanes as there are scalars; the reverse
//! sweep then has nothing to record and nothing to run again, and multiplies the cotangents of the results with the matrix.
//!
//! What the reverse of the loop would have recorded, run again and multiplied is weighed against the tangents by the
//! figures of `cost.rs`. The choice is made before checkpoints, and without a look at them: they must not change the
//! bits of a gradient.
//!
//! Not every loop has the choice. What is active in it and crosses its border is made of scalars. A rule of the user for
//! a function that it calls must be used in the mode that it was written for. And unless its author asks for forward mode, no
//! function in it has an infinite slope at a finite value, as a root has at 0: reverse mode gives 0 there where cotangents
//! cancel, and forward mode, which subtracts infinite tangents, a NaN.

use crate::activity::{self, VarSet};
use crate::cost::{self, RegionCost};
use crate::cotangent::Scope;
use crate::expand::Session;
use crate::inner::written_around;
use crate::jvp::{Forward, TangentScope};
use crate::reads::reads_carried;
use crate::vjp::Reverse;
use crate::{Error, Pushed, Refusal, Reversal, ReversedLoop};
use cotan_ir::{Atom, Const, Env, Function, Loop, Mode, Op, Stmt, Symbol, Var};
use rustc_hash::{FxHashMap, FxHashSet};

/// The loops of a function that are differentiated forward, by index variable.
#[derive(Clone, Debug, Default)]
pub(crate) struct Regions(FxHashMap<Var, RegionCost>);

/// The partial derivatives of the results of a loop, beside the loop.
#[derive(Debug)]
pub(crate) struct Jacobian {
    /// For each scalar that the loop depends on, the results that depend on it.
    columns: Vec<(Var, Vec<(Var, Atom)>)>,
}

impl Regions {
    /// Chooses among the loops of a function, outermost first.
    pub(crate) fn choose(session: &mut Session<'_>, f: &Function, active: &VarSet) -> Regions {
        let mut choice = Choice { session, f, active, chosen: FxHashMap::default() };
        choice.among(&f.body.stmts);
        Regions(choice.chosen)
    }

    /// Whether a statement is such a loop.
    pub(crate) fn is_one(&self, s: &Stmt) -> bool {
        s.op.as_loop().is_some_and(|l| self.0.contains_key(&l.index))
    }
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

    /// What a loop costs in either mode, if it is to be differentiated forward.
    fn choice(&mut self, s: &Stmt, l: &Loop) -> Option<RegionCost> {
        let is_active = l.params.iter().any(|p| self.active.has(*p));
        if !is_active || l.kept.mode == Some(Mode::Vjp) {
            return None;
        }
        if let Some(reason) = self.refusal(s, l) {
            if l.kept.mode == Some(Mode::Jvp) {
                self.session.tell(ReversedLoop { span: s.span, how: Reversal::Refused(reason) });
            }
            return None;
        }
        let inputs = inputs(self.f, l, self.active);
        let is_asked_for = l.kept.mode == Some(Mode::Jvp);
        let may_pay = inputs.len() <= self.session.limits().tangents
            && !self.has_vertical_slope(s)
            && reads_carried(self.f, self.active, l);
        if !is_asked_for && !may_pay {
            return None;
        }
        let lanes = activity::lanes(self.f, s, &inputs, self.active);
        let cost = cost::region(self.f, l, self.active, &lanes);
        (is_asked_for || cost.forward <= cost.reverse).then_some(cost)
    }

    /// Why a loop can't be differentiated forward inside a reverse sweep, if it can't.
    fn refusal(&self, s: &Stmt, l: &Loop) -> Option<Refusal> {
        let is_active = |v: &Var| self.active.has(*v);
        let crossing = inputs(self.f, l, self.active).into_iter().chain(s.results.iter().copied());
        let mut crossing = crossing.chain(l.params.iter().copied()).filter(is_active);
        let array = crossing.find(|v| !self.f.ty(*v).is_scalar());
        // What it writes to an accumulator around it, a sum of scalars too, is known only when that is complete.
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
            // What is active in another function is not known.
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
        let here = match &s.op {
            Op::Prim { prim, .. } => {
                cotan_ops::row(*prim).has_vertical_slope() && s.results.iter().any(|r| self.active.has(*r))
            }
            // What a function that was not inlined does is not looked into.
            Op::Call { .. } => s.results.iter().any(|r| self.active.has(*r)),
            Op::Tensor { .. }
            | Op::Index { .. }
            | Op::Update { .. }
            | Op::AccAdd { .. }
            | Op::Par(_)
            | Op::Loop(_)
            | Op::Switch { .. }
            | Op::Check { .. } => false,
        };
        here || s.op.blocks().iter().flat_map(|b| &b.stmts).any(|inner| self.has_vertical_slope(inner))
    }
}

/// The active values that a loop depends on: those that its carried values and accumulators start from, and those that
/// its body reads.
fn inputs(f: &Function, l: &Loop, active: &VarSet) -> Vec<Var> {
    let bound = l.params.iter().copied().chain([l.index]).chain(l.accs.iter().map(|acc| acc.var));
    let bound: Vec<Var> = bound.collect();
    let starts = l.params.iter().zip(&l.inits).filter(|(p, _)| active.has(**p)).filter_map(|(_, init)| init.var());
    let starts = starts.chain(l.accs.iter().filter_map(|acc| acc.init?.var()));
    let mut inputs: Vec<Var> = Vec::new();
    for v in starts.chain(cotan_ir::free_vars(f, &l.body, &bound)) {
        if active.has(v) && !inputs.contains(&v) {
            inputs.push(v);
        }
    }
    inputs
}

impl Reverse<'_, '_> {
    /// Copies a loop with tangents in a lane for each scalar that it depends on.
    pub(crate) fn push_forward(&mut self, s: &Stmt, l: &Loop, env: &mut Env) -> Result<Jacobian, Error> {
        let inputs = inputs(self.src, l, &self.active);
        let lanes = activity::lanes(self.src, s, &inputs, &self.active);
        let one = |x: &Var| Atom::from(Const::number(self.src.ty(*x).elem.computed(), 1));
        let seeds = inputs.iter().enumerate().map(|(lane, x)| ((*x, lane), one(x)));
        let mut scope = TangentScope { env: std::mem::take(env), tans: seeds.collect(), ..TangentScope::default() };
        let b = std::mem::take(&mut self.b);
        let mut forward = Forward { session: &mut *self.session, name: self.name, src: self.src, lanes: &lanes, b };
        let pushed = forward.stmts(std::slice::from_ref(s), &mut scope);
        self.b = forward.b;
        *env = scope.env;
        pushed?;
        let column = |lane: usize| s.results.iter().filter_map(|r| Some((*r, *scope.tans.get(&(*r, lane))?))).collect();
        let columns = inputs.iter().enumerate().map(|(lane, x)| (*x, column(lane))).collect();
        Ok(Jacobian { columns })
    }

    /// The cotangents of what a loop depends on: those of its results, times the partial derivatives.
    pub(crate) fn multiply(&mut self, s: &Stmt, l: &Loop, jacobian: &Jacobian, scope: &mut Scope) {
        let cots: FxHashMap<Var, Atom> = s.results.iter().filter_map(|r| Some((*r, self.take(*r, scope)?))).collect();
        for (x, column) in &jacobian.columns {
            let name = self.cot_name(*x);
            let mut total: Option<Atom> = None;
            for (r, partial) in column {
                let Some(c) = cots.get(r) else { continue };
                let term = self.b.named(&name).prim(cotan_ops::MULZ.prim(), &[*c, *partial]).into();
                total = Some(match total {
                    None => term,
                    Some(sum) => self.b.named(&name).prim(cotan_ops::ADD.prim(), &[sum, term]).into(),
                });
            }
            total.into_iter().for_each(|c| self.add((*x).into(), c, scope));
        }
        // What a carried value starts from mostly has no name in the source, or another one.
        let carried = |x: Var| l.inits.iter().position(|init| *init == x.into()).map(|q| l.params[q]);
        let name = |x: Var| self.src.vars[carried(x).unwrap_or(x).index()].name.clone();
        let names = jacobian.columns.iter().map(|(x, _)| name(*x));
        let pushed = Pushed {
            inputs: names.collect(),
            forward: self.regions.0[&l.index].forward,
            reverse: self.regions.0[&l.index].reverse,
            is_asked_for: l.kept.mode == Some(Mode::Jvp),
        };
        self.session.tell(ReversedLoop { span: self.b.span(), how: Reversal::Forward(pushed) });
    }
}
