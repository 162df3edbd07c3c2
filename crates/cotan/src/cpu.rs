//! The CPU backend as a host sees it: where libLLVM is looked for, where code is kept, and what was found on this machine.

pub use cotan_llvm::cache::Cache;
pub use cotan_llvm::jit::OptLevel;
pub use cotan_llvm::load::{Attempt, SearchConfig, explicit_failure};
pub use cotan_llvm::{Probe, ProbeEvent, Report, Width};
pub use cotan_runtime::{CallOptions, CompiledFunction, InstructionSet};
pub use cotan_runtime::{check_threads, whole_product};

use cotan_llvm::jit::Engine;

/// What the backend finds, and why it cannot be used, if it cannot.
pub fn doctor(llvm: &SearchConfig, cache: Option<Cache>) -> (Report, Option<String>) {
    let engine = Engine::new(llvm, cache);
    let report = Report::new(engine.as_ref());
    // A library that earlier runs used counts as found before it is opened.
    let missing = match &engine {
        Ok(engine) => engine.open().err().map(|error| error.to_string()),
        Err(none) => Some(none.to_string()),
    };
    (report, missing)
}
