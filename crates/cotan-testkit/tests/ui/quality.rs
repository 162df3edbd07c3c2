//! What every diagnostic has, whatever it is about.

use cotan_syntax::render::{JsonDiagnostic, to_json};
use cotan_syntax::{Diagnostic, SourceMap};

/// Codes whose messages have no pair of expected and found, with the reason.
const WITHOUT_PAIR: &[(&str, &str)] = &[];

/// What only the compiler knows: open types and sizes, locals of its own, and places, which stand in front already.
const INNER_WORDS: &[&str] = &["{unknown}", "$", "0/0", "`?`", ".cot:"];

/// What is wrong with a diagnostic as a message to a person or a tool; nothing, if all is well.
pub(crate) fn defects(diagnostic: &Diagnostic, sources: &SourceMap) -> Vec<String> {
    let json = to_json(diagnostic, sources);
    let mut out = Vec::new();
    if (json.line, json.column) < (1, 1) || (json.end_line, json.end_column) < (json.line, json.column) {
        out.push(format!("spans {}:{} to {}:{}", json.line, json.column, json.end_line, json.end_column));
    }
    if json.help.as_deref().is_none_or(str::is_empty) {
        out.push("has no help".to_owned());
    }
    let said = said(&json);
    let needs_pair = diagnostic.is_error() && WITHOUT_PAIR.iter().all(|(code, _)| *code != json.code);
    if needs_pair && !(said.contains("expected") && said.contains("found")) {
        out.push("does not say what was expected and what was found".to_owned());
    }
    if !said.contains('`') {
        out.push("has nothing in backticks".to_owned());
    }
    let marked = sources.slice(diagnostic.primary.span);
    let is_inner = |word: &&&str| said.contains(**word) && !marked.contains(**word);
    out.extend(INNER_WORDS.iter().find(is_inner).map(|word| format!("says `{word}`, a word of the compiler")));
    if is_identifier(marked) && !is_quoted(marked, &said) {
        out.push(format!("marks `{marked}` and does not name it"));
    }
    out.iter().map(|defect| format!("{} `{}` {defect}", json.code, json.message)).collect()
}

/// Everything that a diagnostic says in words.
fn said(json: &JsonDiagnostic) -> String {
    let notes = json.related.iter().map(|label| label.message.as_str());
    let parts: Vec<&str> = [json.message.as_str()].into_iter().chain(notes).chain(json.help.as_deref()).collect();
    parts.join("\n")
}

fn is_identifier(text: &str) -> bool {
    let is_word = text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    is_word && text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
}

/// Whether the name stands in backticks, alone or as a word of a piece of code.
fn is_quoted(name: &str, said: &str) -> bool {
    let quoted = said.split('`').skip(1).step_by(2);
    quoted.flat_map(|code| code.split(|c: char| !c.is_ascii_alphanumeric() && c != '_')).any(|word| word == name)
}

#[test]
fn a_name_is_quoted_alone_or_inside_of_code() {
    assert!(is_quoted("x", "there is no `x`") && is_quoted("x", "write `let mut x = ...`"));
    assert!(!is_quoted("x", "there is no x in `xs`"));
}
