//! Calls.

use crate::function::State;
use crate::handle::Handle;
use crate::status::{CotanError, Failure, Outcome, Status, status_of};
use crate::tensor::{CotanTensor, Lent};
use cotan::host::{TensorMut, TensorRef, Value};
use std::cell::Cell;
use std::ffi::c_void;
use std::slice::{from_raw_parts, from_raw_parts_mut};

thread_local! {
    static COPIED: Cell<u64> = const { Cell::new(0) };
}

/// Bytes that the last call of this thread copied.
#[unsafe(no_mangle)]
pub extern "C" fn cotan_copied_bytes() -> u64 {
    COPIED.get()
}

/// Arrays that a call reads, and the copies of those that are not row-major.
struct Arguments<'t> {
    lent: Vec<Lent<'t>>,
    copies: Vec<Vec<u64>>,
    n_copied: usize,
}

impl<'t> Arguments<'t> {
    /// # Safety
    /// There are so many, and they are what the header says, for as long as this is used.
    unsafe fn new(args: *const CotanTensor, n: usize) -> Outcome<Arguments<'t>> {
        if args.is_null() && n > 0 {
            return Err(Failure::null("args"));
        }
        // SAFETY: by this function's contract.
        let args = if n == 0 { &[] } else { unsafe { from_raw_parts(args, n) } };
        let mut all = Arguments { lent: Vec::with_capacity(n), copies: Vec::with_capacity(n), n_copied: 0 };
        for (k, arg) in args.iter().enumerate() {
            // SAFETY: by this function's contract.
            let lent = unsafe { Lent::argument(k, arg) }?;
            let mut copy = Vec::new();
            if lent.is_strided() {
                // SAFETY: by this function's contract.
                unsafe { lent.gather(&mut copy) };
                all.n_copied += lent.n_bytes();
            }
            all.lent.push(lent);
            all.copies.push(copy);
        }
        Ok(all)
    }

    /// # Safety
    /// As of [`Arguments::new`].
    unsafe fn refs(&self) -> Outcome<Vec<TensorRef<'_>>> {
        let refs = self.lent.iter().zip(&self.copies).map(|(lent, copy)| {
            let data = if lent.is_strided() { copy.as_ptr().cast() } else { lent.data.cast_const() };
            // SAFETY: by this function's contract.
            unsafe { lent.readable(data) }
        });
        refs.collect()
    }
}

/// The extents of a result.
///
/// # Safety
/// The handle is zero, or one that this library made; pointers are NULL or point to what the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cotan_result_extents(
    function: Handle,
    args: *const CotanTensor,
    n_args: usize,
    k: usize,
    extents: *mut i64,
    error: *mut CotanError,
) -> Status {
    let find = || {
        // SAFETY: by this function's contract.
        let (state, args) = unsafe { (function.function()?, Arguments::new(args, n_args)?) };
        let Some(result) = state.results.get(k) else {
            return Err(Failure::new(Status::Value, format!("there are {} results, and no {k}", state.results.len())));
        };
        // SAFETY: by this function's contract.
        let sizes = state.function.sizes(&unsafe { args.refs() }?).map_err(|error| state.failure(&error))?;
        let all = state.function.result_extents(&sizes);
        let all = all.map_err(|misfit| Failure::new(Status::Argument, misfit.to_string()))?;
        let found = all.into_iter().nth(k).unwrap_or_default();
        if extents.is_null() && result.rank > 0 {
            return Err(Failure::null("extents"));
        }
        // SAFETY: by this function's contract there is room for so many.
        found.iter().enumerate().for_each(|(axis, extent)| unsafe { extents.add(axis).write(extent.unwrap_or(-1)) });
        Ok(())
    };
    // SAFETY: by this function's contract.
    unsafe { status_of(error, find) }
}

/// Calls a function.
///
/// # Safety
/// The handle is zero, or one that this library made; pointers are NULL or point to what the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cotan_call(
    function: Handle,
    args: *const CotanTensor,
    n_args: usize,
    results: *mut CotanTensor,
    n_results: usize,
    error: *mut CotanError,
) -> Status {
    COPIED.set(0);
    let call = || {
        // SAFETY: by this function's contract.
        let (state, args) = unsafe { (function.function()?, Arguments::new(args, n_args)?) };
        if results.is_null() && n_results > 0 {
            return Err(Failure::null("results"));
        }
        COPIED.set(args.n_copied as u64);
        // SAFETY: by this function's contract.
        let results = if n_results == 0 { &mut [] } else { unsafe { from_raw_parts_mut(results, n_results) } };
        // SAFETY: by this function's contract.
        unsafe { called(&state, &args, results) }
    };
    // SAFETY: by this function's contract.
    unsafe { status_of(error, call) }
}

/// # Safety
/// Arguments and results are what the header says.
unsafe fn called(state: &State, args: &Arguments<'_>, results: &mut [CotanTensor]) -> Outcome<()> {
    if args.lent.len() != state.args.len() || results.len() != state.results.len() {
        let (n, m) = (state.args.len(), state.results.len());
        let text = format!("expected {n} arguments and {m} results, found {} and {}", args.lent.len(), results.len());
        return Err(Failure::new(Status::Argument, text));
    }
    let mut rooms: Vec<Lent<'_>> = Vec::with_capacity(results.len());
    for (k, (result, leaf)) in results.iter().zip(&state.results).enumerate() {
        // SAFETY: by this function's contract.
        let room = unsafe { Lent::result(k, result) }?;
        if !room.is_wanted() && (room.elem, room.dims.len()) != (leaf.elem, leaf.rank) {
            let text = format!(
                "result {k}: expected elements of {} and rank {}, found {} and {}",
                leaf.elem,
                leaf.rank,
                room.elem,
                room.dims.len()
            );
            return Err(Failure::new(Status::Argument, text));
        }
        let mut others = args.lent.iter().chain(&rooms);
        if let Some(other) = others.find(|other| !room.is_wanted() && room.overlaps(other)) {
            return Err(Failure::new(Status::Argument, format!("result {k} overlaps {}", other.name())));
        }
        rooms.push(room);
    }
    // SAFETY: by this function's contract.
    let refs = unsafe { args.refs() }?;
    if rooms.iter().any(Lent::is_wanted) {
        let values = state.function.call_on_lent(&refs).map_err(|error| state.failure(&error))?;
        // SAFETY: by this function's contract.
        return unsafe { give(&values, &rooms, results) };
    }
    let mut copies: Vec<Vec<u64>> = rooms.iter().map(|room| room_for(room)).collect();
    let tensors = rooms.iter().zip(&mut copies).map(|(room, copy)| {
        let data = if room.is_strided() { copy.as_mut_ptr().cast() } else { room.data };
        // SAFETY: by this function's contract; no two of them overlap.
        unsafe { room.writable(data) }
    });
    let mut tensors: Vec<TensorMut<'_>> = tensors.collect::<Outcome<_>>()?;
    state.function.call_leaves(&refs, &mut tensors).map_err(|error| state.failure(&error))?;
    for (room, copy) in rooms.iter().zip(&copies).filter(|(room, _)| room.is_strided()) {
        // SAFETY: by this function's contract, and the copy has as many elements.
        unsafe { scattered(room, copy) };
    }
    Ok(())
}

/// Memory for a result that is not row-major, before it goes to its places.
fn room_for(room: &Lent<'_>) -> Vec<u64> {
    if room.is_strided() { vec![0; room.n_bytes().div_ceil(8).max(1)] } else { Vec::new() }
}

/// Writes elements to the places of a result that is not row-major.
///
/// # Safety
/// As of [`Lent::scatter`].
unsafe fn scattered(room: &Lent<'_>, copy: &[u64]) {
    COPIED.set(COPIED.get() + room.n_bytes() as u64);
    // SAFETY: by this function's contract.
    unsafe { room.scatter(copy) };
}

/// Writes values to where results are wanted. If one has no room, those in memory of their own are not given.
///
/// # Safety
/// As of [`called`].
unsafe fn give(values: &[Value], rooms: &[Lent<'_>], results: &mut [CotanTensor]) -> Outcome<()> {
    let misfit = |k: usize, value: &Value, room: &Lent<'_>| {
        let text = format!("result {k}: it has the extents {:?}, its room {:?}", value.dims, room.dims);
        Failure::new(Status::Argument, text)
    };
    for (k, (value, room)) in values.iter().zip(rooms).enumerate() {
        if !room.is_wanted() && value.dims != room.dims {
            return Err(misfit(k, value, room));
        }
    }
    let mut all_owned = AllOwned(Vec::new());
    for (k, (value, _)) in values.iter().zip(rooms).enumerate().filter(|(_, (_, room))| room.is_wanted()) {
        all_owned.0.push((k, owned(value)?));
    }
    for (k, (value, room)) in values.iter().zip(rooms).enumerate().filter(|(_, (_, room))| !room.is_wanted()) {
        let mut copy = room_for(room);
        let data = if room.is_strided() { copy.as_mut_ptr().cast() } else { room.data };
        // SAFETY: by this function's contract.
        let fits = unsafe { room.writable(data) }?.copy_from(value);
        if !fits {
            return Err(misfit(k, value, room));
        }
        if room.is_strided() {
            // SAFETY: by this function's contract, and the copy has as many elements.
            unsafe { scattered(room, &copy) };
        }
    }
    std::mem::take(&mut all_owned.0).into_iter().for_each(|(k, tensor)| results[k] = tensor);
    Ok(())
}

/// Results in memory of their own, with their numbers, before they are given: those that stay here are freed.
struct AllOwned(Vec<(usize, CotanTensor)>);

impl Drop for AllOwned {
    fn drop(&mut self) {
        // SAFETY: `owned` made them, and nobody else has them.
        self.0.iter_mut().for_each(|(_, tensor)| unsafe { cotan_tensor_free(tensor) });
    }
}

/// Words in front of the elements of a result in memory of its own, beside its extents: how many words there are in all, and behind
/// the extents how many stand in front of the elements.
const FRAME: usize = 2;

/// A result in memory of its own.
fn owned(value: &Value) -> Outcome<CotanTensor> {
    let rank = value.dims.len();
    let (front, n) = (rank + FRAME, value.bits.len());
    let total = front + (n * value.elem.bytes()).div_ceil(8).max(1);
    let mut words: Vec<u64> = Vec::new();
    let no_memory = |_| Failure::new(Status::Memory, format!("there is no memory for a result of {n} elements"));
    words.try_reserve_exact(total).map_err(no_memory)?;
    words.push(total as u64);
    words.extend(value.dims.iter().map(|extent| *extent as u64));
    words.push(front as u64);
    words.resize(total, 0);
    let words = Box::leak(words.into_boxed_slice());
    let (head, elements) = words.split_at_mut(front);
    let extents = head[1..].as_ptr().cast::<i64>();
    let data = elements.as_mut_ptr().cast::<u8>();
    let (element, rank) = (crate::tensor::number_of(value.elem), rank as i32);
    let tensor = CotanTensor { data: data.cast::<c_void>(), element, rank, extents, strides: std::ptr::null() };
    // SAFETY: the extents lie in the words, which are leaked, and there is room for the elements behind them.
    let fits = unsafe { Lent::result(0, &tensor)?.writable(data)? }.copy_from(value);
    if fits { Ok(tensor) } else { Err(Failure::new(Status::Internal, "a result does not fit its own memory")) }
}

/// Gives back a result in memory of its own.
///
/// # Safety
/// `result` is NULL, or points to such a result or to zeros.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cotan_tensor_free(result: *mut CotanTensor) {
    // SAFETY: by this function's contract.
    let Some(result) = (unsafe { result.as_mut() }) else { return };
    let data = result.data.cast::<u64>();
    if !data.is_null() {
        // SAFETY: by this function's contract `owned` made it: the word in front says where the words begin, and the first of
        // them how many there are.
        unsafe {
            let front = data.sub(1).read() as usize;
            let first = data.sub(front);
            drop(Box::from_raw(std::ptr::slice_from_raw_parts_mut(first, first.read() as usize)));
        }
    }
    let nothing = std::ptr::null();
    *result = CotanTensor { data: std::ptr::null_mut(), element: 0, rank: 0, extents: nothing, strides: nothing };
}
