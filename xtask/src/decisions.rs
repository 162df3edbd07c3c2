//! The index of design decisions, `docs/design/decisions/index.md`, made of the headings of the pages beside it: one page for
//! each area, one heading for each decision.

use anyhow::{Context, Result, bail};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

const FOLDER: &str = "docs/design/decisions";
const INDEX: &str = "index.md";

/// Writes the index.
pub(crate) fn write(root: &Path) -> Result<()> {
    let text = index(root)?;
    fs::write(root.join(FOLDER).join(INDEX), text).with_context(|| format!("writing {FOLDER}/{INDEX}"))
}

/// Fails if the index is not that of the pages.
pub(crate) fn check(root: &Path) -> Result<()> {
    let found = fs::read_to_string(root.join(FOLDER).join(INDEX)).unwrap_or_default();
    if found != index(root)? {
        bail!("{FOLDER}/{INDEX} is stale: run `cargo xtask decisions`");
    }
    Ok(())
}

fn index(root: &Path) -> Result<String> {
    let mut names = BTreeSet::new();
    for entry in fs::read_dir(root.join(FOLDER)).with_context(|| format!("reading {FOLDER}"))? {
        names.insert(entry?.file_name().to_string_lossy().into_owned());
    }
    names.remove(INDEX);
    let mut out =
        "# Decisions\n\nWhat was decided where the design left room, or differently from it, and why. This index is \
                   made of the headings of the pages by `cargo xtask decisions`.\n"
            .to_owned();
    for name in &names {
        let page =
            fs::read_to_string(root.join(FOLDER).join(name)).with_context(|| format!("reading {FOLDER}/{name}"))?;
        out += &section(name, &page).with_context(|| format!("{FOLDER}/{name}"))?;
    }
    Ok(out)
}

/// The part of the index about one page.
fn section(name: &str, page: &str) -> Result<String> {
    let title =
        page.lines().next().and_then(|line| line.strip_prefix("# ")).context("the page begins with its title")?;
    let mut out = format!("\n## [{title}]({name})\n\n");
    let mut slugs = BTreeSet::new();
    for heading in page.lines().filter_map(|line| line.strip_prefix("## ")) {
        let slug = slug(heading);
        out += &format!("- [{heading}]({name}#{slug})\n");
        if !slugs.insert(slug) {
            bail!("two decisions are called `{heading}`");
        }
    }
    if slugs.is_empty() {
        bail!("the page has no decision");
    }
    Ok(out)
}

/// The anchor that mdBook gives a heading.
fn slug(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || [' ', '-', '_'].contains(c));
    kept.map(|c| if c == ' ' { '-' } else { c.to_ascii_lowercase() }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_listed_by_its_headings() {
        let page = "# Passes\n\nAbout.\n\n## `vmap`, and why\n\nSo.\n\n## Two\n\nSo.\n";
        let expected = "\n## [Passes](p.md)\n\n- [`vmap`, and why](p.md#vmap-and-why)\n- [Two](p.md#two)\n";
        assert_eq!(section("p.md", page).unwrap(), expected);
    }

    #[test]
    fn headings_are_told_apart() {
        assert!(section("p.md", "# A\n\n## B\n\n## B\n").is_err());
        assert!(section("p.md", "# A\n").is_err());
    }
}
