//! Loops that are differentiated forward inside a reverse sweep, wherever that can be done, give the same derivatives.

use super::Verdict;
use super::comparison::same_bits;
use super::engines::close_all;
use crate::derived_case::{Case, Subject, floats, function};
use crate::tolerances::Property;
use cotan_ir::{Block, Function, Mode, Op};
use cotan_ops::Value;

/// The reverse derivative with its loops differentiated forward is that with its loops run backwards.
pub fn regions(case: &Case) -> Verdict {
    let compared = || {
        let Some(forward) = asked_forward(case)? else { return Ok(Verdict::Holds) };
        let ((values, found), (_, expected)) = (forward.run_vjp()?, case.run_vjp()?);
        same_bits(&values, &case.results, "values, loops asked forward")?;
        let is_finite = |v: &Value| floats(v).into_iter().all(f64::is_finite);
        if expected.iter().all(is_finite) && !found.iter().all(is_finite) {
            return Ok(Verdict::Unusable("infinite slopes, which forward mode does not subtract".to_owned()));
        }
        close_all(&found, &expected, Property::Tape, case, "cotangent, loops asked forward and run backwards")?;
        Ok(Verdict::Holds)
    };
    compared().unwrap_or_else(Verdict::Fails)
}

/// The case with every loop asked to be differentiated forward, derived once; `None` if that changes nothing.
pub fn asked_forward(case: &Case) -> Result<Option<Case>, String> {
    let mut subject: Subject = case.subject.clone();
    for mode in [Mode::Jvp, Mode::Vjp] {
        subject.module.items.remove(&case.first(mode).canonical_name());
    }
    let functions: Vec<Function> = subject.module.functions().map(|f| Function::clone(f)).collect();
    for mut f in functions {
        ask(&mut f.body, Some(Mode::Jvp));
        subject.module.insert(f);
    }
    let forward = Case::new(subject)?;
    let name = case.first(Mode::Vjp).canonical_name();
    let reverse_of = |case: &Case| -> Result<Function, String> {
        let mut f = function(&case.subject.module, &name)?.clone();
        ask(&mut f.body, None);
        Ok(f)
    };
    Ok((reverse_of(&forward)? != reverse_of(case)?).then_some(forward))
}

/// Sets the mode that is asked for at every loop.
fn ask(block: &mut Block, mode: Option<Mode>) {
    for s in &mut block.stmts {
        if let Op::Loop(l) = &mut s.op {
            l.kept.mode = mode;
        }
        s.op.blocks_mut().iter_mut().for_each(|b| ask(b, mode));
    }
}
