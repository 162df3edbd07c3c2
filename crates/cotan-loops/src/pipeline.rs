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

/// The way of a nest with plain products to a device whose fused multiply-adds are replaced: each takes longer than a product and a
/// sum.
pub static FOR_DEVICES_WITHOUT_FMA: NestPipeline = &[&product::PASS];

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
