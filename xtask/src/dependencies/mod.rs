//! The supply chain: licences, sources and duplicates of all packages, from `cargo metadata` without a network, held to
//! `deny.toml`; advisories, where `cargo deny` and its database are installed.

mod advisories;
mod licence;
mod policy;
mod toml;

use anyhow::{Context, Result, bail};
use policy::Policy;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

/// The page whose table of known advisories has the decisions.
const PAGE: &str = "docs/promises.md";

/// What was found.
pub(crate) struct Report {
    /// What was looked at, a line each.
    pub(crate) lines: Vec<String>,
    /// What is not allowed.
    pub(crate) problems: Vec<String>,
}

/// Looks at all packages of the workspace.
pub(crate) fn check(root: &Path) -> Result<Report> {
    let read = |name: &str| fs::read_to_string(root.join(name)).with_context(|| format!("reading {name}"));
    let policy = Policy::read(&read("deny.toml")?)?;
    let mut packages = BTreeMap::new();
    for target in &policy.targets {
        packages.extend(Package::all(&metadata(root, target)?)?.into_iter().map(|p| (p.id.clone(), p)));
    }
    let packages: Vec<Package> = packages.into_values().collect();
    let mut problems = judged(&packages, &policy);
    problems.extend(undecided(&packages, &policy, &read(PAGE)?));
    let mut lines = vec![format!(
        "dependencies: licences, sources and duplicates of {} packages for {}",
        packages.len(),
        policy.targets.join(", ")
    )];
    match advisories::missing() {
        Some(missing) => lines.push(format!("advisories were not checked: {missing}")),
        None => advisories::check(root)?,
    }
    Ok(Report { lines, problems })
}

/// What cargo says of the packages for a system. They are those that a build has fetched, so no network is needed.
fn metadata(root: &Path, target: &str) -> Result<Value> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["metadata", "--format-version", "1", "--locked", "--offline", "--filter-platform", target]);
    let output = command.current_dir(root).output().context("running cargo metadata")?;
    if !output.status.success() {
        bail!("cargo metadata: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    serde_json::from_slice(&output.stdout).context("the output of cargo metadata")
}

/// A package as cargo describes it.
#[derive(Clone, Debug)]
struct Package {
    id: String,
    name: String,
    version: String,
    licence: Option<String>,
    /// Where it comes from; nothing for those of the workspace.
    source: Option<String>,
}

impl Package {
    fn all(metadata: &Value) -> Result<Vec<Package>> {
        let package = |value: &Value| {
            let text = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
            Some(Package {
                id: text("id")?,
                name: text("name")?,
                version: text("version")?,
                licence: text("license"),
                source: text("source"),
            })
        };
        let packages = metadata["packages"].as_array().and_then(|all| all.iter().map(package).collect());
        packages.context("cargo metadata gives packages in another form")
    }
}

/// What is not allowed, and what is allowed without being needed.
fn judged(packages: &[Package], policy: &Policy) -> Vec<String> {
    let mut problems = Vec::new();
    let mut licences = BTreeSet::new();
    let mut versions: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for Package { name, version, licence, source, .. } in packages {
        let problem = match licence {
            Some(expression) => licence::fulfilled(expression, &policy.licences, &mut licences).err(),
            None => Some("it states none".to_owned()),
        };
        problems.extend(problem.map(|problem| format!("{name} {version}: licence: {problem}")));
        let from = source.as_deref().map(|source| source.strip_prefix("registry+").unwrap_or(source));
        if let Some(from) = from.filter(|from| !policy.registries.iter().any(|known| known == from)) {
            problems
                .push(format!("{name} {version}: source: `{from}` is none of `{}`", policy.registries.join("`, `")));
        }
        versions.entry(name).or_default().push(version);
    }
    let mut needed = BTreeSet::new();
    for (name, versions) in &versions {
        let is_listed = |version: &&&str| policy.duplicates.contains(&format!("{name}@{version}"));
        let (listed, others): (Vec<&str>, Vec<&str>) = versions.iter().partition(is_listed);
        if versions.len() > 1 {
            needed.extend(listed.iter().map(|version| format!("{name}@{version}")));
        }
        if others.len() > 1 {
            let shown = others.join(", ");
            problems.push(format!("{name}: duplicate: versions {shown}; list all but one in `bans.skip` of deny.toml"));
        }
    }
    let unneeded = |what: &str, entry: &String| format!("deny.toml: {what} lists `{entry}`, which no package needs");
    problems.extend(policy.licences.iter().filter(|l| !licences.contains(*l)).map(|l| unneeded("licenses.allow", l)));
    problems.extend(policy.duplicates.iter().filter(|d| !needed.contains(*d)).map(|d| unneeded("bans.skip", d)));
    problems
}

/// Known advisories without a row in the table of decisions, rows without an advisory, and rows of crates that are gone.
fn undecided(packages: &[Package], policy: &Policy, page: &str) -> Vec<String> {
    let rows: Vec<(&str, &str)> = page
        .lines()
        .filter_map(|line| {
            let mut cells = line.strip_prefix("| RUSTSEC-")?.split('|').map(str::trim);
            Some((cells.next()?, cells.next()?.split('`').nth(1).unwrap_or_default()))
        })
        .collect();
    let decided: BTreeSet<String> = rows.iter().map(|(number, _)| format!("RUSTSEC-{number}")).collect();
    let known: BTreeSet<String> = policy.advisories.iter().cloned().collect();
    let mut problems = Vec::new();
    problems.extend(known.difference(&decided).map(|id| format!("{PAGE}: no row has the decision on {id}")));
    problems
        .extend(decided.difference(&known).map(|id| format!("deny.toml: `advisories.ignore` lacks {id} of {PAGE}")));
    for (number, name) in rows {
        if !packages.iter().any(|package| package.name == name) {
            problems.push(format!("{PAGE}: RUSTSEC-{number} is about `{name}`, which is no dependency"));
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const REGISTRY: &str = "https://registry.example/index";

    fn policy() -> Policy {
        let texts = |all: &[&str]| all.iter().map(|text| (*text).to_owned()).collect();
        Policy {
            targets: texts(&["x"]),
            licences: texts(&["MIT"]),
            registries: texts(&[REGISTRY]),
            duplicates: texts(&["a@1.0.0"]),
            advisories: texts(&["RUSTSEC-1-1"]),
        }
    }

    /// Packages by name, version, licence and source.
    fn packages(all: &[(&str, &str, &str, &str)]) -> Vec<Package> {
        let package = |(name, version, licence, source): &(&str, &str, &str, &str)| {
            let source = if source.is_empty() { Value::Null } else { Value::from(*source) };
            json!({"id": format!("{name}@{version}"), "name": name, "version": version, "license": licence, "source": source})
        };
        let all: Vec<Value> = all.iter().map(package).collect();
        Package::all(&json!({ "packages": all })).unwrap()
    }

    /// The least that needs all of the policy.
    fn fine() -> Vec<(&'static str, &'static str, &'static str, &'static str)> {
        let registry = "registry+https://registry.example/index";
        vec![("own", "0.1.0", "MIT", ""), ("a", "1.0.0", "MIT", registry), ("a", "2.0.0", "MIT", registry)]
    }

    fn problems(more: &[(&'static str, &'static str, &'static str, &'static str)]) -> Vec<String> {
        judged(&packages(&[fine().as_slice(), more].concat()), &policy())
    }

    #[test]
    fn what_is_listed_is_allowed() {
        assert_eq!(problems(&[]), Vec::<String>::new());
    }

    #[test]
    fn a_wrong_licence_fails() {
        let registry = "registry+https://registry.example/index";
        let said = problems(&[("b", "1.0.0", "GPL-3.0", registry)]);
        assert_eq!(said, ["b 1.0.0: licence: none of `GPL-3.0` is allowed"]);
        let mut none = packages(&fine());
        none[0].licence = None;
        assert_eq!(judged(&none, &policy()), ["own 0.1.0: licence: it states none"]);
    }

    #[test]
    fn an_unknown_source_fails() {
        let said = problems(&[("b", "1.0.0", "MIT", "git+https://example.org/b#1")]);
        assert_eq!(said, [format!("b 1.0.0: source: `git+https://example.org/b#1` is none of `{REGISTRY}`")]);
        let said = problems(&[("b", "1.0.0", "MIT", "registry+https://other.example/index")]);
        assert_eq!(said, [format!("b 1.0.0: source: `https://other.example/index` is none of `{REGISTRY}`")]);
    }

    #[test]
    fn an_unlisted_duplicate_fails_and_so_does_a_list_that_says_too_much() {
        let said = problems(&[("own", "0.2.0", "MIT", "")]);
        assert_eq!(said, ["own: duplicate: versions 0.1.0, 0.2.0; list all but one in `bans.skip` of deny.toml"]);
        let two = packages(&fine()[..2]);
        assert_eq!(judged(&two, &policy()), ["deny.toml: bans.skip lists `a@1.0.0`, which no package needs"]);
        let mut wide = policy();
        wide.licences.push("ISC".to_owned());
        assert_eq!(
            judged(&packages(&fine()), &wide),
            ["deny.toml: licenses.allow lists `ISC`, which no package needs"]
        );
    }

    #[test]
    fn every_known_advisory_has_a_row_with_its_decision() {
        let packages = packages(&fine());
        let row = "| RUSTSEC-1-1 | `a` | through `b` | kept |\n";
        assert_eq!(undecided(&packages, &policy(), row), Vec::<String>::new());
        assert_eq!(undecided(&packages, &policy(), ""), ["docs/promises.md: no row has the decision on RUSTSEC-1-1"]);
        let other = format!("{row}| RUSTSEC-2-2 | `gone` | | kept |\n");
        assert_eq!(
            undecided(&packages, &policy(), &other),
            [
                "deny.toml: `advisories.ignore` lacks RUSTSEC-2-2 of docs/promises.md",
                "docs/promises.md: RUSTSEC-2-2 is about `gone`, which is no dependency"
            ]
        );
    }
}
