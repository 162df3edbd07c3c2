//! Sessions of the book and of the README. In a block `console`, a line `$ cotan ..` is a command, and what follows is what it
//! prints: messages first, then results. Under `console fails` the last command fails.
//!
//! All sessions of a page run in one folder with the files of the page, and with the repository's `examples`. One with a line
//! `$ python3 FILE` is replayed where a Python with NumPy is installed, one with `--backend vulkan` where there is a device. `...` stands for any text within a line, and as a line
//! of its own for any lines; the last digits of floats may be others.

use crate::cli::{Case, Run};
use cotan_testkit::book::{Block, Page, pages};
use cotan_testkit::files::{is_blessing, report, workspace_file};
use cotan_testkit::idioms::Framework;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

/// How commands of a session begin: in a clone, `cargo run` stands for the command.
const COMMANDS: [&str; 2] = ["cotan ", "cargo run --release -- "];

/// How a script begins.
const PYTHON: &str = "python3 ";

/// A command of a session as it stands in the page, and what the page says that it prints.
struct Step {
    command: String,
    expected: String,
}

/// The steps of a session. A line that ends in a backslash goes on in the next one.
fn steps(text: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for line in text.split_inclusive('\n') {
        match steps.last_mut() {
            Some(step) if step.command.ends_with("\\\n") => step.command += line,
            _ if line.starts_with("$ ") => steps.push(Step { command: line.to_owned(), expected: String::new() }),
            Some(step) => step.expected += line,
            None => panic!("a session begins with a command: {text}"),
        }
    }
    steps
}

/// The words of a command, of which single quotes may hold one together.
pub(super) fn words(command: &str) -> Vec<String> {
    let mut all = Vec::new();
    for (k, part) in command.replace("\\\n", " ").split('\'').enumerate() {
        if k % 2 == 1 { all.push(part.to_owned()) } else { all.extend(part.split_whitespace().map(str::to_owned)) }
    }
    all
}

/// Whether a text is as expected.
fn is_shown(found: &str, expected: &str) -> bool {
    is_as_expected(&found.lines().collect::<Vec<_>>(), &expected.lines().collect::<Vec<_>>())
}

/// The same, line by line.
fn is_as_expected(found: &[&str], expected: &[&str]) -> bool {
    match expected.split_first() {
        None => found.is_empty(),
        Some((&"...", rest)) => (0..=found.len()).any(|k| is_as_expected(&found[k..], rest)),
        Some((line, rest)) => {
            found.split_first().is_some_and(|(first, others)| is_line(first, line) && is_as_expected(others, rest))
        }
    }
}

/// Whether a line is as expected but for roundings, or has the parts between `...` in their order.
fn is_line(found: &str, expected: &str) -> bool {
    if is_rounded(found, expected) {
        return true;
    }
    let (first, mut rest) = expected.split_once("...").map_or((expected, None), |(first, rest)| (first, Some(rest)));
    let Some(mut found) = found.strip_prefix(first) else { return false };
    while let Some(tail) = rest {
        let Some((part, more)) = tail.split_once("...") else { return found.ends_with(tail) };
        let Some(at) = found.find(part) else { return false };
        (found, rest) = (&found[at + part.len()..], Some(more));
    }
    found.is_empty()
}

/// How far floats may be apart, in relation to the larger one, and what is as good as zero: another processor may round
/// otherwise.
const TOLERANCE: f64 = 1e-9;

/// Whether two lines are the same but for the last digits of floats.
fn is_rounded(a: &str, b: &str) -> bool {
    let (a, b) = (parts(a), parts(b));
    a.len() == b.len() && a.iter().zip(&b).all(|((x, end), (y, other))| end == other && (x == y || are_close(x, y)))
}

/// The words and numbers of a line, each with what ends it.
fn parts(line: &str) -> Vec<(&str, &str)> {
    let is_end = |c: char| !(c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '+'));
    line.split_inclusive(is_end).map(|part| part.split_at(part.trim_end_matches(is_end).len())).collect()
}

/// Whether two texts are floats that are close.
fn are_close(a: &str, b: &str) -> bool {
    let float = |text: &str| text.parse::<f64>().ok().filter(|_| text.contains('.'));
    let Some((a, b)) = float(a).zip(float(b)) else { return false };
    let largest = a.abs().max(b.abs());
    largest <= TOLERANCE || (a - b).abs() <= TOLERANCE * largest
}

/// Runs a command of a session; gives what it prints, or what is wrong with it.
fn run(case: &Case, step: &Step, may_fail: bool) -> Result<String, String> {
    let command = step.command.trim_start_matches("$ ");
    if let Some(name) = command.strip_prefix(PYTHON) {
        let mut python = Command::new(Framework::NUMPY.python().ok_or("there is no Python with NumPy")?);
        let out = python.arg(name.trim()).current_dir(case.folder.path()).output().map_err(|e| e.to_string())?;
        let Run { status, stdout, stderr } = Run::of(out);
        return if status == Some(0) { Ok(stderr + &stdout) } else { Err(stderr) };
    }
    let args = COMMANDS.iter().find_map(|start| command.strip_prefix(start)).ok_or("this is no command of Cotan")?;
    let args = words(args);
    let Run { status, stdout, stderr } = case.run(&args.iter().map(String::as_str).collect::<Vec<_>>());
    let is_right = if may_fail { matches!(status, Some(1..=3)) } else { status == Some(0) };
    if is_right { Ok(stderr + &stdout) } else { Err(format!("exit code {status:?}\n{stderr}{stdout}")) }
}

/// A session as it is: what does not hold has what is printed now.
fn replayed(case: &Case, block: &Block, failures: &mut Vec<String>) -> String {
    let mut text = String::new();
    let steps = steps(&block.text);
    for (k, step) in steps.iter().enumerate() {
        let may_fail = block.info == "console fails" && k + 1 == steps.len();
        let found = match run(case, step, may_fail) {
            Ok(found) if found.is_empty() || found.ends_with('\n') => found,
            Ok(found) => found + "\n",
            Err(e) => {
                failures.push(format!("{}{e}", step.command));
                step.expected.clone()
            }
        };
        let is_same = is_shown(&found, &step.expected);
        if !is_same {
            failures.push(format!("{}expected\n{}found\n{found}", step.command, step.expected));
        }
        text += &step.command;
        text += if is_same { &step.expected } else { &found };
    }
    text
}

/// The folder of a page: its files, and the examples.
fn folder(page: &Page, cache: &Path) -> Case {
    let case = Case::new("");
    symlink(cache, case.path("cache")).expect("a link");
    symlink(workspace_file("examples").canonicalize().expect("the examples"), case.path("examples")).expect("a link");
    for block in page.blocks() {
        if let Some(name) = block.file().filter(|name| !name.contains('/')) {
            case.write(name, block.text.as_bytes());
        }
    }
    case
}

#[test]
fn sessions_of_the_book_print_what_it_says() {
    let cache = tempfile::tempdir().expect("a folder");
    let mut failures = Vec::new();
    let mut n_sessions = 0;
    let has_numpy = Framework::NUMPY.python().is_some();
    let has_device = super::devices::has_device(&Case::new(""));
    for mut page in pages() {
        let blocks = page.blocks();
        let is_replayed = |block: &&Block| {
            block.info.starts_with("console")
                && (has_numpy || !block.text.contains(&format!("$ {PYTHON}")))
                && (has_device || !block.text.contains("--backend vulkan"))
        };
        let sessions: Vec<&Block> = blocks.iter().filter(is_replayed).collect();
        if sessions.is_empty() {
            continue;
        }
        n_sessions += sessions.len();
        let case = folder(&page, cache.path());
        let mut texts = Vec::new();
        for block in &sessions {
            let mut of_block = Vec::new();
            texts.push(replayed(&case, block, &mut of_block));
            failures.extend(of_block.iter().map(|e| format!("{}:{}: {e}", page.name(), block.line)));
        }
        if is_blessing() {
            for (block, text) in sessions.iter().zip(&texts).rev() {
                page.rewrite(block, text);
            }
            page.save();
        }
    }
    report(failures, n_sessions);
}

#[test]
fn three_dots_stand_for_any_text_and_last_digits_for_any_others() {
    assert!(is_shown("a\nb\nc", "a\n...\nc") && is_shown("a\nc", "a\n...\nc") && !is_shown("a\nb", "a\n...\nc"));
    assert!(
        is_shown("12.5 ms of 3", "... ms of 3")
            && is_shown("x 1 y 2 z", "x ... y ... z")
            && !is_shown("x 1 z", "x ... y ... z")
    );
    assert!(is_shown("a = 1.00000000000001, b", "a = 1.0, b") && is_shown("error 3.1e-14", "error 0.0e0"));
    assert!(
        !is_shown("a = 1.001", "a = 1.0") && !is_shown("a = 1.0, b", "a = 1.0; b") && !is_shown("2 of 3", "2 of 4")
    );
    assert!(is_shown("one ... two", "one ... two") && !is_shown("one", "one two") && !is_shown("one two", "one"));
}
