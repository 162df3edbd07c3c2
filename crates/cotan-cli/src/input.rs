//! Arguments from the command line: the files that they name are read here, and what they mean is decided by the library.

use crate::args::InputArgs;
use crate::diagnostics::Failure;
use crate::exit;
use crate::files;
use crate::machine;
use cotan::codes;
use cotan::host::{Budget, Inputs, Malformed};
use std::path::Path;

/// What is read takes at most one part of the memory to spare of so many: a call takes as much again for itself.
pub(crate) const PART_FOR_FILES: u64 = 2;

/// The name of the standard input.
const STDIN: &str = "-";

impl From<Malformed> for Failure {
    fn from(malformed: Malformed) -> Failure {
        let failure = Failure::plain(exit::USAGE, codes::MALFORMED_FILE, malformed.message);
        malformed.help.iter().fold(failure, |failure, help| failure.help(help))
    }
}

/// What `--args` and `--set` say.
pub(crate) fn read(inputs: &InputArgs) -> Result<Inputs, Failure> {
    let mut all = Inputs::default();
    inputs.args.iter().try_for_each(|source| all.add(source, None, &mut read_file))?;
    inputs.set.iter().try_for_each(|assignment| all.set(assignment))?;
    Ok(all)
}

/// The sources of one option, such as `--cotangent`. What is no collection of names is the value called `only`.
pub(crate) fn read_sources(sources: &[String], only: &str) -> Result<Inputs, Failure> {
    let mut all = Inputs::default();
    sources.iter().try_for_each(|source| all.add(source, Some(only), &mut read_file))?;
    Ok(all)
}

/// What values may take, all files together.
pub(crate) fn budget() -> Budget {
    machine::spare_memory().map_or_else(Budget::default, |bytes| Budget::new(bytes / PART_FOR_FILES))
}

/// The bytes of a file of arguments.
fn read_file(name: &str) -> Result<Vec<u8>, Failure> {
    if name == STDIN {
        return files::read_stdin();
    }
    files::read(Path::new(name), machine::spare_memory().map_or(u64::MAX, |bytes| bytes / PART_FOR_FILES))
}
