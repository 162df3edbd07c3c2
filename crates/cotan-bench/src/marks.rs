//! Marks: hand-written C++ with the same meaning, timed in turn with ours, and the recorded figures of other tools.
//!
//! Machines differ and are shared, so a figure recorded elsewhere is scaled by the mark: what the best tool would take
//! here is its figure times the mark measured now over the mark recorded beside it.

use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// The recorded figures, `benches/reference/marks.tsv`.
const TABLE: &str = include_str!("../../../benches/reference/marks.tsv");

/// The programs of marks, with what their compiler is told beside [`FLAGS`].
const PROGRAMS: [(&str, &[&str]); 2] = [
    ("limit", &["-ffast-math"]),
    // The SLP vectoriser of some compilers changes the digits of the steps of Runge-Kutta.
    ("micro", &["-fno-tree-slp-vectorize"]),
];

const FLAGS: [&str; 3] = ["-O3", "-march=native", "-std=c++17"];

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
    /// Builds the sources in `benches/reference` into a folder, with the C++ compiler that `CXX` names or `c++`.
    pub fn build(sources: &Path, folder: &Path) -> Result<Marks> {
        std::fs::create_dir_all(folder).with_context(|| format!("making {}", folder.display()))?;
        let compiler = std::env::var_os("CXX").unwrap_or_else(|| "c++".into());
        for (name, flags) in PROGRAMS {
            let mut command = Command::new(&compiler);
            command
                .args(FLAGS)
                .args(flags)
                .arg("-o")
                .arg(folder.join(name))
                .arg(sources.join(name).with_extension("cpp"));
            if cfg!(all(target_arch = "x86_64", target_os = "linux")) {
                // Vectors as wide as the machine's, and the vector versions of the C library's functions.
                command.args(["-mprefer-vector-width=512", "-lmvec"]);
            }
            let out = command
                .output()
                .with_context(|| format!("running {}: is there a C++ compiler?", compiler.display()))?;
            if !out.status.success() {
                bail!("{} does not compile {name}: {}", compiler.display(), String::from_utf8_lossy(&out.stderr));
            }
        }
        Ok(Marks { folder: folder.to_owned() })
    }

    /// Times the mark of an instance on its input. `None` where only a figure is recorded.
    pub fn time(
        &self,
        of: &Recorded,
        input: Option<&Path>,
        objective: &str,
        budget: Duration,
    ) -> Result<Option<Timed>> {
        let Some((program, variant)) = &of.program else { return Ok(None) };
        let mut command = Command::new(self.folder.join(program));
        command.args([variant, objective, &of.instance]);
        // The loops take two inputs less than nothing: they make their own.
        command.arg(input.unwrap_or(Path::new("-"))).args(["-", "-", &budget.as_secs_f64().to_string()]);
        let out = command.output().with_context(|| format!("running the mark {program}"))?;
        if !out.status.success() {
            bail!("the mark {program} of {} failed: {}", of.instance, String::from_utf8_lossy(&out.stderr));
        }
        Timed::read(&out.stdout).map(Some).with_context(|| format!("the mark {program} of {}", of.instance))
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
