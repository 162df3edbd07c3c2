//! What is said of first programs: how many errors, what their fixes make of them, and how long `cotan check` takes.

use super::super::command::{cotan, json};
use super::super::folder::Folder;
use super::super::suites;
use super::super::{Line, Measured, Workplace};
use crate::files::{programs, tests_folder, workspace_file};
use std::path::Path;
use std::time::{Duration, Instant};

pub(super) const LINES: &[Line] = &[
    Line {
        title: "errors in twelve first drafts, untouched; after `check --fix`",
        bar: "at most 25; at most 8",
        measure: drafts,
    },
    Line {
        title: "no error of a draft goes away with another, and no fix of any test program changes a value",
        bar: "passes",
        measure: |place| suite(place, &["mistakes::drafts", "mistakes::fixes"]),
    },
    Line {
        title: "typical mistakes that fixes make what was meant, by values at three inputs; the others in one error each",
        bar: "at least 62 of 76",
        measure: mistakes,
    },
    Line { title: "`check` of 1,000 lines; of the slowest draft", bar: "at most 30 ms each", measure: check_times },
    Line { title: "`check` of 4,000 errors; of 4,000 unknown names", bar: "under 1 s each", measure: error_times },
];

const MOST_ERRORS: usize = 25;
const MOST_LEFT: usize = 8;
const LEAST_MENDED: usize = 62;
const MISTAKES: usize = 76;
const MOST_FOR_A_FILE: Duration = Duration::from_millis(30);
const MOST_FOR_ERRORS: Duration = Duration::from_secs(1);

/// How often a command is timed; the shortest time counts.
const REPEATS: usize = 7;

fn suite(place: &Workplace, filters: &[&str]) -> Result<Measured, String> {
    let args: Vec<&str> = ["--test", "all", "--"].into_iter().chain(filters.iter().copied()).collect();
    Ok(Measured::new(true, suites::tests(place, "cotan-testkit", &args, "")?))
}

/// How many errors `check --json` tells, with `--fix` or without.
fn n_errors(place: &Workplace, file: &Path, fix: &[&str]) -> Result<usize, String> {
    let out = cotan(place).args(["check", "--json"]).args(fix).arg(file).output().map_err(|e| e.to_string())?;
    let report = json(&out)?;
    let all = report["diagnostics"].as_array().ok_or_else(|| format!("no diagnostics in {report}"))?;
    Ok(all.iter().filter(|one| one["severity"] == "error").count())
}

fn drafts(place: &Workplace) -> Result<Measured, String> {
    let folder = Folder::new()?;
    let (mut n, mut left) = (0, 0);
    let all = programs(&tests_folder().join("drafts"));
    for path in &all {
        let copy = folder.path(&path.file_name().unwrap_or_default().to_string_lossy());
        std::fs::copy(path, &copy).map_err(|e| e.to_string())?;
        n += n_errors(place, &copy, &[])?;
        left += n_errors(place, &copy, &["--fix"])?;
    }
    let is_fine = all.len() == 12 && n <= MOST_ERRORS && left <= MOST_LEFT;
    Ok(Measured::new(is_fine, format!("{} drafts: {n} errors; {left} after their fixes", all.len())))
}

fn mistakes(place: &Workplace) -> Result<Measured, String> {
    let table = workspace_file("tests/mistakes/outcomes.tsv");
    let table = std::fs::read_to_string(&table).map_err(|e| format!("{}: {e}", table.display()))?;
    let rows: Vec<&str> = table.lines().filter(|line| !line.starts_with('#')).collect();
    let n = rows.iter().filter(|row| row.split('\t').nth(1).is_some_and(|cell| cell.starts_with("mended"))).count();
    let result = suites::tests(place, "cotan-testkit", &["--test", "all", "--", "mistakes::intended"], "")?;
    Ok(Measured::new(n >= LEAST_MENDED && rows.len() == MISTAKES, format!("{n} of {}; {result}", rows.len())))
}

/// The shortest of some times that a check takes.
fn time(place: &Workplace, file: &Path) -> Result<Duration, String> {
    let once = || -> Result<Duration, String> {
        let start = Instant::now();
        cotan(place).arg("check").arg(file).output().map_err(|e| e.to_string())?;
        Ok(start.elapsed())
    };
    let times = (0..REPEATS).map(|_| once()).collect::<Result<Vec<_>, _>>()?;
    times.into_iter().min().ok_or_else(|| "no time".to_owned())
}

fn written(folder: &Folder, name: &str, text: &str) -> Result<std::path::PathBuf, String> {
    folder.write(name, text)?;
    Ok(folder.path(name))
}

fn check_times(place: &Workplace) -> Result<Measured, String> {
    let folder = Folder::new()?;
    let function = |k: usize| {
        format!(
            "fn f{k}[N](w: f64[N], x: f64[N], y: f64) -> f64 {{\n  let z = w @ x\n  let p = 1.0 / (1.0 + exp(-z))\n  \
             let mut s = 0.0\n  for i in 0..N {{\n    s += w[i] ** 2\n  }}\n  (p - y) ** 2 + 0.1 * s\n}}\n\n"
        )
    };
    let text: String = (0..100).map(function).collect();
    let long = time(place, &written(&folder, "long.cot", &text)?)?;
    let mut slowest = Duration::ZERO;
    for path in programs(&tests_folder().join("drafts")) {
        slowest = slowest.max(time(place, &path)?);
    }
    let is_fine = long <= MOST_FOR_A_FILE && slowest <= MOST_FOR_A_FILE;
    Ok(Measured::new(is_fine, format!("{} lines in {long:.1?}; {slowest:.1?}", text.lines().count())))
}

fn error_times(place: &Workplace) -> Result<Measured, String> {
    let folder = Folder::new()?;
    let errors: String = (0..4000).map(|k| format!("fn f{k}(x: f64) -> i64 = x + {k}\n")).collect();
    let names: String = (0..4000).map(|k| format!("fn f{k}(x: f64) -> f64 = softpls{k}(x)\n")).collect();
    let errors = time(place, &written(&folder, "errors.cot", &errors)?)?;
    let names = time(place, &written(&folder, "names.cot", &names)?)?;
    let is_fine = errors < MOST_FOR_ERRORS && names < MOST_FOR_ERRORS;
    Ok(Measured::new(is_fine, format!("{errors:.1?}; {names:.1?}")))
}
