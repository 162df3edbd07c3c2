//! Arguments from files and from the command line.

use crate::args::InputArgs;
use crate::diagnostics::Failure;
use crate::exit;
use crate::files;
use crate::machine;
use cotan::Signature;
use cotan::codes;
use cotan::host::files::{Archive, ArrayHeader, JsonText, NpyFile};
use cotan::host::{ArgumentMisfit, Arguments, Budget, Elem, EntryParam, HostType, HostValue, with_defaults};
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// What is read takes at most one part of the memory to spare of so many: a call takes as much again for itself.
pub(crate) const PART_FOR_FILES: u64 = 2;

/// Arguments as they were read: their names, and the bytes of their files. Values are made of them for a signature.
#[derive(Clone, Default)]
pub(crate) struct RawArguments {
    values: BTreeMap<String, RawValue>,
    archives: Vec<(String, Archive)>,
}

#[derive(Clone)]
enum RawValue {
    Json(JsonText),
    Npy {
        path: String,
        file: Arc<NpyFile>,
    },
    /// The array of a name in an archive, by its number.
    Packed {
        archive: usize,
        name: String,
    },
    Value(HostValue),
}

/// Why arguments have no values in the types of a signature.
pub(crate) enum Unbound {
    Misfit(ArgumentMisfit),
    File(Failure),
}

impl From<ArgumentMisfit> for Unbound {
    fn from(misfit: ArgumentMisfit) -> Unbound {
        Unbound::Misfit(misfit)
    }
}

/// What values may take, all files together.
fn budget() -> Budget {
    machine::spare_memory().map_or_else(Budget::default, |bytes| Budget::new(bytes / PART_FOR_FILES))
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
            let text = match serde_json::from_str::<Json>(text) {
                Ok(_) => text.to_owned(),
                // Words such as `nan` are no JSON; they are read as strings, which the type judges.
                Err(_) => Json::from(text).to_string(),
            };
            let json = JsonText::new(text.into_bytes()).map_err(|e| malformed(format!("--set {name}: {e}")))?;
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
        if let Some((name, path)) = source.split_once('=').filter(|(_, path)| extension(path) == "npy") {
            let file = NpyFile::open(read_file(path)?).map_err(|e| of_file(path, &e))?;
            self.values.insert(name.to_owned(), RawValue::Npy { path: path.to_owned(), file: Arc::new(file) });
            return Ok(());
        }
        match extension(source) {
            "npz" => {
                let archive = Archive::open(read_file(source)?).map_err(|e| of_file(source, &e))?;
                let number = self.archives.len();
                let packed =
                    |name: &str| (name.to_owned(), RawValue::Packed { archive: number, name: name.to_owned() });
                self.values.extend(archive.names().map(packed));
                self.archives.push((source.to_owned(), archive));
            }
            "json" => {
                let text = JsonText::new(read_file(source)?).map_err(|e| of_file(source, &e))?;
                match (text.entries().map_err(|e| of_file(source, &e))?, only) {
                    (Some(entries), _) => {
                        self.values.extend(entries.into_iter().map(|(name, text)| (name, RawValue::Json(text))));
                    }
                    (None, Some(only)) => {
                        self.values.insert(only.to_owned(), RawValue::Json(text));
                    }
                    (None, None) => {
                        return Err(of_file(source, &"expected a JSON object with one entry for each parameter"));
                    }
                }
            }
            _ => {
                let message = format!("`{source}`: expected a .json file, an .npz file, or name=file.npy");
                return Err(malformed(message));
            }
        }
        Ok(())
    }

    /// Takes over values under new names.
    pub(crate) fn absorb(&mut self, other: RawArguments, rename: impl Fn(String) -> String) {
        let first = self.archives.len();
        self.archives.extend(other.archives);
        self.values.extend(other.values.into_iter().map(|(name, mut value)| {
            if let RawValue::Packed { archive, .. } = &mut value {
                *archive += first;
            }
            (rename(name), value)
        }));
    }

    /// Whether there is a value of this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.values.contains_key(name)
    }

    /// The element type of an array of this name.
    pub(crate) fn elem(&self, name: &str) -> Option<Elem> {
        match self.values.get(name)? {
            RawValue::Npy { file, .. } => Some(file.header().elem()),
            RawValue::Packed { archive, name } => Some(self.archives.get(*archive)?.1.header(name)?.ok()?.elem()),
            RawValue::Value(HostValue::Tensor(array)) => Some(array.elem),
            RawValue::Value(HostValue::Scalar(number)) => Some(number.elem()),
            RawValue::Value(
                HostValue::Array { .. } | HostValue::Tuple(_) | HostValue::Struct(_) | HostValue::Enum { .. },
            )
            | RawValue::Json(_) => None,
        }
    }

    /// Adds a value.
    pub(crate) fn insert(&mut self, name: &str, value: HostValue) {
        self.values.insert(name.to_owned(), RawValue::Value(value));
    }

    /// The arguments in the types of a signature. Of what it does not name, nothing is read.
    pub(crate) fn bind(&self, signature: &Signature) -> Result<Arguments, Unbound> {
        let mut args = Arguments::new();
        let mut budget = budget();
        // The arrays of an archive are read together.
        let mut packed: Vec<Vec<(&str, &str)>> = vec![Vec::new(); self.archives.len()];
        for (name, raw) in &self.values {
            let param = signature.params.iter().find(|p| p.name == *name);
            let is_size = param.is_none() && signature.sizes.contains(name);
            let value = match raw {
                // Whether there is a parameter of that name is found out with the types.
                RawValue::Value(value) => value.clone(),
                RawValue::Npy { .. } | RawValue::Packed { .. } | RawValue::Json(_) if param.is_none() && !is_size => {
                    HostValue::unit()
                }
                RawValue::Npy { path, file } => {
                    check_header(signature, name, param, file.header())?;
                    file.value(&mut budget).map_err(|e| Unbound::File(of_file(path, &e)))?
                }
                RawValue::Packed { archive, name: array } => {
                    let (path, archive_file) = &self.archives[*archive];
                    let header = archive_file.header(array).transpose();
                    if let Some(header) = header.map_err(|e| Unbound::File(of_file(path, &e)))? {
                        check_header(signature, name, param, &header)?;
                        packed[*archive].push((name, array));
                    }
                    continue;
                }
                RawValue::Json(json) => match param {
                    Some(param) => of_json(signature, param, json, &mut budget)?,
                    None => HostValue::i64(json.as_i64().ok_or_else(|| ArgumentMisfit::Kind {
                        name: name.clone(),
                        expected: "a whole number".to_owned(),
                        found: shown(json),
                    })?),
                },
            };
            args.insert(name.clone(), value);
        }
        for ((path, archive), wanted) in self.archives.iter().zip(&packed) {
            let arrays: Vec<&str> = wanted.iter().map(|(_, array)| *array).collect();
            let values = archive.read(&arrays, &mut budget).map_err(|e| Unbound::File(of_file(path, &e)))?;
            args.extend(wanted.iter().map(|(name, _)| (*name).to_owned()).zip(values));
        }
        Ok(with_defaults(signature, args))
    }
}

/// A value of the type of a parameter.
fn of_json(
    signature: &Signature,
    param: &EntryParam,
    json: &JsonText,
    budget: &mut Budget,
) -> Result<HostValue, ArgumentMisfit> {
    json.value(&param.ty, budget).map_err(|misfit| {
        let whole = signature.show(&param.ty);
        let expected = match (&param.ty, misfit.place.as_str()) {
            // What is wanted inside of a scalar is the scalar.
            (HostType::Scalar(_), _) => misfit.expected,
            (_, "") => format!("{whole} ({})", misfit.expected),
            (_, place) => format!("{whole} (at `{place}`: {})", misfit.expected),
        };
        ArgumentMisfit::Kind { name: param.name.clone(), expected, found: misfit.found }
    })
}

/// Fails if an array with this header is not what a parameter, or else a size, wants: then nothing of it is read.
fn check_header(
    signature: &Signature,
    name: &str,
    param: Option<&EntryParam>,
    header: &ArrayHeader,
) -> Result<(), ArgumentMisfit> {
    let (elem, dims) = (header.elem(), header.dims());
    let (fits, expected) = match param.map(|param| &param.ty) {
        None => (elem == Elem::I64 && dims.is_empty(), "a whole number".to_owned()),
        Some(ty) => {
            let fits = match ty {
                HostType::Scalar(wanted) => *wanted == elem && dims.is_empty(),
                HostType::Tensor { elem: wanted, dims: axes } => {
                    matches!(**wanted, HostType::Scalar(wanted) if wanted == elem) && axes.len() == dims.len()
                }
                HostType::Tuple(_) | HostType::Struct { .. } | HostType::Enum { .. } => false,
            };
            (fits, signature.show(ty))
        }
    };
    if fits {
        return Ok(());
    }
    let found = if dims.is_empty() { elem.to_string() } else { format!("{elem}{dims:?}") };
    Err(ArgumentMisfit::Kind { name: name.to_owned(), expected, found })
}

/// A JSON text in a message.
fn shown(json: &JsonText) -> String {
    const MOST: usize = 40;
    let text = String::from_utf8_lossy(json.text().get(..MOST).unwrap_or(json.text()));
    text.trim().to_owned()
}

fn malformed(message: impl Into<String>) -> Failure {
    Failure::plain(exit::USAGE, codes::MALFORMED_FILE, message)
}

fn extension(path: &str) -> &str {
    Path::new(path).extension().and_then(|e| e.to_str()).unwrap_or_default()
}

fn of_file(path: &str, e: &dyn std::fmt::Display) -> Failure {
    malformed(format!("`{path}`: {e}"))
}

/// The bytes of a file of arguments.
fn read_file(path: &str) -> Result<Vec<u8>, Failure> {
    files::read(Path::new(path), machine::spare_memory().map_or(u64::MAX, |bytes| bytes / PART_FOR_FILES))
}
