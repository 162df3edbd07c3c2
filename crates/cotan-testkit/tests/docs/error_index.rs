//! The page of all codes, generated from the compiler's own table.

use cotan_testkit::files::{expect_file, workspace_file};
use std::fmt::Write;

#[test]
fn the_page_of_errors_is_that_of_the_codes() {
    expect_file(&workspace_file("docs/errors.md"), &errors()).unwrap_or_else(|e| panic!("{e}"));
}

fn errors() -> String {
    let mut text = "# Errors\n\nGenerated from the compiler's own table; `cotan explain CODE` prints one.\n".to_owned();
    let mut all: Vec<_> = cotan::codes::all().collect();
    all.sort_by_key(|info| info.code.0);
    for info in all {
        // Writing to a string cannot fail.
        let _ = write!(text, "\n## {}\n\n{}\n\n", info.code, capital(info.title));
        match info.explanation.trim().split_once("Mended:\n\n") {
            Some((explanation, mended)) => {
                let _ = writeln!(text, "{explanation}Mended:\n\n```text\n{mended}\n```");
            }
            None => text += &(info.explanation.trim().to_owned() + "\n"),
        }
        if !info.failing_example.is_empty() {
            let _ = write!(text, "\nReported for:\n\n```text\n{}\n```\n", info.failing_example.trim_end());
        }
    }
    text
}

fn capital(title: &str) -> String {
    let mut letters = title.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect::<String>() + ".").unwrap_or_default()
}
