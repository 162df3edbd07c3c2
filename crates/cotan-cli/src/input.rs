//! Arguments from files and from the command line.

use crate::args::InputArgs;
use crate::diagnostics::Failure;
use crate::exit;
use cotan::codes;
use cotan::host::{ArgumentMisfit, Arguments, HostValue, from_json, read_npy, read_npz, with_defaults};
use cotan::ir::Elem;
use cotan::sema::entry::{Entry, HostType};
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::path::Path;

/// Arguments as they were read. JSON takes its types from a signature later; arrays have theirs.
#[derive(Clone, Default)]
pub(crate) struct RawArguments {
    values: BTreeMap<String, RawValue>,
}

#[derive(Clone)]
enum RawValue {
    Json(Json),
    Array(HostValue),
}

impl RawArguments {
    /// Reads `--args` and `--set`; later ones win.
    pub(crate) fn read(inputs: &InputArgs) -> Result<RawArguments, Failure> {
        let mut raw = RawArguments::default();
        inputs.args.iter().try_for_each(|source| raw.read_source(source, None))?;
        for assignment in &inputs.set {
            let Some((name, text)) = assignment.split_once('=') else {
                return Err(malformed(format!("--set: expected p=v, found `{assignment}`")));
            };
            // Words such as `nan` are no JSON; they are read as strings, which the type judges.
            let json = serde_json::from_str(text).unwrap_or_else(|_| Json::from(text));
            raw.values.insert(name.to_owned(), RawValue::Json(json));
        }
        Ok(raw)
    }

    /// Reads the sources of one option, such as `--cotangent`. JSON that is no object is the value called `only`.
    pub(crate) fn read_sources(sources: &[String], only: &str) -> Result<RawArguments, Failure> {
        let mut raw = RawArguments::default();
        sources.iter().try_for_each(|source| raw.read_source(source, Some(only)))?;
        Ok(raw)
    }

    fn read_source(&mut self, source: &str, only: Option<&str>) -> Result<(), Failure> {
        let of_file = |path: &str, e: &dyn std::fmt::Display| malformed(format!("`{path}`: {e}"));
        if let Some((name, path)) = source.split_once('=').filter(|(_, path)| extension(path) == "npy") {
            let value = read_npy(&read_file(path)?).map_err(|e| of_file(path, &e))?;
            self.values.insert(name.to_owned(), RawValue::Array(value));
            return Ok(());
        }
        match extension(source) {
            "npz" => {
                let arrays = read_npz(&read_file(source)?).map_err(|e| of_file(source, &e))?;
                self.values.extend(arrays.into_iter().map(|(name, value)| (name, RawValue::Array(value))));
            }
            "json" => match (serde_json::from_slice(&read_file(source)?), only) {
                (Ok(Json::Object(object)), _) => {
                    self.values.extend(object.into_iter().map(|(name, value)| (name, RawValue::Json(value))));
                }
                (Ok(value), Some(only)) => {
                    self.values.insert(only.to_owned(), RawValue::Json(value));
                }
                (Ok(_), None) => {
                    return Err(of_file(source, &"expected a JSON object with one entry for each parameter"));
                }
                (Err(e), _) => return Err(of_file(source, &e)),
            },
            _ => {
                let message = format!("`{source}`: expected a .json file, an .npz file, or name=file.npy");
                return Err(malformed(message));
            }
        }
        Ok(())
    }

    /// Takes over values under new names.
    pub(crate) fn absorb(&mut self, other: RawArguments, rename: impl Fn(String) -> String) {
        self.values.extend(other.values.into_iter().map(|(name, value)| (rename(name), value)));
    }

    /// Whether there is a value of this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.values.contains_key(name)
    }

    /// The element type of an array of this name.
    pub(crate) fn elem(&self, name: &str) -> Option<Elem> {
        match self.values.get(name)? {
            RawValue::Array(HostValue::Tensor(array)) => Some(array.elem),
            RawValue::Array(HostValue::Scalar(number)) => Some(number.elem()),
            RawValue::Array(
                HostValue::Array { .. } | HostValue::Tuple(_) | HostValue::Struct(_) | HostValue::Enum { .. },
            )
            | RawValue::Json(_) => None,
        }
    }

    /// Adds a value.
    pub(crate) fn insert(&mut self, name: &str, value: HostValue) {
        self.values.insert(name.to_owned(), RawValue::Array(value));
    }

    /// The arguments in the types of a signature.
    pub(crate) fn bind(&self, entry: &Entry) -> Result<Arguments, ArgumentMisfit> {
        let mut args = Arguments::new();
        for (name, raw) in &self.values {
            let param = entry.params.iter().find(|p| p.name == *name);
            let value = match (raw, param) {
                (RawValue::Array(value), _) => value.clone(),
                (RawValue::Json(json), Some(param)) => from_json(json, &param.ty).map_err(|misfit| {
                    let whole = entry.show(&param.ty);
                    let expected = match (&param.ty, misfit.place.as_str()) {
                        // What is wanted inside of a scalar is the scalar.
                        (HostType::Scalar(_), _) => misfit.expected,
                        (_, "") => format!("{whole} ({})", misfit.expected),
                        (_, place) => format!("{whole} (at `{place}`: {})", misfit.expected),
                    };
                    ArgumentMisfit::Kind { name: name.clone(), expected, found: misfit.found }
                })?,
                // A size; whether there is one of that name is found out with the types.
                (RawValue::Json(json), None) => match json.as_i64() {
                    Some(n) => HostValue::i64(n),
                    None if entry.sizes.contains(name) => {
                        let (expected, found) = ("a whole number".to_owned(), json.to_string());
                        return Err(ArgumentMisfit::Kind { name: name.clone(), expected, found });
                    }
                    None => HostValue::Tuple(Vec::new()),
                },
            };
            args.insert(name.clone(), value);
        }
        Ok(with_defaults(entry, args))
    }
}

fn malformed(message: impl Into<String>) -> Failure {
    Failure::plain(exit::USAGE, codes::MALFORMED_FILE, message)
}

fn extension(path: &str) -> &str {
    Path::new(path).extension().and_then(|e| e.to_str()).unwrap_or_default()
}

/// The bytes of a file.
fn read_file(path: &str) -> Result<Vec<u8>, Failure> {
    std::fs::read(path).map_err(|e| unreadable(Path::new(path), &e))
}

/// A file that the system does not give.
pub(crate) fn unreadable(path: &Path, error: &std::io::Error) -> Failure {
    let shown = path.display().to_string();
    Failure::about(&shown, exit::USAGE, codes::UNREADABLE_FILE, format!("reading `{shown}`: {error}"))
}
