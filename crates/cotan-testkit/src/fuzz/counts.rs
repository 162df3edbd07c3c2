//! What all campaigns together have fed: a file of counts, to which every run adds its own.

use super::Target;
use super::campaign::Outcome;
use crate::files::{replace, workspace_file};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The first line of the file.
const HEADER: &str = "target\tinputs\tprocessor_seconds\tfindings";

/// Of one target.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Count {
    /// Inputs.
    pub inputs: u64,
    /// Seconds of processors.
    pub processor_seconds: f64,
    /// Inputs that broke something, at the time.
    pub findings: u64,
}

impl Count {
    /// What a campaign adds.
    pub fn of(outcome: &Outcome) -> Count {
        let Outcome { inputs, processor_seconds, .. } = *outcome;
        Count { inputs, processor_seconds, findings: outcome.findings.len() as u64 }
    }

    /// Inputs for each second of a processor.
    pub fn rate(&self) -> f64 {
        self.inputs as f64 / self.processor_seconds.max(1e-9)
    }
}

/// The file of the repository.
pub fn file() -> PathBuf {
    workspace_file("fuzz/counts.tsv")
}

/// What a file says, by target.
pub fn read(path: &Path) -> Result<BTreeMap<String, Count>, String> {
    if !path.exists() {
        return Ok(BTreeMap::new());
    }
    let text = fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    let mut lines = text.lines();
    if lines.next() != Some(HEADER) {
        return Err(format!("{}: expected the header `{HEADER}`", path.display()));
    }
    let count = |line: &str| {
        let mut cells = line.split('\t');
        let name = cells.next().filter(|name| Target::from_name(name).is_some())?;
        let inputs = cells.next()?.parse().ok()?;
        let processor_seconds = cells.next()?.parse().ok()?;
        let findings = cells.next()?.parse().ok()?;
        Some((name.to_owned(), Count { inputs, processor_seconds, findings }))
    };
    lines.map(|line| count(line).ok_or_else(|| format!("{}: no count: `{line}`", path.display()))).collect()
}

/// Adds the counts of a campaign.
pub fn add(path: &Path, target: Target, more: Count) -> Result<(), String> {
    let mut all = read(path)?;
    let count = all.entry(target.name().to_owned()).or_default();
    count.inputs += more.inputs;
    count.processor_seconds += more.processor_seconds;
    count.findings += more.findings;
    let line =
        |(name, c): (&String, &Count)| format!("{name}\t{}\t{:.1}\t{}\n", c.inputs, c.processor_seconds, c.findings);
    let text = format!("{HEADER}\n{}", all.iter().map(line).collect::<String>());
    replace(path, &text).map_err(|e| format!("{}: {e}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_added_up_over_runs() {
        let path = std::env::temp_dir().join(format!("cotan-counts-{}.tsv", std::process::id()));
        let one = Count { inputs: 10, processor_seconds: 2.0, findings: 1 };
        add(&path, Target::Ir, one).unwrap();
        add(&path, Target::Parser, one).unwrap();
        add(&path, Target::Ir, one).unwrap();
        let all = read(&path).unwrap();
        assert_eq!(all["ir"], Count { inputs: 20, processor_seconds: 4.0, findings: 2 });
        assert_eq!(all["parser"].rate(), 5.0);
        fs::write(&path, "nothing\n").unwrap();
        assert!(read(&path).unwrap_err().contains("expected the header"));
        fs::remove_file(&path).unwrap();
    }
}
