//! Checks of the tree that no compiler makes.

use anyhow::{Context, Result, bail};
use std::fs;
use std::path::Path;

/// A file longer than this is named, so that somebody thinks about it.
const LONG: usize = 800;

/// A file longer than this fails, unless it is a table.
const TOO_LONG: usize = 1000;

/// Runs every check and prints the ten longest files; or, where flags ask for it, measures the house.
pub(crate) fn command(root: &Path, args: &[String]) -> Result<()> {
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args.as_slice() {
        [] => run(root),
        ["--house"] => crate::house::print(root),
        ["--house", "--json"] => crate::house::print_json(root),
        _ => bail!("`tidy` takes --house, --house --json or nothing"),
    }
}

/// Runs every check; prints the ten longest files.
pub(crate) fn run(root: &Path) -> Result<()> {
    let mut sources = Vec::new();
    for folder in ["crates", "xtask"] {
        crate::sources::collect(&root.join(folder), &mut sources)?;
    }
    let mut problems = Vec::new();
    let mut lengths = Vec::new();
    for path in &sources {
        let text = fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))?;
        let name = path.strip_prefix(root).unwrap_or(path).display().to_string();
        let lines = text.lines().count();
        if lines > TOO_LONG && !name.contains("/tests/") {
            problems.push(format!("{name}: {lines} lines; split it"));
        }
        if !name.contains("/tests/") && !text.starts_with("//!") {
            problems.push(format!("{name}: no module documentation at the top"));
        }
        let references = text.lines().enumerate().filter(|(_, line)| refers_elsewhere(line));
        problems.extend(
            references.map(|(k, _)| {
                format!("{name}:{}: the comment says to see another place; say what it relies on", k + 1)
            }),
        );
        lengths.push((lines, name));
    }
    lengths.sort_unstable_by(|a, b| b.cmp(a));
    print_longest(&lengths);
    problems.extend(crate::house::wrong_arrows(root)?);
    problems.extend(crate::house::stale_lock(root)?);
    problems.extend(crate::decisions::check(root).err().map(|e| e.to_string()));
    problems.extend(crate::ops::check(root).err().map(|e| e.to_string()));
    let dependencies = crate::dependencies::check(root)?;
    dependencies.lines.iter().for_each(|line| crate::print(&format!("{line}\n")));
    problems.extend(dependencies.problems);
    if problems.is_empty() {
        return Ok(());
    }
    bail!("{}", problems.join("\n"))
}

/// Whether a line is a comment on unsafe code that names another place instead of what the code relies on.
fn refers_elsewhere(line: &str) -> bool {
    line.trim_start().strip_prefix("// SAFETY:").is_some_and(|said| said.trim_start().starts_with("see "))
}

#[expect(clippy::print_stdout, reason = "the output of a command line tool")]
fn print_longest(lengths: &[(usize, String)]) {
    println!("longest files:");
    for (lines, name) in lengths.iter().take(10) {
        let mark = if *lines > LONG { "  (think about it)" } else { "" };
        println!("{lines:>6}  {name}{mark}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_on_unsafe_code_says_what_it_relies_on() {
        assert!(refers_elsewhere("    // SAFETY: see the module."));
        assert!(!refers_elsewhere("    // SAFETY: the caller's frame outlives the call."));
        assert!(!refers_elsewhere("    // see the module"));
    }
}
