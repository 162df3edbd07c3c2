//! Idioms: how something is said in another language and in Cotan, side by side, with the value that both give.
//!
//! `docs/idioms/LANGUAGE.tsv` has an idiom a line. Its cells are the section of the page, the other language's code, Cotan's code,
//! the type and the value of the result, and what stands around either code where it is no expression by itself: `{}` is the
//! code there, `\n` a new line, and in Cotan `;;` parts declarations from the body. The names of `inputs.tsv` are there in
//! all of them. The tables of the book are made of these files.

mod cotan_side;
mod python;
mod rust;

pub use cotan_side::against_cotan;
pub use python::{Framework, against_python};
pub use rust::against_rust;

use crate::files::workspace_file;
use serde_json::Value as Json;
use std::fs;

/// The languages, by the names of their files.
pub const LANGUAGES: [&str; 5] = ["numpy", "jax", "torch", "julia", "rust"];

/// How far values may be apart, relative to the larger one.
const TOLERANCE: f64 = 1e-9;

/// Something that two languages say.
pub struct Idiom {
    /// The section of the page that has it.
    pub section: String,
    /// In the other language.
    pub theirs: String,
    /// In Cotan.
    pub ours: String,
    /// The type of the result in Cotan.
    ty: String,
    value: Json,
    /// What stands around the code of the other language, where it is no expression.
    around_theirs: Option<String>,
    around_ours: Option<String>,
}

/// A value that all idioms may use.
struct Input {
    name: String,
    ty: String,
    value: Json,
}

/// The idioms of a language.
pub fn idioms(language: &str) -> Result<Vec<Idiom>, String> {
    lines(&format!("docs/idioms/{language}.tsv"))?.iter().map(|cells| idiom(cells)).collect()
}

fn idiom(cells: &[String]) -> Result<Idiom, String> {
    let [section, theirs, ours, ty, value, around @ ..] = cells else {
        return Err(format!("too few cells: {cells:?}"));
    };
    let value = serde_json::from_str(value).map_err(|e| format!("the value of `{theirs}`: {e}"))?;
    let frame = |k: usize| around.get(k).filter(|text| !text.is_empty()).map(|text| text.replace("\\n", "\n"));
    Ok(Idiom {
        section: section.clone(),
        theirs: theirs.clone(),
        ours: ours.clone(),
        ty: ty.clone(),
        value,
        around_theirs: frame(0),
        around_ours: frame(1),
    })
}

fn inputs() -> Result<Vec<Input>, String> {
    let input = |cells: &Vec<String>| match cells.as_slice() {
        [name, ty, value] => {
            let value = serde_json::from_str(value).map_err(|e| format!("the value of `{name}`: {e}"))?;
            Ok(Input { name: name.clone(), ty: ty.clone(), value })
        }
        _ => Err(format!("an input has three cells: {cells:?}")),
    };
    lines("docs/idioms/inputs.tsv")?.iter().map(input).collect()
}

/// The cells of the lines of a table, without those that begin with `#`.
fn lines(path: &str) -> Result<Vec<Vec<String>>, String> {
    let text = fs::read_to_string(workspace_file(path)).map_err(|e| format!("{path}: {e}"))?;
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    Ok(lines.map(|line| line.split('\t').map(str::to_owned).collect()).collect())
}

/// Whether two values are the same but for roundings.
fn is_close(a: &Json, b: &Json) -> bool {
    match (a, b) {
        (Json::Array(a), Json::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_close(a, b)),
        (Json::Number(a), Json::Number(b)) => {
            let (a, b) = (a.as_f64().unwrap_or(f64::NAN), b.as_f64().unwrap_or(f64::NAN));
            (a - b).abs() <= TOLERANCE * a.abs().max(b.abs()).max(1.0)
        }
        _ => a == b,
    }
}

/// The failures among found values, one for each idiom.
fn compared(idioms: &[Idiom], found: Vec<Result<Json, String>>) -> Vec<String> {
    let failure = |(idiom, found): (&Idiom, Result<Json, String>)| match found {
        Ok(found) if is_close(&found, &idiom.value) => None,
        Ok(found) => Some(format!("`{}`, `{}`: found {found}, noted {}", idiom.theirs, idiom.ours, idiom.value)),
        Err(e) => Some(format!("`{}`, `{}`: {e}", idiom.theirs, idiom.ours)),
    };
    idioms.iter().zip(found).filter_map(failure).collect()
}

/// A section of a language as a table of two columns.
pub fn table(language: &str, section: &str) -> Result<String, String> {
    let of_section: Vec<Idiom> = idioms(language)?.into_iter().filter(|idiom| idiom.section == section).collect();
    if of_section.is_empty() {
        return Err(format!("there are no idioms `{section}` of {language}"));
    }
    let mut text = format!("| {} | Cotan |\n|---|---|\n", title(language));
    for idiom in of_section {
        text += &format!("| {} | {} |\n", cell(&idiom.theirs), cell(&idiom.ours));
    }
    Ok(text)
}

/// Code as it stands in a table.
fn cell(code: &str) -> String {
    format!("`{}`", code.replace('|', "\\|"))
}

fn title(language: &str) -> &str {
    match language {
        "numpy" => "NumPy",
        "jax" => "JAX",
        "torch" => "PyTorch",
        "julia" => "Julia",
        "rust" => "Rust",
        other => other,
    }
}
