//! The limits and defaults that the page of promises states are those of the code.

use cotan::Config;
use cotan::host::files::MAX_HEADER;
use cotan_interp::Limits as InterpreterLimits;
use cotan_llvm::load::OLDEST_MAJOR;
use cotan_testkit::book::page;
use cotan_testkit::files::workspace_file;
use std::fmt::Display;

/// The rows of a table of the page: the first two cells of each line between the header and the end of the table.
fn rows(text: &str, header: &str) -> Vec<(String, String)> {
    let lines = text.lines().skip_while(|line| !line.starts_with(header)).skip(2);
    lines
        .take_while(|line| line.starts_with('|'))
        .map(|line| {
            let mut cells = line.split('|').skip(1).map(|cell| cell.trim().to_owned());
            (cells.next().unwrap_or_default(), cells.next().unwrap_or_default())
        })
        .collect()
}

/// Every limit of the library with its default.
fn limits() -> Vec<(&'static str, String)> {
    let config = Config::default();
    let source = cotan_syntax::Limits::default();
    let interpreter = InterpreterLimits::default();
    let or_none = |limit: Option<u64>| limit.map_or("none".to_owned(), number);
    let steps = Some(interpreter.steps).filter(|steps| *steps != u64::MAX);
    vec![
        ("nesting of the source", number(source.nesting)),
        ("bytes of a source", number(source.source_bytes)),
        ("nesting of expressions", number(config.program.nesting)),
        ("instances", number(config.program.instances)),
        ("chain of instances", number(config.program.instance_depth)),
        ("order of derivatives", number(config.derivatives.order)),
        ("variables of a derivative", number(config.derivatives.variables)),
        ("steps of a call", or_none(steps)),
        ("memory of a call", or_none(config.memory)),
        ("depth of the interpreter", number(interpreter.depth)),
        ("threads", config.threads.map_or("all".to_owned(), number)),
        ("header of an `.npy` file", number(MAX_HEADER)),
        ("oldest LLVM", number(OLDEST_MAJOR)),
    ]
}

/// A number with commas between thousands.
fn number(n: impl Display) -> String {
    let digits = n.to_string();
    let mut shown = String::new();
    for (k, digit) in digits.chars().enumerate() {
        if k > 0 && (digits.len() - k).is_multiple_of(3) {
            shown.push(',');
        }
        shown.push(digit);
    }
    shown
}

#[test]
fn the_limits_of_the_library_are_those_of_the_page() {
    let text = page(workspace_file("docs/promises.md")).text;
    let stated = rows(&text, "| limit |");
    let expected: Vec<(String, String)> = limits().into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    assert_eq!(stated, expected);
    let of_interpreter = number(InterpreterLimits::default().bytes);
    assert!(text.contains(&format!("on the interpreter {of_interpreter} |")), "{of_interpreter}");
}

#[test]
fn the_page_and_the_policy_say_how_to_report_and_what_is_worst() {
    let policy = page(workspace_file("SECURITY.md")).text;
    for words in ["Report a vulnerability", "advisory", "wrong gradient", "docs/promises.md"] {
        assert!(policy.contains(words), "{words}");
    }
    let promises = page(workspace_file("docs/promises.md")).text;
    for words in ["as in all stable Rust", "`SECURITY.md`", "advisory with the versions"] {
        assert!(promises.contains(words), "{words}");
    }
}
