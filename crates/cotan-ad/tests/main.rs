//! All tests of this crate through its public interface, in one program: what they share is built and linked once.

mod checkpoints;
mod coalesce;
mod costs;
mod expand;
mod inner;
mod keep;
mod oracle;
mod regions;
mod rules;
mod shapes;
mod snapshots;
