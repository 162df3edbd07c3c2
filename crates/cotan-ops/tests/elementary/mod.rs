//! Elementary functions against correctly rounded values, and at the points where only one value will do.

mod accuracy;
mod special;
mod steps;
