//! Lowered requests: IR with its derivatives written, ready for an engine.

use cotan_ir::VerifiedModule;
use cotan_lower::entry::Entry;
use cotan_opt::passes::trap_nan::Site;
use std::sync::Arc;

/// The IR of a request, before it is bound to an engine. Extents among its operands are those that `entry` says for its
/// sizes: code relies on it, and calls of a [`Function`](crate::Function) check it.
#[derive(Clone, Debug)]
pub struct ReadyModule {
    /// How to call it.
    pub entry: Entry,
    /// Every function that it needs; derivatives are written.
    pub module: VerifiedModule,
    /// The places where it may make a NaN, if it traps those.
    pub traps: Option<Arc<[Site]>>,
}
