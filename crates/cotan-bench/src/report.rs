//! The table of the benchmark command.

use cotan_bench::{Measured, Recorded, Timed};
use serde::Serialize;

/// What is printed of an instance.
#[derive(Serialize)]
pub(crate) struct Row {
    #[serde(flatten)]
    pub(crate) measured: Measured,
    #[serde(flatten)]
    pub(crate) comparison: Option<Comparison>,
}

/// The mark of an instance, as recorded and as met here.
pub(crate) struct Met {
    pub(crate) recorded: Recorded,
    /// None where only a figure is recorded.
    pub(crate) timed: Option<Timed>,
    /// The largest error of our derivative entries, relative to the largest entry of the mark's in their block.
    pub(crate) error: Option<f64>,
}

impl Met {
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
pub(crate) fn rows(all: Vec<(Measured, Option<Met>)>) -> Vec<Row> {
    let machine = mean(all.iter().filter_map(|(_, met)| met.as_ref()?.scale()));
    let compare = |measured: &Measured, met: Met| {
        let scale = met.scale().unwrap_or(machine);
        let (mark, best_tool) = (scale * met.recorded.mark, scale * met.recorded.best_tool);
        let gradient = measured.grad_min.unwrap_or(f64::NAN);
        Comparison {
            mark,
            mark_objective: met.timed.map(|timed| timed.obj_min),
            mark_error: met.error,
            best_tool,
            to_mark: gradient / mark,
            faster: best_tool / gradient,
        }
    };
    let row = |(measured, met): (Measured, Option<Met>)| {
        let comparison = met.map(|met| compare(&measured, met));
        Row { measured, comparison }
    };
    all.into_iter().map(row).collect()
}

/// The lines of the table, and of the means where there are marks.
pub(crate) fn table(rows: &[Row]) -> Vec<String> {
    let has_marks = rows.iter().any(|row| row.comparison.is_some());
    let mut head = format!(
        "{:<12} {:<22} {:>7} {:>22} {:>9} {:>11} {:>11} {:>11} {:>7}",
        "objective", "instance", "backend", "value", "entries", "compile", "objective", "gradient", "ratio"
    );
    if has_marks {
        head += &format!(" {:>11} {:>7} {:>9} {:>11} {:>7}", "mark", "to mark", "error", "best tool", "faster");
    }
    let mut lines = vec![head];
    for Row { measured: r, comparison } in rows {
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
    lines
}

/// The geometric mean; 1 of nothing.
fn mean(all: impl Iterator<Item = f64>) -> f64 {
    let (n, sum) = all.fold((0.0, 0.0), |(n, sum), x| (n + 1.0, sum + x.ln()));
    if n == 0.0 { 1.0 } else { f64::exp(sum / n) }
}
