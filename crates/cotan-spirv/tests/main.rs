//! Tests of kernels and of devices. Where there is no device, those of devices say so in one line and pass.

mod common;
mod exact_fma;
mod plans;
mod probe;
mod valid;
mod vulkan;
