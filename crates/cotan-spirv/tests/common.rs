//! The device of the tests, and the validator of kernels.

use cotan_spirv::emit::Kernel;
use cotan_spirv::vulkan::{Choice, Device, OpenOptions, Vulkan};
use std::io::Write;
use std::process::{Command, Stdio};

/// Whether everything is asked for, as `cargo xtask test --campaign` does.
pub(crate) fn is_campaign() -> bool {
    std::env::var_os("COTAN_CAMPAIGN").is_some()
}

/// The best device, or one line of why there is none.
pub(crate) fn device() -> Option<Device> {
    device_with(OpenOptions::default())
}

/// The same, opened in another way.
#[expect(clippy::print_stderr, reason = "a test that is left out says so")]
pub(crate) fn device_with(options: OpenOptions) -> Option<Device> {
    let opened = Vulkan::load().map_err(|e| e.to_string());
    match opened.and_then(|vulkan| vulkan.open(&Choice::Best, &options).map_err(|e| e.to_string())) {
        Ok(device) => Some(device),
        Err(reason) => {
            eprintln!("no Vulkan device, so nothing is run: {reason}");
            None
        }
    }
}

/// A kernel is valid, as `spirv-val` says where it is installed.
#[expect(clippy::print_stderr, reason = "a test that is left out says so")]
pub(crate) fn validate(name: &str, kernel: &Kernel) {
    let validator = Command::new("spirv-val").args(["--target-env", "vulkan1.2", "-"]).stdin(Stdio::piped()).spawn();
    let Ok(mut validator) = validator else {
        eprintln!("no spirv-val, so nothing is validated");
        return;
    };
    let bytes: Vec<u8> = kernel.words().iter().flat_map(|word| word.to_le_bytes()).collect();
    validator.stdin.take().expect("it is piped").write_all(&bytes).expect("it reads");
    assert!(validator.wait().expect("it ends").success(), "{name}");
}
