//! Partials of the op table against exact arithmetic.

use crate::accept::{Line, Measured, Workplace};
use crate::exact::{BOUND, EXCEPTIONS, judged, worst_errors};
use crate::parallel;
use cotan_ir::Elem;
use std::fmt::Write;

/// Points for each partial.
const POINTS: usize = 10_000;

pub(super) const LINES: &[Line] = &[Line {
    title: "every partial of the op table against arithmetic of more than 60 digits, over all exponents",
    bar: "within 8 units in the last place of the exact partial at 10,000 points, but for at most six rows with reasons",
    measure,
}];

/// The largest errors of every partial, of f64 and of f32, and what is excepted.
fn measure(_: &Workplace) -> Result<Measured, String> {
    let (rows, missing) = judged();
    let jobs: Vec<_> = rows.iter().flat_map(|row| [(*row, Elem::F64), (*row, Elem::F32)]).collect();
    let all = parallel::map(&jobs, |(row, elem)| (*elem, worst_errors(row, *elem, POINTS, 60)));
    let mut errors: Vec<(f64, String)> = Vec::new();
    let mut text = String::new();
    let mut fewest = usize::MAX;
    for (elem, worst) in all.iter().flat_map(|(elem, all)| all.iter().map(move |worst| (*elem, worst))) {
        errors.push((worst.error.0, format!("{} a{} {elem} {:.2}", worst.row, worst.operand, worst.error.0)));
        fewest = fewest.min(worst.points);
    }
    errors.sort_by(|a, b| b.0.total_cmp(&a.0));
    let beyond = errors.iter().filter(|(error, _)| *error > BOUND).count();
    let largest: Vec<&str> = errors.iter().take(beyond.max(8)).map(|(_, line)| line.as_str()).collect();
    let _ = write!(
        text,
        "{} partials of {} rows, {fewest} points or more for each, {beyond} beyond the bound; largest: {}",
        errors.len(),
        rows.len(),
        largest.join(", ")
    );
    let mut needless = Vec::new();
    for exception in EXCEPTIONS {
        let of_row = all.iter().flat_map(|(_, all)| all).filter(|worst| worst.row == exception.row);
        let excepted = of_row.filter_map(|worst| worst.excepted.as_ref()).map(|(error, _)| *error).fold(0.0, f64::max);
        if excepted <= BOUND {
            needless.push(exception.row);
        }
        let _ = write!(
            text,
            "\n          excepted: {} {} (worst {excepted:.1e}): {}",
            exception.row, exception.place, exception.reason
        );
    }
    let holds = missing.is_empty() && beyond == 0 && fewest == POINTS && EXCEPTIONS.len() <= 6 && needless.is_empty();
    if !needless.is_empty() {
        let _ = write!(text, "\n          excepted without need: {}", needless.join(", "));
    }
    Ok(Measured::new(holds, text))
}
