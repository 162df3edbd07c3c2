//! The files of a folder under `tests/`.

use std::fs;
use std::path::{Path, PathBuf};

/// A test program.
pub(crate) struct TestFile {
    /// Where it is.
    pub(crate) path: PathBuf,
    /// Its path below `tests/`, with `/` between the parts: the name in messages.
    pub(crate) name: String,
    /// Its bytes; some programs are no text on purpose.
    pub(crate) bytes: Vec<u8>,
}

/// The programs in `tests/<folder>` and the folders below it, in alphabetical order.
pub(crate) fn programs(folder: &str) -> Vec<TestFile> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests");
    let mut paths = Vec::new();
    collect(&root.join(folder), &mut paths);
    paths.sort();
    let read = |path: PathBuf| {
        let below = path.strip_prefix(&root).expect("every path was found below the root");
        let parts: Vec<_> = below.iter().map(|part| part.to_string_lossy()).collect();
        let bytes = fs::read(&path).unwrap_or_else(|e| panic!("reading {}: {e}", path.display()));
        TestFile { name: parts.join("/"), bytes, path }
    };
    paths.into_iter().map(read).collect()
}

fn collect(folder: &Path, out: &mut Vec<PathBuf>) {
    let entries = fs::read_dir(folder).unwrap_or_else(|e| panic!("reading {}: {e}", folder.display()));
    for entry in entries {
        let path = entry.expect("a folder that could be opened can be listed").path();
        if path.is_dir() {
            collect(&path, out);
        } else if path.extension().is_some_and(|e| e == "cot") {
            out.push(path);
        }
    }
}

/// Fails with all of the problems, if there are any.
pub(crate) fn expect_none(problems: &[String]) {
    assert!(problems.is_empty(), "{} problems\n\n{}\n", problems.len(), problems.join("\n\n"));
}
