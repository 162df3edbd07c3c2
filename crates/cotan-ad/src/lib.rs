//! Automatic differentiation of core IR: forward mode and reverse mode.
//!
//! Both take a function and give a function, and both accept their own output, so a derivative of any order is a
//! repetition of these two. There is no tape: the reverse of a block repeats its statements and then emits their cotangents
//! from last to first, and the reverse of a region re-executes the region's body at its head. Only loops pass values from
//! the forward to the reverse sweep; which ones is decided after the reverse body exists (`records/`). A loop that depends
//! on a few scalars need not be reversed: forward mode carries tangents beside its values (`prepare/forward_regions.rs`).
//!
//! Cost: under `d` sequential loops the innermost body runs `d + 1` times in a gradient, `(d + 1)^k` times at order `k`;
//! parallel loops are free. Statements grow by about 3, 9 and 30 at orders 1, 2 and 3. Re-execution in place of a tape
//! follows Schenck, Rønning, Henriksen and Oancea, *AD for an array language with nested parallelism* (SC 2022).
//!
//! The layers, each of which imports only those below it:
//!
//! | layer | contents |
//! |---|---|
//! | `expand`, `split` | requests of a module answered; a gradient as two functions |
//! | `jvp`, `vjp` | the drivers: one function in one mode, and the match on the kinds of statements |
//! | `structured/`, `records/` | the derivative rules by construct, both modes side by side; what a loop records for its reverse |
//! | `prepare/`, `tangents`, `cotangents` | source to source, before differentiation; access to derivatives of variables |
//! | `state/` | sessions, transforms, scopes: types without rules |
//! | `analysis/`, `partials` | activity, linearity, induction, in-place updates, costs; partials of one primitive |
//! | `error`, `report`, `lengths` | the vocabulary of requests and answers |
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

mod analysis;
mod cotangents;
mod error;
mod expand;
mod jvp;
mod lengths;
mod partials;
mod prepare;
mod records;
mod report;
mod split;
mod state;
mod structured;
mod tangents;
mod vjp;

pub use cotan_opt::cost::{COSTS, Costs};
pub use error::{Error, Limits};
pub use expand::{Expansion, after_pass, derivative, expand, expand_with};
pub use lengths::Lengths;
pub use prepare::{PASSES, Pass};
pub use report::{ForwardLoop, Refusal, Restored, Reversal, ReversedLoop};
pub use split::{ForwardReverse, fwd_rev};
