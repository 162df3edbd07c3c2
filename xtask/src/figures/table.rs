//! The table of figures, `docs/figures/figures.tsv`, and the data beside it.

use super::FOLDER;
use super::chart::{Chart, Mark, Scale, Series};
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::Path;

/// A line of the table.
pub(super) struct Figure {
    pub(super) name: String,
    /// What gives its data: arguments of `cotan`.
    pub(super) command: String,
    title: String,
    x_label: String,
    y_label: String,
    scale: Scale,
    series: Vec<Columns>,
}

/// Which columns of the data a series shows, and how.
struct Columns {
    label: String,
    x: String,
    y: String,
    mark: Mark,
}

/// The lines of the table.
pub(super) fn figures(root: &Path) -> Result<Vec<Figure>> {
    let path = root.join(FOLDER).join("figures.tsv");
    let text = fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| figure(line).with_context(|| format!("the figure `{line}`"))).collect()
}

fn figure(line: &str) -> Result<Figure> {
    let cells: Vec<&str> = line.split('\t').collect();
    let [name, title, x_label, y_label, axes, series, command] = cells.as_slice() else {
        bail!("expected 7 cells, found {}", cells.len())
    };
    let scale = match *axes {
        "linear" => Scale::Linear,
        "log" => Scale::Logarithmic,
        other => bail!("`{other}` is no kind of axes"),
    };
    Ok(Figure {
        name: (*name).to_owned(),
        command: (*command).to_owned(),
        title: (*title).to_owned(),
        x_label: (*x_label).to_owned(),
        y_label: (*y_label).to_owned(),
        scale,
        series: series.split(';').map(columns).collect::<Result<_>>()?,
    })
}

fn columns(text: &str) -> Result<Columns> {
    let parts: Vec<&str> = text.split('|').collect();
    let [label, x, y, mark] = parts.as_slice() else { bail!("`{text}` is no series") };
    let mark = match *mark {
        "line" => Mark::Line,
        "points" => Mark::Points,
        other => bail!("`{other}` is no kind of mark"),
    };
    Ok(Columns { label: (*label).to_owned(), x: (*x).to_owned(), y: (*y).to_owned(), mark })
}

impl Figure {
    /// The chart of the data.
    pub(super) fn chart(&self, root: &Path) -> Result<Chart> {
        let path = root.join(FOLDER).join(format!("{}.csv", self.name));
        let text = fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
        let data = Data::read(&text).with_context(|| format!("reading {}", path.display()))?;
        let series = self.series.iter().map(|columns| {
            let (x, y) = (data.column(&columns.x)?, data.column(&columns.y)?);
            let points = x.into_iter().zip(y).filter(|(x, y)| x.is_finite() && y.is_finite()).collect();
            Ok(Series { name: columns.label.clone(), mark: columns.mark, points })
        });
        Ok(Chart {
            title: self.title.clone(),
            x_label: self.x_label.clone(),
            y_label: self.y_label.clone(),
            scale: self.scale,
            series: series.collect::<Result<_>>()?,
        })
    }
}

/// A table of numbers with a header.
struct Data {
    names: Vec<String>,
    rows: Vec<Vec<f64>>,
}

impl Data {
    fn read(text: &str) -> Result<Data> {
        let mut lines = text.lines();
        let names: Vec<String> = lines.next().context("there is no header")?.split(',').map(str::to_owned).collect();
        let row = |line: &str| line.split(',').map(str::parse).collect::<Result<Vec<f64>, _>>();
        let rows =
            lines.map(|line| row(line).with_context(|| format!("the line `{line}`"))).collect::<Result<Vec<_>>>()?;
        if rows.iter().any(|row| row.len() != names.len()) {
            bail!("the lines are not all as long as the header");
        }
        Ok(Data { names, rows })
    }

    fn column(&self, name: &str) -> Result<Vec<f64>> {
        let at = self.names.iter().position(|other| other == name).with_context(|| format!("no column `{name}`"))?;
        Ok(self.rows.iter().map(|row| row[at]).collect())
    }
}
