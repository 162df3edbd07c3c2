//! All tests of this crate through its public interface, in one program: what they share is built and linked once.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod bind_sizes;
mod flush;
mod fork;
mod lanes;
mod legalize_width;
mod products;
mod wavefront;

use cotan_ir::{Module, parse_function, verify_module};
use cotan_loops::{CPU, LoopFunction, lower};
use cotan_ops::Registry;

/// The nest of the only function of a module, before passes that plan.
fn lowered(text: &str) -> LoopFunction {
    let f = parse_function(text, Registry::standard()).unwrap();
    let mut module = Module::default();
    let f = module.insert(f);
    verify_module(&module).unwrap();
    lower(&f, &CPU)
}
