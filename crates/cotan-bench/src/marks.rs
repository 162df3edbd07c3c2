//! Marks: hand-written C++ with the same meaning, timed in turn with ours, and the recorded figures of other tools.
//!
//! Machines differ and are shared, so a figure recorded elsewhere is scaled by the mark: what the best tool would take
//! here is its figure times the mark measured now over the mark recorded beside it.

use crate::cpp::{Cpp, VECTOR_MATHS};
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// The recorded figures, `benches/reference/marks.tsv`.
const TABLE: &str = include_str!("../../../benches/reference/marks.tsv");

/// The programs of marks, with what their compiler is told beside what it is told of all.
const PROGRAMS: [(&str, &[&str]); 2] = [
    ("limit", &[VECTOR_MATHS]),
    // The SLP vectoriser of some compilers changes the digits of the steps of Runge-Kutta.
    ("micro", &["-fno-tree-slp-vectorize"]),
];

/// What is recorded of one instance; times in seconds.
#[derive(Clone, Debug, PartialEq)]
pub struct Recorded {
    /// The instance, as [`crate::Instance`] names it.
    pub instance: String,
    /// The gradient by the best tool that differentiates.
    pub best_tool: f64,
    /// The gradient written by hand.
    pub mark: f64,
    /// The program of the mark and which of its variants; none where only the figure is left.
    program: Option<(String, String)>,
}

/// Every row of the table.
pub fn recorded() -> Result<Vec<Recorded>> {
    TABLE.lines().filter(|line| !line.starts_with('#')).map(row).collect()
}

fn row(line: &str) -> Result<Recorded> {
    let fields: Vec<&str> = line.split('\t').collect();
    let [_, instance, best_tool, mark, program, variant] = fields[..] else { bail!("{line:?}: expected six columns") };
    let seconds = |text: &str| text.parse::<f64>().map(|ms| 1e-3 * ms).with_context(|| format!("{text:?}"));
    let program = (program != "recorded").then(|| (program.to_owned(), variant.to_owned()));
    Ok(Recorded { instance: instance.to_owned(), best_tool: seconds(best_tool)?, mark: seconds(mark)?, program })
}

/// The built programs of marks.
#[derive(Debug)]
pub struct Marks {
    folder: PathBuf,
}

impl Marks {
    /// Builds the sources in `benches/reference`.
    pub fn build(cpp: &Cpp) -> Result<Marks> {
        for (name, flags) in PROGRAMS {
            cpp.build(name, flags)?;
        }
        Ok(Marks { folder: cpp.built.clone() })
    }

    /// The mark of an instance, if more than a figure is recorded of it. `input` is the file of the instance.
    pub fn of<'a>(&'a self, row: &'a Recorded, objective: &'a str, input: Option<&'a Path>) -> Option<Mark<'a>> {
        let (program, variant) = row.program.as_ref()?;
        Some(Mark { folder: &self.folder, program, variant, objective, instance: &row.instance, input })
    }
}

/// A built program on the input of an instance.
#[derive(Clone, Copy, Debug)]
pub struct Mark<'a> {
    folder: &'a Path,
    program: &'a str,
    variant: &'a str,
    objective: &'a str,
    instance: &'a str,
    input: Option<&'a Path>,
}

impl Mark<'_> {
    /// Times objective and gradient, each for so long.
    pub fn time(&self, budget: Duration) -> Result<Timed> {
        self.run(budget, Path::new("-"))
    }

    /// The value, and the derivative entries in the order of ours.
    pub fn entries(&self) -> Result<(f64, Vec<f64>)> {
        let path = self.folder.join(format!("entries-{}", std::process::id()));
        let value = self.run(Duration::ZERO, &path)?.value;
        let bytes = std::fs::read(&path).with_context(|| format!("reading {}", path.display()))?;
        std::fs::remove_file(&path).with_context(|| format!("removing {}", path.display()))?;
        let (entries, _) = bytes.as_chunks();
        Ok((value, entries.iter().map(|bytes| f64::from_ne_bytes(*bytes)).collect()))
    }

    fn run(&self, budget: Duration, entries: &Path) -> Result<Timed> {
        let mut command = Command::new(self.folder.join(self.program));
        command.args([self.variant, self.objective, self.instance]);
        // The loops make their own input.
        command.arg(self.input.unwrap_or(Path::new("-"))).arg("-").arg(entries).arg(budget.as_secs_f64().to_string());
        let name = || format!("the mark {} of {}", self.program, self.instance);
        let out = command.output().with_context(|| format!("running {}", name()))?;
        if !out.status.success() {
            bail!("{} failed: {}", name(), String::from_utf8_lossy(&out.stderr));
        }
        Timed::read(&out.stdout).with_context(name)
    }
}

/// What a mark says of itself; times in seconds.
#[derive(Clone, Copy, Debug, PartialEq, serde::Deserialize)]
pub struct Timed {
    /// The value of the objective.
    pub value: f64,
    /// The shortest time of the objective.
    pub obj_min: f64,
    /// The shortest time of the gradient.
    pub grad_min: f64,
}

impl Timed {
    fn read(text: &[u8]) -> Result<Timed> {
        serde_json::from_slice(text).context("expected the line of a mark")
    }

    /// The shorter times of two runs of one mark.
    #[must_use]
    pub fn best(self, other: Timed) -> Timed {
        Timed { obj_min: self.obj_min.min(other.obj_min), grad_min: self.grad_min.min(other.grad_min), ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_every_case_of_the_bar() {
        let rows = recorded().expect("a table");
        assert_eq!(rows.len(), 19);
        let newton = rows.iter().find(|row| row.instance == "n1e5").expect("a row of newton");
        assert_eq!((newton.best_tool, newton.mark), (2.83e-3, 1.14e-3));
        assert!(rows.iter().all(|row| row.mark <= row.best_tool));
        assert_eq!(rows.iter().filter(|row| row.program.is_none()).count(), 5);
    }

    #[test]
    fn a_row_of_other_columns_is_refused() {
        assert!(row("gmm\ta\t1.0").is_err());
        assert!(row("gmm\ta\tfast\t1.0\tlimit\tplain").is_err());
    }
}
