//! What passes make of loop nests: `tests/nests/<pass>/*.nest`. Core IR comes first, then `// ---`, then the complete text of
//! its nests after the pass, and after those that come before it on the way to code. A file whose name begins with `keeps`
//! holds a nest that the pass must leave alone.
//!
//! Every case is also held against what all passes promise: nests verify before and after, read back from their text, and
//! their interpreter gives the same bits and the same errors, up to the rounding of sums that are regrouped.

use cotan_cpu::pipeline::{NEST_PASSES, OF_VERSIONS, OPTIMIZED, PLAIN, WATCHED};
use cotan_ir::Module;
use cotan_loops::pipeline::run;
use cotan_loops::{
    CPU, LoopFunction, NestContext, NestPass, Probe, VerifiedNests, Width, lower_only, parse_nest, print_nest,
};
use cotan_nest::{Options, RuntimeError};
use cotan_ops::{Registry, Value};
use cotan_testkit::files::{expect_file, files, report, tests_folder};
use cotan_testkit::oracles::same_on_nests;
use cotan_testkit::pass_files::{BORDER, VARIANTS, arguments, module};
use std::fs;
use std::path::Path;

/// The passes that come before one on its way.
fn before(pass: &NestPass) -> Option<Vec<&'static NestPass>> {
    let ways = [
        CPU.after_lowering.to_vec(),
        [CPU.after_lowering, OPTIMIZED, WATCHED].concat(),
        [CPU.after_lowering, PLAIN].concat(),
        [CPU.after_lowering, OF_VERSIONS].concat(),
    ];
    ways.into_iter().find_map(|way| {
        let at = way.iter().position(|other| std::ptr::eq(*other, pass))?;
        Some(way[..at].to_vec())
    })
}

fn check(path: &Path) -> Result<(), String> {
    let text = fs::read_to_string(path).map_err(|e| e.to_string())?;
    let folder = path.parent().and_then(|p| p.file_name()).unwrap_or_default().to_string_lossy().into_owned();
    let pass = NEST_PASSES.iter().find(|pass| pass.name == folder).ok_or_else(|| format!("no pass `{folder}`"))?;
    let (source, module) = module(&text)?;
    let probe = (pass.name == "insert_probes").then_some(Probe::Times);
    let context = NestContext { width: Width::new(4), probe, ..NestContext::default() };
    let mut nests: Vec<LoopFunction> = module.functions().map(|f| lower_only(f, &CPU)).collect();
    let first = before(pass).ok_or("the pass stands in no pipeline")?;
    nests.iter_mut().for_each(|nest| run(&first, nest, &context));
    let old = VerifiedNests::new(nests.clone()).map_err(|e| e.to_string())?;
    nests.iter_mut().for_each(|nest| run(&[*pass], nest, &context));
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let texts: Vec<String> = nests.iter().map(print_nest).collect();
    if name.starts_with("keeps") != (old[..] == nests[..]) {
        return Err(format!("the name does not say what happens:\n{}", texts.concat()));
    }
    for (nest, text) in nests.iter().zip(&texts) {
        let again = parse_nest(text, Registry::standard()).map_err(|e| format!("{e} of\n{text}"))?;
        if again != *nest {
            return Err(format!("the output reads back otherwise:\n{text}"));
        }
    }
    let new = VerifiedNests::new(nests).map_err(|e| e.to_string())?;
    compare_runs(&module, &old, &new)?;
    expect_file(path, &format!("{}\n{BORDER}{}", source.trim_end(), texts.concat()))
}

/// Runs the nests of both sides on a dozen arguments of every function.
fn compare_runs(module: &Module, old: &VerifiedNests, new: &VerifiedNests) -> Result<(), String> {
    let options = Options { steps: 1_000_000, ..Options::default() };
    for f in module.functions() {
        for variant in 0..VARIANTS {
            let args = arguments(f, variant);
            let found = [old, new].map(|nests| cotan_nest::run(nests, &f.name, &args, &options));
            let agree = match &found {
                [Ok(before), Ok(after)] => same(before, after, new.iter().any(|nest| nest.regroups_sums)),
                [Err(RuntimeError::OutOfSteps), _] | [_, Err(RuntimeError::OutOfSteps)] => true,
                [before, after] => before == after,
            };
            if !agree {
                return Err(format!("`{}` of {args:?} gives, before and after,\n{found:?}", f.name));
            }
        }
    }
    Ok(())
}

fn same(before: &[Value], after: &[Value], regroups: bool) -> bool {
    let close = |a: f64, b: f64| a == b || a.is_nan() && b.is_nan() || (a - b).abs() <= 1e-12 * (1.0 + a.abs());
    let are_close = |(a, b): (&Value, &Value)| match (a.floats(), b.floats()) {
        (Some(x), Some(y)) => x.len() == y.len() && x.iter().zip(&y).all(|(x, y)| close(*x, *y)),
        (_, _) => a == b,
    };
    before == after || regroups && before.len() == after.len() && before.iter().zip(after).all(are_close)
}

#[test]
fn passes_make_of_nests_what_the_files_say() {
    let files = files(&tests_folder().join("nests"), ".nest");
    for pass in NEST_PASSES {
        for beginning in ["fires", "keeps"] {
            let start = tests_folder().join("nests").join(pass.name).join(beginning);
            let is_there = files.iter().any(|path| path.to_string_lossy().starts_with(&*start.to_string_lossy()));
            assert!(is_there, "the pass `{}` has no file `{beginning}_*.nest`", pass.name);
        }
    }
    let failures = files.iter().filter_map(|path| check(path).err().map(|e| format!("{}: {e}", path.display())));
    report(failures.collect(), files.len());
}

#[test]
fn the_core_ir_of_all_files_does_the_same_on_its_nests() {
    let files = files(&tests_folder().join("ir"), ".cir");
    let failures =
        cotan_testkit::parallel::map(&files, |path| runs(path).err().map(|e| format!("{}: {e}", path.display())));
    report(failures.into_iter().flatten().collect(), files.len());
}

/// Runs every function of a file, where it gives values or a failing check.
fn runs(path: &Path) -> Result<(), String> {
    let text = fs::read_to_string(path).map_err(|e| e.to_string())?;
    let (_, module) = module(&text)?;
    let limits = cotan_interp::Limits { steps: 100_000, ..cotan_interp::Limits::default() };
    let options = cotan_interp::Options { limits, ..cotan_interp::Options::default() };
    for f in module.functions() {
        for variant in 0..VARIANTS {
            let args = arguments(f, variant);
            let ran = cotan_interp::run(&module, &f.name, &args, &options);
            if matches!(ran, Ok(_) | Err(cotan_interp::RuntimeError::Check(_))) {
                let label = format!("{}, {variant}", path.display());
                same_on_nests(&module, &f.name, &args, &label).map_err(|e| format!("{args:?}: {e}"))?;
            }
        }
    }
    Ok(())
}
