//! What the commands do with a program, on both engines: any text.
#![no_main]

use cotan_testkit::fuzz::{Target, judge};

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    if let Err(message) = judge(Target::Commands, input) {
        panic!("{message}");
    }
});
