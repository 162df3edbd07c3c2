//! Calls from Rust with values that fit no signature: made from the seed in the input.
#![no_main]

use cotan_testkit::fuzz::{Target, judge};

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    if let Err(message) = judge(Target::Misfits, input) {
        panic!("{message}");
    }
});
