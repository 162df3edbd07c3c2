//! From object files to callable code: a static linker into memory with a closed set of symbols.
//!
//! The objects are ELF files on every system, and all that they hold is code and constants, so that linking is laying
//! sections out one after the other ([`layout`]) and adjusting the places that point to others ([`relocate`]). No LLVM
//! takes part: code that comes from the cache runs without one. The memory is writable until everything is in place and
//! executable from then on, never both; a test watches it.

mod layout;
mod relocate;

use std::collections::BTreeMap;

use memmap2::{Mmap, MmapMut};
use object::{Object, ObjectSymbol};

use super::error::JitError;
use cotan_runtime::CodeMemory;
use cotan_runtime::abi::HostSymbols;
use layout::{Layout, parsed};
use relocate::Machine;

/// Code in memory. It is unmapped when this is dropped.
pub struct CompiledModule {
    addresses: BTreeMap<String, usize>,
    memory: Mmap,
}

impl CompiledModule {
    /// Where the exported function `name` starts, valid until the module is dropped.
    #[must_use]
    pub fn address(&self, name: &str) -> Option<*const ()> {
        self.addresses.get(name).map(|address| *address as *const ())
    }
}

impl CodeMemory for CompiledModule {
    fn n_bytes(&self) -> usize {
        self.memory.len()
    }
}

impl std::fmt::Debug for CompiledModule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CompiledModule").field("exports", &self.addresses.keys()).finish_non_exhaustive()
    }
}

/// Links `objects` together, so that nothing is left to do, or to fail, at a call of one of `exports`.
pub(super) fn link(objects: &[Vec<u8>], exports: &[String], symbols: &HostSymbols) -> Result<CompiledModule, JitError> {
    linked(objects, exports, symbols).map_err(JitError::Link)
}

fn linked(objects: &[Vec<u8>], exports: &[String], symbols: &HostSymbols) -> Result<CompiledModule, String> {
    let files = objects.iter().map(|object| parsed(object)).collect::<Result<Vec<_>, _>>()?;
    let machine = Machine::of_all(&files)?;
    let layout = Layout::new(&files, machine)?;
    let mut memory = MmapMut::map_anon(layout.size()).map_err(|error| error.to_string())?;
    let base = memory.as_ptr() as u64;
    let defined = defined(&files, &layout, base)?;
    let host: BTreeMap<&str, u64> = symbols.iter().map(|(name, address)| (name, address as u64)).collect();
    // What the objects define comes before what the host has.
    let address = |name: &str| defined.get(name).or_else(|| host.get(name)).copied();
    layout.fill(&files, &mut memory)?;
    layout.relocate(&files, base, &address, &mut memory)?;
    let memory = memory.make_exec().map_err(|error| error.to_string())?;
    machine.publish(&memory);
    let export = |name: &String| {
        let address = defined.get(name.as_str()).ok_or_else(|| format!("`{name}` was not linked"))?;
        Ok((name.clone(), usize::try_from(*address).map_err(|error| error.to_string())?))
    };
    let addresses = exports.iter().map(export).collect::<Result<_, String>>()?;
    Ok(CompiledModule { addresses, memory })
}

/// The addresses of what one object has for all of them.
fn defined<'a>(files: &[object::File<'a>], layout: &Layout, base: u64) -> Result<BTreeMap<&'a str, u64>, String> {
    let mut addresses = BTreeMap::new();
    for (at, file) in files.iter().enumerate() {
        for symbol in file.symbols().filter(|symbol| symbol.is_global() && symbol.is_definition()) {
            let name = symbol.name().map_err(|error| error.to_string())?;
            let offset = layout.offset_of(at, &symbol).ok_or_else(|| format!("`{name}` lies in no section"))?;
            if addresses.insert(name, base + offset).is_some() {
                return Err(format!("`{name}` is defined twice"));
            }
        }
    }
    Ok(addresses)
}
