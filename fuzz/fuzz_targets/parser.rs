//! The decoder and the parser: any bytes.
#![no_main]

use cotan_testkit::fuzz::{Target, judge};

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    if let Err(message) = judge(Target::Parser, input) {
        panic!("{message}");
    }
});
