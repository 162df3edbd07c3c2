//! What fixes make of a mistake is the program that its writer meant: `NAME.meant` beside it, written without the compiler.
//!
//! `outcomes.tsv` says of each mistake whether its fixes mend it, and whether it is in the signature; of the others one error
//! is left, which says what to write.

use super::{mended, name, texts};
use cotan::Program;
use cotan_sema::Limits;
use cotan_sema::typed::Function;
use cotan_testkit::behaviour::{agree, functions, outcomes};
use cotan_testkit::files::{report, tests_folder};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// How many of the mistakes are mended.
const MENDED: usize = 62;

/// What becomes of a mistake.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// It is mended, and stands in bodies alone, or in a signature.
    Mended { keeps_signatures: bool },
    /// It is told in one error.
    Told,
}

fn fates() -> BTreeMap<String, Fate> {
    let table = std::fs::read_to_string(tests_folder().join("mistakes/outcomes.tsv")).expect("the table");
    let rows = table.lines().filter(|line| !line.starts_with('#'));
    let row = |line: &str| {
        let mut cells = line.split('\t');
        let name = cells.next()?.to_owned();
        let fate = match cells.next()? {
            "mended" => Fate::Mended { keeps_signatures: true },
            "mended in its signature" => Fate::Mended { keeps_signatures: false },
            "told" => Fate::Told,
            _ => return None,
        };
        Some((name, fate))
    };
    rows.map(|line| row(line).unwrap_or_else(|| panic!("a row without an outcome: {line}"))).collect()
}

fn meant(path: &std::path::Path) -> Result<Program, String> {
    let path = path.with_extension("meant");
    let text = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    let program = Program::check(&name(&path), &text, &Limits::default());
    if program.diagnostics.is_empty() {
        Ok(program)
    } else {
        Err(format!("{}: {:?}", name(&path), program.diagnostics))
    }
}

#[test]
fn what_was_meant_is_a_program_that_runs() {
    let all = texts("mistakes");
    let judge = |(path, _): &(PathBuf, String)| -> Result<(), String> {
        let program = meant(path)?;
        functions(&program).try_for_each(|f| outcomes(&program, &f.name).map(drop))
    };
    report(all.iter().filter_map(|one| judge(one).err()).collect(), all.len());
}

#[test]
fn fixes_make_what_was_meant_of_each_mistake_or_leave_one_error() {
    let (all, mut fates) = (texts("mistakes"), fates());
    let mut failures = Vec::new();
    for (path, text) in &all {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let Some(fate) = fates.remove(&stem) else {
            failures.push(format!("{stem}: no row in outcomes.tsv"));
            continue;
        };
        failures.extend(judge(path, text, fate).err().map(|failure| format!("{stem}: {failure}")));
    }
    failures.extend(fates.keys().map(|name| format!("{name}: no such mistake")));
    report(failures, all.len());
}

#[test]
fn most_mistakes_are_mended() {
    let n = fates().values().filter(|fate| **fate != Fate::Told).count();
    assert_eq!(n, MENDED);
}

fn judge(path: &std::path::Path, text: &str, fate: Fate) -> Result<(), String> {
    let found = mended(path, text).program;
    let codes: Vec<&str> = found.diagnostics.iter().map(|d| d.code.as_str()).collect();
    let Fate::Mended { keeps_signatures } = fate else {
        return if codes.len() == 1 { Ok(()) } else { Err(format!("one error, found {codes:?}")) };
    };
    if !codes.is_empty() {
        return Err(format!("nothing left to report, found {codes:?}"));
    }
    let expected = meant(path)?;
    let names = |program: &Program| -> Vec<String> { functions(program).map(|f| f.name.clone()).collect() };
    if names(&found) != names(&expected) {
        return Err(format!("functions {:?}, found {:?}", names(&expected), names(&found)));
    }
    for (found_f, expected_f) in functions(&found).zip(functions(&expected)) {
        if keeps_signatures && signature(found_f) != signature(expected_f) {
            return Err(format!("another signature of `{}`", expected_f.name));
        }
        let (found, expected) = (outcomes(&found, &found_f.name)?, outcomes(&expected, &expected_f.name)?);
        if let Some((found, expected)) = found.iter().zip(&expected).find(|(found, expected)| !agree(found, expected)) {
            return Err(format!("`{}` gives {found:?}, meant is {expected:?}", found_f.name));
        }
    }
    Ok(())
}

/// Names and types of the parameters, the result, and how many sizes and types there are.
fn signature(f: &Function) -> (Vec<String>, usize, bool) {
    let params = f.params.iter().map(|param| format!("{}: {:?}", param.name, param.ty));
    (params.chain([format!("{:?}", f.result)]).collect(), f.generics.len(), f.prints)
}
