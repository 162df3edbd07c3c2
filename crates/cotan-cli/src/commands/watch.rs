//! Polling of modification times: `cotan run --watch` runs again when a file that it reads has changed.
//!
//! Watched are the program, the programs in its folder, which it may import, and the files of `--args`.

use crate::args::CallArgs;
use crate::diagnostics::{Failure, eprint};
use crate::exit;
use crate::output;
use cotan::codes;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// How long a change may stay unseen.
const INTERVAL: Duration = Duration::from_millis(200);

/// What tells that a file has changed; nothing of one that is not there.
type Stamp = Option<(SystemTime, u64)>;

/// Runs again and again, until the process is stopped.
pub(super) fn watch(call: &CallArgs, run: &dyn Fn() -> Result<u8, Failure>) -> Result<u8, Failure> {
    if call.inputs.args.iter().any(|given| given == "-") {
        let message = "`--watch` reads its arguments again, which standard input does not allow";
        return Err(Failure::plain(exit::USAGE, codes::UNSUPPORTED_OPTION, message).help("write them to a file"));
    }
    loop {
        let before = stamps(call);
        match run() {
            Ok(exit::DONE) => {}
            Ok(status) => eprint(&format!("exit code {status}")),
            Err(failure) => output::print_failure(&failure, call.json),
        }
        eprint(&format!("watching {} files, until Ctrl-C", before.len()));
        while stamps(call) == before {
            std::thread::sleep(INTERVAL);
        }
    }
}

/// The files that are read, and their states.
fn stamps(call: &CallArgs) -> Vec<(PathBuf, Stamp)> {
    let program = &call.file;
    let folder = program.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let entries = std::fs::read_dir(folder).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
    let beside = entries.filter(|path| path.extension().is_some_and(|extension| extension == "cot"));
    let given = call.inputs.args.iter().filter_map(|given| file_of(given));
    let mut files: Vec<PathBuf> = std::iter::once(program.clone()).chain(beside).chain(given).collect();
    files.sort();
    files.dedup_by_key(|file| file.canonicalize().unwrap_or_else(|_| file.clone()));
    files.into_iter().map(|file| (file.clone(), stamp(&file))).collect()
}

/// The file that `--args` names, as `FILE`, `name=FILE` or `name=FILE:path`.
fn file_of(given: &str) -> Option<PathBuf> {
    let file = given.split_once('=').map_or(given, |(_, file)| file);
    let candidates = [Some(file), file.split_once(':').map(|(file, _)| file)];
    candidates.into_iter().flatten().map(PathBuf::from).find(|path| path.is_file())
}

fn stamp(file: &Path) -> Stamp {
    let about = std::fs::metadata(file).ok()?;
    Some((about.modified().ok()?, about.len()))
}
