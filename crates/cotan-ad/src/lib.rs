//! Derivative transforms from core IR to core IR: forward and reverse mode.
//!
//! Both take a function and give a function, and both accept what they produce, so derivatives of any order are these
//! two, repeated. There is no tape: the reverse of a block is its statements again, then their cotangents from last to
//! first, and the reverse of a region re-executes the region's body at its head. Only loops pass anything from the
//! forward to the reverse sweep; what they record is decided after the reverse body exists (`record.rs`). A loop on a few
//! scalars may not be reversed at all: forward mode carries tangents beside its values (`regions.rs`).
//!
//! Cost: under `d` sequential loops the innermost body runs `d + 1` times in a gradient, `(d + 1)^k` times at order `k`;
//! parallel loops are free. Statements grow by about 3, 9 and 30 at orders 1, 2 and 3.
//!
//! Per construct, both modes stand side by side in `structured/`. Re-execution in place of a tape follows Schenck,
//! Rønning, Henriksen and Oancea, *AD for an array language with nested parallelism* (SC 2022).
//!
//! This crate must not know backends, nor any single primitive: partial derivatives are data of the op table.
//!
//! ```
//! use cotan_ad::{Limits, expand};
//! use cotan_ir::{Builder, Derived, Elem, Item, Mode, Module, Ty};
//!
//! let mut b = Builder::new();
//! let x = b.param("x", Ty::scalar(Elem::F64));
//! let y = b.named("y").prim(cotan_ops::SIN.prim(), &[x.into()]);
//! let mut module = Module::default();
//! module.insert(b.finish("f", vec![y.into()]));
//! let d = Derived { of: "f".into(), mode: Mode::Vjp, wrt: vec![0], outs: vec![0] };
//! module.items.insert("df".into(), Item::Derived(d));
//!
//! expand(&mut module, &Limits::default())?;
//! let text = module.function("df").map(|f| f.to_string()).unwrap_or_default();
//! assert!(text.contains("x_cot: f64 = mulz y_cot, cos"), "{text}");
//! # Ok::<(), cotan_ad::Error>(())
//! ```

mod activity;
mod checkpoint;
mod coalesce;
mod cost;
mod cotangent;
mod cut;
mod error;
mod expand;
mod extremes;
mod inner;
mod jvp;
mod keep;
mod lengths;
mod prepare;
mod products;
mod reads;
mod record;
mod regions;
mod replay;
mod report;
mod slopes;
mod split;
mod structured;
mod undo;
mod vjp;

pub use cotan_opt::cost::{COSTS, Costs};
pub use error::{Error, Limits};
pub use expand::{derivative, expand, expand_values_first};
pub use lengths::Lengths;
pub use report::{Pushed, Refusal, Restored, Reversal, ReversedLoop};
pub use split::{ForwardReverse, fwd_rev};
