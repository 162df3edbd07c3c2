//! `cotan new`: a folder with a small program.

use crate::args::NewArgs;
use crate::diagnostics::{Failure, eprint};
use crate::exit;
use cotan::codes;
use std::io::ErrorKind;
use std::path::Path;

/// A program with a gradient and tests.
const PROGRAM: &str = include_str!("new/program.cot");
/// Arguments for it.
const POINTS: &str = include_str!("new/points.json");
/// What to do with it.
const README: &str = include_str!("new/README.md");

pub(crate) fn run(args: &NewArgs) -> Result<u8, Failure> {
    let folder = &args.folder;
    let shown = folder.display();
    let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    if !is_name {
        let message = format!("expected a name of letters, digits, `_` and `-`, found `{shown}`");
        return Err(Failure::plain(exit::USAGE, codes::UNFIT_REQUEST, message).help("write `cotan new regression`"));
    }
    std::fs::create_dir(folder).map_err(|e| {
        if e.kind() == ErrorKind::AlreadyExists {
            let message = format!("`{shown}` is there already");
            return Failure::plain(exit::USAGE, codes::UNREADABLE_FILE, message).help("choose another name");
        }
        unwritable(folder, &e)
    })?;
    let program = format!("{name}.cot");
    for (file, text) in [(program.as_str(), PROGRAM), ("points.json", POINTS), ("README.md", README)] {
        let text = text.replace("NAME", name);
        std::fs::write(folder.join(file), text).map_err(|e| unwritable(&folder.join(file), &e))?;
    }
    eprint(&format!("made `{shown}`; README.md there says what to do with it"));
    Ok(exit::DONE)
}

fn unwritable(path: &Path, error: &std::io::Error) -> Failure {
    let message = format!("writing `{}`: {error}", path.display());
    Failure::plain(exit::USAGE, codes::UNREADABLE_FILE, message)
}
