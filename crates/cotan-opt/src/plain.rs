//! The variant of a module that runs first, and that calls repeat with the module itself where a result is NaN.

use crate::passes::relax_products::relax_products;
use crate::passes::share_reciprocals::share_reciprocals;
use cotan_ir::Module;

/// The module with [plain products](crate::passes::relax_products) in its derivatives, for calls of `entry` whose results are looked at for NaN.
/// `None` if there is none to replace, or if something is printed, which is not to be printed twice.
pub fn plain_products(module: &Module, entry: &str) -> Option<Module> {
    let mut plain = relax_products(module, entry)?;
    let functions: Vec<_> = plain.functions().cloned().collect();
    for f in functions {
        plain.insert(share_reciprocals(f.as_ref().clone()));
    }
    Some(plain)
}
