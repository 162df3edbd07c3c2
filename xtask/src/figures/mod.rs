//! The figures of the book: numbers that the command `cotan` gives, kept as data, drawn as SVG.

mod chart;
mod memory;
mod table;

use anyhow::{Context, Result, bail};
use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use table::{Figure, figures};

const FOLDER: &str = "docs/figures";

/// Computes the data of the figures with these names, of all if there are none, and draws them.
pub(crate) fn write(root: &Path, names: &[String]) -> Result<()> {
    let mut figures = figures(root)?;
    if let Some(name) = names.iter().find(|name| figures.iter().all(|figure| figure.name != **name)) {
        bail!("{FOLDER}/figures.tsv has no figure `{name}`");
    }
    figures.retain(|figure| names.is_empty() || names.contains(&figure.name));
    for figure in &figures {
        compute(root, figure)?;
        let svg = root.join(FOLDER).join(format!("{}.svg", figure.name));
        fs::write(&svg, figure.chart(root)?.svg()).with_context(|| format!("writing {}", svg.display()))?;
    }
    Ok(())
}

/// Writes the data of a figure.
fn compute(root: &Path, figure: &Figure) -> Result<()> {
    let data = root.join(FOLDER).join(format!("{}.csv", figure.name));
    if figure.command == "count memory" {
        return fs::write(&data, memory::table(root)?).with_context(|| format!("writing {}", data.display()));
    }
    let data = data.display().to_string();
    let words: Vec<&str> = figure.command.split(' ').chain(["--out", &data]).collect();
    cotan(root, &words).map(drop)
}

/// Runs `cotan` of this checkout, which must succeed.
fn cotan(root: &Path, args: &[&str]) -> Result<Output> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["run", "-q", "-p", "cotan-cli", "--"]).args(args).current_dir(root);
    let out = command.output().context("running `cotan`")?;
    if !out.status.success() {
        bail!("`cotan {}` failed: {}", args.join(" "), String::from_utf8_lossy(&out.stderr));
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_figure_is_drawn_from_its_data_and_stands_in_the_table() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let figures = figures(&root).expect("a table");
        for figure in &figures {
            let path = root.join(FOLDER).join(format!("{}.svg", figure.name));
            let svg = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
            let drawn = figure.chart(&root).expect("a chart").svg();
            assert_eq!(svg, drawn, "{}: `cargo xtask figures` draws it", figure.name);
        }
        for entry in fs::read_dir(root.join(FOLDER)).expect("a folder").flatten() {
            let path = entry.path();
            let name = path.file_stem().unwrap_or_default().to_string_lossy();
            let is_figure = path.extension().is_some_and(|e| e == "svg");
            assert!(
                !is_figure || figures.iter().any(|figure| figure.name == name),
                "{name} is in no line of the table"
            );
        }
    }
}
