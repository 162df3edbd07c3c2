//! The derivative rules, one file per construct, both modes side by side.

mod acc_add;
mod call;
mod check;
mod index;
mod loops;
mod par;
mod prim;
mod switch;
mod tensor;

pub(crate) use prim::Use;
