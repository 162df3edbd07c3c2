//! Wrapper functions and their cases, as they are read from `spec/operations`.

use super::Outcome;
use super::point::Point;
use super::wrapper_types::{Signature, Written};
use crate::files::{files, workspace_file};
use crate::frontend::loaded;
use crate::parallel;
use crate::tier;
use cotan::Program;
use cotan::host::{HostValue, from_json};
use cotan_ir::Elem;
use cotan_lower::entry::HostType;
use cotan_ops::Value;
use cotan_sema::dims::Dim;
use cotan_syntax::ast::ItemKind;
use cotan_syntax::token::TokenKind;
use cotan_syntax::{FileId, parse};
use serde_json::Value as Json;
use std::path::Path;

/// A file of wrapper functions.
#[derive(Clone, Debug)]
pub(super) struct Source {
    pub(super) name: String,
    pub(super) text: String,
}

/// A wrapper function with its cases.
#[derive(Clone, Debug)]
pub struct Wrapper {
    /// The number of its file.
    pub(super) file: usize,
    /// Its file and its own name, such as `reduce.amax`.
    pub label: String,
    /// Its name.
    pub(super) name: String,
    pub(super) signature: Signature,
    pub(super) cases: Vec<Json>,
    /// The arguments of each case, in f64.
    pub(super) points: Vec<Point>,
}

/// How many cases of a wrapper are asked where programs are made of it.
const FEW: usize = 2;

impl Wrapper {
    /// The arguments of the first cases that give something.
    pub(super) fn few_points(&self) -> Vec<&Point> {
        let gives = |(case, point)| (Json::get(case, "error").is_none()).then_some(point);
        self.cases.iter().zip(&self.points).filter_map(gives).take(FEW).collect()
    }

    /// Whether a parameter is a float or a tensor of floats.
    pub(super) fn takes_floats(&self) -> bool {
        self.signature.params.iter().any(|(_, ty)| ty.is_float())
    }

    fn add(&mut self, case: &Json) -> Result<(), String> {
        let args = case["args"].as_object().ok_or("no arguments")?;
        if let Some(name) = args.keys().find(|name| self.signature.params.iter().all(|(param, _)| param != *name)) {
            return Err(format!("{}: there is no parameter `{name}`", self.label));
        }
        let value = |(name, ty): &(String, Written)| {
            let json = args.get(name).ok_or_else(|| format!("no argument for `{name}`"))?;
            argument(json, ty).map_err(|e| format!("`{name}`: {e}"))
        };
        let point = self.signature.params.iter().map(value).collect::<Result<Point, String>>();
        self.points.push(point.map_err(|e| format!("{}: {e}", self.label))?);
        self.cases.push(case.clone());
        Ok(())
    }
}

/// An argument that is a scalar or a tensor.
fn argument(json: &Json, ty: &Written) -> Result<Value, String> {
    let elem = HostType::Scalar(Elem::from_name(ty.elem()).ok_or_else(|| format!("{ty} is no type of an argument"))?);
    let ty = match ty.rank() {
        0 => elem,
        rank => HostType::Tensor { elem: Box::new(elem), dims: vec![Dim::constant(0); rank] },
    };
    match from_json(json, &ty).map_err(|e| format!("{} for {}", e.found, e.expected))? {
        HostValue::Scalar(c) => Ok(Value::from(c)),
        HostValue::Tensor(v) => Ok(v),
        other @ (HostValue::Array { .. } | HostValue::Tuple(_) | HostValue::Struct(_) | HostValue::Enum { .. }) => {
            Err(format!("a {} is no scalar or tensor", other.describe()))
        }
    }
}

/// All wrapper functions.
#[derive(Clone, Debug)]
pub struct Library {
    pub(super) files: Vec<Source>,
    /// The wrappers, file by file.
    pub wrappers: Vec<Wrapper>,
}

impl Library {
    /// Reads the files with `wanted` in their name. A wrapper without cases is a mistake, and so is a case without one.
    pub fn read(wanted: &str) -> Result<Library, String> {
        let mut library = Library { files: Vec::new(), wrappers: Vec::new() };
        for path in files(&workspace_file("spec/operations"), ".json") {
            let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
            if name.contains(wanted) {
                library.file(&path, &name).map_err(|e| format!("{name}: {e}"))?;
            }
        }
        Ok(library)
    }

    fn file(&mut self, path: &Path, name: &str) -> Result<(), String> {
        let read = |path: &Path| std::fs::read_to_string(path).map_err(|e| e.to_string());
        let text = read(&path.with_extension("cot"))?;
        let json: Json = serde_json::from_str(&read(path)?).map_err(|e| e.to_string())?;
        let first = self.wrappers.len();
        for item in &parse(FileId(0), &text).0.items {
            if let ItemKind::Function(function) = &item.kind {
                let signature = Signature::of(function, &text)?;
                let of_function = function.signature.name.name.to_string();
                let label = format!("{name}.{of_function}");
                let (file, cases, points) = (self.files.len(), Vec::new(), Vec::new());
                self.wrappers.push(Wrapper { file, label, name: of_function, signature, cases, points });
            }
        }
        for case in json["cases"].as_array().ok_or("no list of cases")? {
            let function = case["function"].as_str().ok_or("a case without a function")?;
            let wrapper = self.wrappers[first..].iter_mut().find(|wrapper| wrapper.name == function);
            wrapper.ok_or_else(|| format!("there is no wrapper `{function}`"))?.add(case)?;
        }
        let without: Vec<&str> =
            self.wrappers[first..].iter().filter(|w| w.cases.is_empty()).map(|w| w.name.as_str()).collect();
        if !without.is_empty() {
            return Err(format!("no case for {without:?}"));
        }
        self.files.push(Source { name: name.to_owned(), text });
        Ok(())
    }

    /// For every file the program of its wrappers in a float type, followed by what `more` makes of each of them.
    pub(super) fn programs(&self, elem: Elem, more: impl Fn(&Wrapper) -> String) -> Result<Vec<Program>, String> {
        let program = |(k, file): (usize, &Source)| {
            let made: Vec<String> = self.wrappers.iter().filter(|w| w.file == k).map(&more).collect();
            self::program(&file.name, &(in_type(&file.text, elem) + &made.concat()))
        };
        self.files.iter().enumerate().map(program).collect()
    }

    /// What is wrong with a list of exceptions: labels in the files that were read that no wrapper has.
    pub(super) fn unknown<'a>(&self, labels: impl IntoIterator<Item = &'a str>) -> Vec<String> {
        let is_read = |label: &&str| self.files.iter().any(|f| label.split('.').next() == Some(f.name.as_str()));
        let is_unknown = |label: &&str| self.wrappers.iter().all(|wrapper| wrapper.label != **label);
        let unknown = labels.into_iter().filter(is_read).filter(is_unknown);
        unknown.map(|label| format!("`{label}` is listed, and there is no such wrapper")).collect()
    }

    /// Asks one of three wrappers for one form of them, in the campaign all: a hash of the form and of their names picks them.
    pub(super) fn ask_some(&self, form: &str, of: impl Fn(&Wrapper) -> (usize, Vec<String>) + Sync) -> Outcome {
        let is_asked = |wrapper: &Wrapper| {
            tier::is_campaign() || tier::hash(&format!("{form} of {}", wrapper.label)).is_multiple_of(3)
        };
        self.ask(|wrapper| if is_asked(wrapper) { of(wrapper) } else { (0, Vec::new()) })
    }

    /// Asks every wrapper: how many points it was asked at, and what is wrong.
    pub(super) fn ask(&self, of: impl Fn(&Wrapper) -> (usize, Vec<String>) + Sync) -> Outcome {
        let mut outcome = Outcome::default();
        for (asked, failures) in parallel::map(&self.wrappers, of) {
            outcome.asked += asked;
            outcome.failures.extend(failures);
        }
        outcome
    }
}

/// A program beside the wrappers.
pub(super) fn program(name: &str, text: &str) -> Result<Program, String> {
    loaded(&format!("{name}.cot"), text, &workspace_file("spec/operations"))
}

/// The text with another float type in place of `f64`.
pub(super) fn in_type(text: &str, elem: Elem) -> String {
    let mut out = String::new();
    let mut end = 0;
    for token in &parse(FileId(0), text).0.tokens {
        let range = token.span.range();
        if token.kind == TokenKind::Ident && &text[range.clone()] == Elem::F64.name() {
            out.push_str(&text[end..range.start]);
            out.push_str(elem.name());
            end = range.end;
        }
    }
    out + &text[end..]
}
