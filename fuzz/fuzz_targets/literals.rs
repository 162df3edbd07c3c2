//! The same as `commands`; its corpus has numbers in sizes, indices and slices.
#![no_main]

use cotan_testkit::fuzz::{Target, judge};

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    if let Err(message) = judge(Target::Literals, input) {
        panic!("{message}");
    }
});
