//! The lock file of the fuzz targets, which are a workspace of their own: our crates rest on each other in it as their
//! manifests say, else a build there would change it.

use super::seams::{Arrows, of_manifests};
use anyhow::{Context, Result};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The lock file.
const LOCK: &str = "fuzz/Cargo.lock";

/// What is stale in it, a sentence each.
pub(crate) fn stale_lock(root: &Path) -> Result<Vec<String>> {
    let text = fs::read_to_string(root.join(LOCK)).with_context(|| format!("reading {LOCK}"))?;
    Ok(differences(&text, &of_manifests(root)?))
}

fn differences(lock: &str, arrows: &Arrows) -> Vec<String> {
    let mut found = Vec::new();
    for package in lock.split("[[package]]").skip(1) {
        let mut names = package.split('"').skip(1).step_by(2);
        let Some((name, expected)) = names.next().and_then(|name| arrows.get_key_value(name)) else { continue };
        let list = package.split_once("dependencies = [").map_or("", |(_, list)| list);
        let rests_on = list.split('"').skip(1).step_by(2).map(str::to_owned);
        if rests_on.filter(|one| arrows.contains_key(one)).collect::<BTreeSet<_>>() != *expected {
            found.push(format!("{LOCK}: `{name}` rests on other crates; run `cargo update --workspace` there"));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crate_that_rests_on_others_in_the_lock_file_is_named() {
        let lock = "[[package]]\nname = \"top\"\ndependencies = [\n \"below\",\n \"other 1.0.0\",\n]\n\n[[package]]\nname = \"below\"\n";
        let arrows = |of_top: &[&str]| {
            let of_top = of_top.iter().map(|name| (*name).to_owned()).collect();
            Arrows::from([("top".to_owned(), of_top), ("below".to_owned(), Default::default())])
        };
        assert_eq!(differences(lock, &arrows(&["below"])), Vec::<String>::new());
        let found = differences(lock, &arrows(&[]));
        assert_eq!(found, ["fuzz/Cargo.lock: `top` rests on other crates; run `cargo update --workspace` there"]);
    }
}
