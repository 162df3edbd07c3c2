//! Workloads written by hand in C++: built here, then asked for samples as a peer is.
//!
//! Each has a program, which stands on `benches/workloads/serve.hpp`: the other side of the questions that peers are asked.

use super::WorkloadFolders;
use crate::Instance;
use crate::marks::{VECTOR_MATHS, compile};
use crate::peers::{Exchange, Peer};
use anyhow::Result;
use std::process::Command;

/// Builds the program of a workload and starts it.
pub(super) fn start(instance: &Instance, folders: &WorkloadFolders) -> Result<Peer> {
    let name = &instance.name;
    compile(&folders.sources.join(name), &folders.built, name, &[VECTOR_MATHS])?;
    let folder = Exchange::hand_over(&folders.built, instance)?;
    let entries = folder.entries("cpp");
    let mut command = Command::new(folders.built.join(name));
    command.arg(folder.arguments()).arg(&entries);
    Ok(Peer::start("C++", command, &entries, instance))
}
