//! Where the sections of objects lie in one piece of memory, and what is put there.
//!
//! Behind the sections is an entry for each symbol of each object that need not lie near the code: a jump to it, which a
//! call goes through, and its address, which code that asks for the address reads.

use std::collections::BTreeMap;

use object::{
    Object, ObjectSection, ObjectSymbol, RelocationFlags, RelocationTarget, SectionFlags, SectionIndex, Symbol,
    SymbolIndex,
};

use super::relocate::{Machine, Patch, Via};

/// The most bytes of code and constants: what jumps relative to themselves reach.
const MAX_BYTES: u64 = 1 << 30;

/// Entries start at multiples of this.
const ENTRY_BYTES: u64 = 16;
/// Where the address stands in an entry, behind the jump.
const ADDRESS_AT: u64 = 8;
/// Ways to unwind the stack, which is not done: code neither throws nor is thrown through.
const UNWIND_TABLES: &str = ".eh_frame";

/// Constants that hold addresses.
const RELOCATED_CONSTANTS: &str = ".data.rel.ro";

/// Reads an object.
pub(super) fn parsed(object: &[u8]) -> Result<object::File<'_>, String> {
    object::File::parse(object).map_err(|error| error.to_string())
}

/// Offsets from the start of the memory.
pub(super) struct Layout {
    machine: Machine,
    /// By the number of an object and of a section in it.
    sections: BTreeMap<(usize, usize), u64>,
    /// By the number of an object and of a symbol in it.
    entries: BTreeMap<(usize, usize), u64>,
    size: u64,
}

impl Layout {
    pub(super) fn new(files: &[object::File<'_>], machine: Machine) -> Result<Layout, String> {
        let mut layout = Layout { machine, sections: BTreeMap::new(), entries: BTreeMap::new(), size: 0 };
        for (at, file) in files.iter().enumerate() {
            for section in file.sections().filter(is_loaded) {
                if is_written(&section) {
                    return Err(format!("code has no variables, found `{}`", section.name().unwrap_or_default()));
                }
                let (offset, end) = placed(layout.size, section.align(), section.size())?;
                layout.size = end;
                layout.sections.insert((at, section.index().0), offset);
            }
        }
        layout.size = placed(layout.size, ENTRY_BYTES, 0)?.1;
        for (at, file) in files.iter().enumerate() {
            for section in file.sections().filter(is_loaded) {
                for (_, relocation) in section.relocations() {
                    let RelocationTarget::Symbol(index) = relocation.target() else { continue };
                    let symbol = file.symbol_by_index(index).map_err(|error| error.to_string())?;
                    let by_address = machine.via(number(relocation.flags())?) == Via::Address;
                    if (by_address || symbol.is_undefined()) && !layout.entries.contains_key(&(at, index.0)) {
                        let (offset, end) = placed(layout.size, ENTRY_BYTES, ENTRY_BYTES)?;
                        layout.entries.insert((at, index.0), offset);
                        layout.size = end;
                    }
                }
            }
        }
        Ok(layout)
    }

    /// Bytes, at least one.
    pub(super) fn size(&self) -> usize {
        usize::try_from(self.size.max(1)).unwrap_or(usize::MAX)
    }

    /// Where a symbol that an object defines lies; none of one that lies nowhere, or outside of the memory.
    pub(super) fn offset_of(&self, at: usize, symbol: &Symbol<'_, '_>) -> Option<u64> {
        let section = self.sections.get(&(at, symbol.section_index()?.0))?;
        // An object may say anything of where in its section a symbol lies.
        section.checked_add(symbol.address()).filter(|offset| *offset <= self.size)
    }

    /// Copies the sections.
    pub(super) fn fill(&self, files: &[object::File<'_>], memory: &mut [u8]) -> Result<(), String> {
        for ((at, index), offset) in &self.sections {
            let section = files[*at].section_by_index(SectionIndex(*index)).map_err(|error| error.to_string())?;
            let data = section.data().map_err(|error| error.to_string())?;
            // What has no data is zero, as the memory is.
            range(memory, *offset, data.len() as u64)?.copy_from_slice(data);
        }
        Ok(())
    }

    /// Adjusts all places that depend on where something lies, in memory that will be at `base`; `address` knows symbols
    /// by name.
    pub(super) fn relocate(
        &self,
        files: &[object::File<'_>],
        base: u64,
        address: &dyn Fn(&str) -> Option<u64>,
        memory: &mut [u8],
    ) -> Result<(), String> {
        for ((at, index), offset) in &self.entries {
            let target = self.address_of(files, *at, SymbolIndex(*index), base, address)?;
            let entry = range(memory, *offset, ENTRY_BYTES)?;
            let (jump, pointer) = entry.split_at_mut(ADDRESS_AT as usize);
            jump.copy_from_slice(self.machine.jump());
            pointer.copy_from_slice(&target.to_le_bytes());
        }
        for ((at, index), start) in &self.sections {
            let section = files[*at].section_by_index(SectionIndex(*index)).map_err(|error| error.to_string())?;
            for (offset, relocation) in section.relocations() {
                let kind = number(relocation.flags())?;
                let RelocationTarget::Symbol(symbol) = relocation.target() else {
                    return Err(format!("it points to {:?}", relocation.target()));
                };
                let entry = self.entries.get(&(*at, symbol.0)).map(|entry| base + entry);
                let target = match (self.machine.via(kind), entry) {
                    (Via::Address, Some(entry)) => entry + ADDRESS_AT,
                    (Via::Jump, Some(entry)) => entry,
                    (Via::Nothing | Via::Jump | Via::Address, _) => {
                        self.address_of(files, *at, symbol, base, address)?
                    }
                };
                let Some(place) = start.checked_add(offset).filter(|place| *place <= self.size) else {
                    return Err("a place to adjust lies outside of the code".to_owned());
                };
                let patch = Patch { place: base + place, target: target.wrapping_add_signed(relocation.addend()) };
                let bytes = usize::try_from(place).ok().and_then(|at| memory.get_mut(at..));
                self.machine.patch(kind, patch, bytes.unwrap_or_default())?;
            }
        }
        Ok(())
    }

    /// Where a symbol lies that an object defines or uses.
    fn address_of(
        &self,
        files: &[object::File<'_>],
        at: usize,
        index: SymbolIndex,
        base: u64,
        address: &dyn Fn(&str) -> Option<u64>,
    ) -> Result<u64, String> {
        let symbol = files[at].symbol_by_index(index).map_err(|error| error.to_string())?;
        if let Some(offset) = self.offset_of(at, &symbol) {
            return Ok(base + offset);
        }
        let name = symbol.name().map_err(|error| error.to_string())?;
        address(name).ok_or_else(|| format!("nothing defines `{name}`"))
    }
}

/// Whether a section belongs into memory.
fn is_loaded(section: &object::Section<'_, '_>) -> bool {
    let SectionFlags::Elf { sh_flags } = section.flags() else { return false };
    sh_flags & u64::from(object::elf::SHF_ALLOC) != 0 && section.name() != Ok(UNWIND_TABLES)
}

/// Whether code may write to a section, beyond the addresses that linking puts there.
fn is_written(section: &object::Section<'_, '_>) -> bool {
    let SectionFlags::Elf { sh_flags } = section.flags() else { return false };
    let is_constant = section.name().is_ok_and(|name| name.starts_with(RELOCATED_CONSTANTS));
    sh_flags & u64::from(object::elf::SHF_WRITE) != 0 && section.size() > 0 && !is_constant
}

/// The number of a kind of relocation.
fn number(flags: RelocationFlags) -> Result<u32, String> {
    if let RelocationFlags::Elf { r_type } = flags { Ok(r_type) } else { Err(format!("it is no ELF file: {flags:?}")) }
}

/// Where so many bytes start and end that come next, at a multiple of `align`.
fn placed(used: u64, align: u64, bytes: u64) -> Result<(u64, u64), String> {
    let offset = used.checked_next_multiple_of(align.max(1));
    let placed = offset.and_then(|offset| Some((offset, offset.checked_add(bytes)?)));
    placed.filter(|(_, end)| *end <= MAX_BYTES).ok_or_else(|| format!("it is larger than {MAX_BYTES} bytes"))
}

fn range(memory: &mut [u8], offset: u64, length: u64) -> Result<&mut [u8], String> {
    let end = offset.checked_add(length).and_then(|end| usize::try_from(end).ok());
    let bounds = usize::try_from(offset).ok().zip(end);
    bounds.and_then(|(from, to)| memory.get_mut(from..to)).ok_or_else(|| "a section is cut short".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d11_sizes_that_an_object_declares_are_added_with_a_check() {
        assert_eq!(placed(5, 8, 3), Ok((8, 11)));
        assert_eq!(placed(0, 0, MAX_BYTES), Ok((0, MAX_BYTES)));
        for (used, align, bytes) in [(1, 1, MAX_BYTES), (1, 1, u64::MAX), (5, u64::MAX, 0), (u64::MAX, 16, 1)] {
            assert!(placed(used, align, bytes).is_err(), "{used}, {align}, {bytes}");
        }
        let mut memory = [0; 8];
        assert!(range(&mut memory, 4, 4).is_ok());
        assert!(range(&mut memory, 4, 5).is_err() && range(&mut memory, 4, u64::MAX).is_err());
    }
}
