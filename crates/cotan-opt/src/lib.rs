//! Passes over the core IR. A pass is a record around a plain function from code to code; pipelines are lists of passes.
//!
//! No pass changes a bit of a result, adds an error, or drops one whose value is needed; [`passes::contract_fma`] alone
//! decides bits, once, before anything is differentiated. What [`plain_products`] makes differs from its module in roundings of
//! derivatives, and in NaN.
//!
//! This crate must not know derivatives or backends. What a primitive is worth algebraically it asks the op table.
//!
//! ```
//! use cotan_ir::parse_function;
//! use cotan_ops::Registry;
//! use cotan_opt::simplify;
//!
//! let f = parse_function("fn f(x: f64) {\n  y: f64 = mul x, 1.0\n  z: f64 = sin x\n  return y\n}", Registry::standard())?;
//! assert_eq!(simplify(f).to_string(), "fn f(x: f64) {\n  return x\n}\n");
//! # Ok::<(), cotan_ir::ParseError>(())
//! ```

mod analysis;
mod context;
pub mod cost;
mod pass;
pub mod passes;
mod pipelines;
mod plain;
pub mod remaining;
pub mod versions;

pub use context::{InlineLimit, KnownExtents, Observer, PassContext};
pub use pass::{Pass, Promise};
pub use passes::PASSES;
pub use pipelines::{
    BEFORE_AD, BEFORE_CODE, FOR_SIZES, OPTIMIZE, PIPELINES, Pipeline, RESTRUCTURE, SCALARIZE, SIMPLIFY, Step, simplify,
};
pub use plain::plain_products;
