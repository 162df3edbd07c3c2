//! The examples on real data: their values and derivatives, on threads, and called again and again.

mod instances;
mod reference;
mod repeated;
mod threads;
