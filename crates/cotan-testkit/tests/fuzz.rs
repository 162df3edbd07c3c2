//! Random and damaged input, a bounded number of fixed seeds.

use cotan_testkit::fuzz::{Corpus, Target, feed};
use cotan_testkit::parallel;

fn check(target: Target, n: u64) {
    let corpus = Corpus::load();
    let seeds: Vec<u64> = (0..n).collect();
    let failures = parallel::map(&seeds, |seed| feed(target, &corpus, *seed).err().map(|f| (*seed, f)));
    if let Some((seed, failure)) = failures.into_iter().flatten().next() {
        panic!("seed {seed}: {}\n{}", failure.message, String::from_utf8_lossy(&failure.input));
    }
}

#[test]
fn no_bytes_make_the_parser_panic() {
    check(Target::Parser, 4_000);
}

#[test]
fn no_damaged_program_makes_checking_lowering_or_differentiation_panic() {
    check(Target::Checker, 1_000);
}

#[test]
fn no_damaged_text_makes_the_parser_or_verifier_of_the_core_ir_panic() {
    check(Target::Ir, 2_000);
}
