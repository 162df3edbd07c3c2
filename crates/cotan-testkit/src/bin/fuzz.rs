//! `fuzz TARGET SECONDS` or `fuzz TARGET --count N`: random and damaged input to a target (parser, checker, ir,
//! differential). Fails at the first that breaks it, and leaves it in a file.

use anyhow::{Context, Result, bail};
use cotan_testkit::fuzz::{Corpus, Target, feed};
use std::time::{Duration, Instant};

#[expect(clippy::print_stdout, reason = "the output of a command line tool")]
fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let (name, seconds, count) = match args.as_slice() {
        [name, "--count", n] => (name, u64::MAX, number(n)?),
        [name, seconds] => (name, number(seconds)?, u64::MAX),
        _ => bail!("usage: fuzz TARGET SECONDS, or fuzz TARGET --count N"),
    };
    let target = Target::from_name(name).with_context(|| format!("there is no target `{name}`"))?;
    let (corpus, start) = (Corpus::load(), Instant::now());
    // With a time limit, every run takes other inputs.
    let first = if count == u64::MAX { u64::from(std::process::id()) << 32 } else { 0 };
    let mut n = 0;
    while n < count && start.elapsed() < Duration::from_secs(seconds.min(1 << 30)) {
        if let Err(failure) = feed(target, &corpus, first + n) {
            let path = format!("fuzz-{name}-{}.txt", first + n);
            std::fs::write(&path, &failure.input).with_context(|| format!("writing {path}"))?;
            bail!("input {}: {}; it is in {path}", first + n, failure.message);
        }
        n += 1;
    }
    println!("{name}: {n} inputs");
    Ok(())
}

fn number(text: &str) -> Result<u64> {
    text.parse().with_context(|| format!("`{text}` is no number"))
}
