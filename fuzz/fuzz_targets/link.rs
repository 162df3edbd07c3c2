//! An entry of the cache and the linker: a byte that tells how it is put there, and its bytes.
#![no_main]

use cotan_testkit::fuzz::{Target, judge};

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    if let Err(message) = judge(Target::Link, input) {
        panic!("{message}");
    }
});
