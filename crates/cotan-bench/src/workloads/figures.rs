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
    pub profile: Profile,
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
        let profile = &row.profile;
        let mut nests: Vec<&NestFigures> =
            profile.nests.iter().filter(|nest| nest.seconds >= LARGE * profile.seconds).collect();
        nests.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
        let share = |nest: &&NestFigures| format!("{:.0}% {}", 100.0 * nest.seconds / profile.seconds, nest.nest);
        let shares: Vec<String> = nests.iter().take(SLOWEST).map(share).collect();
        format!("{:<14} {:>8.3}ms  {}", row.workload.name, 1e3 * profile.seconds, shares.join("; "))
    };
    rows.iter().map(line).collect()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workloads::workloads;

    fn peer(name: &'static str, times: Option<(f64, f64)>) -> PeerFigures {
        PeerFigures {
            peer: name,
            version: None,
            formulation: None,
            compile_s: None,
            error: None,
            obj_min: times.map(|(value, _)| value),
            obj_med: None,
            grad_min: times.map(|(_, gradient)| gradient),
            grad_med: None,
            samples: 1,
            threads: None,
            checksum: 0.0,
            failure: times.is_none().then(|| "died".to_owned()),
        }
    }

    /// A workload whose value takes a millisecond, and whose gradient takes so many.
    fn row(gradient: f64, peers: Vec<PeerFigures>) -> WorkloadFigures {
        let workload = workloads().expect("a manifest").swap_remove(0);
        let measured = Measured {
            objective: String::new(),
            instance: String::new(),
            backend: "cpu",
            threads: 1,
            value: None,
            entries: 1,
            norm2: 1.0,
            compile_s: 1.0,
            versions: Vec::new(),
            first_call_s: 1.0,
            obj_min: 1e-3,
            obj_med: 1e-3,
            grad_min: Some(1e-3 * gradient),
            grad_med: None,
            samples: 1,
            checksum: 0.0,
            allocations_per_call: None,
            peak_mib: None,
            peak_bytes: None,
            record_bytes: None,
            predicted_written_bytes: 0,
            predicted_record_bytes: 0,
            obj_code_min: None,
            obj_code_med: None,
            grad_code_min: None,
            grad_code_med: None,
            device: None,
        };
        let nest = |name: &str, seconds: f64| NestFigures {
            nest: name.to_owned(),
            seconds,
            flops: 0,
            bytes: 0,
            of_flops: None,
            of_bytes: None,
        };
        let nests = vec![nest("for i", 2e-3), nest("for j", 1e-4), nest("for k", 7e-3)];
        let (objective, instance) = (String::new(), String::new());
        let profile = Profile { objective, instance, peak: None, seconds: 1e-2, nests };
        let compiled = CompileTimes { first_s: 0.1, cached_s: 0.01 };
        WorkloadFigures { workload, measured, by_hand: peer("C++", Some((5e-4, 2e-3))), peers, compiled, profile }
    }

    #[test]
    fn ratios_are_to_the_best_tool_and_means_are_geometric() {
        let tools = vec![peer("one", Some((4e-3, 8e-3))), peer("other", Some((2e-3, 9e-3))), peer("third", None)];
        let found = row(4.0, tools.clone()).ratios();
        assert_eq!(
            (found.value_by_hand, found.gradient_by_hand, found.gradient_value),
            (Some(2.0), Some(2.0), Some(4.0))
        );
        assert_eq!((found.value_tool, found.gradient_tool), (Some(0.5), Some(0.5)));
        let found = means(&[row(4.0, tools.clone()), row(16.0, tools)]);
        assert!((found.gradient_by_hand.expect("a mean") - 4.0).abs() < 1e-12, "{found:?}");
        assert_eq!(means(&[row(4.0, Vec::new())]).value_tool, None);
    }

    #[test]
    fn failures_are_below_the_table_and_leave_no_time() {
        let lines = workload_table(&[row(4.0, vec![peer("jax", None)])]);
        assert_eq!(lines.len(), 4, "{lines:?}");
        let name = &row(1.0, Vec::new()).workload.name;
        let expected = "1.000ms    4.000ms    0.500ms    2.000ms          -          -    2.00    2.00       -       -";
        assert!(lines[1].starts_with(name.as_str()) && lines[1].contains(expected), "{lines:?}");
        assert_eq!(lines[3], format!("jax {name}: died"));
    }

    #[test]
    fn the_slowest_nests_come_first_and_small_ones_are_left_out() {
        let lines = slowest_nests(&[row(4.0, Vec::new())]);
        assert_eq!(lines.len(), 1);
        assert!(lines[0].ends_with("  10.000ms  70% for k; 20% for i"), "{lines:?}");
    }
}
