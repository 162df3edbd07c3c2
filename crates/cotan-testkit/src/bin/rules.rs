//! `rules [mutants SECONDS]`: prints the rules of the op table as proof obligations, or a script that tries to prove
//! broken ones, each for that many seconds, and says which ones it proves.

use anyhow::{Context, Result, bail};

#[expect(clippy::print_stdout, reason = "the output of a command line tool")]
fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [] => print!("{}", cotan_ops::proof_script()),
        ["mutants", seconds] => {
            let seconds = seconds.parse().with_context(|| format!("`{seconds}` is no number of seconds"))?;
            print!("{}", cotan_ops::mutant_script(seconds).0);
        }
        _ => bail!("usage: rules [mutants SECONDS]"),
    }
    Ok(())
}
