//! Random programs under every oracle: 500 on the interpreter, the first 40 of them compiled as well; in the campaign
//! 10,000, 1,500 of them compiled, and others.

use cotan_testkit::campaign::{Campaign, mixed};
use cotan_testkit::generate::{Construct, source};
use cotan_testkit::tier;

#[test]
fn random_programs_pass_every_oracle() {
    let (programs, compiled, seed) = if tier::is_campaign() { (10_000, 1_500, 4_000_000) } else { (500, 40, 0) };
    let campaign = Campaign { programs, seed, compiled, only: None, stop_at_failure: false, shows_progress: false };
    let outcome = campaign.run(mixed);
    eprintln!("{}\n{}", outcome.coverage, outcome.figures(Construct::ALL));
    let failures: Vec<String> = outcome.failures.iter().take(5).map(ToString::to_string).collect();
    assert!(failures.is_empty(), "{} programs fail:\n\n{}", outcome.failures.len(), failures.join("\n\n"));

    // Less than acceptance asks of 10,000 programs, as fewer run.
    let least = if tier::is_campaign() { 10 } else { 1 };
    let (construct, way, n) = outcome.coverage.least(Construct::ALL);
    assert!(n >= least, "only {n} programs with {construct:?} were tested under {}", way.name());
    let (variant, n) = outcome.coverage.least_variant();
    assert!(n >= least, "only {n} programs have the variant `{variant}` of the typed tree");
    assert!(outcome.median_statements() >= 30, "the median is {} statements", outcome.median_statements());
    assert!(outcome.usable_share() >= 0.9, "only {} of {:?} points are usable", outcome.usable_share(), outcome.usable);
}

#[test]
fn every_word_whose_row_says_how_occurs_in_random_programs() {
    let texts: Vec<String> = (0..500).map(|seed| source::generate(seed).program.text()).collect();
    for row in cotan_ops::table() {
        for word in row.words {
            let call = format!("{}(", word.name);
            let is_asked_for = row.expressions.iter().any(|expression| expression.contains(&call));
            let occurs = texts.iter().any(|text| text.contains(&call));
            assert!(!is_asked_for || occurs, "no program of 500 calls `{}`", word.name);
        }
    }
}
