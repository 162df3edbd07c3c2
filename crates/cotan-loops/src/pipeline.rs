//! What runs a list of passes, and the pipeline of nests on their way to a device.
//!
//! [`lower`](crate::lower) runs the passes of its [target](crate::TargetKind::after_lowering) on what it writes; what else a
//! nest goes through is for those who plan it for a machine. A pass that the context asks nothing of leaves the nest as it
//! is.

use crate::context::NestContext;
use crate::node::LoopFunction;
use crate::pass::{NestPass, NestPipeline};
use crate::verify::{NestError, verify};
use crate::{contract, product};
use cotan_ir::bug;

/// The way of a nest to any device: no library that Cotan calls runs there, and all of them have fused multiply-adds.
pub static FOR_DEVICES: NestPipeline = &[&product::PASS, &contract::UNSHARED];

/// Runs passes one after the other. Debug builds verify what they make, and name the guilty one.
pub fn run(passes: &[&NestPass], f: &mut LoopFunction, context: &NestContext) {
    for pass in passes {
        let before = is_verified(f).then(|| f.clone());
        (pass.run)(f, context);
        let Some(before) = before.filter(|before| before != f) else { continue };
        if let Err(error) = verify(f) {
            let texts = format_args!("before:\n{before}\nafter:\n{f}");
            bug!(format_args!("pass `{}`", pass.name), texts, "it breaks a rule of loop nests: {error}");
        }
    }
}

/// Functions with at most so many locals are verified after every pass.
const SMALL: usize = 64;

/// Of larger functions, one in so many.
const ROTATION: usize = 8;

/// Whether a run of a pass on this function is verified. To keep what was before costs as much as to verify it, so larger
/// functions take turns, by the number of their locals, which changes from pass to pass.
fn is_verified(f: &LoopFunction) -> bool {
    cfg!(debug_assertions) && (f.locals.len() <= SMALL || f.locals.len().is_multiple_of(ROTATION))
}

/// What the verifier says in a debug build; a release build does not ask it.
pub(crate) fn verify_if_debug(f: &LoopFunction) -> Result<(), NestError> {
    if cfg!(debug_assertions) { verify(f) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::node::{Local, Node, Operand};
    use std::panic::{AssertUnwindSafe, catch_unwind};

    static GUILTY: NestPass =
        NestPass { name: "guilty", doc: "Sets what is not there.", run: |f, _| f.body.push(Node::Set(Local(0), ZERO)) };

    const ZERO: Operand = Operand::Const(cotan_ir::Const::bool(false));

    #[test]
    fn the_guilty_pass_is_named_with_both_texts() {
        let mut b = cotan_ir::Builder::new();
        let x = b.param("x", cotan_ir::Ty::scalar(cotan_ir::Elem::F64));
        let f = b.finish("f", vec![x.into()]);
        let passes = [&contract::PASS, &GUILTY];
        let ran = catch_unwind(AssertUnwindSafe(|| {
            run(&passes, &mut crate::lower(&f, &crate::CPU), &NestContext::default())
        }));
        let message = ran.expect_err("a broken rule").downcast::<String>().map_or_else(|_| String::new(), |text| *text);
        for part in ["pass `guilty`", "bool where f64 is expected", "before:\nfn f(x: f64) {", "  x := false\n"] {
            assert!(message.contains(part), "{part:?} is missing in {message}");
        }
    }
}
