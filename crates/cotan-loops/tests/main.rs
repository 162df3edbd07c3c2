//! All tests of this crate through its public interface, in one program: what they share is built and linked once.

mod contract;
mod device;
mod lowering;
mod node;
mod pipeline;
mod probe;
mod products;
mod reuse;
mod text;
mod verify;
