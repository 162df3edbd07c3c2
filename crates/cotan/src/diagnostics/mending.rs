//! Mending to a fixed point: certain fixes are made and the program is checked again, until there are none.

use crate::Program;
use cotan_sema::Limits;
use cotan_sema::modules::{Library, Loader};
use cotan_syntax::{FileId, fix};

/// The most rounds: a fix may uncover a mistake, but fixes that undo each other must not go on for ever.
const MAX_ROUNDS: usize = 100;

/// A program whose certain fixes are made.
#[derive(Debug)]
pub struct Mended {
    /// The text of its file.
    pub text: String,
    /// How many fixes were made.
    pub n_fixes: usize,
    /// The program of this text, with what is left to report.
    pub program: Program,
}

/// Checks a program and makes the certain fixes of its messages in its own file, not in those that it imports.
pub fn mend(name: &str, text: &str, loader: &dyn Loader, library: &Library, limits: &Limits) -> Mended {
    let mut mended =
        Mended { text: text.to_owned(), n_fixes: 0, program: Program::load(name, text, loader, library, limits) };
    for _ in 0..MAX_ROUNDS {
        let fixed = fix::apply(FileId(0), &mended.text, &mended.program.diagnostics);
        if fixed.n_fixes == 0 {
            break;
        }
        let program = Program::load(name, &fixed.text, loader, library, limits);
        mended = Mended { text: fixed.text, n_fixes: mended.n_fixes + fixed.n_fixes, program };
    }
    mended
}
