//! Blocks and statements, executed.
//!
//! Recursion follows the nesting of blocks and calls, which the budget bounds; what does not recurse is not inlined, so
//! that a level costs little stack.

use crate::budget::{Budget, Limits, Stats};
use crate::domain::Domain;
use crate::error::{ArgumentError, Bug, CheckFailure, Outcome, RuntimeError, bug};
use crate::frame::{Frame, Slot};
use crate::plan::{BlockPlan, Plan, StmtPlan, elem_of};
use crate::value::Val;
use cotan_ir::{AllocationSite, Atom, Block, CheckKind, Function, Module, Op, Stmt, Symbol, Var, print_stmt};
use cotan_ops::row;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// A run: the module, the numbers, and what has been used so far.
pub(crate) struct Machine<'m, D: Domain> {
    module: &'m Module,
    pub(crate) domain: D,
    pub(crate) budget: Budget,
    pub(crate) stats: Stats,
    plans: FxHashMap<Symbol, Rc<Plan<D::Kernel>>>,
    /// Where output goes; nowhere without one.
    pub(crate) output: Option<&'m mut dyn FnMut(&str)>,
}

impl<'m, D: Domain> Machine<'m, D> {
    pub(crate) fn new(module: &'m Module, domain: D, limits: Limits) -> Machine<'m, D> {
        let (budget, stats) = (Budget::new(limits), Stats::default());
        Machine { module, domain, budget, stats, plans: FxHashMap::default(), output: None }
    }

    /// Runs a function of the module.
    #[inline(never)]
    pub(crate) fn call(&mut self, name: &str, args: Vec<Val>) -> Outcome<Vec<Val>> {
        let plan = self.plan(name)?;
        let f = &*plan.function;
        let mut frame = Frame { f, slots: f.vars.iter().map(|_| Slot::Empty).collect() };
        if args.len() != f.params.len() {
            return bug(format!("{} arguments for the {} parameters of `{name}`", args.len(), f.params.len()));
        }
        for (param, arg) in f.params.iter().zip(args) {
            self.bind(&mut frame, *param, arg)?;
        }
        self.block(&mut frame, &f.body, &plan.body)?;
        self.results(&mut frame, &f.body.results, &plan.body)
    }

    #[inline(never)]
    fn plan(&mut self, name: &str) -> Outcome<Rc<Plan<D::Kernel>>> {
        if let Some(plan) = self.plans.get(name) {
            return Ok(plan.clone());
        }
        let Some(f) = self.module.function(name) else {
            return Err(ArgumentError::UnknownFunction(name.to_owned()).into());
        };
        let plan = Rc::new(Plan::new(f.clone(), &|prim, operands| self.domain.kernel(row(prim), operands)));
        self.plans.insert(f.name.clone(), plan.clone());
        Ok(plan)
    }

    /// Binds a variable to a value of its type.
    #[inline(never)]
    pub(crate) fn bind(&mut self, frame: &mut Frame, v: Var, val: Val) -> Outcome<()> {
        let info = &frame.f.vars[v.index()];
        if !frame.has_extents(&info.ty.dims, val.dims())? {
            let expected = frame.extents(&info.ty.dims)?;
            return bug(format!("`{}` has extents {expected:?}, its value {:?}", info.name, val.dims()));
        }
        if info.record.is_some() {
            let elements = val.cells().len() as u64;
            self.stats.recorded_elements += elements;
            self.stats.recorded_bytes += elements * info.ty.elem.bytes() as u64;
        }
        frame.slots[v.index()] = Slot::Val(val);
        Ok(())
    }

    /// Binds results in order: the type of one may name an earlier one.
    pub(crate) fn bind_all(&mut self, frame: &mut Frame, vars: &[Var], vals: Vec<Val>) -> Outcome<()> {
        if vars.len() != vals.len() {
            return bug(format!("{} values for {} results", vals.len(), vars.len()));
        }
        vars.iter().zip(vals).try_for_each(|(v, val)| self.bind(frame, *v, val))
    }

    /// The value of an operand.
    pub(crate) fn read(&mut self, frame: &Frame, a: Atom) -> Outcome<Val> {
        match a {
            Atom::Const(c) => self.domain.constant(c).map(Val::Scalar),
            Atom::Var(v) => frame.value(v).cloned(),
        }
    }

    /// The value of an operand, taken out of its variable if that is one of `moved`.
    pub(crate) fn take(&mut self, frame: &mut Frame, a: Atom, moved: &[Var]) -> Outcome<Val> {
        let val = self.read(frame, a)?;
        if let Atom::Var(v) = a
            && moved.contains(&v)
        {
            frame.slots[v.index()] = Slot::Empty;
        }
        Ok(val)
    }

    /// The values of a block's results.
    #[inline(never)]
    pub(crate) fn results(
        &mut self,
        frame: &mut Frame,
        results: &[Atom],
        plan: &BlockPlan<D::Kernel>,
    ) -> Outcome<Vec<Val>> {
        results.iter().map(|a| self.take(frame, *a, &plan.moved)).collect()
    }

    /// Runs the statements of a block.
    pub(crate) fn block(&mut self, frame: &mut Frame, block: &Block, plan: &BlockPlan<D::Kernel>) -> Outcome<()> {
        self.budget.enter()?;
        for (s, plan) in block.stmts.iter().zip(&plan.stmts) {
            self.budget.spend(1)?;
            self.stmt(frame, s, plan).map_err(|e| located(e, frame.f, s))?;
            for v in &plan.dropped {
                frame.slots[v.index()] = Slot::Empty;
            }
        }
        self.budget.leave();
        Ok(())
    }

    fn stmt(&mut self, frame: &mut Frame, s: &Stmt, plan: &StmtPlan<D::Kernel>) -> Outcome<()> {
        let val = match &s.op {
            Op::Par(p) => return self.par(frame, s, p, plan),
            Op::Loop(l) => return self.repeat(frame, s, l, plan),
            Op::Switch { selector, arms } => return self.switch(frame, s, *selector, arms, plan),
            Op::Call { callee, args } => {
                let args = args.iter().map(|a| self.take(frame, *a, &plan.moved)).collect::<Outcome<_>>()?;
                let vals = self.call(callee, args)?;
                return self.bind_all(frame, &s.results, vals);
            }
            Op::AccAdd { acc, indices, value } => return self.acc_add(frame, *acc, indices, *value),
            Op::Check { cond, kind, args, value } => {
                if !frame.truth(*cond)? {
                    return self.failure(frame, s, *kind, args);
                }
                self.take(frame, *value, &plan.moved)?
            }
            Op::Prim { prim, args } => self.prim(frame, s, row(*prim), args, plan)?,
            Op::Tensor { op, args, attrs } => self.tensor(frame, s, *op, args, attrs)?,
            Op::Index { array, indices } => self.index(frame, *array, indices)?,
            Op::Update { array, indices, value } => self.update(frame, *array, indices, *value, plan)?,
        };
        let [result] = s.results[..] else { return bug("expected one result") };
        self.bind(frame, result, val)
    }

    #[inline(never)]
    fn switch(
        &mut self,
        frame: &mut Frame,
        s: &Stmt,
        selector: Atom,
        arms: &[Block],
        plan: &StmtPlan<D::Kernel>,
    ) -> Outcome<()> {
        let is_bool = elem_of(frame.f, selector) == cotan_ir::Elem::Bool;
        let chosen = if is_bool { i64::from(!frame.truth(selector)?) } else { frame.int(selector)? };
        let Some(last) = arms.len().checked_sub(1) else { return bug("a switch without arms") };
        let chosen = usize::try_from(chosen.max(0)).map_or(last, |n| n.min(last));
        let (arm, plan) = (&arms[chosen], &plan.blocks[chosen]);
        self.block(frame, arm, plan)?;
        let vals = self.results(frame, &arm.results, plan)?;
        self.bind_all(frame, &s.results, vals)
    }

    /// The error of a check that does not hold, with the arguments that its kind reports.
    #[inline(never)]
    fn failure(&mut self, frame: &Frame, s: &Stmt, kind: CheckKind, args: &[Atom]) -> Outcome<()> {
        let reported = args.iter().copied().filter(|a| kind.reports(elem_of(frame.f, *a)));
        let args = reported.map(|a| match a {
            Atom::Const(c) => Ok(c.as_integer().unwrap_or(c.bits().into())),
            Atom::Var(_) if elem_of(frame.f, a).is_signed() => frame.int(a).map(i128::from),
            Atom::Var(_) => frame.int(a).map(|bits| (bits as u64).into()),
        });
        let args = args.collect::<Outcome<_>>()?;
        Err(RuntimeError::Check(CheckFailure { kind, args, span: s.span }))
    }
}

/// Enters the statement into an error that does not name one yet.
#[cold]
#[inline(never)]
fn located(e: RuntimeError, f: &Function, s: &Stmt) -> RuntimeError {
    match e {
        RuntimeError::OutOfMemory(mut error) => {
            match &mut error.site {
                Some(site) if !site.span.is_some() => site.span = s.span,
                Some(_) => {}
                none => *none = AllocationSite::of_statement(f, s),
            }
            RuntimeError::OutOfMemory(error)
        }
        RuntimeError::Bug(Bug { what, statement: None }) => {
            RuntimeError::Bug(Bug { what, statement: Some(print_stmt(f, s)) })
        }
        RuntimeError::Bug(_)
        | RuntimeError::Check(_)
        | RuntimeError::Argument(_)
        | RuntimeError::Limit(_)
        | RuntimeError::Undefined(_) => e,
    }
}
