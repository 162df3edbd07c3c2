//! What calls take from the allocator, and what happens when it refuses.

use cotan::Engine;
use cotan_testkit::memory::measures::{refused_one_by_one, warm, warm_on_lent};
use cotan_testkit::memory::programs::{PROGRAMS, Program};
use cotan_testkit::memory::{freed, is_counted, may_allocate};
use std::alloc::{GlobalAlloc, Layout, System};
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

/// Elements of arguments: enough that what follows from their number is large.
const SIZE: usize = 20_000;

#[test]
fn d9_every_large_allocation_of_a_call_may_fail() {
    assert!(is_counted());
    let refused = |program| refused_one_by_one(program, Engine::CPU, SIZE, false);
    let counts: Vec<Result<u64, String>> = PROGRAMS.iter().map(refused).collect();
    let wrong: Vec<&String> = counts.iter().filter_map(|n| n.as_ref().err()).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(counts.iter().all(|n| n.as_ref().is_ok_and(|n| *n > 0)), "a program takes no memory: {counts:?}");
}

#[test]
fn a_call_that_uses_earlier_results_takes_nothing() {
    for program in &PROGRAMS[..5] {
        let counts = warm(program, SIZE, 3).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(counts.all, 0, "{}: {counts:?}", program.name);
    }
}

#[test]
fn ten_thousand_gradients_leave_nothing() {
    let counts = warm(&PROGRAMS[1], 10, 10_000).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(counts.held, 0);
}

#[test]
fn ten_thousand_calls_on_lent_arrays_take_nothing() {
    let is_of_doubles = |program: &&Program| !matches!(program.name, "short floats" | "a result of unknown length");
    for program in PROGRAMS.iter().take(7).filter(is_of_doubles) {
        let counts = warm_on_lent(program, 10, 10_000).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(counts.all, 0, "{}: {counts:?}", program.name);
    }
}
