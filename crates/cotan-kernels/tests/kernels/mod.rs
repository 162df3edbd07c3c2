//! The kernels against their definitions, at sizes on both sides of where the library takes over.

mod batches;
mod fourier;
mod orthogonal;
mod sample;
mod sorting;
mod systems;
