//! Arguments with which checks fail: derivatives fail as the function does.

use super::Verdict;
use super::compiled::{check_of, interpreted};
use crate::derived_case::{Case, options};
use cotan_interp::tape;

/// Both derivatives of the passes and both sweeps of the tape engine fail with the check that the function fails with,
/// and not where it does not.
pub fn failures(case: &Case) -> Verdict {
    let subject = &case.subject;
    Verdict::of((|| {
        for args in &subject.failing {
            let failed = |outcome: super::compiled::Ran| outcome.err().transpose();
            let expected = failed(interpreted(case, &subject.name, args))?;
            for (name, args) in case.names().iter().zip(case.calls(args)?).skip(1) {
                let found = failed(interpreted(case, name, &args))?;
                if found != expected {
                    return Err(format!("`{name}` fails with {found:?}, the function with {expected:?}"));
                }
            }
            let (module, name, wrt, outs) = (&subject.module, &subject.name, &case.wrt, &case.outs);
            let forward = tape::jvp(module, name, args, wrt, &case.tangents, outs, &options());
            let reverse = tape::vjp(module, name, args, wrt, outs, &case.cotangents, &options());
            for (how, outcome) in [("forward", forward), ("reverse", reverse)] {
                let found = outcome.err().map(|e| check_of(e, name)).transpose()?;
                if found != expected {
                    return Err(format!("the tape, {how}: fails with {found:?}, the function with {expected:?}"));
                }
            }
        }
        Ok(())
    })())
}
