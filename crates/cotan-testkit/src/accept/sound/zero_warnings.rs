//! No derivative is said to be zero that is not.

use crate::accept::{Line, Measured, Workplace};
use crate::files::{programs, tests_folder, workspace_file};
use crate::frontend::loaded;
use crate::library::{Library, zeros};
use crate::parallel;
use crate::zeros::{Claims, is_warned, of_program};
use cotan_ir::Elem;
use std::path::Path;

pub(super) const LINES: &[Line] = &[Line {
    title: "\"the derivative is zero\": warnings and pages, against the derivative where it is said",
    bar: "no false one over the library, the examples and tests/run; at least 500 parameters asked about",
    measure: zero_warnings,
}];

fn zero_warnings(_: &Workplace) -> Result<Measured, String> {
    let below = tests_folder().join("run");
    let judged = parallel::map(&programs(&below), |path| {
        let text = std::fs::read_to_string(path).map_err(|e| e.to_string())?;
        of_program(&path.display().to_string(), &text, &below)
    });
    let of_programs: Claims =
        judged.into_iter().try_fold(Claims::default(), |all, claims| claims.map(|c| all.and(c)))?;
    let claims = of_programs.and(zeros(&Library::read("")?)?);
    let in_examples = in_examples(&workspace_file("examples"))?;
    let first = claims.wrong.first().map(|wrong| format!(", first: {wrong}")).unwrap_or_default();
    let text = format!(
        "{} parameters, {} said to be zero, {} of them wrongly{first}; in the examples: {}",
        claims.asked,
        claims.made,
        claims.wrong.len(),
        in_examples.len()
    );
    Ok(Measured::new(claims.wrong.is_empty() && in_examples.is_empty() && claims.asked >= 500, text))
}

/// The parameters of functions of the examples of which it is said. All functions that give a float depend on all of
/// their parameters; those that give integers alone have no derivative.
fn in_examples(folder: &Path) -> Result<Vec<String>, String> {
    let mut found = Vec::new();
    for path in programs(folder) {
        let text = std::fs::read_to_string(&path).map_err(|e| e.to_string())?;
        let program = loaded(&path.display().to_string(), &text, folder)?;
        let tree = &program.checked.program;
        // The library is asked on its own.
        let has_float = |ty| tree.leaves(ty).iter().any(|leaf| leaf.ty.concrete().is_some_and(Elem::is_float));
        let own = tree.public_functions().filter(|function| !function.name.contains('.'));
        for function in own.filter(|function| has_float(&function.result)) {
            let of_floats = function.params.iter().filter(|param| has_float(&param.ty));
            let warned = of_floats.filter(|param| is_warned(&program, &function.name, &param.name));
            found.extend(warned.map(|param| format!("{}.{}", function.name, param.name)));
        }
        let codes = program.diagnostics.iter().map(|d| d.code);
        found.extend(codes.filter(|code| *code == cotan_sema::codes::CUT_GRADIENT).map(|code| code.to_string()));
    }
    Ok(found)
}
