//! What was compiled lately, by the text of its IR and by how it was compiled.

use cotan_ir::{Module, PrintOptions, print_module};
use cotan_llvm::CompileOptions;
use cotan_runtime::CompiledFunction;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

/// What asks for the same code asks for it soon. Code takes pages of its own, of which a process has so many.
const MOST_ENTRIES: usize = 128;

/// Functions that were compiled together, in order.
type Functions = Vec<Arc<CompiledFunction>>;

/// Compiled functions, the latest ones.
#[derive(Default)]
pub(super) struct Store {
    entries: Mutex<Entries>,
}

#[derive(Default)]
struct Entries {
    made: HashMap<String, Functions>,
    /// The keys, the oldest one first.
    order: VecDeque<String>,
}

impl Store {
    /// These functions of a module, compiled so; what `make` gives if they were not compiled lately.
    pub(super) fn get(
        &self,
        module: &Module,
        names: &[&str],
        options: &CompileOptions,
        make: impl FnOnce() -> Result<Functions, String>,
    ) -> Result<Functions, String> {
        let key = format!("{names:?} {options:?}\n{}", print_module(module, PrintOptions { spans: true }));
        let found = self.entries.lock().unwrap_or_else(PoisonError::into_inner).made.get(&key).cloned();
        if let Some(functions) = found {
            return Ok(functions);
        }
        // Another thread may make the same meanwhile: both are right.
        let functions = make()?;
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        if entries.made.insert(key.clone(), functions.clone()).is_none() {
            entries.order.push_back(key);
        }
        while entries.order.len() > MOST_ENTRIES {
            let oldest = entries.order.pop_front();
            oldest.and_then(|key| entries.made.remove(&key));
        }
        Ok(functions)
    }
}
