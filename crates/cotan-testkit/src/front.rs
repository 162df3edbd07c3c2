//! The front end for tests: from source text to the core IR, with errors as text.

use crate::files::FilesBelow;
use cotan::syntax::render::{Style, to_text};
use cotan::{Compiler, Config, Lowered, Program, Request};
use cotan_llvm::load::SearchConfig;
use std::path::Path;
use std::sync::{Arc, OnceLock};

/// A compiler without a backend, shared by all tests of a process.
fn compiler() -> Result<&'static Compiler, String> {
    static COMPILER: OnceLock<Result<Compiler, String>> = OnceLock::new();
    let config = || Config { llvm: SearchConfig::nowhere(), ..Config::default() };
    COMPILER.get_or_init(|| Compiler::new(config())).as_ref().map_err(Clone::clone)
}

/// The program, or its errors as users see them.
pub fn checked(name: &str, text: &str) -> Result<Program, String> {
    without_errors(compiler()?.check(name, text))
}

/// The program with what it imports from files of the folder `below`, or its errors as users see them.
pub fn loaded(name: &str, text: &str, below: &Path) -> Result<Program, String> {
    without_errors(read(name, text, below)?)
}

/// The program with what it imports, also if it has errors.
pub fn read(name: &str, text: &str, below: &Path) -> Result<Program, String> {
    Ok(compiler()?.load(name, text, &FilesBelow(below)))
}

fn without_errors(program: Program) -> Result<Program, String> {
    if !program.has_errors() {
        return Ok(program);
    }
    let errors = program.diagnostics.iter().filter(|d| d.is_error());
    let errors: Vec<String> = errors.map(|d| to_text(d, &program.sources, Style::Plain)).collect();
    Err(errors.join("\n"))
}

/// A function or derivative of a program, as it would be run.
pub fn lower(program: &Program, request: &Request) -> Result<Lowered, String> {
    compiler()?.lower(program, request).map_err(|e| e.to_string())
}

/// The same, to take derivatives of.
pub fn lower_to_derive(program: &Program, request: &Request) -> Result<Lowered, String> {
    compiler()?.lower_to_derive(program, request).map_err(|e| e.to_string())
}

/// The same without any optimisation of the program or of what is derived from it.
pub fn lower_plain(program: &Program, request: &Request) -> Result<Lowered, String> {
    lower_tree(&program.checked.program, request)
}

/// The same, of a typed tree.
pub fn lower_tree(tree: &cotan::sema::typed::Program, request: &Request) -> Result<Lowered, String> {
    let limits = cotan::sema::Limits::default();
    let lowered = cotan::sema::lower(tree, std::slice::from_ref(request), &limits);
    let lowered = lowered.map_err(|all| all.iter().map(|d| d.message.as_str()).collect::<Vec<_>>().join("\n"))?;
    let mut module = lowered.module;
    cotan_ad::expand(&mut module, &cotan_ad::Limits::default()).map_err(|e| e.to_string())?;
    let entry = lowered.entries.into_iter().next().ok_or("no entry")?;
    Ok(Lowered { entry, module: Arc::new(module), traps: None })
}
