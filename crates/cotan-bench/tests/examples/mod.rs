//! The examples on real data: their values and derivatives, on threads, and called again and again.

pub(crate) mod instances;
mod products;
mod profile;
mod reference;
mod repeated;
mod threads;
