//! The two halves of a reverse derivative, composed, are the reverse derivative.

use super::Verdict;
use super::comparison::same_bits;
use crate::derived_case::{Case, joined, options};
use cotan_interp::run;

/// `f.rev` on the record that `f.fwd` gives computes the bits of `vjp`.
pub fn forward_reverse(case: &Case) -> Verdict {
    Verdict::of((|| {
        let mut module = case.subject.module.clone();
        let halves = cotan_ad::fwd_rev(&mut module, &case.subject.name, &case.wrt, &case.outs, &case.limits)
            .map_err(|e| format!("no fwd and rev: {e}"))?;
        let (fwd, rev) = (module.insert(halves.fwd), module.insert(halves.rev));
        let mut results = run(&module, &fwd.name, &case.subject.args, &options()).map_err(|e| format!("fwd: {e}"))?;
        let record = results.split_off(case.results.len());
        same_bits(&results, &case.results, "values of fwd")?;
        let found = run(&module, &rev.name, &joined(&[&record, &case.cotangents]), &options());
        same_bits(&found.map_err(|e| format!("rev: {e}"))?, &case.run_vjp()?.1, "cotangents of rev")
    })())
}
