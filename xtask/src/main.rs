//! Developer commands of the Cotan project; they need nothing but cargo.
//!
//! `cargo xtask help` lists them. Each is a plain sequence of cargo commands or a check of files.

mod book;
mod c_library;
mod changed;
mod decisions;
mod dependencies;
mod figures;
mod house;
mod linted;
mod memcheck;
mod new_op;
mod new_pass;
mod ops;
mod peers;
mod proofs;
mod sources;
mod steps;
mod suites;
mod tidy;

use anyhow::{Context, Result, bail};
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;
use steps::Steps;
use suites::Tier;

/// Lets tests rewrite what they expect.
const BLESS: [(&str, &str); 2] = [("COTAN_BLESS", "1"), ("UPDATE_EXPECT", "1")];

const HELP: &str = "\
cargo xtask COMMAND

  ci                      what CI runs: format, lints, tidy, the book, the proofs, then `test`; prints the seconds of each step
  test [ui|ir|run] [--bless]
                          all tests, or those of one folder of tests/; --bless rewrites what they expect
  test --campaign         the second tier: more programs and seeds, and every variant in which they are compiled
  test --changed [REV]    the tests that a change since REV (default: HEAD) can reach
  tidy                    generated files are fresh, codes have pages, the longest files, and licences, sources and
                          duplicates of the dependencies are those that deny.toml allows, and the crates' arrows those of
                          ARCHITECTURE.md
  tidy --house [--json]   measures the tree: lists of kinds, rings of files, the longest functions and files, the largest types
  book                    builds the book into target/book, where mdbook is installed
  decisions               writes the index of the design decisions, docs/design/decisions/index.md
  ops                     writes the reference pages of the operations, docs/operations
  figures [NAME ..]       computes and draws the figures of the book, docs/figures: those of these names, or all
  accept NAME             prints every acceptance line with its measured value, the bar and PASS or FAIL
  new-op NAME             writes the skeleton of an operation on tensors, which does not compile until it is filled in
  new-op --scalar NAME    the same of an operation on scalars
  new-pass NAME           writes the skeleton of a pass over the core IR, its entry in the list and its two file tests
  export-rules            writes the rules of the op table for the proofs, proofs/generated/Rules_gen.v
  proofs [--mutants]      builds and audits the machine-checked proofs and the oracle; needs Coq, and says what to install.
                          --mutants shows that broken rules can't be proved
  mutate-rules [OPERATION]
                          breaks every rule of the op table and shows that the battery of tests notices
  memcheck [asan|valgrind]
                          the tests of the crates with `unsafe` under AddressSanitizer, and 100 compiled programs with their
                          gradients under Valgrind
  texts --record|--compare [FOLDER]
                          notes the generated code of all programs of tests/run and examples, or says what differs from
                          the notes: IR, loop nests and LLVM IR
  fuzz TARGET SECONDS     runs a fuzz target: parser, checker, ir, differential, commands, literals, loaders, link, misfits
  fuzz --all SECONDS      gives each target so many seconds and adds to the counts in fuzz/counts.tsv
  bench                   the benchmarks on real input
  bench workloads [NAME ..] [--held-out]
                          programs of many kinds beside hand-written C++ and the peers: those that are not held out, or
                          those that are
  c-library FOLDER        builds the C library: the header, libcotan.so, libcotan.a and cotan.pc
  peers [--torch]         installs JAX, and PyTorch, which the benchmarks then compare with; needs python3
";

fn main() -> Result<()> {
    let args: Vec<OsString> = std::env::args_os().skip(1).collect();
    if linted::is_call(&args) {
        return linted::call(&args);
    }
    let args: Vec<String> = std::env::args().skip(1).collect();
    let rest = args.get(1..).unwrap_or_default();
    match args.first().map(String::as_str) {
        Some("ci") if linted::is_on() => ci(),
        Some("ci") => linted::run("ci"),
        Some("test") => test(rest),
        Some("tidy") => tidy::command(&root(), rest),
        Some("book") => book::build(&root()),
        Some("decisions") => decisions::write(&root()),
        Some("ops") => ops::write(&root()),
        Some("figures") => figures::write(&root(), rest),
        Some("accept") => accept(rest),
        Some("c-library") => c_library::write(&root(), rest),
        Some("new-op") => new_op::write(&root(), rest),
        Some("new-pass") => new_pass::write(&root(), rest),
        Some("export-rules") => proofs::export_rules(&root()),
        Some("proofs") => match rest {
            [] => proofs::build(&root()),
            [flag] if flag == "--mutants" => proofs::mutants(&root()),
            _ => bail!("`proofs` takes --mutants or nothing"),
        },
        Some("mutate-rules") => {
            let mut all = vec!["run", "--release", "-q", "-p", "cotan-testkit", "--bin", "mutants", "--"];
            all.extend(rest.iter().map(String::as_str));
            cargo(&all, &[])
        }
        Some("memcheck") => memcheck::run(&root(), rest),
        Some("fuzz") => {
            let mut all = vec!["run", "--release", "-q", "-p", "cotan-testkit", "--bin", "fuzz", "--"];
            all.extend(rest.iter().map(String::as_str));
            cargo(&all, &[])
        }
        Some("texts") => {
            let mut all = vec!["run", "--release", "-q", "-p", "cotan-testkit", "--bin", "texts", "--"];
            all.extend(rest.iter().map(String::as_str));
            cargo(&all, &[])
        }
        Some("bench") => {
            let mut all = vec!["run", "--release", "-q", "-p", "cotan-bench", "--"];
            if rest.first().is_none_or(|word| word != "workloads") {
                all.push("all");
            }
            all.extend(rest.iter().map(String::as_str));
            cargo(&all, &[])
        }
        Some("peers") => peers::install(&root(), rest),
        Some("help") | None => {
            print(HELP);
            Ok(())
        }
        Some(other) => bail!("there is no command `{other}`\n\n{HELP}"),
    }
}

#[expect(clippy::print_stdout, reason = "the output of a command line tool")]
fn print(text: &str) {
    print!("{text}");
}

/// The folder of the workspace: that of the checkout which cargo runs this in, as two may share what is built.
fn root() -> PathBuf {
    let manifest = std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
    let manifest = PathBuf::from(manifest);
    manifest.parent().map(PathBuf::from).unwrap_or(manifest)
}

/// Runs cargo in the workspace with extra environment variables; fails if it fails.
fn cargo(args: &[&str], env: &[(&str, &str)]) -> Result<()> {
    let mut command = Command::new(suites::cargo());
    command.args(args).envs(env.iter().copied()).current_dir(root());
    let status = command.status().with_context(|| format!("running cargo {}", args.join(" ")))?;
    if !status.success() {
        bail!("cargo {} failed: {status}", args.join(" "));
    }
    Ok(())
}

fn ci() -> Result<()> {
    let (root, mut steps) = (root(), Steps::default());
    steps.take("format", || cargo(&["fmt", "--all", "--check"], &[]))?;
    let suites = steps.take("lints and build", || suites::build(&root))?;
    steps.take("tidy", || tidy::run(&root))?;
    steps.take("book", || book::build(&root))?;
    match proofs::missing() {
        None => steps.take("proofs", || proofs::build(&root))?,
        Some(missing) => print(&format!("the proofs were not rebuilt: {missing}\n")),
    }
    suites.iter().for_each(|suite| steps.attempt(&suite.title(), || suite.run(Tier::Gate)));
    steps.attempt("examples in the documentation", || suites::examples(&root));
    steps.end()
}

fn test(args: &[String]) -> Result<()> {
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let (root, mut steps) = (root(), Steps::default());
    let (mut tier, mut reach) = (Tier::Gate, None);
    match args.as_slice() {
        [folder @ ("ui" | "ir" | "run"), rest @ ..] => {
            let env: &[(&str, &str)] = match rest {
                [] => &[],
                ["--bless"] => &BLESS,
                [other, ..] => bail!("`test {folder}` takes --bless, found `{other}`"),
            };
            return cargo(&["test", "-p", "cotan-testkit", "--test", "all", &format!("{folder}::")], env);
        }
        [] => {}
        ["--bless"] => tier = Tier::Bless,
        ["--campaign"] => tier = Tier::Campaign,
        ["--changed"] => reach = Some(changed::Reach::since(&root, "HEAD")?),
        ["--changed", revision] => reach = Some(changed::Reach::since(&root, revision)?),
        [other, ..] => bail!("`test` takes ui, ir, run, --bless, --campaign or --changed, found `{other}`"),
    }
    let suites = steps.take("build", || suites::build(&root))?;
    let is_reached = |suite: &&suites::Suite| reach.as_ref().is_none_or(|reach| reach.reaches(suite));
    suites.iter().filter(is_reached).for_each(|suite| steps.attempt(&suite.title(), || suite.run(tier)));
    if reach.is_none_or(|reach| reach.reaches_crates()) {
        steps.attempt("examples in the documentation", || suites::examples(&root));
    }
    steps.end()
}

fn accept(args: &[String]) -> Result<()> {
    if args.is_empty() {
        bail!("`accept` takes the name of a list of lines, such as `core`");
    }
    cargo(&["build", "--release", "-q", "-p", "cotan-cli", "-p", "cotan-bench", "-p", "cotan-testkit", "--bins"], &[])?;
    let mut all = vec!["run", "--release", "-q", "-p", "cotan-testkit", "--bin", "accept", "--"];
    all.extend(args.iter().map(String::as_str));
    cargo(&all, &[])
}
