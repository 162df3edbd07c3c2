//! "Cotan from scratch": the Rust of the page is one program, which compiles without warnings and prints what the page says.

use cotan_testkit::book::{Block, page};
use cotan_testkit::files::workspace_file;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

#[test]
fn the_compiler_of_the_page_runs_and_prints_what_the_page_says() {
    let blocks = page(workspace_file("docs/scratch.md")).blocks();
    let (program, expected) = (joined(&blocks, "rust"), joined(&blocks, "text"));
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (source, built) = (folder.join("scratch.rs"), folder.join("scratch"));
    fs::write(&source, program).expect("the folder of the tests can be written to");
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    run(Command::new(rustc).args(["--edition", "2024", "-D", "warnings", "-o"]).arg(&built).arg(&source));
    let printed = run(&mut Command::new(&built)).stdout;
    assert_eq!(String::from_utf8_lossy(&printed), expected);
}

/// The blocks of a kind, one behind the other.
fn joined(blocks: &[Block], info: &str) -> String {
    let texts: Vec<&str> = blocks.iter().filter(|block| block.info == info).map(|block| block.text.as_str()).collect();
    texts.join("\n")
}

/// Runs a command, which must succeed.
fn run(command: &mut Command) -> Output {
    let out = command.output().unwrap_or_else(|e| panic!("{command:?}: {e}"));
    assert!(out.status.success(), "{command:?}: {}", String::from_utf8_lossy(&out.stderr));
    out
}
