//! What `cargo xtask tidy --house` counts: lists of kinds, rings of imports, sizes, and the seams between crates.

use super::super::{Line, Measured, Workplace};
use serde_json::Value as Json;
use std::process::Command;
use std::sync::OnceLock;

pub(super) const LINES: &[Line] = &[
    Line {
        title: "functions that name 8 or more kinds of statements",
        bar: "at most 20 in 16 files",
        measure: |place| functions(place, "Op", 20, 16),
    },
    Line {
        title: "functions that name 20 or more kinds of nodes",
        bar: "at most 12 in 10 files",
        measure: |place| functions(place, "Node", 12, 10),
    },
    Line {
        title: "lists of five or more kinds outside of these functions; wildcards over either enum",
        bar: "at most 25; none",
        measure: lists,
    },
    Line { title: "lines that are nothing but the next kind of a list", bar: "at most 300", measure: lines },
    Line {
        title: "rings of files that import each other, a module and those below it aside",
        bar: "none",
        measure: rings,
    },
    Line {
        title: "places where a shell names an inner crate; arrows of ARCHITECTURE that are not those of the manifests",
        bar: "none; none",
        measure: seams,
    },
    Line {
        title: "longest function, tables aside; longest file; most methods of a type",
        bar: "at most 80 lines; 700 lines; 100 methods",
        measure: sizes,
    },
];

/// The measurements, made by the first line that asks.
fn house(place: &Workplace) -> Result<&'static Json, String> {
    static HOUSE: OnceLock<Result<Json, String>> = OnceLock::new();
    HOUSE.get_or_init(|| measured(place)).as_ref().map_err(Clone::clone)
}

fn measured(place: &Workplace) -> Result<Json, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["run", "-q", "-p", "xtask", "--", "tidy", "--house", "--json"]).current_dir(&place.root);
    let out = command.output().map_err(|e| e.to_string())?;
    if !out.status.success() {
        return Err(String::from_utf8_lossy(&out.stderr).trim().to_owned());
    }
    serde_json::from_slice(&out.stdout).map_err(|e| format!("the measurements: {e}"))
}

/// The list at a path of the measurements.
fn list<'a>(house: &'a Json, path: &str) -> Result<&'a [Json], String> {
    house.pointer(path).and_then(Json::as_array).map(Vec::as_slice).ok_or_else(|| format!("no list at {path}"))
}

/// The number at a path of the measurements.
fn number(house: &Json, path: &str) -> Result<u64, String> {
    house.pointer(path).and_then(Json::as_u64).ok_or_else(|| format!("no number at {path}"))
}

fn functions(place: &Workplace, kind: &str, most: usize, most_files: u64) -> Result<Measured, String> {
    let house = house(place)?;
    let n = list(house, &format!("/kinds/{kind}/functions"))?.len();
    let n_files = number(house, &format!("/kinds/{kind}/files"))?;
    let kinds = number(house, &format!("/kinds/{kind}/kinds"))?;
    Ok(Measured::new(n <= most && n_files <= most_files, format!("{n} in {n_files} files, of {kinds} kinds")))
}

/// How long the lists at a path are for each enum.
fn of_both(place: &Workplace, name: &str) -> Result<[usize; 2], String> {
    let house = house(place)?;
    let of = |kind: &str| list(house, &format!("/kinds/{kind}/{name}")).map(<[Json]>::len);
    Ok([of("Op")?, of("Node")?])
}

fn lists(place: &Workplace) -> Result<Measured, String> {
    let ([ops, nodes], wild) = (of_both(place, "lists_elsewhere")?, of_both(place, "wildcards")?);
    let [all_ops, all_nodes] = of_both(place, "lists")?;
    let n_wild: usize = wild.iter().sum();
    let text = format!(
        "{ops} of statements and {nodes} of nodes, {} with those of these functions; {n_wild}",
        all_ops + all_nodes
    );
    Ok(Measured::new(ops + nodes <= 25 && n_wild == 0, text))
}

fn lines(place: &Workplace) -> Result<Measured, String> {
    let house = house(place)?;
    let (ops, nodes) = (number(house, "/kinds/Op/lines")?, number(house, "/kinds/Node/lines")?);
    Ok(Measured::new(ops + nodes <= 300, format!("{} ({ops} of statements, {nodes} of nodes)", ops + nodes)))
}

fn rings(place: &Workplace) -> Result<Measured, String> {
    let rings = list(house(place)?, "/rings")?;
    let longest = rings.first().and_then(Json::as_array).map_or(0, Vec::len);
    Ok(Measured::new(rings.is_empty(), format!("{}, the longest of {longest} files", rings.len())))
}

fn seams(place: &Workplace) -> Result<Measured, String> {
    let house = house(place)?;
    let (inner, arrows) = (list(house, "/inner_crates")?.len(), list(house, "/wrong_arrows")?.len());
    Ok(Measured::new(inner == 0 && arrows == 0, format!("{inner}; {arrows}")))
}

fn sizes(place: &Workplace) -> Result<Measured, String> {
    let house = house(place)?;
    let functions = list(house, "/functions")?;
    let function = functions.iter().find(|one| one.get("is_table") == Some(&Json::Bool(false)));
    let function = function.ok_or("every function is a table")?;
    let lines = number(function, "/amount")?;
    let name = function.pointer("/name").and_then(Json::as_str).unwrap_or_default();
    let (file, methods) = (number(house, "/files/0/amount")?, number(house, "/methods/0/methods")?);
    let of = house.pointer("/methods/0/type").and_then(Json::as_str).unwrap_or_default();
    let text = format!("{lines} lines (`{name}`); {file} lines; {methods} methods (`{of}`)");
    Ok(Measured::new(lines <= 80 && file <= 700 && methods <= 100, text))
}
