//! The command `workloads`: which of them are run, and what is printed.

use crate::baselines::{Wanted, benches, environment, folder, reference};
use anyhow::{Context, Result, bail};
use cotan::Compiler;
use cotan_bench::{
    Cpp, Peers, Settings, Sizes, Surroundings, Workload, WorkloadFigures, measure_peak, measure_workload,
    slowest_nests, workload_instance, workload_table, workloads,
};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Where the sources of workloads are.
fn sources() -> PathBuf {
    benches().join("workloads")
}

/// The workloads of these names, or all: those that are held out, or the others.
pub(crate) fn chosen(names: &[String], held_out: bool) -> Result<Vec<Workload>> {
    let mut all = workloads()?;
    for name in names {
        match all.iter().find(|workload| workload.name == *name) {
            None => bail!("there is no workload `{name}`"),
            Some(workload) if workload.is_held_out && !held_out => bail!("`{name}` is held out: --held-out runs it"),
            Some(workload) if !workload.is_held_out && held_out => bail!("`{name}` is not held out"),
            Some(_) => {}
        }
    }
    all.retain(|workload| workload.is_held_out == held_out && (names.is_empty() || names.contains(&workload.name)));
    Ok(all)
}

/// The instance of a workload as it is timed.
pub(crate) fn instance(workload: &Workload) -> Result<cotan_bench::Instance> {
    workload_instance(workload, &sources(), Sizes::Timed)
}

/// Times workloads beside C++ and the peers; `see` gets each as soon as it is measured. What does not agree with C++ is an
/// error, when everything is printed.
pub(crate) fn run(
    compiler: &Compiler,
    all: &[Workload],
    wanted: Wanted,
    settings: Settings,
    see: &mut dyn FnMut(&WorkloadFigures) -> Result<()>,
) -> Result<Vec<WorkloadFigures>> {
    let found = wanted.peers.then(|| Peers::find(&environment()?, &benches().join("peers"), wanted.instructions));
    let peers = match found {
        None => None,
        Some(Ok(peers)) => {
            peers.missing_in("workloads").iter().for_each(|line| crate::complain(line));
            Some(peers)
        }
        Some(Err(error)) => {
            crate::complain(&format!("{error:#}"));
            None
        }
    };
    let cpp = Cpp { sources: sources(), built: folder()?.join("workloads"), instructions: wanted.instructions };
    let peak = measure_peak(&reference(wanted.instructions)?);
    if let Err(error) = &peak {
        crate::complain(&format!("no shares of the peak: {error:#}"));
    }
    let around = Surroundings { cpp: &cpp, peers: peers.as_ref(), peak: peak.ok() };
    let mut rows = Vec::new();
    for workload in all {
        let row = measure_workload(compiler, workload, around, settings);
        let row = row.with_context(|| workload.name.clone())?;
        see(&row)?;
        rows.push(row);
    }
    Ok(rows)
}

/// The lines of the table, and which peers were there.
pub(crate) fn table(rows: &[WorkloadFigures]) -> Vec<String> {
    let mut lines = workload_table(rows);
    lines.extend(slowest_nests(rows));
    let peers = rows.iter().flat_map(|row| &row.peers);
    let named = peers.filter_map(|peer| Some(format!("{} {}", peer.peer, peer.version.as_ref()?)));
    let versions: BTreeSet<String> = named.collect();
    let versions: Vec<String> = versions.into_iter().collect();
    lines.push(if versions.is_empty() {
        "no tool was there".to_owned()
    } else {
        format!("tools: {}", versions.join(", "))
    });
    lines
}

/// An error that names what does not agree with C++.
pub(crate) fn agreement(rows: &[WorkloadFigures]) -> Result<()> {
    let wrong: Vec<&str> =
        rows.iter().filter(|row| row.by_hand.failure.is_some()).map(|row| row.workload.name.as_str()).collect();
    if wrong.is_empty() { Ok(()) } else { bail!("C++ failed or does not agree: {}", wrong.join(", ")) }
}
