//! Forward mode: from a function to its Jacobian-vector product, which gives the results and their tangents.
//!
//! One transform carries tangents in several directions side by side, through one copy of the primal code. A derivative in
//! forward mode has one direction; a loop that is differentiated forward inside a reverse sweep
//! (`prepare/forward_regions.rs`) has one for every scalar that it depends on. Each direction has its own activity, so a
//! zero tangent costs nothing there.
//!
//! An absent tangent is a symbolic zero. Regions keep their kind: every active result gains a tangent result next to it,
//! every active accumulator a tangent accumulator of the same kind; zeros are made explicit only there.

use crate::error::Error;
use crate::prepare::prepared;
use crate::state::{Forward, Prepared, Session, TangentScope};
use cotan_ir::{Builder, Derived, Function, Op, Stmt, Symbol};

/// The forward derivative that `d` asks for.
pub(crate) fn jvp(session: &mut Session<'_>, d: &Derived, name: &Symbol) -> Result<Function, Error> {
    let original = session.source(d)?;
    let Prepared { f: src, active, .. } = prepared(session, &original, d);
    let mut j = Forward { session, name, src: &src, directions: &[active], b: Builder::new() };
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
    /// Copies statements and emits the tangent of each behind it.
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

    /// Copies a statement without its tangent.
    pub(crate) fn primal(&mut self, s: &Stmt, scope: &mut TangentScope) {
        self.b.copy_stmt(self.src, s, &mut scope.env);
    }
}
