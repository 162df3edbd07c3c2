//! Degenerate points of the library: no routine hides a derivative where a rank is low, a factor is 0 or elements tie.

use cotan::{Compiler, Config, Engine};
use cotan_testkit::degenerate::{judge, points, without_points};
use cotan_testkit::files::report;
use cotan_testkit::parallel;
use cotan_testkit::tier::hash;

/// One in so many points is compiled too; `cargo xtask accept sound` compiles all.
const COMPILED: u64 = 8;

#[test]
fn f3_derivatives_at_degenerate_points_are_those_of_closed_forms() {
    let (points, text) = points().expect("the points read");
    let compiler = Compiler::new(Config::default()).expect("threads");
    let program = compiler.check("points.cot", &text);
    assert!(!program.has_errors(), "{:?}", program.diagnostics);
    let failures = parallel::map(&points, |point| {
        let mut failures = judge(&compiler, &program, point, Engine::INTERPRETER);
        if hash(&point.name).is_multiple_of(COMPILED) {
            failures.extend(judge(&compiler, &program, point, Engine::CPU));
        }
        failures
    });
    report(failures.concat(), points.len());
}

#[test]
fn every_function_that_could_hide_a_derivative_has_a_point() {
    let (points, _) = points().expect("the points read");
    let missing = without_points(&points).expect("the library has no errors");
    assert!(missing.is_empty(), "{missing:?}");
}
