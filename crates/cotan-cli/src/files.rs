//! Files: how they are read, which programs there are, and how they are replaced.

use crate::diagnostics::Failure;
use crate::exit;
use cotan::codes;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

/// The most bytes of the text of a program.
pub(crate) const MAX_PROGRAM: u64 = 64 << 20;

/// The most bytes of what has no size that could be asked for, such as a pipe or a device.
const MAX_UNSIZED: u64 = 48 << 20;

/// Bytes that are read at once, at least.
const LEAST_READ: u64 = 1 << 16;

/// The bytes of a file, which has at most so many.
pub(crate) fn read(path: &Path, most: u64) -> Result<Vec<u8>, Failure> {
    bytes(path, most).map_err(|e| {
        let shown = path.display().to_string();
        Failure::about(&shown, exit::USAGE, codes::UNREADABLE_FILE, format!("reading `{shown}`: {e}"))
    })
}

/// The same, with the reason of the system. A file that never ends is read up to a limit, and not kept.
pub(crate) fn bytes(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    let most = if metadata.is_file() { most } else { most.min(MAX_UNSIZED) };
    if metadata.len() > most {
        return Err(too_large(most));
    }
    read_to_end(file, metadata.len(), most)
}

/// The bytes of the standard input.
pub(crate) fn read_stdin() -> Result<Vec<u8>, Failure> {
    read_to_end(io::stdin().lock(), 0, MAX_UNSIZED)
        .map_err(|e| Failure::plain(exit::USAGE, codes::UNREADABLE_FILE, format!("reading the standard input: {e}")))
}

fn too_large(most: u64) -> io::Error {
    io::Error::new(ErrorKind::FileTooLarge, format!("expected at most {most} bytes, found more"))
}

/// All bytes of a source, which says that there are so many, and has at most so many.
fn read_to_end(mut source: impl Read, told: u64, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut next = told.saturating_add(1).max(LEAST_READ);
    loop {
        // One byte beyond the limit tells that there is more. Room for twice as much is never asked for.
        let part = next.min(most.saturating_add(1) - bytes.len() as u64);
        bytes.try_reserve_exact(usize::try_from(part).unwrap_or(usize::MAX)).map_err(io::Error::other)?;
        let read = source.by_ref().take(part).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > most {
            return Err(too_large(most));
        }
        if (read as u64) < part {
            return Ok(bytes);
        }
        next = (bytes.len() as u64).max(LEAST_READ);
    }
}

/// The programs that paths name: a folder stands for all `.cot` files below it, in the order of their names.
pub(crate) fn programs(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut found = Vec::new();
    for path in paths {
        if path.is_dir() {
            let mut below = Vec::new();
            collect(path, &mut below)?;
            below.sort();
            found.append(&mut below);
        } else {
            found.push(path.clone());
        }
    }
    Ok(found)
}

fn collect(folder: &Path, found: &mut Vec<PathBuf>) -> Result<(), Failure> {
    let fail = |e: io::Error| {
        let shown = folder.display().to_string();
        Failure::about(&shown, exit::USAGE, codes::UNREADABLE_FILE, format!("reading `{shown}`: {e}"))
    };
    for entry in std::fs::read_dir(folder).map_err(fail)? {
        let entry = entry.map_err(fail)?;
        let path = entry.path();
        // A link to a folder could lead back here.
        let is_folder = entry.file_type().map_err(fail)?.is_dir();
        let is_hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
        if is_folder && !is_hidden {
            collect(&path, found)?;
        } else if path.extension().is_some_and(|e| e == "cot") && path.is_file() {
            found.push(path);
        }
    }
    Ok(())
}

/// Written beside and renamed, so that a failure leaves an old file as it was.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    // What a link points at is replaced, not the link.
    let path = &path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".{}", std::process::id()));
    let beside = path.with_file_name(name);
    let written = write_like(path, &beside, bytes).and_then(|()| std::fs::rename(&beside, path));
    if written.is_err() {
        // It may not even exist.
        let _ = std::fs::remove_file(&beside);
    }
    written
}

/// Writes a file with the permissions of another, if that exists.
fn write_like(model: &Path, path: &Path, bytes: &[u8]) -> io::Result<()> {
    std::fs::write(path, bytes)?;
    match std::fs::metadata(model) {
        Ok(metadata) => std::fs::set_permissions(path, metadata.permissions()),
        Err(_) => Ok(()),
    }
}
