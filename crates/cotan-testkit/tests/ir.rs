//! What passes make of core IR: `tests/ir/<pass>/*.cir`. The input comes first, then `// ---`, then the output. A file
//! whose name begins with `keeps` holds an input that the pass must leave alone.

use cotan_ir::{Function, Module, PrintOptions, parse_module, print_module, verify_module};
use cotan_opt::passes;
use cotan_opt::passes::inline::InlineLimit;
use cotan_testkit::files::{expect_file, files, report, tests_folder};
use std::fs;
use std::path::Path;

const BORDER: &str = "// ---\n";

type Pass = fn(&Module, &Function) -> Function;

/// The pass of a folder.
fn pass(name: &str) -> Option<Pass> {
    Some(match name {
        "dce" => |_, f| passes::dce::dce(f),
        "cse" => |_, f| passes::cse::cse(f),
        "own_slots" => |_, f| passes::own_slots::own_slots(f),
        "contract" => |_, f| passes::contract::contract(f),
        "inline" => |m, f| passes::inline::inline(m, f, InlineLimit::default()),
        "simplify" => |_, f| cotan_opt::simplify(f),
        _ => return None,
    })
}

fn print(module: &Module) -> String {
    print_module(module, PrintOptions::default())
}

fn transformed(module: &Module, pass: Pass) -> Result<Module, String> {
    let mut out = module.clone();
    for f in module.functions() {
        out.insert(pass(module, f));
    }
    verify_module(&out).map_err(|all| format!("the output is malformed: {all:?}\n{}", print(&out)))?;
    // Printed and read again, so that variables that nothing binds any more are out of the way.
    parse_module(&print(&out), &cotan_ops::Ops).map_err(|e| format!("the output does not parse: {e}"))
}

fn check(path: &Path) -> Result<(), String> {
    let text = fs::read_to_string(path).map_err(|e| e.to_string())?;
    let folder = path.parent().and_then(|p| p.file_name()).unwrap_or_default().to_string_lossy().into_owned();
    let pass = pass(&folder).ok_or_else(|| format!("there is no pass `{folder}`"))?;
    let source = text.split_once(BORDER).map_or(text.as_str(), |(source, _)| source);
    let module = parse_module(source, &cotan_ops::Ops).map_err(|e| e.to_string())?;
    verify_module(&module).map_err(|all| format!("the input is malformed: {all:?}"))?;
    let out = transformed(&module, pass)?;
    let again = transformed(&out, pass)?;
    if print(&again) != print(&out) {
        return Err(format!("once more, it makes\n{}", print(&again)));
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    if name.starts_with("keeps") != (print(&out) == print(&module)) {
        return Err(format!("the name does not say what happens:\n{}", print(&out)));
    }
    expect_file(path, &format!("{}\n{BORDER}{}", source.trim_end(), print(&out)))
}

#[test]
fn passes_make_what_the_files_say() {
    let files = files(&tests_folder().join("ir"), ".cir");
    assert!(files.len() >= 30, "only {} files were found", files.len());
    let failures = files.iter().filter_map(|path| check(path).err().map(|e| format!("{}: {e}", path.display())));
    report(failures.collect(), files.len());
}
