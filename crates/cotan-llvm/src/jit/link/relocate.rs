//! How instructions and constants point to other places, by machine.
//!
//! The kinds and formulas are those of the psABI supplements for x86-64 and for the Arm 64-bit architecture, the ones
//! that position-independent code of the small code model has.

use object::{Architecture, Object, elf};

/// A machine whose objects can be linked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Machine {
    X86,
    Arm,
}

/// What stands between a place and what it points to, if that may be far away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Via {
    /// It has the whole address.
    Nothing,
    /// A jump is near.
    Jump,
    /// The address is near.
    Address,
}

/// A place and what it is to point to, as addresses.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patch {
    pub(super) place: u64,
    pub(super) target: u64,
}

impl Patch {
    fn distance(self) -> i64 {
        self.target.wrapping_sub(self.place).cast_signed()
    }

    /// The distance in pages of 4 KiB.
    fn pages(self) -> i64 {
        (self.target & !0xfff).wrapping_sub(self.place & !0xfff).cast_signed() >> 12
    }
}

impl Machine {
    /// The one machine that all objects are for.
    pub(super) fn of_all(files: &[object::File<'_>]) -> Result<Machine, String> {
        let known = [(Architecture::X86_64, Machine::X86), (Architecture::Aarch64, Machine::Arm)];
        let mut machines = files.iter().map(|file| {
            let machine = known.iter().find(|(architecture, _)| *architecture == file.architecture());
            machine
                .map(|(_, machine)| *machine)
                .ok_or_else(|| format!("no objects of {:?} are linked", file.architecture()))
        });
        let first = machines.next().ok_or("there is no object")??;
        for machine in machines {
            if machine? != first {
                return Err("the objects are for different machines".to_owned());
            }
        }
        Ok(first)
    }

    /// A jump to the address that follows it.
    pub(super) fn jump(self) -> &'static [u8; 8] {
        match self {
            // jmp [rip + 2]; int3; int3
            Machine::X86 => &[0xff, 0x25, 2, 0, 0, 0, 0xcc, 0xcc],
            // ldr x16, 8; br x16
            Machine::Arm => &[0x50, 0, 0, 0x58, 0, 2, 0x1f, 0xd6],
        }
    }

    /// What a relocation of this kind goes through.
    pub(super) fn via(self, kind: u32) -> Via {
        match (self, kind) {
            (Machine::X86, elf::R_X86_64_64) | (Machine::Arm, elf::R_AARCH64_ABS64) => Via::Nothing,
            (Machine::X86, elf::R_X86_64_GOTPCREL | elf::R_X86_64_GOTPCRELX | elf::R_X86_64_REX_GOTPCRELX)
            | (Machine::Arm, elf::R_AARCH64_ADR_GOT_PAGE | elf::R_AARCH64_LD64_GOT_LO12_NC) => Via::Address,
            (Machine::X86 | Machine::Arm, _) => Via::Jump,
        }
    }

    /// Makes `bytes`, which begin at the place, point to the target.
    pub(super) fn patch(self, kind: u32, patch: Patch, bytes: &mut [u8]) -> Result<(), String> {
        match self {
            Machine::X86 => x86(kind, patch, bytes),
            Machine::Arm => arm(kind, patch, bytes),
        }
    }

    /// Lets instructions be fetched that were just written as data.
    pub(super) fn publish(self, memory: &[u8]) {
        match self {
            // Its caches see to that.
            Machine::X86 => {}
            Machine::Arm => clear_instruction_cache(memory),
        }
    }
}

fn x86(kind: u32, patch: Patch, bytes: &mut [u8]) -> Result<(), String> {
    match kind {
        elf::R_X86_64_64 => write(bytes, patch.target.to_le_bytes()),
        elf::R_X86_64_PC64 => write(bytes, patch.distance().to_le_bytes()),
        elf::R_X86_64_PC32
        | elf::R_X86_64_PLT32
        | elf::R_X86_64_GOTPCREL
        | elf::R_X86_64_GOTPCRELX
        | elf::R_X86_64_REX_GOTPCRELX => {
            write(bytes, i32::try_from(patch.distance()).map_err(|_| too_far(patch))?.to_le_bytes())
        }
        _ => Err(format!("relocations of x86-64 of kind {kind} are not known")),
    }
}

fn arm(kind: u32, patch: Patch, bytes: &mut [u8]) -> Result<(), String> {
    match kind {
        elf::R_AARCH64_ABS64 => write(bytes, patch.target.to_le_bytes()),
        elf::R_AARCH64_PREL64 => write(bytes, patch.distance().to_le_bytes()),
        elf::R_AARCH64_PREL32 => {
            write(bytes, i32::try_from(patch.distance()).map_err(|_| too_far(patch))?.to_le_bytes())
        }
        elf::R_AARCH64_CALL26 | elf::R_AARCH64_JUMP26 => {
            insert(bytes, field(patch.distance() >> 2, 26).ok_or_else(|| too_far(patch))?)
        }
        elf::R_AARCH64_ADR_PREL_PG_HI21 | elf::R_AARCH64_ADR_GOT_PAGE => {
            let pages = field(patch.pages(), 21).ok_or_else(|| too_far(patch))?;
            insert(bytes, (pages & 3) << 29 | (pages >> 2) << 5)
        }
        elf::R_AARCH64_ADD_ABS_LO12_NC | elf::R_AARCH64_LDST8_ABS_LO12_NC => insert(bytes, in_page(patch, 0)),
        elf::R_AARCH64_LDST16_ABS_LO12_NC => insert(bytes, in_page(patch, 1)),
        elf::R_AARCH64_LDST32_ABS_LO12_NC => insert(bytes, in_page(patch, 2)),
        elf::R_AARCH64_LDST64_ABS_LO12_NC | elf::R_AARCH64_LD64_GOT_LO12_NC => insert(bytes, in_page(patch, 3)),
        elf::R_AARCH64_LDST128_ABS_LO12_NC => insert(bytes, in_page(patch, 4)),
        _ => Err(format!("relocations of AArch64 of kind {kind} are not known")),
    }
}

/// A signed number as a field of so many bits, if it fits.
fn field(value: i64, bits: u32) -> Option<u32> {
    let limit = 1_i64 << (bits - 1);
    (-limit..limit).contains(&value).then_some(value as u32 & ((1 << bits) - 1))
}

/// The offset of the target in its page, in units of two to this power, where instructions have it.
fn in_page(patch: Patch, shift: u32) -> u32 {
    ((patch.target & 0xfff) as u32 >> shift) << 10
}

/// Sets bits of an instruction, which are zero in the object.
fn insert(bytes: &mut [u8], bits: u32) -> Result<(), String> {
    let instruction = bytes.first_chunk().map(|bytes| u32::from_le_bytes(*bytes)).ok_or_else(cut_short)?;
    write(bytes, (instruction | bits).to_le_bytes())
}

fn write<const N: usize>(bytes: &mut [u8], value: [u8; N]) -> Result<(), String> {
    *bytes.first_chunk_mut().ok_or_else(cut_short)? = value;
    Ok(())
}

fn too_far(patch: Patch) -> String {
    format!("a target is {} bytes away", patch.distance())
}

fn cut_short() -> String {
    "a relocation lies behind its section".to_owned()
}

#[cfg(not(target_arch = "aarch64"))]
fn clear_instruction_cache(_: &[u8]) {}

/// Cleans data to the point of unification and invalidates instructions there, line by line.
#[cfg(target_arch = "aarch64")]
fn clear_instruction_cache(memory: &[u8]) {
    /// The smallest line of any cache.
    const LINE: usize = 16;
    let lines = || memory.chunks(LINE).map(<[u8]>::as_ptr);
    // SAFETY: cache maintenance by address, of memory that is mapped, changes no value.
    unsafe {
        lines().for_each(|line| std::arch::asm!("dc cvau, {0}", in(reg) line));
        std::arch::asm!("dsb ish");
        lines().for_each(|line| std::arch::asm!("ic ivau, {0}", in(reg) line));
        std::arch::asm!("dsb ish", "isb");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn patched(machine: Machine, kind: u32, before: u32, place: u64, target: u64) -> Result<u32, String> {
        let mut bytes = before.to_le_bytes();
        machine.patch(kind, Patch { place, target }, &mut bytes)?;
        Ok(u32::from_le_bytes(bytes))
    }

    #[test]
    fn distances_of_x86_are_signed_and_checked() {
        let near = |target| patched(Machine::X86, elf::R_X86_64_PLT32, 0, 0x1000, target);
        assert_eq!(near(0x1010), Ok(0x10));
        assert_eq!(near(0xff0), Ok(0x10_u32.wrapping_neg()));
        assert!(near(0x1_0000_0000).unwrap_err().contains("4294963200 bytes away"));
        assert!(patched(Machine::X86, elf::R_X86_64_TPOFF32, 0, 0, 0).unwrap_err().contains("not known"));
    }

    /// The instructions are those that an assembler gives for the same distances.
    #[test]
    fn instructions_of_arm_get_their_fields() {
        let arm = |kind, before, place, target| patched(Machine::Arm, kind, before, place, target).unwrap();
        // bl .+8, bl .-4
        assert_eq!(arm(elf::R_AARCH64_CALL26, 0x9400_0000, 0x1000, 0x1008), 0x9400_0002);
        assert_eq!(arm(elf::R_AARCH64_CALL26, 0x9400_0000, 0x1000, 0xffc), 0x97ff_ffff);
        // adrp x0, three pages on; one page back
        assert_eq!(arm(elf::R_AARCH64_ADR_PREL_PG_HI21, 0x9000_0000, 0x1ff0, 0x4010), 0xf000_0000);
        assert_eq!(arm(elf::R_AARCH64_ADR_PREL_PG_HI21, 0x9000_0000, 0x4010, 0x3ff0), 0xf0ff_ffe0);
        // add x0, x0, 0x123; ldr x0, [x0, 0x128]; ldr q0, [x0, 0x120]
        assert_eq!(arm(elf::R_AARCH64_ADD_ABS_LO12_NC, 0x9100_0000, 0, 0x5123), 0x9104_8c00);
        assert_eq!(arm(elf::R_AARCH64_LDST64_ABS_LO12_NC, 0xf940_0000, 0, 0x5128), 0xf940_9400);
        assert_eq!(arm(elf::R_AARCH64_LDST128_ABS_LO12_NC, 0x3dc0_0000, 0, 0x5120), 0x3dc0_4800);
    }

    #[test]
    fn a_call_of_arm_reaches_128_mib() {
        let call = |target| patched(Machine::Arm, elf::R_AARCH64_CALL26, 0x9400_0000, 0, target);
        assert!(call((1 << 27) - 4).is_ok());
        assert!(call(1 << 27).is_err());
    }

    #[test]
    fn what_lies_behind_the_section_is_an_error() {
        let patch = Patch { place: 0, target: 0 };
        assert!(Machine::X86.patch(elf::R_X86_64_64, patch, &mut [0; 4]).is_err());
        assert!(Machine::Arm.patch(elf::R_AARCH64_CALL26, patch, &mut [0; 3]).is_err());
    }
}
