//! Random programs on the interpreter of loop nests, at every place in the pipelines.

use super::super::suites::built;
use super::super::{Line, Measured, Workplace};
use crate::oracles::NestPlace;

pub(super) const LINE: Line = Line {
    title: "random programs and their derivatives, optimised and not, on the interpreter of loop nests, before and after each pass",
    bar: "2,000 give the interpreter's bits at every place; sums that are regrouped up to rounding",
    measure,
};

/// How many programs.
const PROGRAMS: &str = "2000";

fn measure(place: &Workplace) -> Result<Measured, String> {
    let args = [PROGRAMS, "6000000", "--only", "loop nests", "--keep-going"];
    let text = built(place, "oracle", &args, &[("COTAN_CAMPAIGN", "1")])?;
    let figures = text.lines().find(|line| line.contains(" failures, ")).unwrap_or_default();
    let of = figures.split(", median").next().unwrap_or_default();
    let n_places = NestPlace::all().len();
    let holds = figures.starts_with(&format!("{PROGRAMS} programs, 0 failures"));
    Ok(Measured::new(holds, format!("{of}, of all: three functions at {n_places} of {n_places} places, twice")))
}
