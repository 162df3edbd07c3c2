//! Checkpoints on every loop leave the bits of the reverse derivative as they are.

use super::Verdict;
use super::comparison::same_bits;
use super::compiled::Agreement;
use crate::compile::shared_machine;
use crate::derived_case::Case;
use crate::tier;
use crate::variant::Variant;
use cotan_ad::derivative;
use cotan_ir::{Block, Checkpoint, Function, Mode, Module, Op, ReversePolicy};

/// Few and many states, segments of one iteration and of all, and no segments.
const SCHEMES: [Checkpoint; 7] = [
    Checkpoint::Budget(120),
    Checkpoint::Every(3),
    Checkpoint::Sqrt,
    Checkpoint::Budget(1),
    Checkpoint::Levels(3),
    Checkpoint::Budget(i64::MAX),
    Checkpoint::All,
];

/// One scheme, that of the case's seed, on the interpreter.
pub fn checkpoints(case: &Case) -> Verdict {
    let nth = case.subject.seed % SCHEMES.len() as u64;
    Verdict::of(SCHEMES.iter().skip(nth as usize).take(1).try_for_each(|scheme| keeps_bits(case, *scheme).map(drop)))
}

/// Two schemes on the interpreter, those of the case's name, or all in the campaign; and the first as compiled code.
pub fn checkpoints_of_several_schemes(case: &Case) -> Verdict {
    Verdict::of((|| {
        for scheme in tier::chosen(&SCHEMES[1..], 2, &case.subject.label) {
            keeps_bits(case, scheme)?;
        }
        let module = keeps_bits(case, SCHEMES[0])?;
        let name = case.first(Mode::Vjp).canonical_name();
        let function = shared_machine()?.compile(&module, &name, &Variant::QUICK.options())?;
        let args = case.vjp_arguments()?;
        let found = function.call(&args).map_err(|e| format!("`{name}` compiled with checkpoints fails: {e}"))?;
        let what = format!("compiled, checkpoint {}", SCHEMES[0]);
        Agreement::of(&function, case).check(&found, &case.run(&name, &args)?, &what)
    })())
}

/// Compares on the interpreter, and gives the module with the derivative of the function with checkpoints.
fn keeps_bits(case: &Case, scheme: Checkpoint) -> Result<Module, String> {
    let mut module = case.subject.module.clone();
    let d = case.first(Mode::Vjp);
    let name = d.canonical_name();
    module.items.remove(&name);
    let functions: Vec<Function> = module.functions().map(|f| Function::clone(f)).collect();
    for mut f in functions {
        set_checkpoints(&mut f.body, scheme);
        module.insert(f);
    }
    derivative(&mut module, &d, &case.limits).map_err(|e| format!("checkpoint {scheme}: {e}"))?;
    let args = case.vjp_arguments()?;
    let found = cotan_interp::run(&module, &name, &args, &crate::derived_case::options());
    let found = found.map_err(|e| format!("`{name}` with checkpoint {scheme} fails: {e}"))?;
    same_bits(&found, &case.run(&name, &args)?, &format!("checkpoint {scheme}"))?;
    Ok(module)
}

/// Sets checkpoints at every loop, inner ones included.
fn set_checkpoints(block: &mut Block, scheme: Checkpoint) {
    for s in &mut block.stmts {
        if let Op::Loop(l) = &mut s.op {
            l.kept = ReversePolicy { checkpoint: Some(scheme), ..l.kept };
        }
        s.op.blocks_mut().iter_mut().for_each(|b| set_checkpoints(b, scheme));
    }
}
