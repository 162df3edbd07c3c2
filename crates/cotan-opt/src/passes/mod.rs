//! One pass per file.

pub mod compact;
pub mod contract;
pub mod cse;
pub mod dce;
pub mod direct;
mod expr;
pub mod fuse;
pub mod gather;
pub mod hoist;
mod identities;
pub mod inline;
pub mod linear;
pub mod merge_switches;
pub mod order;
pub mod own_slots;
pub mod plain_products;
pub mod products;
pub mod ranges;
mod rename;
pub mod scalar_replacement;
pub mod sink;
mod sizes;
mod small;
pub mod trap_nan;
pub mod twins;
pub mod unroll;
mod users;
