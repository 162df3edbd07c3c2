//! The folders of test files, and expectations that can be rewritten.

use cotan_sema::modules::Loader;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The folder `tests/` of the workspace.
pub fn tests_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests")
}

/// A file of the workspace, by its path from the root.
pub fn workspace_file(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// The files below a folder whose names end so, in order.
pub fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let Ok(entries) = fs::read_dir(folder) else { return found };
    for path in entries.flatten().map(|e| e.path()) {
        if path.is_dir() {
            found.extend(files(&path, ending));
        } else if path.to_string_lossy().ends_with(ending) {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Imported modules are files of a folder.
pub struct FilesBelow<'a>(pub &'a Path);

impl Loader for FilesBelow<'_> {
    fn read(&self, path: &str) -> Result<Option<Vec<u8>>, String> {
        match fs::read(self.0.join(path)) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error.kind().to_string()),
        }
    }
}

/// The programs among the files below a folder. Files in a folder `imported` are modules of other programs.
pub fn programs(folder: &Path) -> Vec<PathBuf> {
    let mut found = files(folder, ".cot");
    found.retain(|path| !path.components().any(|part| part.as_os_str() == "imported"));
    found
}

/// Whether expectations are to be rewritten and not compared.
pub fn is_blessing() -> bool {
    std::env::var_os("COTAN_BLESS").is_some()
}

/// Writes a file at once, as other tests may read it meanwhile.
pub fn replace(path: &Path, text: &str) -> std::io::Result<()> {
    // Files that differ in their extensions may be written at the same time.
    let mut new = path.as_os_str().to_owned();
    new.push(".new");
    let new = PathBuf::from(new);
    fs::write(&new, text)?;
    fs::rename(new, path)
}

/// Compares a text with that of a file, or writes it there when blessing.
pub fn expect_file(path: &Path, found: &str) -> Result<(), String> {
    if is_blessing() {
        return replace(path, found).map_err(|e| format!("{}: {e}", path.display()));
    }
    let expected = fs::read_to_string(path).unwrap_or_default();
    if expected == found {
        return Ok(());
    }
    Err(format!("{}: expected\n{expected}\nfound\n{found}\n(COTAN_BLESS=1 rewrites it)", path.display()))
}

/// Fails with all messages at once.
pub fn report(failures: Vec<String>, n: usize) {
    assert!(failures.is_empty(), "{} of {n} fail:\n\n{}", failures.len(), failures.join("\n\n"));
}
