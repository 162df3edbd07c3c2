//! Rust's side of the idioms: one program, which is compiled and prints each value as JSON.

use super::{Idiom, Input, compared, inputs};
use serde_json::Value as Json;
use std::fs;
use std::path::Path;
use std::process::Command;

/// How values become JSON.
const PRELUDE: &str = "\
trait Shown { fn shown(&self) -> String; }
impl Shown for f64 { fn shown(&self) -> String { format!(\"{self:?}\") } }
impl Shown for i64 { fn shown(&self) -> String { self.to_string() } }
impl Shown for bool { fn shown(&self) -> String { self.to_string() } }
impl<T: Shown> Shown for Vec<T> {
    fn shown(&self) -> String { format!(\"[{}]\", self.iter().map(Shown::shown).collect::<Vec<_>>().join(\",\")) }
}
";

/// Compiles the idioms in a folder, runs them, and compares; gives what is wrong.
pub fn against_rust(idioms: &[Idiom], folder: &Path) -> Result<Vec<String>, String> {
    let (source, built) = (folder.join("idioms.rs"), folder.join("idioms"));
    fs::write(&source, program(idioms, &inputs()?)).map_err(|e| format!("{}: {e}", source.display()))?;
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    // What an idiom does not use is no matter, and there are no crates but the standard library.
    output(Command::new(rustc).args(["--edition", "2024", "-A", "warnings", "-o"]).arg(&built).arg(&source))?;
    let printed = output(&mut Command::new(&built))?;
    let found: Vec<Result<Json, String>> =
        printed.lines().map(|line| serde_json::from_str(line).map_err(|e| format!("{line}: {e}"))).collect();
    if found.len() != idioms.len() {
        return Err(format!("{} values of {} idioms", found.len(), idioms.len()));
    }
    Ok(compared(idioms, found))
}

fn program(idioms: &[Idiom], inputs: &[Input]) -> String {
    let mut text = PRELUDE.to_owned() + "fn main() {\n";
    for input in inputs {
        text += &format!("let {} = {};\n", input.name, literal(&input.value));
    }
    for idiom in idioms {
        let code = idiom.around_theirs.as_deref().unwrap_or("{}").replace("{}", &idiom.theirs);
        text += &format!("println!(\"{{}}\", {{ {code} }}.shown());\n");
    }
    text + "}\n"
}

/// A value as Rust writes it.
fn literal(value: &Json) -> String {
    match value {
        Json::Array(items) => format!("vec![{}]", items.iter().map(literal).collect::<Vec<_>>().join(", ")),
        Json::Number(number) if number.is_f64() => format!("{number}_f64"),
        Json::Number(number) => format!("{number}_i64"),
        Json::Null | Json::Bool(_) | Json::String(_) | Json::Object(_) => value.to_string(),
    }
}

/// What a command prints that must succeed.
fn output(command: &mut Command) -> Result<String, String> {
    let out = command.output().map_err(|e| format!("{command:?}: {e}"))?;
    if !out.status.success() {
        return Err(String::from_utf8_lossy(&out.stderr).into_owned());
    }
    Ok(String::from_utf8_lossy(&out.stdout).into_owned())
}
