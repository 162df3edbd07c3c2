//! The table of workloads: times beside hand-written C++ and the best tool, and the means of their ratios.

use super::{CompileTimes, Workload};
use crate::{Measured, NestFigures, PeerFigures, Profile};
use serde::Serialize;

/// What was measured of a workload.
#[derive(Clone, Debug, Serialize)]
pub struct WorkloadFigures {
    /// Its row of the manifest.
    pub workload: Workload,
    /// Ours.
    pub measured: Measured,
    /// Hand-written C++.
    pub by_hand: PeerFigures,
    /// Frameworks that differentiate.
    pub peers: Vec<PeerFigures>,
    /// How long it took to compile.
    pub compiled: CompileTimes,
    /// Where the time of the gradient goes.
    pub profile: Option<Profile>,
}

/// Ours over theirs, both the shortest times; what was not measured is `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct WorkloadRatios {
    /// Value over C++.
    pub value_by_hand: Option<f64>,
    /// Gradient over C++.
    pub gradient_by_hand: Option<f64>,
    /// Value over the best tool.
    pub value_tool: Option<f64>,
    /// Gradient over the best tool.
    pub gradient_tool: Option<f64>,
    /// Gradient over value.
    pub gradient_value: Option<f64>,
}

impl WorkloadFigures {
    /// Ours over theirs.
    pub fn ratios(&self) -> WorkloadRatios {
        let (value, gradient) = (self.measured.obj_min, self.measured.grad_min);
        let over = |ours: Option<f64>, theirs: Option<f64>| Some(ours? / theirs?);
        let best = |time: fn(&PeerFigures) -> Option<f64>| self.peers.iter().filter_map(time).min_by(f64::total_cmp);
        WorkloadRatios {
            value_by_hand: over(Some(value), self.by_hand.obj_min),
            gradient_by_hand: over(gradient, self.by_hand.grad_min),
            value_tool: over(Some(value), best(|peer| peer.obj_min)),
            gradient_tool: over(gradient, best(|peer| peer.grad_min)),
            gradient_value: over(gradient, Some(value)),
        }
    }

    /// What went wrong with C++, which is an error, and with the peers.
    pub fn failures(&self) -> impl Iterator<Item = String> {
        let all = std::iter::once(&self.by_hand).chain(&self.peers);
        all.filter_map(|peer| Some(format!("{} {}: {}", peer.peer, self.workload.name, peer.failure.as_ref()?)))
    }
}

/// How many nests of a gradient are named.
const SLOWEST: usize = 3;
/// A nest is named if it takes this part of the time.
const LARGE: f64 = 0.1;

/// A line for each workload: the nests that take the most of its gradient's time.
pub fn slowest_nests(rows: &[WorkloadFigures]) -> Vec<String> {
    let line = |row: &WorkloadFigures| {
        let profile = row.profile.as_ref()?;
        let mut nests: Vec<&NestFigures> =
            profile.nests.iter().filter(|nest| nest.seconds >= LARGE * profile.seconds).collect();
        nests.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
        let share = |nest: &&NestFigures| format!("{:.0}% {}", 100.0 * nest.seconds / profile.seconds, nest.nest);
        let shares: Vec<String> = nests.iter().take(SLOWEST).map(share).collect();
        Some(format!("{:<14} {:>8.3}ms  {}", row.workload.name, 1e3 * profile.seconds, shares.join("; ")))
    };
    rows.iter().filter_map(line).collect()
}

/// The lines of the table, of its means, and of what failed.
pub fn workload_table(rows: &[WorkloadFigures]) -> Vec<String> {
    let peers = rows.first().map(|row| row.peers.as_slice()).unwrap_or_default();
    let mut head = format!("{:<14} {:>10} {:>10} {:>10} {:>10}", "workload", "value", "gradient", "C++ v", "C++ g");
    for peer in peers {
        head += &format!(" {:>10} {:>10}", format!("{} v", peer.peer), format!("{} g", peer.peer));
    }
    head += &format!(" {:>7} {:>7} {:>7} {:>7} {:>7}", "v/C++", "g/C++", "v/tool", "g/tool", "g/v");
    head += &format!(" {:>8} {:>8}", "compile", "cached");
    let mut lines = vec![head];
    for row in rows {
        let mut line = format!("{:<14}", row.workload.name);
        let ours = [Some(row.measured.obj_min), row.measured.grad_min];
        let all = std::iter::once(&row.by_hand).chain(&row.peers).flat_map(|peer| [peer.obj_min, peer.grad_min]);
        for time in ours.into_iter().chain(all) {
            line += &time.map_or_else(|| format!(" {:>10}", "-"), |s| format!(" {:>8.3}ms", 1e3 * s));
        }
        line += &of_ratios(row.ratios());
        line += &format!(" {:>6.0}ms {:>6.1}ms", 1e3 * row.compiled.first_s, 1e3 * row.compiled.cached_s);
        lines.push(line);
    }
    let width = 14 + 11 * (4 + 2 * peers.len());
    lines.push(format!("{:<width$}{}", "geometric means", of_ratios(means(rows))));
    lines.extend(rows.iter().flat_map(WorkloadFigures::failures));
    lines
}

fn of_ratios(r: WorkloadRatios) -> String {
    let all = [r.value_by_hand, r.gradient_by_hand, r.value_tool, r.gradient_tool, r.gradient_value];
    all.map(|ratio| ratio.map_or_else(|| format!(" {:>7}", "-"), |ratio| format!(" {ratio:>7.2}"))).concat()
}

/// The geometric mean of each ratio over the rows that have it.
fn means(rows: &[WorkloadFigures]) -> WorkloadRatios {
    let mean = |ratio: fn(WorkloadRatios) -> Option<f64>| {
        let logarithms: Vec<f64> = rows.iter().filter_map(|row| ratio(row.ratios())).map(f64::ln).collect();
        let n = logarithms.len() as f64;
        (!logarithms.is_empty()).then(|| f64::exp(logarithms.iter().sum::<f64>() / n))
    };
    WorkloadRatios {
        value_by_hand: mean(|r| r.value_by_hand),
        gradient_by_hand: mean(|r| r.gradient_by_hand),
        value_tool: mean(|r| r.value_tool),
        gradient_tool: mean(|r| r.gradient_tool),
        gradient_value: mean(|r| r.gradient_value),
    }
}
