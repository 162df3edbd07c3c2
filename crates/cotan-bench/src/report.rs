//! The table of the benchmark command.

use anyhow::{Result, bail};
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

/// A gradient beside its mark and beside the best tool that differentiates; times in seconds.
#[derive(Serialize)]
pub(crate) struct Comparison {
    /// The mark, measured now; none where only a figure is recorded.
    mark: Option<f64>,
    recorded_mark: f64,
    recorded_best_tool: f64,
}

/// Values of the same objective agree so far.
const TOLERANCE: f64 = 1e-8;

impl Comparison {
    pub(crate) fn new(recorded: &Recorded, timed: Option<Timed>, measured: &Measured) -> Result<Comparison> {
        if let (Some(mark), Some(value), Some(true)) = (timed, measured.value, timed.map(|t| t.value.is_finite()))
            && (mark.value - value).abs() > TOLERANCE * value.abs().max(1.0)
        {
            bail!("the mark gives {}, the program {value}", mark.value);
        }
        let mark = timed.map(|t| t.grad_min);
        Ok(Comparison { mark, recorded_mark: recorded.mark, recorded_best_tool: recorded.best_tool })
    }

    /// What a time recorded beside the mark would be here and now; `machine` stands in where the mark is only recorded.
    fn scale(&self, machine: f64) -> f64 {
        self.mark.map_or(machine, |mark| mark / self.recorded_mark)
    }
}

/// The lines of the table, and of the means where there are marks.
pub(crate) fn table(rows: &[Row]) -> Vec<String> {
    let machine = mean(
        rows.iter().filter_map(|row| Some(row.comparison.as_ref()?.mark? / row.comparison.as_ref()?.recorded_mark)),
    );
    let has_marks = rows.iter().any(|row| row.comparison.is_some());
    let mut head = format!(
        "{:<12} {:<22} {:>7} {:>22} {:>9} {:>11} {:>11} {:>11} {:>7}",
        "objective", "instance", "backend", "value", "entries", "compile", "objective", "gradient", "ratio"
    );
    if has_marks {
        head += &format!(" {:>11} {:>7} {:>11} {:>7}", "mark", "to mark", "best tool", "faster");
    }
    let mut lines = vec![head];
    let mut ratios = Vec::new();
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
            let scale = c.scale(machine);
            let (mark, tool) = (scale * c.recorded_mark, scale * c.recorded_best_tool);
            line += &format!(
                " {:>9.3}ms {:>7.2} {:>9.3}ms {:>7.2}",
                1e3 * mark,
                gradient / mark,
                1e3 * tool,
                tool / gradient
            );
            ratios.push((gradient / mark, tool / gradient));
        }
        lines.push(line);
    }
    if !ratios.is_empty() {
        let (to_mark, faster) = (mean(ratios.iter().map(|r| r.0)), mean(ratios.iter().map(|r| r.1)));
        lines.push(format!(
            "geometric means of {} cases: {to_mark:.2} times the mark, {faster:.2} times as fast as the best tool",
            ratios.len()
        ));
    }
    lines
}

/// The geometric mean; 1 of nothing.
fn mean(all: impl Iterator<Item = f64>) -> f64 {
    let (n, sum) = all.fold((0.0, 0.0), |(n, sum), x| (n + 1.0, sum + x.ln()));
    if n == 0.0 { 1.0 } else { f64::exp(sum / n) }
}
