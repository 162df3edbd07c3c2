//! Generated code beside that of the start: core IR, loop nests and LLVM text of all examples and of `tests/run`.

use super::super::suites::built;
use super::super::{Line, Measured, Workplace};

pub(super) const LINE: Line = Line {
    title: "texts of core IR, of loop nests and of LLVM IR beside those of the start (`--start DIR`)",
    bar: "identical, those of new programs aside",
    measure,
};

fn measure(place: &Workplace) -> Result<Measured, String> {
    let folder = place.of_start("texts")?.display().to_string();
    let text = built(place, "texts", &["--compare", &folder], &[])?;
    Ok(Measured::new(true, text.lines().map(str::trim).collect::<Vec<_>>().join("; ")))
}
