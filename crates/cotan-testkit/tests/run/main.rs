//! Programs that run, under `tests/run`: what their headers say is what every engine gives.

mod check;
mod header;
mod parallel;
mod shapes;
mod trips;

use cotan_testkit::files::{programs, report, tests_folder};

#[test]
fn programs_give_what_their_headers_say_in_every_way_to_run_them() {
    let folder = tests_folder().join("run");
    let programs = programs(&folder);
    // `COTAN_RUN=loops/` runs the programs with that in their path alone.
    let wanted = std::env::var("COTAN_RUN").unwrap_or_default();
    let programs: Vec<_> = programs.into_iter().filter(|path| path.to_string_lossy().contains(&wanted)).collect();
    let failures = cotan_testkit::parallel::map(&programs, |path| {
        let name = path.strip_prefix(&folder).unwrap_or(path).display().to_string();
        let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("reading {name}: {e}"));
        check::check(&name, &text)
    });
    report(failures.concat(), programs.len());
}
