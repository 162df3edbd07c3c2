//! Every row of `spec/kinks.tsv`, in every type and on every path.

use cotan_testkit::files::report;
use cotan_testkit::kinks::{NOT_YET, check, rows};
use cotan_testkit::parallel;

#[test]
fn awkward_points_are_as_the_table_says_on_every_path() {
    let rows = rows().unwrap();
    let failures = parallel::map(&rows, |row| {
        let mut failures = Vec::new();
        if !NOT_YET.contains(&row.id.as_str()) {
            for elem in &row.types {
                failures.extend(check(row, *elem).err().map(|e| format!("{} in {elem}: {e}", row.id)));
            }
        }
        failures
    });
    report(failures.concat(), rows.len());
}

#[test]
fn rows_that_are_left_out_are_refused_by_the_checker() {
    for row in rows().unwrap().iter().filter(|row| NOT_YET.contains(&row.id.as_str())) {
        let error = check(row, row.types[0]).err().unwrap_or_default();
        assert!(error.contains("error[E"), "{} is no longer refused: {error}", row.id);
    }
}
