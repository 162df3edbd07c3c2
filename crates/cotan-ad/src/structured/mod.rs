//! The derivative rules, one file per construct, both modes side by side.

mod acc_add;
mod call;
mod check;
mod derivative_alone;
mod extrema;
mod forward_loop;
mod index;
mod loops;
mod par;
mod prim;
mod switch;
mod tensor;
