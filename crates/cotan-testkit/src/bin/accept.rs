//! `accept NAME [--adbench DIR] [--line K]`: every acceptance line of a list, or the K-th alone, with its measured value,
//! the bar, PASS or FAIL.

use anyhow::{Context, Result, anyhow, bail};
use cotan_testkit::accept::{Workplace, list, run};
use std::path::PathBuf;

#[expect(clippy::print_stdout, reason = "the output of a command line tool")]
fn main() -> Result<()> {
    let mut args = std::env::args().skip(1);
    let name = args.next().context("usage: accept NAME [--adbench DIR] [--line K]")?;
    let Some(mut lines) = list(&name) else {
        bail!(
            "there is no list `{name}`: expected `core`, `language`, `loops`, `operations`, `proofs`, `sound` or `speed`"
        )
    };
    let mut adbench = None;
    while let Some(flag) = args.next() {
        let value = args.next().with_context(|| format!("`{flag}` takes a value"))?;
        match flag.as_str() {
            "--adbench" => adbench = Some(PathBuf::from(value)),
            "--line" => {
                let k: usize = value.parse().context("--line: expected a number")?;
                let line = k.checked_sub(1).and_then(|k| lines.get(k).copied());
                lines = vec![line.with_context(|| format!("there is no line {k}"))?];
            }
            other => bail!("there is no flag `{other}`"),
        }
    }
    let place = Workplace::find(adbench).map_err(|e| anyhow!(e))?;
    match run(&lines, &place, &mut |line| println!("{line}")) {
        0 => Ok(()),
        n => bail!("{n} lines fail"),
    }
}
