//! Results, on stdout and in files.

use crate::args::CallArgs;
use crate::diagnostics::{self, Failure, Report};
use crate::exit;
use crate::files;
use cotan::codes;
use cotan::diagnostics::visible_json;
use cotan::host::{HostValue, leaf_arrays, write_csv, write_json, write_npy, write_npz, write_safetensors};
use std::io::{ErrorKind, Write};
use std::path::Path;

/// Text on stdout. A reader that has gone away, as in `cotan ops | head`, is no error.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(e) if e.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::plain(exit::USAGE, codes::UNREADABLE_FILE, format!("writing to stdout: {e}")))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}

/// JSON on stdout, in a line of its own.
pub(crate) fn print_json(text: &str) -> Result<(), Failure> {
    print(&format!("{}\n", visible_json(text)))
}

/// `{"diagnostics": [...]}` on stdout.
pub(crate) fn print_reports(reports: &[Report]) -> Result<(), Failure> {
    print_json(&serde_json::json!({ "diagnostics": diagnostics::objects(reports) }).to_string())
}

/// Why the command did not do its job: as text on stderr, under `--json` as the object on stdout instead.
pub(crate) fn print_failure(failure: &Failure, is_json: bool) {
    if is_json {
        // There is nobody to tell that stdout is gone.
        let _ = print_reports(failure.reports());
    } else {
        diagnostics::print_with_page(failure.reports());
    }
}

/// What the program prints: on stdout, or on stderr where stdout holds one JSON object. It is seen at once; a reader
/// that has gone away misses it, and the program runs on.
pub(crate) fn printed(text: &str, json: bool) {
    if json { at_once(text, &mut std::io::stderr().lock()) } else { at_once(text, &mut std::io::stdout().lock()) }
}

/// What a program writes for whoever looks for a mistake: on stderr, at once.
pub(crate) fn debugged(text: &str) {
    at_once(text, &mut std::io::stderr().lock());
}

fn at_once(text: &str, out: &mut dyn Write) {
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    drop(written);
}

/// An object with named parts; it prints as a JSON object.
pub(crate) fn object(parts: impl IntoIterator<Item = (impl Into<String>, HostValue)>) -> HostValue {
    HostValue::Struct(parts.into_iter().map(|(name, value)| (name.into(), value)).collect())
}

/// The result of a command: to the file of `--out` if there is one, and to stdout as JSON or as text for people.
pub(crate) fn deliver(call: &CallArgs, result: &HostValue, text: impl FnOnce() -> String) -> Result<(), Failure> {
    deliver_as(call, &|| json(result), result, text)
}

/// The same of a result with a JSON text of its own, and arrays that go into files that hold nothing else.
pub(crate) fn deliver_as(
    call: &CallArgs,
    json: &dyn Fn() -> String,
    arrays: &HostValue,
    text: impl FnOnce() -> String,
) -> Result<(), Failure> {
    if let Some(path) = &call.out {
        write_file(path, json, arrays)?;
    }
    if call.json {
        print_json(&json())
    } else if call.out.is_none() {
        print(&text())
    } else {
        Ok(())
    }
}

/// A value as JSON text.
pub(crate) fn json(value: &HostValue) -> String {
    let mut out = String::new();
    write_json(value, &mut out);
    out
}

/// Writes a result in the format that the name of the file asks for.
fn write_file(path: &Path, json: &dyn Fn() -> String, result: &HostValue) -> Result<(), Failure> {
    let fail = |message: String| Failure::plain(exit::USAGE, codes::UNREADABLE_FILE, message);
    let name = path.display();
    let bytes = match path.extension().and_then(|e| e.to_str()) {
        Some("json") => Some(format!("{}\n", json()).into_bytes()),
        Some("npz") => leaf_arrays(result).and_then(|arrays| write_npz(&arrays)),
        Some("safetensors") => leaf_arrays(result).and_then(|arrays| write_safetensors(&arrays)),
        Some("npy") => match leaf_arrays(result).as_deref() {
            Some([(_, only)]) => write_npy(only),
            Some(several) => {
                let message = format!("`{name}`: expected one array, found {}", several.len());
                return Err(fail(message).help("several arrays fit into an .npz file"));
            }
            None => None,
        },
        Some("csv") => {
            let table = write_csv(only_part(result)).ok_or_else(|| {
                let expected = "expected a vector, a matrix, or a struct or tuple of vectors of one length";
                fail(format!("`{name}`: {expected}, found {}", only_part(result).describe()))
                    .help("arrays of several shapes fit into an .npz file, everything into a .json file")
            });
            Some(table?)
        }
        Some(_) | None => {
            return Err(fail(format!(
                "`{name}`: expected a name that ends in .json, .npz, .npy, .csv or .safetensors"
            )));
        }
    };
    let bytes = bytes.ok_or_else(|| {
        let message = format!("`{name}`: expected arrays, found a result that the format can't hold");
        fail(message).help("write it to a .json file, which holds enums and empty tensors of structs too")
    })?;
    files::replace(path, &bytes).map_err(|e| fail(format!("writing `{name}`: {e}")))
}

/// The only part of an object, such as the result of a call, which a table has no name for.
fn only_part(value: &HostValue) -> &HostValue {
    match value {
        HostValue::Struct(fields) => match fields.as_slice() {
            [(_, only)] => only,
            _ => value,
        },
        HostValue::Scalar(_)
        | HostValue::Tensor(_)
        | HostValue::Array { .. }
        | HostValue::Tuple(_)
        | HostValue::Enum { .. } => value,
    }
}
