//! Forward and reverse functions with an explicit residual: the value sweep and the reverse sweep of a gradient as two functions.

use crate::error::{Error, Limits};
use crate::expand::session;
use crate::vjp::{SeedTypes, Swept, sweep};
use cotan_ir::{Atom, Block, Derived, Function, Mode, Module, Symbol, Ty, Var};
use cotan_opt::passes::dce::dce_block;
use rustc_hash::FxHashSet;

/// The two halves of a `vjp`. Composed, they compute the same bits.
#[derive(Clone, Debug, PartialEq)]
pub struct ForwardReverse {
    /// `(params..) -> (results.., record..)`. The record is what the reverse part reads: parameters, results, values
    /// in between, what loops recorded, and the lengths that types name.
    pub fwd: Function,
    /// `(record.., cotangent of each of outs..) -> (cotangent of each wrt..)`.
    pub rev: Function,
}

/// Splits the reverse derivative of function `of` of the module with respect to parameters `wrt`, for cotangents of
/// results `outs`, into `of.fwd` and `of.rev`. They are given, not added to the module.
pub fn fwd_rev(
    module: &mut Module,
    of: &str,
    wrt: &[usize],
    outs: &[usize],
    limits: &Limits,
) -> Result<ForwardReverse, Error> {
    let d = Derived { of: of.into(), mode: Mode::Vjp, wrt: wrt.to_vec(), outs: outs.to_vec() };
    let mut session = session(module, limits);
    let name: Symbol = d.canonical_name();
    let Swept { b, n_forward, results, seeds, cots } = sweep(&mut session, &d, &name, SeedTypes::OfValueSweep)?;
    let mut whole = b.finish(&format!("{of}.fwd"), results);
    let rev_stmts = whole.body.stmts.split_off(n_forward);
    let (rev_body, _) = dce_block(&whole.vars, Block { stmts: rev_stmts, results: cots });

    let mut record = Record { f: &whole, vars: Vec::new(), seen: FxHashSet::default() };
    for seed in &seeds {
        record.dims(whole.ty(*seed));
    }
    for v in cotan_ir::free_vars(&whole, &rev_body, &seeds) {
        record.var(v);
    }
    let record = record.vars;
    let mut rev = Function { name: format!("{of}.rev").into(), body: rev_body, ..whole.clone() };
    rev.params = record.iter().chain(&seeds).copied().collect();
    whole.body.results.extend(record.into_iter().map(Atom::Var));
    Ok(ForwardReverse {
        fwd: session.checked(cotan_opt::simplify(whole)),
        rev: session.checked(cotan_opt::simplify(rev)),
    })
}

/// Variables of the value sweep, each behind the lengths that its type names.
struct Record<'a> {
    f: &'a Function,
    vars: Vec<Var>,
    seen: FxHashSet<Var>,
}

impl Record<'_> {
    fn dims(&mut self, ty: &Ty) {
        for v in ty.dim_vars() {
            self.var(v);
        }
    }

    fn var(&mut self, v: Var) {
        if self.seen.insert(v) {
            let f = self.f;
            self.dims(f.ty(v));
            self.vars.push(v);
        }
    }
}
