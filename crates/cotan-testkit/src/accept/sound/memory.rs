//! Lines on memory: limits of calls, refusals of the machine, and growth.

use super::super::{Line, Measured, Workplace};
use crate::memory::is_counted;
use crate::memory::measures::{limited, refused_one_by_one, warm};
use crate::memory::programs::{PROGRAMS, ROUTINES};
use cotan::Engine;
use std::time::Duration;

pub(super) const LINES: &[Line] = &[
    Line {
        title: "programs and routines under a limit of 1 MiB (compiled code)",
        bar: "10 programs and 8 routines: an error within 10 ms, at most 1 MiB above the limit",
        measure: limits,
    },
    Line {
        title: "every allocation of 4 KiB or more in a call fails once (compiled code)",
        bar: "10 programs: an error, the next call is right, nothing is left",
        measure: refusals,
    },
    Line { title: "calls that use the results of earlier ones", bar: "no allocation", measure: warm_calls },
    Line { title: "1,000,000 gradient calls", bar: "at most 1 MiB more", measure: growth },
];

const LIMIT: u64 = 1 << 20;
/// What may be held above it.
const ABOVE: i64 = 1 << 20;
/// How long an error may take.
const TIME: Duration = Duration::from_millis(10);
/// Elements of arguments that want more than the limit.
const MANY: usize = 1 << 18;
/// Elements of arguments of calls that fail one by one.
const SOME: usize = 20_000;

fn counts() -> Result<(), String> {
    if is_counted() { Ok(()) } else { Err("the allocator of this process does not count".to_owned()) }
}

fn limits(_: &Workplace) -> Result<Measured, String> {
    counts()?;
    let (mut most, mut longest, mut wrong) = (0, Duration::ZERO, Vec::new());
    for program in PROGRAMS.iter().chain(ROUTINES) {
        match limited(program, MANY, LIMIT) {
            Ok(call) => {
                most = most.max(call.peak);
                longest = longest.max(call.time);
                if call.peak > LIMIT as i64 + ABOVE || call.time > TIME {
                    wrong.push(format!("{}: {} bytes, {:?}", program.name, call.peak, call.time));
                }
            }
            Err(e) => wrong.push(e),
        }
    }
    let text = format!("at most {most} bytes and {longest:?}");
    Ok(Measured::new(wrong.is_empty(), [vec![text], wrong.clone()].concat().join("; ")))
}

fn refusals(_: &Workplace) -> Result<Measured, String> {
    counts()?;
    let refused = |is_first| -> Result<u64, String> {
        PROGRAMS.iter().map(|program| refused_one_by_one(program, Engine::CPU, SOME, is_first)).sum()
    };
    let text = format!("{} in first calls, {} in later ones", refused(true)?, refused(false)?);
    Ok(Measured::new(true, format!("{} programs, allocations: {text}", PROGRAMS.len())))
}

fn warm_calls(_: &Workplace) -> Result<Measured, String> {
    counts()?;
    let mut all = 0;
    // A routine describes its arrays to the library anew.
    for program in &PROGRAMS[..5] {
        all += warm(program, SOME, 10)?.all;
    }
    Ok(Measured::new(all == 0, format!("{all} allocations in 50 calls of 5 programs")))
}

fn growth(_: &Workplace) -> Result<Measured, String> {
    counts()?;
    let counts = warm(&PROGRAMS[1], 10, 1_000_000)?;
    Ok(Measured::new(counts.held <= ABOVE, format!("{} bytes", counts.held)))
}
