//! Measurements of the code base: how often the kinds of statements and nodes are listed, which files import each other in a
//! ring, the longest functions and files, the types with the most methods, and the seams between crates.
//!
//! Everything is read from the syntax trees of the product code, tests aside.

mod kinds;
mod lock;
mod modules;
mod paths;
mod rings;
mod seams;
mod sizes;
mod source;

use anyhow::Result;
use kinds::{Kinds, Lists, Place};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;

pub(crate) use lock::stale_lock;
pub(crate) use seams::wrong_arrows;

/// How many of the longest are shown.
const SHOWN: usize = 20;

/// What was measured.
struct House {
    kinds: Vec<(Kinds, Lists)>,
    rings: Vec<Vec<String>>,
    functions: Vec<sizes::Function>,
    files: Vec<Place>,
    methods: Vec<(String, usize, usize)>,
    inner_crates: Vec<Place>,
    wrong_arrows: Vec<String>,
}

impl House {
    fn measure(root: &Path) -> Result<House> {
        let crates = source::read(root)?;
        let kinds = Kinds::all(&crates)?.into_iter().map(|kinds| {
            let lists = kinds.find(&crates);
            (kinds, lists)
        });
        Ok(House {
            kinds: kinds.collect(),
            rings: rings::rings(&crates),
            functions: sizes::functions(&crates),
            files: sizes::files(&crates),
            methods: sizes::methods(&crates),
            inner_crates: seams::inner_crates_in_shells(&crates),
            wrong_arrows: wrong_arrows(root)?,
        })
    }

    fn json(&self) -> Value {
        let kinds = self.kinds.iter().map(|(kinds, lists)| {
            let measured = json!({
                "kinds": kinds.count(),
                "many": kinds.many,
                "functions": places(&lists.functions),
                "files": n_files(&lists.functions),
                "lists": places(&lists.lists),
                "lists_elsewhere": places(&lists.lists_elsewhere),
                "wildcards": places(&lists.wildcards),
                "lines": lists.lines.len(),
            });
            (kinds.name.to_owned(), measured)
        });
        let functions = self.functions.iter().take(SHOWN).map(|function| {
            let Place { file, line, name, amount } = &function.place;
            json!({"file": file, "line": line, "name": name, "amount": amount, "is_table": function.is_table})
        });
        let methods =
            self.methods.iter().take(SHOWN).map(|(name, n, files)| json!({"type": name, "methods": n, "files": files}));
        json!({
            "kinds": kinds.collect::<serde_json::Map<String, Value>>(),
            "rings": self.rings,
            "functions": functions.collect::<Vec<Value>>(),
            "files": places(self.files.get(..SHOWN).unwrap_or(&self.files)),
            "methods": methods.collect::<Vec<Value>>(),
            "inner_crates": places(&self.inner_crates),
            "wrong_arrows": self.wrong_arrows,
        })
    }

    fn text(&self) -> String {
        let mut out = String::new();
        for (kinds, lists) in &self.kinds {
            let (name, many) = (kinds.name, kinds.many);
            out += &format!(
                "functions that name {many} or more of the {} kinds of `{name}`: {} in {} files\n",
                kinds.count(),
                lists.functions.len(),
                n_files(&lists.functions)
            );
            out += &shown(&lists.functions, "kinds");
            out += &format!(
                "or-patterns of five or more kinds of `{name}`: {}, {} of them outside of these functions\n",
                lists.lists.len(),
                lists.lists_elsewhere.len()
            );
            out += &shown(&lists.lists_elsewhere, "kinds");
            out += &format!("matches on `{name}` with a wildcard arm: {}\n", lists.wildcards.len());
            out += &shown(&lists.wildcards, "");
            out += &format!("lines that are nothing but a kind of `{name}`: {}\n\n", lists.lines.len());
        }
        out += &format!("rings of files that import each other: {}\n", self.rings.len());
        for ring in &self.rings {
            out += &format!("{:>6}  {}\n", ring.len(), ring.join("\n        "));
        }
        out += "\nlongest functions, in lines; tables are marked\n";
        for function in self.functions.iter().take(SHOWN) {
            let mark = if function.is_table { "table" } else { "" };
            out += &shown(std::slice::from_ref(&function.place), mark);
        }
        out += "\nlongest files, in lines\n";
        out += &shown(self.files.get(..SHOWN).unwrap_or(&self.files), "");
        out += "\ntypes with the most methods\n";
        for (name, n, files) in self.methods.iter().take(SHOWN) {
            out += &format!("{n:>6}  {name} in {files} files\n");
        }
        out += &format!("\nplaces where a shell names an inner crate: {}\n", self.inner_crates.len());
        out += &shown(&self.inner_crates, "");
        out +=
            &format!("\narrows of ARCHITECTURE.md that are not those of the manifests: {}\n", self.wrong_arrows.len());
        out += &self.wrong_arrows.iter().map(|line| format!("        {line}\n")).collect::<String>();
        out
    }
}

/// Prints the measurements.
pub(crate) fn print(root: &Path) -> Result<()> {
    crate::print(&House::measure(root)?.text());
    Ok(())
}

/// Prints the measurements as one JSON object.
pub(crate) fn print_json(root: &Path) -> Result<()> {
    crate::print(&format!("{:#}\n", House::measure(root)?.json()));
    Ok(())
}

fn n_files(places: &[Place]) -> usize {
    places.iter().map(|place| place.file.as_str()).collect::<BTreeSet<&str>>().len()
}

fn places(places: &[Place]) -> Vec<Value> {
    let one =
        |place: &Place| json!({"file": place.file, "line": place.line, "name": place.name, "amount": place.amount});
    places.iter().map(one).collect()
}

fn shown(places: &[Place], what: &str) -> String {
    let line = |place: &Place| {
        let Place { file, line, name, amount } = place;
        format!("{amount:>6}  {file}:{line} {name} {what}").trim_end().to_owned() + "\n"
    };
    places.iter().map(line).collect()
}
