//! `guilty [PROGRAMS]`: the first pass that makes a function malformed or changes its values, among the inputs of the file
//! tests of passes and PROGRAMS (200) random programs. Fails if there is one, and says who found it.

use anyhow::{Context, Result, bail};
use cotan_testkit::bisection::{Guilty, of_module, of_subject};
use cotan_testkit::campaign::mixed;
use cotan_testkit::files::{files, tests_folder};
use cotan_testkit::parallel::map;
use cotan_testkit::pass_files::module;
use std::fs;
use std::path::Path;

#[expect(clippy::print_stdout, reason = "the output of a command line tool")]
fn main() -> Result<()> {
    let programs: u64 = match std::env::args().nth(1) {
        Some(n) => n.parse().with_context(|| format!("`{n}` is no number"))?,
        None => 200,
    };
    // Its message is that of the pass that panics.
    std::panic::set_hook(Box::new(|_| {}));
    let of_files = || {
        let all = [files(&tests_folder().join("ir"), ".cir"), files(&tests_folder().join("nests"), ".nest")].concat();
        map(&all, |path| of_file(path)).into_iter().flatten().next()
    };
    let of_programs = || {
        let seeds: Vec<u64> = (0..programs).collect();
        let of_seed = |seed: &u64| of_subject(mixed(*seed).ok()?);
        map(&seeds, of_seed).into_iter().flatten().next()
    };
    match of_files().or_else(of_programs) {
        Some(guilty) => bail!("{guilty}"),
        None => {
            println!("no pass is guilty");
            Ok(())
        }
    }
}

fn of_file(path: &Path) -> Option<Guilty> {
    let text = fs::read_to_string(path).ok()?;
    let (_, module) = module(&text).ok()?;
    of_module(&path.display().to_string(), &module)
}
