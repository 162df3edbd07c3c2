//! Regression test of generated code by hash: the core IR, the loop nests and the LLVM IR of every program under `tests/run`
//! and `examples`, with its derivatives.
//!
//! A change that only moves or renames code of the compiler keeps every byte of these texts. `cargo xtask texts --record` notes
//! them, and `--compare` says which are others now, with the first line that differs. The record stays out of the repository:
//! it belongs to the revision that a change starts from.

use crate::compile::backend;
use crate::files::{programs, replace, workspace_file};
use crate::frontend::{loaded, lower};
use crate::header::cases;
use crate::{parallel, tier};
use cotan::{DerivativeForm, Program, ReadyModule, Request, derivative};
use cotan_llvm::{Backend, CompileOptions};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The steps that are noted, in the order in which code goes through them.
pub const STAGES: [&str; 3] = ["ir", "loops", "llvm"];

/// Texts by their names, `program/function.form.stage`.
pub type Texts = BTreeMap<String, String>;

/// The texts of all programs. A request that is refused has its message in place of its texts.
pub fn all() -> Result<Texts, String> {
    let backend = backend(1)?;
    let of_folder = |folder: &str| -> Vec<(String, PathBuf)> {
        programs(&workspace_file(folder)).into_iter().map(|path| (folder.to_owned(), path)).collect()
    };
    let paths: Vec<(String, PathBuf)> = ["tests/run", "examples"].into_iter().flat_map(of_folder).collect();
    let of_program = |(folder, path): &(String, PathBuf)| of_program(&backend, folder, path);
    let texts: Vec<Texts> = parallel::map(&paths, of_program).into_iter().collect::<Result<_, _>>()?;
    Ok(texts.into_iter().flatten().collect())
}

/// The texts of one program, whose imports are files below the folder.
fn of_program(backend: &Backend, folder: &str, path: &Path) -> Result<Texts, String> {
    let below = workspace_file(folder);
    let name = path.strip_prefix(&below).unwrap_or(path).display().to_string();
    let text = fs::read_to_string(path).map_err(|e| format!("{name}: {e}"))?;
    let program = loaded(&name, &text, &below)?;
    let name = format!("{folder}/{name}");
    let mut texts = Texts::new();
    for (label, request) in requests(&program, &text)? {
        match lower(&program, &request) {
            Ok(lowered) => {
                for stage in STAGES {
                    texts.insert(format!("{name}/{label}.{stage}"), stage_text(backend, &lowered, stage)?);
                }
            }
            Err(message) => {
                texts.insert(format!("{name}/{label}.refused"), message);
            }
        }
    }
    Ok(texts)
}

/// What is asked of a program: the functions and gradients of its header; without one, all functions that have parameters of
/// known types, and their gradients.
fn requests(program: &Program, text: &str) -> Result<Vec<(String, Request)>, String> {
    let mut wanted: BTreeSet<(String, Vec<String>)> = BTreeSet::new();
    if text.lines().any(|line| line.starts_with("#:")) {
        wanted.extend(cases(text)?.into_iter().map(|case| (case.function, case.wrt)));
    } else {
        let own = |f: &&cotan_sema::typed::Function| f.name_span.file.0 == 0 && !f.is_shapeless();
        for f in program.checked.program.functions.iter().filter(own) {
            wanted.insert((f.name.to_string(), f.params.iter().map(|p| p.name.to_string()).collect()));
        }
    }
    let mut all = Vec::new();
    for (function, wrt) in wanted {
        all.push((format!("{function}.value"), Request::function(&function)));
        let wrt: Vec<&str> = wrt.iter().map(String::as_str).collect();
        for form in [DerivativeForm::ValueAndGrad, DerivativeForm::Jvp] {
            if !wrt.is_empty() {
                let label = format!("{function}.{}.{}", form.as_str(), wrt.join("+"));
                all.push((label, derivative(&function, form, &wrt)));
            }
        }
    }
    Ok(all)
}

fn stage_text(backend: &Backend, lowered: &ReadyModule, stage: &str) -> Result<String, String> {
    let options = CompileOptions::default();
    match stage {
        "ir" => Ok(lowered.module.to_string()),
        "loops" => Ok(lowered.module.functions().map(|f| options.nest(f).to_string()).collect()),
        "llvm" => backend.llvm_ir(&lowered.module, &lowered.entry.symbol, &options).map_err(|e| e.to_string()),
        other => Err(format!("there is no stage `{other}`")),
    }
}

/// Writes the texts below a folder, which is emptied before, with a list of their hashes.
pub fn record(folder: &Path, texts: &Texts) -> Result<(), String> {
    let failed = |e: std::io::Error| format!("{}: {e}", folder.display());
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(failed)?;
    }
    for (name, text) in texts {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap_or(folder)).map_err(failed)?;
        fs::write(path, text).map_err(failed)?;
    }
    replace(&hashes_file(folder), &hashes(texts)).map_err(failed)
}

fn hashes_file(folder: &Path) -> PathBuf {
    folder.join("hashes.tsv")
}

fn hashes(texts: &Texts) -> String {
    texts.iter().map(|(name, text)| format!("{name}\t{:016x}\n", tier::hash(text))).collect()
}

/// What differs from a record: a line for each text that is another, gone, or new.
pub fn compare(folder: &Path, texts: &Texts) -> Result<Vec<String>, String> {
    let recorded = fs::read_to_string(hashes_file(folder))
        .map_err(|e| format!("{}: {e}; `--record` writes it", hashes_file(folder).display()))?;
    let recorded: BTreeMap<&str, &str> = recorded.lines().filter_map(|line| line.split_once('\t')).collect();
    let mut differences = Vec::new();
    for (name, text) in texts {
        match recorded.get(name.as_str()) {
            None => differences.push(format!("{name}: new")),
            Some(hash) if **hash == format!("{:016x}", tier::hash(text)) => {}
            Some(_) => {
                let old = fs::read_to_string(folder.join(name)).unwrap_or_default();
                differences.push(format!("{name}: {}", first_difference(&old, text)));
            }
        }
    }
    let gone = recorded.keys().filter(|name| !texts.contains_key(**name));
    differences.extend(gone.map(|name| format!("{name}: gone")));
    Ok(differences)
}

fn first_difference(old: &str, new: &str) -> String {
    let mut lines = old.lines().zip(new.lines()).enumerate();
    match lines.find(|(_, (a, b))| a != b) {
        Some((k, (a, b))) => format!("line {}: `{}` is now `{}`", k + 1, a.trim(), b.trim()),
        None => format!("{} lines are now {}", old.lines().count(), new.lines().count()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_tells_what_is_another_text_new_or_gone() {
        let folder = std::env::temp_dir().join(format!("cotan-texts-{}", std::process::id()));
        let texts = |all: &[(&str, &str)]| all.iter().map(|(n, t)| ((*n).to_owned(), (*t).to_owned())).collect();
        let before: Texts = texts(&[("a.cot/f.ir", "x\ny\n"), ("a.cot/g.ir", "x\n"), ("b.cot/f.ir", "z\n")]);
        record(&folder, &before).expect("a record");
        assert_eq!(compare(&folder, &before), Ok(Vec::new()));
        let after: Texts = texts(&[("a.cot/f.ir", "x\nz\n"), ("b.cot/f.ir", "z\n"), ("c.cot/f.ir", "z\n")]);
        let expected = ["a.cot/f.ir: line 2: `y` is now `z`", "c.cot/f.ir: new", "a.cot/g.ir: gone"];
        assert_eq!(compare(&folder, &after), Ok(expected.map(str::to_owned).to_vec()));
        fs::remove_dir_all(&folder).expect("a folder that can be removed");
    }
}
