//! The pipeline after the lowering, and what runs a list of passes.
//!
//! [`lower`](crate::lower) runs [`AFTER_LOWERING`] on what it writes; what else a nest goes through is for those who plan
//! it for a machine. A pass that the context asks nothing of leaves the nest as it is.

use crate::context::NestContext;
use crate::node::LoopFunction;
use crate::pass::{NestPass, NestPipeline};
use crate::verify::{NestError, verify};
use crate::{buffer_reuse, flush};
use cotan_ir::bug;

/// What every nest goes through when it is written.
pub static AFTER_LOWERING: NestPipeline = &[&flush::PASS, &buffer_reuse::PASS];

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
        let passes = [&buffer_reuse::PASS, &GUILTY];
        let ran = catch_unwind(AssertUnwindSafe(|| run(&passes, &mut crate::lower(&f), &NestContext::default())));
        let message = ran.expect_err("a broken rule").downcast::<String>().map_or_else(|_| String::new(), |text| *text);
        for part in ["pass `guilty`", "bool where f64 is expected", "before:\nfn f(x: f64) {", "  x := false\n"] {
            assert!(message.contains(part), "{part:?} is missing in {message}");
        }
    }
}
