//! `accept NAME [--adbench DIR]`: every acceptance line of a list with its measured value, the bar, PASS or FAIL.

use anyhow::{Result, anyhow, bail};
use cotan_testkit::accept::{Workplace, list, run};
use std::path::PathBuf;

#[expect(clippy::print_stdout, reason = "the output of a command line tool")]
fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (name, adbench) = match args.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [name] => ((*name).to_owned(), None),
        [name, "--adbench", folder] => ((*name).to_owned(), Some(PathBuf::from(folder))),
        _ => bail!("usage: accept NAME [--adbench DIR]"),
    };
    let Some(lines) = list(&name) else { bail!("there is no list `{name}`: expected `core`") };
    let place = Workplace::find(adbench).map_err(|e| anyhow!(e))?;
    match run(&lines, &place, &mut |line| println!("{line}")) {
        0 => Ok(()),
        n => bail!("{n} lines fail"),
    }
}
