//! The readers of `.npy`, `.npz`, `.safetensors` and JSON: a byte that tells the format, and a file.
#![no_main]

use cotan_testkit::fuzz::{Target, judge};

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    if let Err(message) = judge(Target::Loaders, input) {
        panic!("{message}");
    }
});
