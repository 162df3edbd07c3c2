//! All tests of this crate through its public interface, in one program: what they share is built and linked once.

mod bind_sizes;
mod flush;
mod fork;
mod lanes;
mod legalize_width;
mod products;
mod wavefront;
