//! The plan of loop nests for CPUs: which loops get lanes, which run on several threads, and in which pieces.
//!
//! Everything here is passes on the nests of [`cotan_loops`], in the [`pipeline`]s of this crate; what comes out is a nest
//! again. This crate must not know of LLVM, of the threads that run, or of memory of the machine.

mod bind_sizes;
mod delinearize;
mod distribute;
mod fork;
mod hoist_loads;
mod if_conversion;
mod index_sets;
mod invariants;
mod legalize_width;
mod ordered;
pub mod pipeline;
mod promote_accumulators;
mod split_blocks;
mod vector;
mod wavefront;

pub use bind_sizes::bind_sizes;
pub use delinearize::delinearize;
pub use distribute::distribute;
pub use fork::fork;
pub use hoist_loads::hoist_loads;
pub use index_sets::split_index_sets;
pub use legalize_width::legalize_width;
pub use ordered::keep_order_of_sums;
pub use promote_accumulators::promote_accumulators;
pub use split_blocks::split_blocks;
pub use vector::vectorise;
pub use wavefront::lanes::skew;
pub use wavefront::wavefronts;
