//! Random and damaged input, a bounded number of fixed seeds, and the inputs that are kept.

use cotan_testkit::fuzz::{Corpus, Target, corpus, feed, judge_guarded};
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

#[test]
fn generated_programs_are_compiled_as_they_are_interpreted() {
    check(Target::Differential, 64);
}

#[test]
fn mutated_programs_do_the_same_on_both_engines_and_keep_their_tree_when_they_are_formatted() {
    check(Target::Commands, 300);
}

#[test]
fn numbers_in_sizes_indices_and_slices_do_the_same_on_both_engines() {
    check(Target::Literals, 200);
}

#[test]
fn no_damaged_data_file_makes_a_reader_panic() {
    check(Target::Loaders, 4_000);
}

#[test]
fn no_changed_object_gets_past_the_linker_or_makes_it_panic() {
    check(Target::Link, 200);
}

#[test]
fn no_value_that_fits_no_signature_makes_a_call_panic() {
    check(Target::Misfits, 2_000);
}

/// The most inputs of a target that are compiled here; the others are for campaigns.
const COMPILED: usize = 60;

/// The most bytes of all kept inputs.
const BYTES: usize = 5 << 20;

#[test]
fn the_inputs_that_are_kept_break_nothing() {
    let mut bytes = 0;
    for target in Target::ALL {
        let mut kept = corpus::kept(target);
        assert!(!kept.is_empty(), "no input is kept for `{}`", target.name());
        bytes += kept.iter().map(|(_, input)| input.len()).sum::<usize>();
        if [Target::Commands, Target::Literals, Target::Differential, Target::Link].contains(&target) {
            // Which ones changes with what is in them, not with how many there are.
            kept.sort_by_key(|(_, input)| mixed(input));
            kept.truncate(COMPILED);
        }
        let failures = parallel::map(&kept, |(name, input)| {
            judge_guarded(target, input).err().map(|message| format!("{}/{name}: {message}", target.name()))
        });
        let failures: Vec<String> = failures.into_iter().flatten().collect();
        assert!(failures.is_empty(), "{}", failures.join("\n"));
    }
    assert!(bytes <= BYTES, "{bytes} bytes are kept");
}

/// A number that depends on every byte.
fn mixed(input: &[u8]) -> u64 {
    input.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}
