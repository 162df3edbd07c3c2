//! Forward mode: a function to the function that also gives tangents.
//!
//! Tangents come in lanes: of one direction each, carried side by side through one copy of the primal code. A derivative
//! in forward mode has one lane; a loop that is differentiated forward inside a reverse sweep (`regions.rs`) has one for
//! every scalar that it depends on. Each lane has its own activity, so a tangent that is zero there takes no room.
//!
//! An absent tangent is zero by symbol. Regions keep their kind: every active result gains a tangent result next to
//! it, every active accumulator a tangent accumulator of the same kind; zeros are made explicit only there.

use crate::Error;
use crate::activity::{VarSet, active};
use crate::cotangent::{retyped, zeros};
use crate::expand::Session;
use crate::extremes::TieCount;
use crate::prepare::{Prepared, prepared};
use cotan_ir::{Atom, Builder, Derived, Env, Function, Op, Stmt, Symbol, Var};
use rustc_hash::FxHashMap;

/// State of one forward transform.
pub(crate) struct Forward<'s, 'm> {
    pub(crate) session: &'s mut Session<'m>,
    /// The name of the derivative, for messages.
    pub(crate) name: &'s Symbol,
    pub(crate) src: &'s Function,
    /// For each lane, the variables that have a tangent in it.
    pub(crate) lanes: &'s [VarSet],
    /// Writes the target.
    pub(crate) b: Builder,
}

/// What a forward transform knows in one scope.
#[derive(Clone, Debug, Default)]
pub(crate) struct TangentScope {
    /// Source variables to target operands, accumulators included. A write to one that is missing is erased.
    pub(crate) env: Env,
    /// Source variables and accumulators, with a lane, to their tangents.
    pub(crate) tans: FxHashMap<(Var, usize), Atom>,
    /// In the second pass over the body of a `par`: accumulators whose ties are counted.
    pub(crate) ties: FxHashMap<Var, TieCount>,
}

/// The tangent, in one lane, of what stands at some position of a list.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    pub(crate) at: usize,
    pub(crate) lane: usize,
}

/// The forward derivative that `d` asks for.
pub(crate) fn jvp(session: &mut Session<'_>, d: &Derived, name: &Symbol) -> Result<Function, Error> {
    let original = session.source(d)?;
    let Prepared { f: src, active, .. } = prepared(session, &original, d.mode, |f| {
        let wrt: Vec<Var> = d.wrt.iter().map(|k| f.params[*k]).collect();
        let outs: Vec<Var> = d.outs.iter().filter_map(|k| f.body.results[*k].var()).collect();
        active(f, &wrt, &outs)
    });
    let mut j = Forward { session, name, src: &src, lanes: &[active], b: Builder::new() };
    let mut scope = TangentScope::default();
    for p in &src.params {
        let ty = scope.env.ty(src.ty(*p));
        let new = j.b.param(src.name_of(*p), ty);
        scope.env.insert(*p, new.into());
    }
    for k in &d.wrt {
        let p = src.params[*k];
        let ty = scope.env.ty(src.ty(p)).tangent();
        let tan = j.b.param(&j.tan_name(p), ty);
        scope.tans.insert((p, 0), tan.into());
    }
    j.stmts(&src.body.stmts, &mut scope)?;
    let mut results = scope.env.atoms(&src.body.results);
    for k in &d.outs {
        results.push(j.tangent(src.body.results[*k], 0, &scope));
    }
    Ok(j.b.finish(name, results))
}

impl Forward<'_, '_> {
    /// The name of a tangent.
    pub(crate) fn tan_name(&self, x: Var) -> String {
        format!("{}_tan", self.src.name_of(x))
    }

    /// The lanes in which a variable may have a tangent.
    pub(crate) fn lanes_of(&self, x: Var) -> impl Iterator<Item = usize> + use<'_> {
        self.lanes.iter().enumerate().filter(move |(_, active)| active.has(x)).map(|(lane, _)| lane)
    }

    /// All tangents that some variables may have.
    pub(crate) fn slots(&self, vars: &[Var]) -> Vec<Slot> {
        let of = |(at, x): (usize, &Var)| self.lanes_of(*x).map(move |lane| Slot { at, lane }).collect::<Vec<_>>();
        vars.iter().enumerate().flat_map(of).collect()
    }

    /// The tangent of an operand, if it is not zero.
    pub(crate) fn known_tangent(&self, a: Atom, lane: usize, scope: &TangentScope) -> Option<Atom> {
        scope.tans.get(&(a.var()?, lane)).copied()
    }

    /// The tangent of an operand, under the operand's own dims; zeros are made explicit.
    pub(crate) fn tangent(&mut self, a: Atom, lane: usize, scope: &TangentScope) -> Atom {
        let ty = scope.env.ty(&self.src.atom_ty(a)).tangent();
        match self.known_tangent(a, lane, scope) {
            Some(tan) => retyped(&mut self.b, tan, ty),
            None => zeros(&mut self.b, &ty),
        }
    }

    /// A new variable for the tangent of a copied variable: its type, and its mark as a record, are those of the copy.
    pub(crate) fn tangent_var(&mut self, x: Var, env: &Env) -> Var {
        let ty = env.ty(self.src.ty(x)).tangent();
        let tan = self.b.var(&self.tan_name(x), ty);
        self.b.info_mut(tan).record = self.src.vars[x.index()].record;
        tan
    }

    /// Operands in the target and, behind them, tangents of theirs.
    pub(crate) fn with_tangents(&mut self, atoms: &[Atom], active: &[Slot], scope: &TangentScope) -> Vec<Atom> {
        let mut all = scope.env.atoms(atoms);
        all.extend(active.iter().map(|slot| self.tangent(atoms[slot.at], slot.lane, scope)));
        all
    }

    /// Copies of the results of a region and, behind them, tangents of theirs; all enter the scope.
    pub(crate) fn results_with_tangents(
        &mut self,
        results: &[Var],
        active: &[Slot],
        scope: &mut TangentScope,
    ) -> Vec<Var> {
        let mut all: Vec<Var> = results.iter().map(|r| self.b.copy_var(self.src, *r, &mut scope.env)).collect();
        for slot in active {
            let tan = self.tangent_var(results[slot.at], &scope.env);
            scope.tans.insert((results[slot.at], slot.lane), tan.into());
            all.push(tan);
        }
        all
    }

    /// The copies of the statements and, behind each, its tangent.
    pub(crate) fn stmts(&mut self, stmts: &[Stmt], scope: &mut TangentScope) -> Result<(), Error> {
        for s in stmts {
            self.b.set_span(s.span);
            match &s.op {
                Op::Prim { prim, args } => self.jvp_prim(s, *prim, args, scope),
                Op::Tensor { op, args, attrs } => self.jvp_tensor(s, *op, args, attrs, scope),
                Op::Index { array, indices } => self.jvp_index(s, *array, indices, scope),
                Op::Update { array, indices, value } => self.jvp_update(s, *array, indices, *value, scope),
                Op::AccAdd { acc, indices, value } => self.jvp_acc_add(s, *acc, indices, *value, scope),
                Op::Par(p) => self.jvp_par(s, p, scope)?,
                Op::Loop(l) => self.jvp_loop(s, l, scope)?,
                Op::Switch { selector, arms } => self.jvp_switch(s, *selector, arms, scope)?,
                Op::Call { callee, args } => self.jvp_call(s, callee, args, scope)?,
                Op::Check { value, .. } => self.jvp_check(s, *value, scope),
            }
            self.session.check_size(self.name, &self.b)?;
        }
        Ok(())
    }

    /// The copy of a statement alone.
    pub(crate) fn primal(&mut self, s: &Stmt, scope: &mut TangentScope) {
        self.b.copy_stmt(self.src, s, &mut scope.env);
    }
}
