//! Arguments as users give them: files, parts of files, JSON and settings by name, which become values when a signature
//! says what types they have.
//!
//! A host reads bytes; what they mean is decided here. Nothing is read that no parameter wants: of other parts of a file
//! there is a [note](Bound::notes).

mod bind;
mod content;
mod convert;
mod leaves;
mod path;
mod set;
mod source;
mod target;

use super::files::{FileError, JsonText};
use super::{ArgumentMisfit, Arguments, Elem, HostValue};
use content::{Content, Format};
use path::ValuePath;
use set::Setting;
use source::{Origin, Source};
use std::collections::BTreeMap;
use std::fmt::Display;

/// How inline JSON is called in messages.
const INLINE: &str = "inline JSON";

/// The most names that a message lists.
const LISTED: usize = 8;

/// Sources of arguments, by the parameters that they are for. Clones share the bytes.
///
/// ```
/// use cotan::host::{Budget, HostValue, Inputs, Malformed};
/// use cotan::{Compiler, Config, Request};
///
/// let compiler = Compiler::new(Config::default())?;
/// let program = compiler.check("f.cot", "struct P { w: f64[2], rate: f64 }\nfn f(p: P, n: i64) -> f64 = p.rate");
/// let signature = compiler.signature(&program, &Request::function("f"))?;
/// let mut inputs = Inputs::default();
/// let read = |_: &str| Ok::<_, Malformed>(br#"{"result": [0, {"w": [1, 2], "rate": 3}]}"#.to_vec());
/// inputs.add("p=run.json:result.1", None, &mut &read)?;
/// inputs.set("p.rate=0.5")?;
/// inputs.set("n=7")?;
/// let bound = inputs.bind(&signature, &mut Budget::default()).expect("arguments");
/// assert_eq!(bound.args["n"], HostValue::i64(7));
/// assert_eq!(bound.args["p"].floats(), [1.0, 2.0, 0.5]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Default)]
pub struct Inputs {
    files: Vec<OpenFile>,
    parts: BTreeMap<String, Vec<Part>>,
    settings: Vec<Setting>,
    values: BTreeMap<String, HostValue>,
}

/// A file with the name that messages have for it.
#[derive(Clone)]
struct OpenFile {
    name: String,
    content: Content,
}

/// A part of a file that is for a parameter.
#[derive(Clone)]
struct Part {
    /// Which file.
    file: usize,
    place: Place,
    /// Whether the user gives the parameter by name. What is only in a file may be left over.
    is_named: bool,
}

/// Where a part is.
#[derive(Clone)]
enum Place {
    /// Behind a path.
    At(ValuePath),
    /// Where [`Content::place`] finds a parameter of this name.
    Of(String),
}

/// Why a source or a setting is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Malformed {
    /// What was expected and found.
    pub message: String,
    /// What would do.
    pub help: Option<String>,
}

/// Why arguments have no values in the types of a signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unbound {
    /// They do not fit.
    Misfit {
        /// What does not fit.
        misfit: Box<ArgumentMisfit>,
        /// What would.
        help: Option<String>,
    },
    /// A file is not what it is taken for.
    Malformed(Malformed),
}

/// Arguments in the types of a signature.
#[derive(Clone, Debug, PartialEq)]
pub struct Bound {
    /// The arguments; defaults are among them.
    pub args: Arguments,
    /// What was converted and what nobody asks for, a line for each.
    pub notes: Vec<String>,
}

impl Malformed {
    fn new(message: impl Into<String>) -> Malformed {
        Malformed { message: message.into(), help: None }
    }

    fn help(self, help: impl Into<String>) -> Malformed {
        Malformed { help: Some(help.into()), ..self }
    }

    /// The same error of a file.
    fn of_file(file: &str, error: &FileError) -> Malformed {
        Malformed::new(format!("`{file}`: {error}"))
    }
}

impl Display for Malformed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Malformed {}

impl From<Malformed> for Unbound {
    fn from(malformed: Malformed) -> Unbound {
        Unbound::Malformed(malformed)
    }
}

impl Unbound {
    fn misfit(misfit: ArgumentMisfit) -> Unbound {
        Unbound::Misfit { misfit: Box::new(misfit), help: None }
    }

    fn misfit_with_help(misfit: ArgumentMisfit, help: impl Into<String>) -> Unbound {
        Unbound::Misfit { misfit: Box::new(misfit), help: Some(help.into()) }
    }
}

impl Inputs {
    /// Adds a source: `FILE` for all parameters whose names are in it, `name=FILE` or `name=FILE:path` for one, `-` for
    /// JSON on standard input, or a JSON object. `read` gives the bytes of a file, and is asked once for each. A file
    /// that is no collection of names is the value of the parameter `only`, if there is one.
    pub fn add<E: From<Malformed>>(
        &mut self,
        source: &str,
        only: Option<&str>,
        read: &mut dyn FnMut(&str) -> Result<Vec<u8>, E>,
    ) -> Result<(), E> {
        let Source { param, origin, path } = Source::parse(source)?;
        let file = self.open(origin, read)?;
        let OpenFile { name, content } = &self.files[file];
        let entries = content.entries().map_err(|e| Malformed::of_file(name, &e))?;
        let (param, place) = match (param, path, entries) {
            (None, None, Some(entries)) => {
                for entry in entries {
                    let place = Place::At(ValuePath::of(&entry));
                    self.parts.entry(entry).or_default().push(Part { file, place, is_named: false });
                }
                return Ok(());
            }
            (Some(param), Some(path), _) => (param, Place::At(path)),
            (Some(param), None, _) => (param.clone(), Place::Of(param)),
            (None, path, _) => match (only, path) {
                (Some(only), Some(path)) => (only.to_owned(), Place::At(path)),
                (Some(only), None) => (only.to_owned(), Place::Of(only.to_owned())),
                (None, _) => {
                    let message = format!("`{source}`: expected an entry for each parameter, found one value");
                    return Err(Malformed::new(message).help(format!("name the parameter: `x={source}`")).into());
                }
            },
        };
        self.parts.entry(param).or_default().push(Part { file, place, is_named: true });
        Ok(())
    }

    /// The number of a file, which is opened if it is not open yet.
    fn open<E: From<Malformed>>(
        &mut self,
        origin: Origin,
        read: &mut dyn FnMut(&str) -> Result<Vec<u8>, E>,
    ) -> Result<usize, E> {
        let (name, format, bytes) = match origin {
            Origin::Inline(json) => (INLINE.to_owned(), Format::Json, json.into_bytes()),
            Origin::File { name, format } => {
                if let Some(at) = self.files.iter().position(|file| file.name == name) {
                    return Ok(at);
                }
                let bytes = read(&name)?;
                (name, format, bytes)
            }
        };
        let content = Content::open(format, bytes).map_err(|e| Malformed::of_file(&name, &e))?;
        self.files.push(OpenFile { name, content });
        Ok(self.files.len() - 1)
    }

    /// Adds `name=value`, for a parameter or a size, or `name.path=value`, for a part of a parameter, on top of what
    /// sources give. The value is JSON; a word such as `nan` may do without quotes.
    pub fn set(&mut self, assignment: &str) -> Result<(), Malformed> {
        self.settings.push(Setting::parse(assignment)?);
        Ok(())
    }

    /// Adds a value.
    pub fn insert(&mut self, name: &str, value: HostValue) {
        self.values.insert(name.to_owned(), value);
    }

    /// Takes over all of another one under new names.
    pub fn absorb(&mut self, other: Inputs, rename: impl Fn(String) -> String) {
        let first = self.files.len();
        self.files.extend(other.files);
        for (name, parts) in other.parts {
            let parts = parts.into_iter().map(|part| Part { file: part.file + first, ..part });
            self.parts.entry(rename(name)).or_default().extend(parts);
        }
        self.settings.extend(other.settings.into_iter().map(|setting| setting.renamed(&rename)));
        self.values.extend(other.values.into_iter().map(|(name, value)| (rename(name), value)));
    }

    /// Whether there is anything of this name.
    pub fn has(&self, name: &str) -> bool {
        self.values.contains_key(name)
            || self.parts.contains_key(name)
            || self.settings.iter().any(|setting| setting.name() == name)
    }

    /// The element type of an array of this name.
    pub fn elem(&self, name: &str) -> Option<Elem> {
        match self.values.get(name) {
            Some(HostValue::Tensor(array)) => return Some(array.elem),
            Some(HostValue::Scalar(number)) => return Some(number.elem()),
            Some(HostValue::Array { .. } | HostValue::Tuple(_) | HostValue::Struct(_) | HostValue::Enum { .. })
            | None => {}
        }
        let part = self.parts.get(name)?.first()?;
        let content = &self.files.get(part.file)?.content;
        match &part.place {
            Place::At(path) => content.elem(path),
            Place::Of(name) => content.elem(&content.place(name, None).ok()??),
        }
    }
}

/// Names in a message.
fn listed<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.into_iter().collect();
    let shown: Vec<String> = names.iter().take(LISTED).map(|name| format!("`{name}`")).collect();
    let more = names.len().saturating_sub(LISTED);
    if more > 0 { format!("{} and {more} more", shown.join(", ")) } else { shown.join(", ") }
}

/// A JSON text in a message.
fn shown(json: &JsonText) -> String {
    const MOST: usize = 40;
    let text = String::from_utf8_lossy(json.text().get(..MOST).unwrap_or(json.text()));
    text.trim().to_owned()
}
