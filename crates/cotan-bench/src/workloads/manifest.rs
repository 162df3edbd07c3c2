//! The manifest of workloads, `benches/workloads/manifest.tsv`: one line for each.

use anyhow::{Context, Result, bail, ensure};
use serde::Serialize;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

const TABLE: &str = include_str!("../../../../benches/workloads/manifest.tsv");

/// What the compiler does with programs of a kind, by number; the manifest's head says what they are.
pub const MECHANISMS: RangeInclusive<u32> = 2..=15;

/// At which of the sizes of a workload its arguments are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sizes {
    /// Those that are timed.
    Timed,
    /// Those of tests.
    Small,
}

/// A row of the manifest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Workload {
    /// Its name: that of its folder, of its program, and of the function in it.
    pub name: String,
    /// What kind of program it is.
    pub kind: String,
    /// Which mechanisms of the compiler it meets.
    pub mechanisms: Vec<u32>,
    /// The sizes that are timed, by name.
    pub timed: BTreeMap<String, usize>,
    /// The sizes of tests.
    pub small: BTreeMap<String, usize>,
    /// The parameters that it is differentiated in, in the order of the gradient.
    pub differentiated: Vec<String>,
    /// Whether it is run only where that is asked for.
    pub is_held_out: bool,
}

impl Workload {
    /// Its sizes by name.
    pub fn sizes(&self, sizes: Sizes) -> &BTreeMap<String, usize> {
        match sizes {
            Sizes::Timed => &self.timed,
            Sizes::Small => &self.small,
        }
    }
}

/// Every row of the manifest.
pub fn workloads() -> Result<Vec<Workload>> {
    rows(TABLE).map(|line| row(line).with_context(|| format!("{line:?}"))).collect()
}

/// The lines of a table that are no comments.
pub(super) fn rows(table: &str) -> impl Iterator<Item = &str> {
    table.lines().filter(|line| !line.starts_with('#') && !line.is_empty())
}

fn row(line: &str) -> Result<Workload> {
    let fields: Vec<&str> = line.split('\t').collect();
    let [name, kind, mechanisms, timed, small, differentiated, part] = fields[..] else { bail!("expected 7 columns") };
    let mechanisms: Vec<u32> = mechanisms.split(' ').map(str::parse).collect::<Result<_, _>>()?;
    ensure!(mechanisms.iter().all(|mechanism| MECHANISMS.contains(mechanism)), "expected mechanisms of {MECHANISMS:?}");
    let is_held_out = match part {
        "open" => false,
        "held" => true,
        other => bail!("expected `open` or `held`, found `{other}`"),
    };
    Ok(Workload {
        name: name.to_owned(),
        kind: kind.to_owned(),
        mechanisms,
        timed: sizes(timed)?,
        small: sizes(small)?,
        differentiated: differentiated.split(' ').map(str::to_owned).collect(),
        is_held_out,
    })
}

/// Sizes by name: `N=3 K=4`.
fn sizes(text: &str) -> Result<BTreeMap<String, usize>> {
    let one = |word: &str| {
        let (name, size) = word.split_once('=').with_context(|| format!("`{word}`: expected NAME=SIZE"))?;
        Ok((name.to_owned(), size.parse()?))
    };
    text.split(' ').map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROW: &str = "f\tfilters\t5 11\tN=100 K=4\tN=3 K=2\ta b\topen";

    #[test]
    fn a_row_says_kind_mechanisms_sizes_and_parameters() {
        let found = row(ROW).expect("a row");
        assert_eq!((found.mechanisms.as_slice(), found.is_held_out), ([5, 11].as_slice(), false));
        assert_eq!(found.sizes(Sizes::Timed)["N"], 100);
        assert_eq!(found.sizes(Sizes::Small)["K"], 2);
        assert_eq!(found.differentiated, ["a", "b"]);
    }

    #[test]
    fn a_row_that_says_something_else_is_refused() {
        for (from, to) in [("5 11", "1"), ("open", "maybe"), ("N=3", "N"), ("\topen", "")] {
            assert!(row(&ROW.replace(from, to)).is_err(), "{to}");
        }
    }
}
