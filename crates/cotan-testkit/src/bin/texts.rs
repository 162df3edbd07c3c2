//! `texts --record [FOLDER]` notes the generated code of every program, `texts --compare [FOLDER]` says what differs from it.

use anyhow::{Error, Result, bail};
use cotan_testkit::files::workspace_file;
use cotan_testkit::texts::{STAGES, all, compare, record};
use std::path::PathBuf;

/// Differences that are printed one by one, of each stage.
const SHOWN: usize = 12;

#[expect(clippy::print_stdout, reason = "the output of a command line tool")]
fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let usage = "usage: texts --record|--compare [FOLDER]";
    let [mode, rest @ ..] = args.as_slice() else { bail!(usage) };
    let folder = match rest {
        [] => workspace_file("target/texts"),
        [folder] => PathBuf::from(folder),
        _ => bail!(usage),
    };
    match mode.as_str() {
        "--record" => {
            let texts = all().map_err(Error::msg)?;
            record(&folder, &texts).map_err(Error::msg)?;
            println!("{} texts noted", texts.len());
            Ok(())
        }
        "--compare" => {
            let texts = all().map_err(Error::msg)?;
            let differences = compare(&folder, &texts).map_err(Error::msg)?;
            for stage in STAGES.into_iter().chain(["refused"]) {
                let end = format!(".{stage}: ");
                let of_stage: Vec<&String> = differences.iter().filter(|line| line.contains(&end)).collect();
                println!("{stage}: {} differ", of_stage.len());
                of_stage.iter().take(SHOWN).for_each(|line| println!("  {line}"));
            }
            // What a program that is new becomes differs from nothing.
            let n_new = differences.iter().filter(|line| line.ends_with(": new")).count();
            if differences.len() == n_new {
                println!("{} texts are what they were, {n_new} are new", texts.len() - n_new);
                return Ok(());
            }
            bail!("{} of {} texts differ", differences.len() - n_new, texts.len());
        }
        _ => bail!(usage),
    }
}
