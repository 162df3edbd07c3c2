//! The operations of the standard library: the cases of `spec/operations`, and what else every operation has to be.
//!
//! `COTAN_OPERATIONS=conv` asks the files with that in their name alone. Each form that is made of wrappers is asked of one
//! of three, in the campaign of all.

use cotan_ir::Elem;
use cotan_testkit::files::report;
use cotan_testkit::library::{self, Library, Outcome};
use cotan_testkit::tier;

fn wanted() -> String {
    std::env::var("COTAN_OPERATIONS").unwrap_or_default()
}

fn read() -> Library {
    Library::read(&wanted()).unwrap_or_else(|e| panic!("{e}"))
}

/// Nothing fails, and at least so many points were asked in the campaign; of one of three wrappers nearly as large a part.
fn holds(what: &str, outcome: Result<Outcome, String>, least: usize) {
    let outcome = outcome.unwrap_or_else(|e| panic!("{e}"));
    print(&format!("{what}: {} points", outcome.asked));
    report(outcome.failures, outcome.asked);
    let least = if tier::is_campaign() { least } else { least / 4 };
    assert!(!wanted().is_empty() || outcome.asked >= least, "{} points", outcome.asked);
}

#[expect(clippy::print_stdout, reason = "the counts are shown by `-- --nocapture`")]
fn print(line: &str) {
    println!("{line}");
}

#[test]
fn operations_of_the_library_give_what_other_libraries_give_and_their_derivatives_agree() {
    let (outcome, n_differenced) = library::against_reference(&read()).unwrap_or_else(|e| panic!("{e}"));
    print(&format!("{} cases, {n_differenced} of them against finite differences", outcome.asked));
    // An oracle that can't judge says so and passes, which must not be the rule.
    assert!(!wanted().is_empty() || n_differenced > 600, "{n_differenced} against finite differences");
    holds("cases", Ok(outcome), 1100);
}

#[test]
fn in_single_precision_they_give_the_same_up_to_rounding() {
    holds("f32", library::in_single_precision(&read()), 1000);
}

#[test]
fn numbers_in_storage_types_are_computed_with_in_single_precision() {
    for elem in [Elem::F16, Elem::BF16] {
        holds(elem.name(), library::in_storage(&read(), elem), 300);
    }
}

#[test]
fn what_only_moves_numbers_takes_storage_types_and_what_computes_refuses_them() {
    for elem in [Elem::F16, Elem::BF16] {
        holds(elem.name(), library::moved_in_storage(&read(), elem), 100);
    }
}

#[test]
fn under_vmap_each_position_gives_what_a_call_gives() {
    holds("vmap", library::under_vmap(&read()), 600);
}

#[test]
fn of_views_they_give_what_they_give_of_tensors_of_their_own() {
    holds("views", library::of_views(&read()), 1000);
}

#[test]
fn what_is_no_number_is_seen_in_the_derivative() {
    holds("NaN", library::nans(&read()), 1000);
    holds("infinity", library::infinities(&read()), 1000);
}

#[test]
fn f9_zero_is_said_of_derivatives_only_where_they_are() {
    let claims = library::zeros(&read()).unwrap_or_else(|e| panic!("{e}"));
    print(&format!("zeros: {} parameters, {} said to be zero", claims.asked, claims.made));
    report(claims.wrong, claims.asked);
    assert!(!wanted().is_empty() || claims.asked >= 400 && claims.made > 0, "{} asked", claims.asked);
}
