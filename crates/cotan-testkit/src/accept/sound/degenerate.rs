//! Every routine's first, second and third derivatives at degenerate points.

use crate::accept::{Line, Measured, Workplace};
use crate::degenerate::{judge, points, without_points};
use crate::parallel;
use cotan::{Compiler, Config, Engine};

pub(super) const LINES: &[Line] = &[Line {
    title: "derivatives up to the third order at degenerate points of the library, in both modes and their compositions",
    bar: "every function that factorises, folds or branches on floats has a point; interpreted and compiled, no failure",
    measure: degenerate,
}];

fn degenerate(_: &Workplace) -> Result<Measured, String> {
    let (points, text) = points()?;
    let missing = without_points(&points)?;
    let compiler = Compiler::new(Config::default()).map_err(|e| e.to_string())?;
    let program = compiler.check("points.cot", &text);
    if program.has_errors() {
        return Err(format!("{:?}", program.diagnostics));
    }
    let judged = parallel::map(&points, |point| {
        let engines = [Engine::INTERPRETER, Engine::CPU];
        engines.map(|engine| judge(&compiler, &program, point, engine)).concat()
    });
    let failures = judged.concat();
    let first = failures.first().map(|failure| format!(", first: {failure}")).unwrap_or_default();
    let text = format!(
        "{} points, {} failures{first}; functions without one: {}",
        points.len(),
        failures.len(),
        missing.len()
    );
    Ok(Measured::new(failures.is_empty() && missing.is_empty(), text))
}
