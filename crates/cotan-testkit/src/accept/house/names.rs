//! The table of names: what is said to be taken stands in the code, what is declined has a reason.

use super::super::{Line, Measured, Workplace};
use crate::files::{files, workspace_file};
use std::fs;

pub(super) const LINE: Line = Line {
    title: "the table of names, `docs/design/names.md`",
    bar: "each row is taken, and its names stand in the code of the crate, or declined with a reason",
    measure,
};

fn measure(_: &Workplace) -> Result<Measured, String> {
    let page = fs::read_to_string(workspace_file("docs/design/names.md")).map_err(|e| e.to_string())?;
    let (mut n_taken, mut n_declined, mut wrong) = (0, 0, Vec::new());
    for row in page.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let [_, of, _, now, state, _] = cells.as_slice() else { return Err(format!("a row of other cells: {row}")) };
        match state.strip_prefix("declined: ") {
            Some(_) => n_declined += 1,
            None => {
                n_taken += 1;
                wrong.extend(quoted(now).filter(|name| !stands_in(of.trim_matches('`'), name)).map(str::to_owned));
            }
        }
    }
    let text = format!("{n_taken} rows are taken, {n_declined} declined; names that no code has: {wrong:?}");
    Ok(Measured::new(wrong.is_empty() && n_taken > 0, text))
}

/// What stands in backticks.
fn quoted(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2).map(|name| name.trim_end_matches("(op)"))
}

/// Whether a crate has a file of this name, or the name in its code.
fn stands_in(of: &str, name: &str) -> bool {
    let has_word = |text: &str| text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == name);
    files(&workspace_file(&format!("crates/{of}/src")), ".rs")
        .iter()
        .any(|path| path.iter().any(|part| part == name) || fs::read_to_string(path).is_ok_and(|text| has_word(&text)))
}
