//! Workloads: programs of many kinds, each beside hand-written C++ and beside frameworks that differentiate.
//!
//! `benches/workloads` has a folder for each: the program, a C++ value and adjoint, and a version in JAX. The manifest says
//! what kind of program it is, which mechanisms of the compiler it meets, its sizes, and what it is differentiated in;
//! `inputs.tsv` says how its arguments are made. Half of the workloads are held out: they are run only where that is asked
//! for, so that nothing is tuned to them.

mod by_hand;
mod compile_times;
mod figures;
mod inputs;
mod manifest;

pub use compile_times::CompileTimes;
pub use figures::{WorkloadFigures, WorkloadRatios, slowest_nests, workload_table};
pub use manifest::{MECHANISMS, Sizes, Workload, workloads};

use crate::peers::Peers;
use crate::{Block, Cpp, Instance, Measured, Peak, Settings, Tolerance, Turn, measure_beside, profile};
use anyhow::{Context, Result};
use cotan::{Compiler, Request};
use std::path::Path;
use std::time::Duration;

/// How far values and derivative entries may be from those of others.
const CLOSE: f64 = 1e-9;

/// The instance of a workload.
pub fn workload_instance(workload: &Workload, sources: &Path, sizes: Sizes) -> Result<Instance> {
    let name = &workload.name;
    let file = sources.join(name).join(name).with_extension("cot");
    let source = std::fs::read_to_string(&file).with_context(|| format!("reading {}", file.display()))?;
    let args = inputs::arguments(workload, sizes)?;
    let mut sizes: Vec<(&str, usize)> = Vec::new();
    for parameter in &workload.differentiated {
        let value = args.get(parameter).with_context(|| format!("{name}: `{parameter}` is no input"))?;
        sizes.push((parameter, value.floats().len()));
    }
    let blocks = Block::in_order(&sizes);
    Ok(Instance {
        objective: format!("workloads.{name}"),
        name: name.clone(),
        file: format!("benches/workloads/{name}/{name}.cot"),
        source,
        function: Request::function(name),
        gradient: Some(Request::function(format!("{name}_gradient"))),
        blocks,
        args,
        tolerance: Tolerance { value: CLOSE, entries: CLOSE, has_result: false },
    })
}

/// What workloads are measured with, beside the compiler.
#[derive(Clone, Copy, Debug)]
pub struct Surroundings<'a> {
    /// Their sources.
    pub cpp: &'a Cpp,
    /// The frameworks that are there.
    pub peers: Option<&'a Peers>,
    /// What the machine can do, for profiles, where that is known.
    pub peak: Option<Peak>,
}

/// Times a workload in turns with its C++ and with the peers that are there, and profiles its gradient.
pub fn measure_workload(
    compiler: &Compiler,
    workload: &Workload,
    around: Surroundings<'_>,
    settings: Settings,
) -> Result<WorkloadFigures> {
    let Surroundings { cpp, peers, peak } = around;
    let instance = workload_instance(workload, &cpp.sources, Sizes::Timed)?;
    let compiled = CompileTimes::measure(&instance, &cpp.built)?;
    let mut by_hand = by_hand::start(&instance, cpp)?;
    let mut others = peers.map(|peers| peers.start(&instance)).unwrap_or_default();
    let mut run_others = |turn: &Turn<'_>| {
        by_hand.turn(turn);
        others.iter_mut().for_each(|peer| peer.turn(turn));
        Ok(())
    };
    let (measured, _): (Measured, _) = measure_beside(compiler, &instance, settings, &mut run_others)?;
    let peers = others.into_iter().map(crate::Peer::finish).collect();
    let profile = profile(compiler, &instance, Duration::ZERO, peak)?;
    let by_hand = by_hand.finish();
    Ok(WorkloadFigures { workload: workload.clone(), measured, by_hand, peers, compiled, profile })
}
