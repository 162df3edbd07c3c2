//! Every row of `spec/kinks.tsv`, in every type and on every path.

use cotan_ir::Elem;
use cotan_testkit::files::report;
use cotan_testkit::kinks::{check, rows};
use cotan_testkit::parallel;

#[test]
fn edge_points_are_as_the_table_says_on_every_path() {
    let rows = rows().unwrap();
    let failures = parallel::map(&rows, |row| {
        let failure = |elem: &Elem| check(row, *elem).err().map(|e| format!("{} in {elem}: {e}", row.id));
        row.types.iter().filter_map(failure).collect::<Vec<_>>()
    });
    report(failures.concat(), rows.len());
}
