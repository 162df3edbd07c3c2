//! Files of arguments that are broken.

use cotan_testkit::hostile::mutants::{Format, mutants};

/// Mutants of each format; `cargo xtask accept sound` reads many more.
const MUTANTS: u64 = 2_000;

#[test]
fn mutated_files_of_arguments_never_panic() {
    for format in Format::ALL {
        let read = mutants(format, 0..MUTANTS).unwrap_or_else(|e| panic!("{e}"));
        assert!(read > 0, "{format:?}: all of them are refused at once");
    }
}
