//! Measures of what calls take.

use super::programs::Program;
use super::{Counts, LARGE, counted};
use cotan::host::{TensorMut, TensorRef, fit_arguments};
use cotan::{CallError, Engine};
use std::time::{Duration, Instant};

/// What calls of equal sizes may come to hold more from one to the next: what libraries keep for later.
const LEFT: i64 = 2 * LARGE as i64;

/// Lets every large allocation of a call fail, one after the other; gives how many there are. Each is an error, leaves
/// nothing behind, and the next call is right. The call is the first one of a function, or a later one, which finds memory
/// of those before it.
pub fn refused_one_by_one(program: &Program, engine: Engine, size: usize, is_first: bool) -> Result<u64, String> {
    let fail = |what: String| Err(format!("{}: {what}", program.name));
    let mut f = program.function(engine, None)?;
    let args = (program.arguments)(size);
    let expected = f.call(&args).map_err(|e| format!("{}: {e}", program.name))?;
    for n in 1.. {
        if is_first {
            f = program.function(engine, None)?;
        }
        let (outcome, counts) = counted(Some(n), || f.call(&args));
        match outcome {
            // What there is room for elsewhere needs none.
            Ok(value) if value == expected => {}
            Err(CallError::OutOfMemory(_)) if counts.large >= n => {}
            Ok(_) => return fail(format!("another value where allocation {n} is refused")),
            Err(other) => return fail(format!("{other} where allocation {n} is refused")),
        }
        if counts.large < n {
            return Ok(n - 1);
        }
        let is_right = |counts: &mut i64| {
            let (is_right, taken) = counted(None, || f.call(&args).as_ref() == Ok(&expected));
            *counts = taken.held;
            is_right
        };
        let mut left = 0;
        if !(is_right(&mut left) && is_right(&mut left)) {
            return fail(format!("another value after allocation {n} was refused"));
        }
        // The first call warms up what is kept; the second one leaves nothing.
        if left > LEFT {
            return fail(format!("{left} bytes are left after allocation {n} was refused"));
        }
    }
    Ok(0)
}

/// What a call did that may hold so many bytes and wants more.
#[derive(Clone, Copy, Debug)]
pub struct Limited {
    /// The most bytes that it held, its copies of arguments and its results among them.
    pub peak: i64,
    /// How long it took to say so.
    pub time: Duration,
}

/// Calls a program that wants more than it may hold.
pub fn limited(program: &Program, size: usize, memory: u64) -> Result<Limited, String> {
    let f = program.function(Engine::CPU, Some(memory))?;
    let args = (program.arguments)(size);
    let operands = fit_arguments(f.entry(), &args).map_err(|e| format!("{}: {e}", program.name))?;
    let start = Instant::now();
    let (outcome, counts) = counted(None, || f.call_flat(&operands));
    let time = start.elapsed();
    let arena = f.statistics().map_or(0, |statistics| statistics.peak_bytes);
    match outcome {
        Err(CallError::OutOfMemory(error)) if error.limit == Some(memory) => {
            Ok(Limited { peak: counts.peak.max(arena as i64), time })
        }
        Err(other) => Err(format!("{}: {other}", program.name)),
        Ok(_) => Err(format!("{}: no error, {} bytes", program.name, counts.peak)),
    }
}

/// What so many calls take, each of which may use the results of the one before it, once two are done.
pub fn warm(program: &Program, size: usize, calls: usize) -> Result<Counts, String> {
    let f = program.function(Engine::CPU, None)?;
    let fail = |e: CallError| format!("{}: {e}", program.name);
    let operands =
        fit_arguments(f.entry(), &(program.arguments)(size)).map_err(|e| format!("{}: {e}", program.name))?;
    let first = f.call_again(&operands, Vec::new()).map_err(fail)?;
    let mut results = f.call_again(&operands, first).map_err(fail)?;
    let (outcome, counts) = counted(None, || {
        for _ in 0..calls {
            results = f.call_again(&operands, std::mem::take(&mut results))?;
        }
        Ok(())
    });
    outcome.map_err(fail)?;
    Ok(counts)
}

/// What so many calls take whose arguments and results, all of them f64, are lent by the host, once two are done. They give
/// what other calls give.
pub fn warm_on_lent(program: &Program, size: usize, calls: usize) -> Result<Counts, String> {
    let f = program.function(Engine::CPU, None)?;
    let misfit = |e: &dyn std::fmt::Display| format!("{}: {e}", program.name);
    let operands = fit_arguments(f.entry(), &(program.arguments)(size)).map_err(|e| misfit(&e))?;
    let expected = f.call_flat(&operands).map_err(|e| misfit(&e))?;
    let leaves = &operands[f.signature().sizes.len() + f.entry().extents.len()..];
    let elements: Vec<Vec<f64>> = leaves.iter().filter_map(|leaf| leaf.floats()).collect();
    let lent = leaves.iter().zip(&elements).map(|(leaf, own)| TensorRef::new(leaf.elem, &leaf.dims, own.as_slice()));
    let lent = lent.collect::<Result<Vec<_>, _>>().map_err(|e| misfit(&e))?;
    let mut rooms: Vec<Vec<f64>> = expected.iter().map(|result| vec![0.0; result.bits.len()]).collect();
    let results = expected.iter().zip(&mut rooms);
    let results = results.map(|(result, room)| TensorMut::new(result.elem, &result.dims, room.as_mut_slice()));
    let mut results = results.collect::<Result<Vec<_>, _>>().map_err(|e| misfit(&e))?;
    let mut times = |n: usize| (0..n).try_for_each(|_| f.call_leaves(&lent, &mut results)).map_err(|e| misfit(&e));
    times(2)?;
    let (outcome, counts) = counted(None, || times(calls));
    outcome?;
    match expected.iter().map(|result| result.floats()).eq(rooms.into_iter().map(Some)) {
        true => Ok(counts),
        false => Err(format!("{}: other results than those of other calls", program.name)),
    }
}
