//! Numerical routines of the op table, called by compiled code.

use std::slice;

use super::context;
use super::memory::Refusal;
use crate::abi::layout::ROUTINE_ARRAY_WORDS;
use crate::abi::{Ctx, ErrorSlot, FAILED, OK, Status, code};
use cotan_ir::Elem;
use cotan_ops::memory::within;
use cotan_ops::stop::ASIDE;
use cotan_ops::{Array, ElementCount, Elements, ElementsMut, Evaluation, RoutineCall};

/// An array as compiled code describes it.
struct Described<'a> {
    data: *mut u8,
    elem: Elem,
    dims: &'a [i64],
    /// The number of its elements.
    count: ElementCount,
}

/// Reads the words of a description.
struct Words<'a> {
    next: *const i64,
    life: std::marker::PhantomData<&'a i64>,
}

impl<'a> Words<'a> {
    /// The next `n` words.
    ///
    /// # Safety
    /// There are as many.
    unsafe fn take(&mut self, n: usize) -> &'a [i64] {
        // SAFETY: by this function's contract.
        let words = unsafe { slice::from_raw_parts(self.next, n) };
        // SAFETY: by this function's contract, this is at most one past the last word.
        self.next = unsafe { self.next.add(n) };
        words
    }

    /// The next word, which counts something.
    ///
    /// # Safety
    /// There is one.
    unsafe fn count(&mut self) -> usize {
        // SAFETY: by this function's contract.
        usize::try_from(unsafe { self.take(1) }[0]).unwrap_or(0)
    }

    /// The next array; its extents alone where they are those of no array.
    ///
    /// # Safety
    /// There is one.
    unsafe fn array(&mut self) -> Result<Described<'a>, &'a [i64]> {
        // SAFETY: by this function's contract.
        let head = unsafe { self.take(ROUTINE_ARRAY_WORDS) };
        // SAFETY: by this function's contract; the rank is the last word of the head.
        let dims = unsafe { self.take(usize::try_from(head[2]).unwrap_or(0)) };
        let elem = usize::try_from(head[1]).ok().and_then(|at| Elem::ALL.get(at)).copied().unwrap_or(Elem::I64);
        let count = ElementCount::of(dims).ok_or(dims)?;
        Ok(Described { data: head[0] as *mut u8, elem, dims, count })
    }
}

/// The entry of [`crate::abi`]: calls the routine of an operation.
///
/// # Safety
/// `name` is so many bytes, `words` describes arrays that are live, and the result overlaps no operand.
pub(super) unsafe fn call(ctx: &mut Ctx, name: &[u8], words: *const i64) -> Status {
    let mut words = Words { next: words, life: std::marker::PhantomData };
    // SAFETY: by this function's contract: `words` begins with the number of attributes and the attributes.
    let attrs = unsafe {
        let n = words.count();
        words.take(n)
    };
    // SAFETY: by this function's contract: the number of arrays follows them.
    let n_arrays = unsafe { words.count() };
    // SAFETY: by this function's contract: the first array is the result, and there is one.
    let to = unsafe { words.array() };
    // SAFETY: by this function's contract: as many arrays follow as the number says. Where an array is none, the words
    // behind it are not read.
    let from: Result<Vec<Described>, &[i64]> = (1..n_arrays).map(|_| unsafe { words.array() }).collect();
    let (to, from) = match (to, from) {
        (Ok(to), Ok(from)) => (to, from),
        (Err(dims), _) | (_, Err(dims)) => return bad_extents(ctx, dims),
    };
    // SAFETY: the registry is the one that the code was compiled with, and outlives the call.
    let registry = unsafe { ctx.registry.as_ref() };
    let record = std::str::from_utf8(name).ok().and_then(|name| registry?.tensor_op(name));
    let Some(Evaluation::Routine(routine)) = record.map(|record| record.evaluation) else {
        ctx.error = ErrorSlot::bug(format!("there is no routine `{}`", String::from_utf8_lossy(name)));
        return FAILED;
    };
    // SAFETY: by this function's contract: operands are live, of so many elements as their extents say.
    let args = from.iter().map(|array| Array { dims: array.dims, elements: unsafe { elements(array) } }).collect();
    // SAFETY: by this function's contract: the result is live and overlaps no operand, so nothing else refers to it.
    let result = unsafe { elements_mut(&to) };
    let mut call = RoutineCall { args, attrs, dims: to.dims, result };
    // SAFETY: by this function's contract: the store of the context is live.
    let limit = unsafe { &*context::arenas(ctx) }.limit();
    // SAFETY: by this function's contract; a null watch watches nothing.
    let done = match unsafe { context::watch(ctx).as_ref() } {
        // It cannot be interrupted: where it may take long, the call waits for it no longer than it has to.
        Some(watch) if call.n_elements() >= ASIDE => {
            let Some(done) = call.run_aside(routine, watch.stopping(), limit.clone()) else {
                ctx.error = watch.error();
                return FAILED;
            };
            done
        }
        Some(_) | None => within(limit.clone(), || routine(&mut call)),
    };
    match done {
        Ok(()) => OK,
        Err(refused) => {
            let why = if refused.is_limit { Refusal::Limit } else { Refusal::Machine };
            ctx.error = limit.out_of_memory(refused.bytes, why);
            FAILED
        }
    }
}

/// Ends the call over extents that no array has: a bug of whoever made the code.
fn bad_extents(ctx: &mut Ctx, dims: &[i64]) -> Status {
    ctx.error = ErrorSlot { code: code::BAD_EXTENTS, span: dims.len() as i64, ..ErrorSlot::default() };
    ctx.error.args.iter_mut().zip(dims).for_each(|(arg, extent)| *arg = *extent);
    FAILED
}

/// # Safety
/// The array is live.
unsafe fn elements<'a>(array: &Described<'a>) -> Elements<'a> {
    let n = array.count.get();
    // SAFETY: by this function's contract; an empty array may lie nowhere.
    unsafe {
        match array.elem {
            Elem::F32 => Elements::F32(of(array.data, n)),
            Elem::F64 => Elements::F64(of(array.data, n)),
            Elem::I8 => Elements::I8(of(array.data, n)),
            Elem::I16 => Elements::I16(of(array.data, n)),
            Elem::I32 => Elements::I32(of(array.data, n)),
            Elem::I64 => Elements::I64(of(array.data, n)),
            Elem::U8 | Elem::Bool => Elements::U8(of(array.data, n)),
            Elem::U16 | Elem::F16 | Elem::BF16 => Elements::U16(of(array.data, n)),
            Elem::U32 => Elements::U32(of(array.data, n)),
            Elem::U64 => Elements::U64(of(array.data, n)),
        }
    }
}

/// # Safety
/// The array is live, and nothing else refers to it.
unsafe fn elements_mut<'a>(array: &Described<'a>) -> ElementsMut<'a> {
    let n = array.count.get();
    // SAFETY: by this function's contract.
    unsafe {
        match array.elem {
            Elem::F32 => ElementsMut::F32(of_mut(array.data, n)),
            Elem::F64 => ElementsMut::F64(of_mut(array.data, n)),
            Elem::I8 => ElementsMut::I8(of_mut(array.data, n)),
            Elem::I16 => ElementsMut::I16(of_mut(array.data, n)),
            Elem::I32 => ElementsMut::I32(of_mut(array.data, n)),
            Elem::I64 => ElementsMut::I64(of_mut(array.data, n)),
            Elem::U8 | Elem::Bool => ElementsMut::U8(of_mut(array.data, n)),
            Elem::U16 | Elem::F16 | Elem::BF16 => ElementsMut::U16(of_mut(array.data, n)),
            Elem::U32 => ElementsMut::U32(of_mut(array.data, n)),
            Elem::U64 => ElementsMut::U64(of_mut(array.data, n)),
        }
    }
}

/// # Safety
/// So many elements of the type lie there, unless there are none.
unsafe fn of<'a, T>(data: *const u8, n: usize) -> &'a [T] {
    // SAFETY: by this function's contract.
    if n == 0 { &[] } else { unsafe { slice::from_raw_parts(data.cast(), n) } }
}

/// # Safety
/// So many elements of the type lie there, unless there are none, and nothing else refers to them.
unsafe fn of_mut<'a, T>(data: *mut u8, n: usize) -> &'a mut [T] {
    // SAFETY: by this function's contract.
    if n == 0 { &mut [] } else { unsafe { slice::from_raw_parts_mut(data.cast(), n) } }
}
