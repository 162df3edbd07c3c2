//! `tests/loops.tsv`: the shapes that loops have, and the programs under `tests/run/loops` that have them.

use cotan_testkit::files::{programs, tests_folder, workspace_file};
use cotan_testkit::header::{self, Case};
use std::collections::BTreeSet;
use std::path::Path;

/// The loosest tolerance of a gradient in f64.
const TOLERANCE: f64 = 1e-10;

fn has_gradients(cases: &[Case]) -> bool {
    cases.iter().any(|case| !case.wrt.is_empty())
}

fn cases(path: &Path) -> Result<Vec<Case>, String> {
    let text = std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    header::cases(&text)
}

/// What is wrong with the pair of programs of that name.
fn wrong(folder: &Path, name: &str) -> Result<(), String> {
    let double = cases(&folder.join(format!("{name}.cot")))?;
    let single = cases(&folder.join(format!("{name}_f32.cot")))?;
    if !has_gradients(&double) || !has_gradients(&single) {
        return Err(format!("`{name}` has no gradient"));
    }
    let loose = double.iter().find(|case| case.tolerance > TOLERANCE);
    loose.map_or(Ok(()), |case| Err(format!("`{name}`: the tolerance {} of a gradient in f64", case.tolerance)))
}

#[test]
fn every_shape_of_a_loop_has_programs_in_f64_and_f32_and_every_program_a_shape() {
    let table = std::fs::read_to_string(workspace_file("tests/loops.tsv")).expect("the table");
    let folder = tests_folder().join("run/loops");
    let mut named = BTreeSet::new();
    for line in table.lines().filter(|line| !line.starts_with('#')) {
        let Some((shape, names)) = line.split_once('\t') else { panic!("expected a shape and its programs: {line}") };
        let names: Vec<&str> = names.split_whitespace().collect();
        assert!(!names.is_empty(), "`{shape}` has no program");
        for name in names {
            assert_eq!(wrong(&folder, name), Ok(()), "{shape}");
            named.extend([name.to_owned(), format!("{name}_f32")]);
        }
    }
    let there = programs(&folder);
    let stem = |path: &std::path::PathBuf| path.file_stem().map(|s| s.to_string_lossy().into_owned());
    let without: Vec<String> = there.iter().filter_map(stem).filter(|name| !named.contains(name)).collect();
    assert_eq!(without, Vec::<String>::new(), "programs without a shape");
}
