//! Cotan's side of the idioms: each is a program of its own, run by the interpreter.

use super::{Idiom, Input, compared, inputs};
use crate::files::{files, workspace_file};
use crate::header::named_arguments;
use cotan::host::write_json;
use cotan::{Compiler, Config, Engine, Program, Request};
use cotan_syntax::render::{Style, to_text};
use serde_json::{Map, Value as Json};

/// Runs Cotan's side of idioms and compares the values; gives what is wrong.
pub fn against_cotan(idioms: &[Idiom]) -> Result<Vec<String>, String> {
    let compiler = Compiler::new(Config::default())?;
    let (inputs, modules) = (inputs()?, modules());
    Ok(compared(idioms, idioms.iter().map(|idiom| value(&compiler, idiom, &inputs, &modules)).collect()))
}

/// The modules of the library; a program imports those that it names.
fn modules() -> Vec<String> {
    let all = files(&workspace_file("lib/std"), ".cot");
    all.iter().filter_map(|path| Some(path.file_stem()?.to_string_lossy().into_owned())).collect()
}

/// The program that gives the value of an idiom.
fn program(idiom: &Idiom, inputs: &[Input], modules: &[String]) -> String {
    let around = idiom.around_ours.as_deref().unwrap_or("{}").replace("{}", &idiom.ours);
    let (declarations, body) = around.split_once(";;").unwrap_or(("", &around));
    let imports: String = modules
        .iter()
        .filter(|module| names_module(&around, module))
        .map(|module| format!("import std.{module}\n"))
        .collect();
    let params: Vec<String> = inputs.iter().map(|input| format!("{}: {}", input.name, input.ty)).collect();
    format!("{imports}{declarations}\nfn idiom[N, M]({}) -> {} {{\n{body}\n}}\n", params.join(", "), idiom.ty)
}

/// Whether a code has a name of a module, `nn.softmax`.
fn names_module(code: &str, module: &str) -> bool {
    let start = format!("{module}.");
    code.match_indices(&start)
        .any(|(at, _)| !code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '.'))
}

fn value(compiler: &Compiler, idiom: &Idiom, inputs: &[Input], modules: &[String]) -> Result<Json, String> {
    let program = compiler.check("idiom.cot", &program(idiom, inputs, modules));
    if !program.diagnostics.is_empty() {
        return Err(rendered(&program));
    }
    let f = compiler.function(&program, &Request::function("idiom"), Engine::INTERPRETER).map_err(|e| e.to_string())?;
    let values: Map<String, Json> = inputs.iter().map(|input| (input.name.clone(), input.value.clone())).collect();
    let found = f.call(&named_arguments(&values, f.entry())?).map_err(|e| e.to_string())?;
    let mut text = String::new();
    write_json(&found, &mut text);
    serde_json::from_str(&text).map_err(|e| format!("{text}: {e}"))
}

fn rendered(program: &Program) -> String {
    let all = program.diagnostics.iter().map(|d| to_text(d, &program.sources, Style::Plain));
    all.collect::<Vec<_>>().join("\n")
}
