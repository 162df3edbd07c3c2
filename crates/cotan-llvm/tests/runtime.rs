//! Compiled code and the runtime together: memory, stacks, parallel loops, errors, cancelling.
#![allow(unsafe_code, reason = "the tests call compiled code")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::ffi::c_void;
use std::num::NonZeroUsize;
use std::sync::Arc;

use cotan_llvm::jit::{CompiledModule, Engine, ModuleText, OptLevel};
use cotan_llvm::load::SearchConfig;
use cotan_runtime::abi::{self, Buf, Entry, ErrorSlot, code, layout};
use cotan_runtime::{Pool, Session, Watch, host_symbols};

const MEGABYTE: usize = 1 << 20;

fn compile(ir: String) -> CompiledModule {
    let text = ModuleText { parts: vec![ir], exports: vec!["f".to_owned()], level: OptLevel::O2 };
    let engine = Engine::new(&SearchConfig::default(), None).unwrap();
    engine.compile(&text, &host_symbols()).unwrap().module
}

fn session(threads: usize, max_bytes: usize) -> Session {
    let pool = Pool::new(NonZeroUsize::new(threads).unwrap()).unwrap();
    Session::new(max_bytes).with_pool(Arc::new(pool))
}

/// Calls `f` with the vector `input`, which it may overwrite.
fn call(session: &mut Session, module: &CompiledModule, input: &mut [i64]) -> Result<(), ErrorSlot> {
    let mut extent = input.len() as i64;
    let mut stride = 1;
    let buf =
        Buf { data: input.as_mut_ptr().cast::<c_void>(), extents: &mut extent, strides: &mut stride, capacity: 0 };
    // SAFETY: every module here exports an `Entry` named `f` that takes one vector of i64 and writes
    // inside its extent.
    unsafe {
        let function: Entry = std::mem::transmute(module.address("f").unwrap());
        session.call(function, &[buf], &mut [], None)
    }
}

/// `f` runs `body` as a parallel loop over the elements of the vector.
fn parallel_module(body: &str) -> CompiledModule {
    let (extents, error) = (layout::BUF_EXTENTS, layout::CTX_ERROR_CODE);
    let (span, args) = (layout::CTX_ERROR_SPAN, layout::CTX_ERROR_ARGS);
    compile(format!(
        "declare i32 @cotan_parallel_for(ptr, ptr, ptr, i64)
        declare ptr @cotan_allocate(ptr, i64)
        declare i32 @cotan_poll(ptr, i64)
        define i32 @f(ptr %ctx, ptr %args, ptr %results) {{
            %data = load ptr, ptr %args
            %extents.at = getelementptr i8, ptr %args, i64 {extents}
            %extents = load ptr, ptr %extents.at
            %n = load i64, ptr %extents
            %status = call i32 @cotan_parallel_for(ptr %ctx, ptr @body, ptr %data, i64 %n)
            ret i32 %status
        }}
        define i32 @fail(ptr %ctx, i32 %code, i64 %span, i64 %arg) {{
            %code.at = getelementptr i8, ptr %ctx, i64 {error}
            %span.at = getelementptr i8, ptr %ctx, i64 {span}
            %arg.at = getelementptr i8, ptr %ctx, i64 {args}
            store i32 %code, ptr %code.at
            store i64 %span, ptr %span.at
            store i64 %arg, ptr %arg.at
            ret i32 1
        }}
        define i32 @body(ptr %ctx, ptr %data, i64 %i) {{
            %at = getelementptr i64, ptr %data, i64 %i
            %x = load i64, ptr %at
            {body}
        continue:
            ret i32 0
        }}"
    ))
}

/// Squares every element through memory of the chunk; a negative one fails with its index.
const CHECKED_SQUARE: &str = "
            %negative = icmp slt i64 %x, 0
            br i1 %negative, label %bad, label %good
        bad:
            %status = call i32 @fail(ptr %ctx, i32 7, i64 %i, i64 %x)
            ret i32 %status
        good:
            %scratch = call ptr @cotan_allocate(ptr %ctx, i64 8)
            %null = icmp eq ptr %scratch, null
            br i1 %null, label %full, label %square
        full:
            ret i32 1
        square:
            %xx = mul i64 %x, %x
            store i64 %xx, ptr %scratch
            %again = load i64, ptr %scratch
            store i64 %again, ptr %at
            br label %continue";

#[test]
fn a_parallel_loop_runs_every_chunk_once_on_any_number_of_threads() {
    let module = parallel_module(CHECKED_SQUARE);
    for threads in 1..=4 {
        let mut session = session(threads, 64 * MEGABYTE);
        for n in [0, 1, 2, 255, 256, 257, 10_000] {
            let mut data: Vec<i64> = (0..n).collect();
            call(&mut session, &module, &mut data).unwrap();
            let expected: Vec<i64> = (0..n).map(|i| i * i).collect();
            assert_eq!(data, expected, "{n} elements on {threads} threads");
        }
    }
}

#[test]
fn the_lowest_failing_chunk_is_reported_on_any_number_of_threads() {
    let module = parallel_module(CHECKED_SQUARE);
    for threads in 1..=4 {
        let mut session = session(threads, 64 * MEGABYTE);
        for failing in [vec![0, 9_999], vec![5_000, 5_001, 7_000], vec![9_998, 3_333]] {
            for _ in 0..20 {
                let mut data = vec![2; 10_000];
                for &index in &failing {
                    data[index] = -(index as i64) - 1;
                }
                let lowest = *failing.iter().min().unwrap() as i64;
                let mut slot = ErrorSlot { code: 7, span: lowest, ..ErrorSlot::default() };
                slot.args[0] = -lowest - 1;
                assert_eq!(call(&mut session, &module, &mut data), Err(slot));
            }
        }
    }
}

#[test]
fn a_session_that_is_warm_takes_no_more_memory() {
    let module = parallel_module(CHECKED_SQUARE);
    let mut session = session(1, 64 * MEGABYTE);
    let mut round = || {
        call(&mut session, &module, &mut vec![1; 10_000]).unwrap();
        session.memory().in_use()
    };
    let held = [round(), round(), round()];
    assert_eq!(held[1], held[2]);
}

#[test]
fn a_parallel_loop_that_exceeds_the_memory_limit_fails_with_a_code() {
    let module = parallel_module(&CHECKED_SQUARE.replace("i64 8", "i64 2000"));
    for threads in 1..=2 {
        let mut session = session(threads, 1000);
        let error = call(&mut session, &module, &mut [1; 10_000]).unwrap_err();
        assert_eq!((error.code, error.args[0], error.args[2]), (code::OUT_OF_MEMORY, 2000, 1000));
    }
}

/// Counts one step per element.
const POLLED: &str = "
            %status = call i32 @cotan_poll(ptr %ctx, i64 1)
            %stop = icmp ne i32 %status, 0
            br i1 %stop, label %stopped, label %continue
        stopped:
            ret i32 %status";

#[test]
fn a_step_budget_stops_a_call_that_takes_longer() {
    let module = parallel_module(POLLED);
    let code_after = |steps| {
        let mut session = session(2, MEGABYTE).with_watch(Arc::new(Watch::new(Some(steps))));
        call(&mut session, &module, &mut [0; 1000]).map_err(|error| error.code)
    };
    assert_eq!(code_after(1000), Ok(()));
    assert_eq!(code_after(999), Err(code::OUT_OF_STEPS));
}

#[test]
fn a_cancelled_call_stops() {
    let module = parallel_module(POLLED);
    let watch = Arc::new(Watch::new(None));
    let mut session = session(2, MEGABYTE).with_watch(Arc::clone(&watch));
    assert_eq!(call(&mut session, &module, &mut [0; 1000]), Ok(()));
    watch.cancel();
    let error = call(&mut session, &module, &mut [0; 1000]).unwrap_err();
    assert_eq!(error.code, code::CANCELLED);
}

/// Pushes `i * i` for every index onto a stack, then writes the stack back from its end: the shape of
/// a forward sweep that records and a reverse sweep that reads.
fn recording_module() -> CompiledModule {
    let (extents, size) = (layout::BUF_EXTENTS, layout::STACK_SIZE);
    let (length, capacity) = (layout::STACK_LENGTH, layout::STACK_CAPACITY);
    compile(format!(
        "declare void @cotan_stack_open(ptr, ptr)
        declare i32 @cotan_stack_reserve(ptr, ptr, i64)
        define i32 @f(ptr %ctx, ptr %args, ptr %results) {{
        entry:
            %data = load ptr, ptr %args
            %extents.at = getelementptr i8, ptr %args, i64 {extents}
            %extents = load ptr, ptr %extents.at
            %n = load i64, ptr %extents
            %stack = alloca i8, i64 {size}, align 8
            %length.at = getelementptr i8, ptr %stack, i64 {length}
            %capacity.at = getelementptr i8, ptr %stack, i64 {capacity}
            call void @cotan_stack_open(ptr %ctx, ptr %stack)
            br label %forward
        forward:
            %i = phi i64 [ 0, %entry ], [ %i.next, %push ]
            %length = load i64, ptr %length.at
            %capacity = load i64, ptr %capacity.at
            %after = add i64 %length, 8
            %fits = icmp sle i64 %after, %capacity
            br i1 %fits, label %push, label %grow
        grow:
            %status = call i32 @cotan_stack_reserve(ptr %ctx, ptr %stack, i64 8)
            %failed = icmp ne i32 %status, 0
            br i1 %failed, label %full, label %push
        full:
            ret i32 1
        push:
            %base = load ptr, ptr %stack
            %top = getelementptr i8, ptr %base, i64 %length
            %square = mul i64 %i, %i
            store i64 %square, ptr %top
            store i64 %after, ptr %length.at
            %i.next = add i64 %i, 1
            %more = icmp slt i64 %i.next, %n
            br i1 %more, label %forward, label %reverse
        reverse:
            %j = phi i64 [ %n, %push ], [ %j.next, %reverse ]
            %j.next = sub i64 %j, 1
            %record = load ptr, ptr %stack
            %from = getelementptr i64, ptr %record, i64 %j.next
            %value = load i64, ptr %from
            %to.index = sub i64 %n, %j
            %to = getelementptr i64, ptr %data, i64 %to.index
            store i64 %value, ptr %to
            %left = icmp sgt i64 %j.next, 0
            br i1 %left, label %reverse, label %done
        done:
            ret i32 0
        }}"
    ))
}

#[test]
fn a_stack_gives_back_what_was_pushed_however_long_it_grew() {
    let module = recording_module();
    let mut session = session(1, 64 * MEGABYTE);
    for n in [1, 127, 128, 129, 100_000] {
        let mut data = vec![0; n];
        call(&mut session, &module, &mut data).unwrap();
        let expected: Vec<i64> = (0..n as i64).rev().map(|i| i * i).collect();
        assert_eq!(data, expected);
    }
}

#[test]
fn a_stack_that_exceeds_the_memory_limit_fails_with_a_code() {
    let module = recording_module();
    let mut session = session(1, MEGABYTE);
    let error = call(&mut session, &module, &mut vec![0; 1_000_000]).unwrap_err();
    assert_eq!((error.code, error.args[2]), (code::OUT_OF_MEMORY, MEGABYTE as i64));
    assert!(error.args[0] > error.args[2] - 64, "the stack grew to {} bytes", error.args[0]);
    // What the failed call held is free again for the next one.
    assert_eq!(call(&mut session, &module, &mut vec![0; 10_000]), Ok(()));
}

#[test]
fn the_version_of_the_abi_changes_with_its_layout() {
    let sizes = [
        size_of::<abi::Ctx>(),
        layout::BUF_SIZE,
        layout::STACK_SIZE,
        layout::MARK_SIZE,
        layout::CTX_ERROR_ARGS,
        layout::PRODUCT_SIZE,
    ];
    assert_eq!((abi::VERSION, sizes), (12, [200, 32, 32, 24, 96, 96]));
}
