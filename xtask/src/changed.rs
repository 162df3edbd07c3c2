//! Which suites a change can reach: those of the changed crates and of all that rest on them, and those that read the
//! changed files.

use crate::suites::{Suite, cargo};
use anyhow::{Context, Result, bail};
use serde_json::Value as Json;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

/// Suites of the testkit that read files beside the crates, by how the paths of these begin.
const READERS: &[(&str, &[&str])] = &[
    ("tests/run/", &["run", "format"]),
    ("tests/ui/", &["ui", "format"]),
    ("tests/ir/", &["ir"]),
    ("tests/emit/", &["emit"]),
    ("tests/", &["sentences", "coverage", "run", "ui", "ir", "emit"]),
    ("docs/", &["docs"]),
    ("examples/", &["docs"]),
    ("spec/kinks", &["kinks"]),
    ("spec/operations/", &["operations", "coverage"]),
    ("spec/", &["coverage", "kinks", "operations"]),
    ("proofs/", &["certificates"]),
];

/// Files that whole crates are made of or tested with.
const SOURCES: &[(&str, &[&str])] = &[
    ("lib/", &["cotan-sema", "cotan-lower", "cotan"]),
    ("spec/", &["cotan-ops"]),
    ("proofs/", &["cotan-ops"]),
    ("examples/", &["cotan-lower", "cotan-measure", "cotan-bench", "cotan-cli"]),
    ("benches/", &["cotan-bench"]),
    // Sessions and figures of the book are replayed by the tests of the command.
    ("docs/", &["cotan-cli", "xtask"]),
    ("README.md", &["cotan-cli"]),
    ("tests/hosts/", &["cotan"]),
    ("tests/memory/", &["cotan"]),
    ("xtask/", &["xtask"]),
];

/// What everything is made of.
const EVERYTHING: &[&str] = &["Cargo.toml", "Cargo.lock", ".cargo/", "clippy.toml"];

/// What a change can reach.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Reach {
    everything: bool,
    packages: BTreeSet<String>,
    /// Suites of the testkit.
    suites: BTreeSet<&'static str>,
}

impl Reach {
    /// What can be reached from files that differ from a revision, or that git does not know yet.
    pub(crate) fn since(root: &Path, revision: &str) -> Result<Reach> {
        let changed = lines(root, "git", &["diff", "--name-only", revision])?;
        let new = lines(root, "git", &["ls-files", "--others", "--exclude-standard"])?;
        let files: Vec<String> = changed.into_iter().chain(new).collect();
        Ok(reach(&files, &users(root)?))
    }

    /// Whether a suite can be reached.
    pub(crate) fn reaches(&self, suite: &Suite) -> bool {
        let of_testkit = suite.package == "cotan-testkit" && self.suites.contains(suite.name.as_str());
        self.everything || of_testkit || self.packages.contains(&suite.package)
    }

    /// Whether the documentation of a crate can be reached.
    pub(crate) fn reaches_crates(&self) -> bool {
        self.everything || !self.packages.is_empty()
    }
}

/// What these files reach, where `users` are the packages that rest on a package.
fn reach(files: &[String], users: &BTreeMap<String, BTreeSet<String>>) -> Reach {
    let mut reach = Reach::default();
    let mut wanted: Vec<String> = Vec::new();
    for file in files {
        reach.everything |= EVERYTHING.iter().any(|start| file.starts_with(start));
        if let Some((package, _)) = file.strip_prefix("crates/").and_then(|rest| rest.split_once('/')) {
            wanted.push(package.to_owned());
        }
        let source = SOURCES.iter().filter(|(start, _)| file.starts_with(start));
        wanted.extend(source.flat_map(|(_, packages)| packages.iter().map(|p| (*p).to_owned())));
        // The first line that fits tells it most exactly.
        if let Some((_, suites)) = READERS.iter().find(|(start, _)| file.starts_with(start)) {
            reach.suites.extend(*suites);
        }
        // Every page is read by the test of the book, wherever it stands.
        if file.ends_with(".md") {
            reach.suites.insert("docs");
        }
    }
    while let Some(package) = wanted.pop() {
        wanted
            .extend(users.get(&package).into_iter().flatten().filter(|user| !reach.packages.contains(*user)).cloned());
        reach.packages.insert(package);
    }
    reach
}

/// The packages of the workspace that rest on each of them, also in their tests alone.
fn users(root: &Path) -> Result<BTreeMap<String, BTreeSet<String>>> {
    let out = Command::new(cargo())
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .current_dir(root)
        .output()
        .context("running cargo metadata")?;
    let metadata: Json = serde_json::from_slice(&out.stdout).context("the metadata is no JSON")?;
    let mut users: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for package in metadata["packages"].as_array().into_iter().flatten() {
        let name = package["name"].as_str().unwrap_or_default();
        for dependency in package["dependencies"].as_array().into_iter().flatten() {
            let dependency = dependency["name"].as_str().unwrap_or_default();
            users.entry(dependency.to_owned()).or_default().insert(name.to_owned());
        }
    }
    Ok(users)
}

fn lines(root: &Path, program: &str, args: &[&str]) -> Result<Vec<String>> {
    let out = Command::new(program).args(args).current_dir(root).output();
    let out = out.with_context(|| format!("running {program} {}", args.join(" ")))?;
    if !out.status.success() {
        bail!("{program} {} failed: {}", args.join(" "), String::from_utf8_lossy(&out.stderr));
    }
    Ok(String::from_utf8_lossy(&out.stdout).lines().map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reached(files: &[&str]) -> Reach {
        let users = [("cotan-ir", ["cotan-opt", "cotan-ad"]), ("cotan-opt", ["cotan-ad", "cotan"])];
        let users = users.map(|(name, users)| (name.to_owned(), users.map(str::to_owned).into()));
        reach(&files.iter().map(|f| (*f).to_owned()).collect::<Vec<_>>(), &BTreeMap::from(users))
    }

    #[test]
    fn a_crate_reaches_all_that_rest_on_it() {
        let packages = reached(&["crates/cotan-ir/src/lib.rs"]).packages;
        assert_eq!(packages, ["cotan", "cotan-ad", "cotan-ir", "cotan-opt"].map(str::to_owned).into());
        assert_eq!(reached(&["crates/cotan/src/lib.rs"]).packages, ["cotan".to_owned()].into());
    }

    #[test]
    fn a_program_reaches_the_suites_that_read_it_and_a_page_those_of_the_book() {
        let of = |file| Vec::from_iter(reached(&[file]).suites);
        assert_eq!(of("tests/run/loops/a.cot"), ["format", "run"]);
        assert_eq!(of("README.md"), ["docs"]);
        assert_eq!(reached(&["tests/run/loops/a.cot"]).packages, BTreeSet::new());
    }

    #[test]
    fn the_manifest_reaches_everything() {
        assert!(reached(&["Cargo.lock"]).everything && !reached(&["README.md"]).everything);
    }
}
