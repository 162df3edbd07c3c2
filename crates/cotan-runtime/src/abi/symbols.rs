//! The functions of the host that generated code may call.

use std::collections::BTreeMap;

/// Names and addresses of functions of this process. Generated code is linked against these alone:
/// the process itself is not searched, so a forgotten symbol is an error everywhere and not only
/// on the machine where no library happens to define it.
#[derive(Clone, Debug, Default)]
pub struct HostSymbols {
    addresses: BTreeMap<String, usize>,
}

impl HostSymbols {
    /// No symbol at all.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Provides `address` under `name`; a later definition replaces an earlier one.
    ///
    /// # Safety
    /// `address` is a function with the signature that the generated code declares for `name`, and
    /// stays valid while code linked against these symbols may run.
    pub unsafe fn define(&mut self, name: impl Into<String>, address: *const ()) {
        self.addresses.insert(name.into(), address as usize);
    }

    /// The symbols in the order of their names.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, usize)> {
        self.addresses.iter().map(|(name, address)| (name.as_str(), *address))
    }
}
