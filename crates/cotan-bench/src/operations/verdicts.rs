//! Verdicts on operations as they were measured: ours beside the better peer, and beside what the machine can do.

use super::{Operation, Work};
use crate::{Measured, Peak, PeerFigures};
use cotan::host::Elem;
use serde::Serialize;

/// Which of the two functions of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// The operation alone.
    Forward,
    /// The value of the weighted sum of its result, and the gradient.
    Gradient,
}

/// One line of the report; times in seconds, of the code alone where an engine tells them.
#[derive(Clone, Debug, Serialize)]
pub struct JudgedOperation {
    /// The name of the operation.
    pub operation: &'static str,
    /// The extents of its first argument.
    pub size: String,
    /// `f32` or `f64`.
    pub elem: String,
    /// Forward or gradient.
    pub form: Form,
    /// Our shortest time.
    pub ours: f64,
    /// Our median time.
    pub ours_med: f64,
    /// The shortest time of a whole call, which brings elements of f32 into the layout of the code and back.
    pub ours_call: f64,
    /// The peers' times, in the order in which they are asked.
    pub peers: Vec<PeerTime>,
    /// Our shortest time over that of the better peer.
    pub ratio: Option<f64>,
    /// The same of medians.
    pub ratio_med: Option<f64>,
    /// What the ratio may be.
    pub bar: f64,
    /// Whether it is at most that; false without a peer.
    pub holds: bool,
    /// The least bytes and operations there are.
    pub bytes: f64,
    /// See `bytes`.
    pub flops: f64,
    /// The least time of those on one core, as a part of ours.
    pub of_limit: Option<f64>,
    /// Whether that least time is one of memory.
    pub is_bound_by_memory: Option<bool>,
}

/// A peer's times, or why there are none.
#[derive(Clone, Debug, Serialize)]
pub struct PeerTime {
    /// Its name.
    pub peer: &'static str,
    /// Its shortest time.
    pub min: Option<f64>,
    /// Its median time.
    pub med: Option<f64>,
    /// How far our result and entries are from its own.
    pub error: Option<f64>,
    /// Why it has no times.
    pub failure: Option<String>,
}

/// Both forms of an operation as measured. Without the peak of the machine there is no limit.
pub fn judge(
    operation: &Operation,
    measured: &Measured,
    peers: &[PeerFigures],
    peak: Option<Peak>,
) -> [JudgedOperation; 2] {
    let m = measured;
    let forward = [m.obj_code_min.unwrap_or(m.obj_min), m.obj_code_med.unwrap_or(m.obj_med), m.obj_min];
    let whole = (m.grad_min.unwrap_or(f64::NAN), m.grad_med.unwrap_or(f64::NAN));
    let gradient = [m.grad_code_min.unwrap_or(whole.0), m.grad_code_med.unwrap_or(whole.1), whole.0];
    [line(operation, Form::Forward, forward, peers, peak), line(operation, Form::Gradient, gradient, peers, peak)]
}

fn line(
    operation: &Operation,
    form: Form,
    [ours, ours_med, ours_call]: [f64; 3],
    peers: &[PeerFigures],
    peak: Option<Peak>,
) -> JudgedOperation {
    let of_peer = |peer: &PeerFigures| {
        let (min, med) = match form {
            Form::Forward => (peer.obj_min, peer.obj_med),
            Form::Gradient => (peer.grad_min, peer.grad_med),
        };
        PeerTime { peer: peer.peer, min, med, error: peer.error, failure: peer.failure.clone() }
    };
    let peers: Vec<PeerTime> = peers.iter().map(of_peer).collect();
    let better = |time: fn(&PeerTime) -> Option<f64>| peers.iter().filter_map(time).min_by(f64::total_cmp);
    let ratio = better(|peer| peer.min).map(|least| ours / least);
    let ratio_med = better(|peer| peer.med).map(|least| ours_med / least);
    let Work { bytes, flops } = match form {
        Form::Forward => operation.forward,
        Form::Gradient => operation.gradient,
    };
    // A register holds twice as many f32.
    let lanes = if operation.elem == Elem::F32 { 2.0 } else { 1.0 };
    let least = peak.map(|peak| (bytes / peak.bytes, flops / (lanes * peak.flops)));
    JudgedOperation {
        operation: operation.name,
        size: operation.size.clone(),
        elem: operation.elem.to_string(),
        form,
        ours,
        ours_med,
        ours_call,
        ratio,
        ratio_med,
        bar: operation.bar,
        holds: ratio.is_some_and(|ratio| ratio <= operation.bar),
        bytes,
        flops,
        of_limit: least.map(|(memory, arithmetic)| memory.max(arithmetic) / ours),
        is_bound_by_memory: least.map(|(memory, arithmetic)| memory >= arithmetic),
        peers,
    }
}

/// The lines of a table, and of what peers said of themselves where they failed.
pub fn operation_table(rows: &[JudgedOperation]) -> Vec<String> {
    let mut head =
        format!("{:<13} {:<14} {:<4} {:<8} {:>11} {:>11}", "operation", "size", "type", "form", "ours", "call");
    for peer in rows.first().map(|row| row.peers.as_slice()).unwrap_or_default() {
        head += &format!(" {:>11}", peer.peer);
    }
    head += &format!(" {:>6} {:>6} {:>4} {:>5} {:>16}", "ratio", "median", "bar", "holds", "of the limit");
    let mut lines = vec![head];
    for row in rows {
        let form = match row.form {
            Form::Forward => "forward",
            Form::Gradient => "gradient",
        };
        let mut line = format!(
            "{:<13} {:<14} {:<4} {form:<8} {:>9.3}ms {:>9.3}ms",
            row.operation,
            row.size,
            row.elem,
            1e3 * row.ours,
            1e3 * row.ours_call
        );
        for peer in &row.peers {
            line += &peer.min.map_or_else(|| format!(" {:>11}", "failed"), |min| format!(" {:>9.3}ms", 1e3 * min));
        }
        let ratio = |ratio: Option<f64>| ratio.map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.2}"));
        line += &format!(" {:>6} {:>6} {:>4.1}", ratio(row.ratio), ratio(row.ratio_med), row.bar);
        line += &format!(" {:>5}", if row.holds { "yes" } else { "no" });
        if let (Some(part), Some(is_memory)) = (row.of_limit, row.is_bound_by_memory) {
            line += &format!(" {:>5.1}% {:<9}", 100.0 * part, if is_memory { "of memory" } else { "of flops" });
        }
        lines.push(line.trim_end().to_owned());
    }
    for row in rows.iter().filter(|row| row.form == Form::Forward) {
        for peer in &row.peers {
            if let Some(failure) = &peer.failure {
                lines.push(format!("{} {} {}: {failure}", peer.peer, row.operation, row.elem));
            }
        }
    }
    let n_held = rows.iter().filter(|row| row.holds).count();
    lines.push(format!("{n_held} of {} rows hold", rows.len()));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operations::operation;

    fn peer(name: &'static str, min: Option<f64>) -> PeerFigures {
        PeerFigures {
            peer: name,
            version: None,
            formulation: None,
            compile_s: None,
            error: None,
            obj_min: min,
            obj_med: min.map(|s| 2.0 * s),
            grad_min: None,
            grad_med: None,
            samples: 1,
            threads: None,
            checksum: 0.0,
            failure: min.is_none().then(|| "died".to_owned()),
        }
    }

    #[test]
    fn the_better_peer_and_the_slower_limit_count() {
        let solve = operation("solve_4", Elem::F32).expect("a row");
        let peak = Peak { flops: 1e9, bytes: 1e9 };
        let peers = [peer("one", Some(4e-3)), peer("other", Some(2e-3)), peer("third", None)];
        let found = line(&solve, Form::Forward, [2e-3, 3e-3, 5e-3], &peers, Some(peak));
        assert_eq!((found.ratio, found.ratio_med, found.holds), (Some(1.0), Some(0.75), true));
        // 960,000 bytes take 0.96 ms; the operations take less.
        assert_eq!(found.is_bound_by_memory, Some(true));
        assert_eq!(found.of_limit, Some(0.48));
        let found = line(&solve, Form::Gradient, [2e-3, 3e-3, 5e-3], &peers, None);
        assert_eq!((found.ratio, found.holds, found.of_limit), (None, false, None));
    }
}
