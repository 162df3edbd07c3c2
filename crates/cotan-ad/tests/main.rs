//! All tests of this crate through its public interface, in one program: what they share is built and linked once.

mod checkpoints;
mod collapse_nests;
mod costs;
mod expand;
mod forward_regions;
mod inner_records;
mod oracle;
mod passes;
mod residuals;
mod rules;
mod shapes;
mod snapshots;
