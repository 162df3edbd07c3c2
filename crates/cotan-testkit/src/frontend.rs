//! The front end for tests: from source text to the core IR, with errors as text.

use crate::compile::verified;
use crate::files::FilesBelow;
use cotan::{Compiler, Config, Program, ReadyModule, Request};
use cotan_llvm::load::SearchConfig;
use cotan_opt::InlineLimit;
use cotan_syntax::render::{Style, to_text};
use std::path::Path;
use std::sync::OnceLock;

/// A compiler without a backend, shared by all tests of a process.
fn compiler() -> Result<&'static Compiler, String> {
    static COMPILER: OnceLock<Result<Compiler, String>> = OnceLock::new();
    let config = || Config { llvm: SearchConfig::nowhere(), ..Config::default() };
    COMPILER.get_or_init(|| Compiler::new(config())).as_ref().map_err(Clone::clone)
}

/// The same, with which every call stays a call.
fn compiler_that_inlines_nothing() -> Result<&'static Compiler, String> {
    static COMPILER: OnceLock<Result<Compiler, String>> = OnceLock::new();
    let config = || Config { llvm: SearchConfig::nowhere(), derivatives: INLINES_NOTHING, ..Config::default() };
    COMPILER.get_or_init(|| Compiler::new(config())).as_ref().map_err(Clone::clone)
}

/// The limits with which every call stays a call.
pub const INLINES_NOTHING: cotan_ad::Limits =
    cotan_ad::Limits { inline: InlineLimit::NONE, ..cotan_ad::Limits::DEFAULT };

/// Whether the calls of a program stay calls in tests that run it in one way alone: in every second one, by its text.
pub fn calls_stay(text: &str) -> bool {
    let hash = crate::tier::hash(text);
    hash.count_ones().is_multiple_of(2)
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
pub fn lower(program: &Program, request: &Request) -> Result<ReadyModule, String> {
    compiler()?.lower(program, request).map_err(|e| e.to_string())
}

/// The same, where all calls stay calls.
pub fn lower_with_calls(program: &Program, request: &Request) -> Result<ReadyModule, String> {
    compiler_that_inlines_nothing()?.lower(program, request).map_err(|e| e.to_string())
}

/// The same as it would be run, to take derivatives of.
pub fn lower_to_derive(program: &Program, request: &Request) -> Result<ReadyModule, String> {
    compiler()?.lower_to_derive(program, request).map_err(|e| e.to_string())
}

/// The same, where all calls stay calls.
pub fn lower_to_derive_with_calls(program: &Program, request: &Request) -> Result<ReadyModule, String> {
    compiler_that_inlines_nothing()?.lower_to_derive(program, request).map_err(|e| e.to_string())
}

/// The same without any optimisation of the program or of what is derived from it.
pub fn lower_plain(program: &Program, request: &Request) -> Result<ReadyModule, String> {
    lower_tree(&program.checked.program, request)
}

/// The same, of a typed tree. In every second program calls stay calls in derivatives as well.
pub fn lower_tree(tree: &cotan_sema::typed::Program, request: &Request) -> Result<ReadyModule, String> {
    let limits = cotan_sema::Limits::default();
    let lowered = cotan_lower::lower(tree, std::slice::from_ref(request), &limits);
    let lowered = lowered.map_err(|all| all.iter().map(|d| d.message.as_str()).collect::<Vec<_>>().join("\n"))?;
    let mut module = lowered.module;
    // By what is called, which is the same however loops are ordered.
    let names: String = module.items.keys().map(|name| &**name).collect();
    let limits = if calls_stay(&names) { INLINES_NOTHING } else { cotan_ad::Limits::DEFAULT };
    cotan_ad::expand(&mut module, &limits).map_err(|e| e.to_string())?;
    let entry = lowered.entries.into_iter().next().ok_or("no entry")?;
    Ok(ReadyModule { entry, module: verified(module)?, traps: None })
}
