//! What passes make of core IR: `tests/ir/<pass>/*.cir`. The input comes first, then `// ---`, then the output. A file
//! whose name begins with `keeps` holds an input that the pass must leave alone. A pass in front of a derivative sees a function
//! as the derivative of its float results with respect to its float parameters does.
//!
//! Every case is also held against what all passes promise: the output verifies and reads back, a second run changes
//! nothing, and the interpreter gives the same bits and the same errors. Exceptions stand in the comment of a file:
//! `// drops errors` where nobody needs the value whose check fails, `// other bits` where results are rounded elsewhere or
//! stop at a NaN, `// more each time` where a second run is not for nothing.

use cotan_ad::after_pass;
use cotan_interp::{Limits, Options, RuntimeError, run};
use cotan_ir::{Function, Module, PrintOptions, parse_module, print_module, verify_module};
use cotan_ops::Registry;
use cotan_opt::{PASSES, PIPELINES, Pass, PassContext, Pipeline};
use cotan_testkit::files::{expect_file, files, report, tests_folder};
use cotan_testkit::pass_files::{BORDER, VARIANTS, arguments, module};
use std::fs;
use std::path::Path;

/// A pass or a pipeline, by the name of its folder.
#[derive(Clone, Copy)]
enum Tested {
    Pass(&'static Pass),
    Preparation(&'static cotan_ad::Pass),
    Pipeline(&'static Pipeline),
}

impl Tested {
    fn named(name: &str) -> Option<Tested> {
        let pass = PASSES.iter().copied().find(|pass| pass.name == name).map(Tested::Pass);
        let preparation = || cotan_ad::PASSES.iter().copied().find(|pass| pass.name == name).map(Tested::Preparation);
        let pipeline = || PIPELINES.iter().copied().find(|pipeline| pipeline.name == name).map(Tested::Pipeline);
        pass.or_else(preparation).or_else(pipeline)
    }

    fn run(self, module: &Module, f: &Function) -> Function {
        let context = PassContext { module: Some(module), ..PassContext::default() };
        match self {
            Tested::Pass(pass) => pass.apply(f.clone(), &context),
            Tested::Preparation(pass) => after_pass(&mut module.clone(), pass, f.clone()),
            Tested::Pipeline(pipeline) => pipeline.run(f.clone(), &context),
        }
    }
}

fn print(module: &Module) -> String {
    print_module(module, PrintOptions { spans: true })
}

/// What the pass makes of every function, printed and read again, and whether that is another module.
fn transformed(module: &Module, pass: Tested) -> Result<(Module, bool), String> {
    let mut out = module.clone();
    for f in module.functions() {
        out.insert(pass.run(module, f));
    }
    verify_module(&out).map_err(|all| format!("the output is malformed: {all:?}\n{}", print(&out)))?;
    let text = print(&out);
    let again =
        parse_module(&text, Registry::standard()).map_err(|e| format!("the output does not parse: {e}\n{text}"))?;
    if print(&again) == text {
        Ok((again, out != *module))
    } else {
        Err(format!("the output reads back otherwise:\n{text}"))
    }
}

fn check(path: &Path) -> Result<(), String> {
    let text = fs::read_to_string(path).map_err(|e| e.to_string())?;
    let folder = path.parent().and_then(|p| p.file_name()).unwrap_or_default().to_string_lossy().into_owned();
    let pass = Tested::named(&folder).ok_or_else(|| format!("there is no pass `{folder}`"))?;
    let (source, module) = module(&text)?;
    let (out, is_changed) = transformed(&module, pass)?;
    let has_note = |note: &str| source.lines().any(|line| line == note);
    let (again, _) = transformed(&out, pass)?;
    if print(&again) != print(&out) && !has_note("// more each time") {
        return Err(format!("once more, it makes\n{}", print(&again)));
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let says = if name.starts_with("keeps") { print(&out) == print(&module) } else { is_changed };
    if !says {
        return Err(format!("the name does not say what happens:\n{}", print(&out)));
    }
    if !has_note("// other bits") {
        compare_runs(&module, &out, has_note("// drops errors"))?;
    }
    expect_file(path, &format!("{}\n{BORDER}{}", source.trim_end(), print(&out)))
}

/// Runs both modules on a dozen arguments of every function.
fn compare_runs(source: &Module, made: &Module, drops_errors: bool) -> Result<(), String> {
    let options = Options { limits: Limits { steps: 100_000, ..Limits::default() }, ..Options::default() };
    for f in source.functions() {
        for variant in 0..VARIANTS {
            let args = arguments(f, variant);
            let before = run(source, &f.name, &args, &options);
            let after = run(made, &f.name, &args, &options);
            let is_kept = match &before {
                Ok(_) => before == after,
                Err(RuntimeError::Check(_)) => before == after || drops_errors && after.is_ok(),
                // A contract that these arguments break, or an endless loop: nothing is promised.
                Err(_) => true,
            };
            if !is_kept {
                return Err(format!("`{}` of {args:?} gives\n{before:?} before and\n{after:?} after", f.name));
            }
        }
    }
    Ok(())
}

#[test]
fn passes_make_what_the_files_say() {
    let files = files(&tests_folder().join("ir"), ".cir");
    assert!(files.len() >= 40, "only {} files were found", files.len());
    let failures = files.iter().filter_map(|path| check(path).err().map(|e| format!("{}: {e}", path.display())));
    report(failures.collect(), files.len());
}

#[test]
fn every_pass_has_a_file_where_it_fires_and_one_that_it_keeps() {
    let folder = tests_folder().join("ir");
    let begins = |pass: &str, beginning: &str| {
        files(&folder.join(pass), ".cir")
            .iter()
            .any(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(beginning)))
    };
    let names = PASSES.iter().map(|pass| pass.name).chain(cotan_ad::PASSES.iter().map(|pass| pass.name));
    let lacks = names.flat_map(|pass| ["fires_", "keeps_"].map(|beginning| (pass, beginning)));
    let lacks: Vec<String> = lacks
        .filter(|(pass, beginning)| !begins(pass, beginning))
        .map(|(pass, beginning)| format!("tests/ir/{pass}/{beginning}*.cir is missing"))
        .collect();
    assert!(lacks.is_empty(), "{}", lacks.join("\n"));
}
