//! The table of the benchmark command.

use cotan_bench::{Measured, PeerFigures, Recorded, Timed};
use serde::Serialize;

/// What is printed of an instance.
#[derive(Serialize)]
pub(crate) struct Row {
    #[serde(flatten)]
    pub(crate) measured: Measured,
    #[serde(flatten)]
    pub(crate) comparison: Option<Comparison>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) peers: Vec<PeerFigures>,
}

/// An instance as it was measured.
pub(crate) struct Compared {
    pub(crate) measured: Measured,
    /// The derivative entries.
    pub(crate) entries: Vec<f64>,
    pub(crate) mark: Option<MarkTimes>,
    pub(crate) peers: Vec<PeerFigures>,
}

/// The mark of an instance, as recorded and as met here.
pub(crate) struct MarkTimes {
    pub(crate) recorded: Recorded,
    /// None where only a figure is recorded.
    pub(crate) timed: Option<Timed>,
    /// The largest error of our derivative entries, relative to the largest entry of the mark's in their block.
    pub(crate) error: Option<f64>,
}

impl MarkTimes {
    /// How much longer the mark takes here than where it was recorded.
    fn scale(&self) -> Option<f64> {
        self.timed.map(|timed| timed.grad_min / self.recorded.mark)
    }
}

/// A gradient beside its mark and beside the best tool that differentiates; times in seconds.
#[derive(Serialize)]
pub(crate) struct Comparison {
    /// The gradient by hand: measured now, or recorded and scaled to this machine.
    mark: f64,
    /// The objective by hand, where it was measured.
    mark_objective: Option<f64>,
    mark_error: Option<f64>,
    /// The gradient by the best tool, scaled to this machine.
    best_tool: f64,
    /// Our gradient in marks.
    to_mark: f64,
    /// The best tool's gradient in ours.
    faster: f64,
}

/// What is printed of instances and of their marks. A mark that is only recorded is scaled as the others are in the mean.
pub(crate) fn rows(all: Vec<Compared>) -> Vec<Row> {
    let machine = mean(all.iter().filter_map(|compared| compared.mark.as_ref()?.scale()));
    let compare = |measured: &Measured, times: MarkTimes| {
        let scale = times.scale().unwrap_or(machine);
        let (mark, best_tool) = (scale * times.recorded.mark, scale * times.recorded.best_tool);
        let gradient = measured.grad_min.unwrap_or(f64::NAN);
        Comparison {
            mark,
            mark_objective: times.timed.map(|timed| timed.obj_min),
            mark_error: times.error,
            best_tool,
            to_mark: gradient / mark,
            faster: best_tool / gradient,
        }
    };
    let row = |Compared { measured, mark, peers, .. }: Compared| {
        let comparison = mark.map(|times| compare(&measured, times));
        Row { measured, comparison, peers }
    };
    all.into_iter().map(row).collect()
}

/// The lines of the table, of the means where there are marks, and of what peers said of themselves.
pub(crate) fn table(rows: &[Row]) -> Vec<String> {
    let has_marks = rows.iter().any(|row| row.comparison.is_some());
    let mut head = format!(
        "{:<12} {:<22} {:>7} {:>22} {:>9} {:>11} {:>11} {:>11} {:>7}",
        "objective", "instance", "backend", "value", "entries", "compile", "objective", "gradient", "ratio"
    );
    if has_marks {
        head += &format!(" {:>11} {:>7} {:>9} {:>11} {:>7}", "mark", "to mark", "error", "best tool", "faster");
    }
    // Every row has the same peers, in the same order.
    let peers = rows.first().map(|row| row.peers.as_slice()).unwrap_or_default();
    for peer in peers {
        head += &format!(" {:>11} {:>7}", peer.peer, "faster");
    }
    let mut lines = vec![head];
    for Row { measured: r, comparison, peers } in rows {
        let gradient = r.grad_min.unwrap_or(f64::NAN);
        let mut line = format!(
            "{:<12} {:<22} {:>7} {:>22} {:>9} {:>9.1}ms {:>9.3}ms {:>9.3}ms {:>7.2}",
            r.objective,
            r.instance,
            r.backend,
            r.value.unwrap_or(f64::NAN),
            r.entries,
            1e3 * r.compile_s,
            1e3 * r.obj_min,
            1e3 * gradient,
            gradient / r.obj_min
        );
        if let Some(c) = comparison {
            let error = c.mark_error.map_or("recorded".to_owned(), |error| format!("{error:.1e}"));
            line += &format!(
                " {:>9.3}ms {:>7.2} {error:>9} {:>9.3}ms {:>7.2}",
                1e3 * c.mark,
                c.to_mark,
                1e3 * c.best_tool,
                c.faster
            );
        }
        for peer in peers {
            line += &match peer.grad_min {
                Some(seconds) => format!(" {:>9.3}ms {:>7.2}", 1e3 * seconds, seconds / gradient),
                None => format!(" {:>11} {:>7}", "failed", "-"),
            };
        }
        lines.push(line);
    }
    if has_marks {
        let compared = || rows.iter().filter_map(|row| row.comparison.as_ref());
        lines.push(format!(
            "geometric means of {} cases: {:.2} times the mark, {:.2} times as fast as the best tool",
            compared().count(),
            mean(compared().map(|c| c.to_mark)),
            mean(compared().map(|c| c.faster))
        ));
    }
    lines.extend(rows.iter().flat_map(|row| row.peers.iter().map(|peer| remark(row, peer))));
    lines
}

/// How a peer did an instance, or why it did not.
fn remark(row: &Row, peer: &PeerFigures) -> String {
    let version = peer.version.as_ref().map(|version| format!(" {version}")).unwrap_or_default();
    let head = format!("{}{version}, {} {}", peer.peer, row.measured.objective, row.measured.instance);
    if let Some(failure) = &peer.failure {
        return format!("{head}: {failure}");
    }
    format!(
        "{head}: {}; {:.0} ms to compile, objective {:.3} ms, our entries {:.1e} away, {:.2} processors",
        peer.formulation.as_deref().unwrap_or_default(),
        1e3 * peer.compile_s.unwrap_or(f64::NAN),
        1e3 * peer.obj_min.unwrap_or(f64::NAN),
        peer.error.unwrap_or(f64::NAN),
        peer.threads.unwrap_or(f64::NAN)
    )
}

/// The geometric mean; 1 of nothing.
fn mean(all: impl Iterator<Item = f64>) -> f64 {
    let (n, sum) = all.fold((0.0, 0.0), |(n, sum), x| (n + 1.0, sum + x.ln()));
    if n == 0.0 { 1.0 } else { f64::exp(sum / n) }
}
