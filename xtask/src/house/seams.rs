//! Seams between crates: the arrows of `ARCHITECTURE.md` are those of the manifests, and the shells name no inner crate.

use super::kinds::Place;
use super::paths::{paths, uses};
use super::source::Crate;
use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

/// The page with the arrows.
const PAGE: &str = "ARCHITECTURE.md";

/// The crates that are thin shells of the library.
const SHELLS: [&str; 2] = ["cotan-bench", "cotan-cli"];

/// The library that they are shells of.
const LIBRARY: &str = "cotan";

/// Crates that rest on the library alone, for several shells.
const ABOVE: [&str; 1] = ["cotan-measure"];

/// The crates that a crate rests on, by its name.
pub(super) type Arrows = BTreeMap<String, BTreeSet<String>>;

/// Where the table of `ARCHITECTURE.md` and the manifests differ, a sentence each.
pub(crate) fn wrong_arrows(root: &Path) -> Result<Vec<String>> {
    let page = fs::read_to_string(root.join(PAGE)).with_context(|| format!("reading {PAGE}"))?;
    Ok(differences(&stated(&page), &of_manifests(root)?))
}

/// The arrows of the manifests: dependencies on crates of the workspace, those of tests aside.
pub(super) fn of_manifests(root: &Path) -> Result<Arrows> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["metadata", "--format-version", "1", "--no-deps", "--locked", "--offline"]).current_dir(root);
    let output = command.output().context("running cargo metadata")?;
    if !output.status.success() {
        bail!("cargo metadata: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    let metadata: Value = serde_json::from_slice(&output.stdout).context("the output of cargo metadata")?;
    let packages = metadata.get("packages").and_then(Value::as_array).context("cargo metadata has no packages")?;
    let name = |package: &Value| package.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
    let all: BTreeSet<String> = packages.iter().map(name).collect();
    let rests_on = |package: &Value| {
        let dependencies = package.get("dependencies").and_then(Value::as_array).into_iter().flatten();
        let plain = dependencies.filter(|one| one.get("kind").is_none_or(Value::is_null));
        plain.map(name).filter(|name| all.contains(name)).collect()
    };
    let crates = packages.iter().filter(|package| name(package) != "xtask");
    Ok(crates.map(|package| (name(package), rests_on(package))).collect())
}

/// The arrows of the page: the rows of the table whose second column is `rests on`. A row may be about several crates.
fn stated(page: &str) -> Arrows {
    let names = |cell: &str| cell.split('`').skip(1).step_by(2).map(str::to_owned).collect::<BTreeSet<String>>();
    let rows = page.lines().map(|line| line.split('|').map(str::trim).collect::<Vec<&str>>());
    let mut table = rows.skip_while(|cells| !matches!(cells.as_slice(), ["", "crate", "rests on", ..])).skip(2);
    let mut arrows = Arrows::new();
    while let Some(["", crates, rests_on, ..]) = table.next().as_deref() {
        arrows.extend(names(crates).into_iter().map(|name| (name, names(rests_on))));
    }
    arrows
}

fn differences(stated: &Arrows, of_manifests: &Arrows) -> Vec<String> {
    let mut problems = Vec::new();
    for (name, rests_on) in of_manifests {
        let Some(said) = stated.get(name) else {
            problems.push(format!("{PAGE}: the table of crates lacks `{name}`"));
            continue;
        };
        let lacks = rests_on.difference(said).map(|other| format!("{PAGE}: `{name}` rests on `{other}` as well"));
        problems.extend(lacks);
        let more = said.difference(rests_on).map(|other| format!("{PAGE}: `{name}` does not rest on `{other}`"));
        problems.extend(more);
    }
    let gone = stated.keys().filter(|name| !of_manifests.contains_key(*name));
    problems.extend(gone.map(|name| format!("{PAGE}: there is no crate `{name}`")));
    problems
}

/// Where a shell names an inner crate, directly or by what the library re-exports of it.
pub(super) fn inner_crates_in_shells(crates: &[Crate]) -> Vec<Place> {
    let is_shell = |name: &str| SHELLS.contains(&name);
    let inner: BTreeSet<String> = crates
        .iter()
        .filter(|one| !is_shell(&one.name) && one.name != LIBRARY && one.name != "xtask")
        .filter(|one| !ABOVE.contains(&one.name.as_str()))
        .map(|one| one.name.replace('-', "_"))
        .collect();
    let library = crates.iter().filter(|one| one.name == LIBRARY).flat_map(|one| &one.files);
    let faces =
        library.filter(|file| file.module.as_ref().is_some_and(Vec::is_empty)).flat_map(|face| uses(&face.syntax));
    let exported: BTreeSet<String> = faces
        .filter(|(_, path)| matches!(path.as_slice(), [only] if inner.contains(only)))
        .filter_map(|(name, _)| name)
        .collect();
    let names_inner = |path: &[String]| match path {
        [first, second, ..] if first == LIBRARY => exported.contains(second),
        [first, ..] => inner.contains(first),
        [] => false,
    };
    let mut found = Vec::new();
    for file in crates.iter().filter(|one| is_shell(&one.name)).flat_map(|one| &one.files) {
        for (path, line) in paths(&file.syntax) {
            if names_inner(&path) {
                found.push(Place { file: file.path.clone(), line, name: path.join("::"), amount: 1 });
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrows(all: &[(&str, &[&str])]) -> Arrows {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        all.iter().map(|(name, rests_on)| ((*name).to_owned(), names(rests_on))).collect()
    }

    #[test]
    fn the_table_of_the_page_is_read() {
        let page = "| crate | rests on | what |\n|---|---|---|\n| `a` | | x |\n| `b`, `c` | `a`, `d` | y |\n\n| `e` | `f` | |\n";
        assert_eq!(stated(page), arrows(&[("a", &[]), ("b", &["a", "d"]), ("c", &["a", "d"])]));
    }

    #[test]
    fn each_difference_is_named() {
        let said = arrows(&[("a", &["b"]), ("gone", &[])]);
        let found = arrows(&[("a", &["c"]), ("b", &[])]);
        let expected = [
            "ARCHITECTURE.md: `a` rests on `c` as well",
            "ARCHITECTURE.md: `a` does not rest on `b`",
            "ARCHITECTURE.md: the table of crates lacks `b`",
            "ARCHITECTURE.md: there is no crate `gone`",
        ];
        assert_eq!(differences(&said, &found), expected);
    }
}
