//! Workloads written by hand in C++: built here, then asked for samples as a peer is.
//!
//! Each has a program, which stands on `benches/workloads/serve.hpp`: the other side of the questions that peers are asked.

use crate::Instance;
use crate::cpp::{Cpp, VECTOR_MATHS};
use crate::peers::{Exchange, Peer};
use anyhow::Result;
use std::process::Command;

/// Builds the program of a workload and starts it.
pub(super) fn start(instance: &Instance, cpp: &Cpp) -> Result<Peer> {
    let program = cpp.build(&format!("{0}/{0}", instance.name), &[VECTOR_MATHS])?;
    let folder = Exchange::hand_over(&cpp.built, instance)?;
    let entries = folder.entries("cpp");
    let mut command = Command::new(program);
    command.arg(folder.arguments()).arg(&entries);
    Ok(Peer::start("C++", command, &entries, instance))
}
