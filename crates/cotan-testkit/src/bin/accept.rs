//! `accept NAME [--adbench DIR] [--start DIR] [--line K]..`: every acceptance line of a list, or the K-th ones alone, with
//! their measured values, the bars, PASS or FAIL. Lines that compare with the revision that a change starts from want its command
//! and its generated code: DIR has `cotan`, and `texts`, which `cargo xtask texts --record` writes.

use anyhow::{Context, Result, anyhow, bail};
use cotan_testkit::accept::{LISTS, Workplace, run};
use cotan_testkit::memory::{freed, may_allocate};
use std::alloc::{GlobalAlloc, Layout, System};
use std::path::PathBuf;
use std::ptr;

/// The allocator of the system, which counts.
struct Counting;

// SAFETY: memory is that of the system's allocator, which gets every call with the layout that it came with.
#[allow(unsafe_code, reason = "what a call takes is counted where it is taken")]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if !may_allocate(layout.size()) {
            return ptr::null_mut();
        }
        // SAFETY: by this function's contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if !may_allocate(layout.size()) {
            return ptr::null_mut();
        }
        // SAFETY: by this function's contract.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        freed(layout.size());
        // SAFETY: by this function's contract.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[expect(clippy::print_stdout, reason = "the output of a command line tool")]
fn main() -> Result<()> {
    let mut args = std::env::args().skip(1);
    let names: Vec<String> = LISTS.iter().map(|(name, _)| format!("`{name}`")).collect();
    let usage = || {
        format!("usage: accept NAME [--adbench DIR] [--start DIR] [--line K]..; NAME is one of {}", names.join(", "))
    };
    let name = args.next().with_context(usage)?;
    let Some((_, lines)) = LISTS.iter().find(|(of, _)| *of == name) else {
        bail!("there is no list `{name}`: expected one of {}", names.join(", "))
    };
    let (lines, mut chosen) = (lines(), Vec::new());
    let (mut adbench, mut start) = (None, None);
    while let Some(flag) = args.next() {
        let value = args.next().with_context(|| format!("`{flag}` takes a value"))?;
        match flag.as_str() {
            "--adbench" => adbench = Some(PathBuf::from(value)),
            "--start" => start = Some(PathBuf::from(value)),
            "--line" => {
                let k: usize = value.parse().context("--line: expected a number")?;
                let line = k.checked_sub(1).and_then(|k| lines.get(k).copied());
                chosen.push(line.with_context(|| format!("there is no line {k}"))?);
            }
            other => bail!("there is no flag `{other}`"),
        }
    }
    let place = Workplace::find(adbench, start).map_err(|e| anyhow!(e))?;
    let lines = if chosen.is_empty() { lines } else { chosen };
    match run(&lines, &place, &mut |line| println!("{line}")) {
        0 => Ok(()),
        n => bail!("{n} lines fail"),
    }
}
