//! The executable of the model, `target/proofs/oracle`, which `cargo xtask proofs` builds.

use super::Graph;
use crate::files::workspace_file;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// A graph on which the model and the tape engine differ.
#[derive(Clone, Debug)]
pub struct Disagreement {
    /// How to make the program again.
    pub label: String,
    /// What the model answered.
    pub found: String,
    /// What the tape engine made of it.
    pub expected: String,
}

/// Where the executable is, if it has been built.
pub fn executable() -> Option<PathBuf> {
    Some(workspace_file("target/proofs/oracle")).filter(|path| path.is_file())
}

/// Asks the model about graphs, and gives those on which it disagrees.
pub fn ask(executable: &PathBuf, graphs: &[Graph]) -> Result<Vec<Disagreement>, String> {
    let questions: String = graphs.iter().map(|graph| graph.question.as_str()).collect();
    let answers = answers(executable, "tape", &questions)?;
    let mut lines = answers.lines();
    let mut wrong = Vec::new();
    for graph in graphs {
        // Two lines, or one that says why there are none.
        let mut found = lines.next().unwrap_or("no answer").to_owned() + "\n";
        if found.starts_with("values") {
            found = found + lines.next().unwrap_or("no answer") + "\n";
        }
        if found != graph.answer {
            wrong.push(Disagreement { label: graph.label.clone(), found, expected: graph.answer.clone() });
        }
    }
    Ok(wrong)
}

/// What the executable prints for some input.
fn answers(executable: &PathBuf, mode: &str, input: &str) -> Result<String, String> {
    let fails = |e: std::io::Error| format!("running {}: {e}", executable.display());
    let mut child =
        Command::new(executable).arg(mode).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().map_err(fails)?;
    let mut stdin = child.stdin.take().ok_or("no standard input")?;
    let output = std::thread::scope(|scope| {
        // It answers while it reads, so both go at once.
        let writer = scope.spawn(move || stdin.write_all(input.as_bytes()));
        let output = child.wait_with_output();
        writer.join().map_err(|_| "the writer panics".to_owned())?.map_err(fails)?;
        output.map_err(fails)
    })?;
    if !output.status.success() {
        return Err(format!("{} {mode} ends with {}", executable.display(), output.status));
    }
    String::from_utf8(output.stdout).map_err(|e| e.to_string())
}
