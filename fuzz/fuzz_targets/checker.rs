//! The checker, lowering and differentiation: any text.
#![no_main]

use cotan_testkit::fuzz::{Target, judge};

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    if let Err(message) = judge(Target::Checker, input) {
        panic!("{message}");
    }
});
