//! The device of the tests.

use cotan_spirv::vulkan::{Choice, Device, OpenOptions, Vulkan};

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
