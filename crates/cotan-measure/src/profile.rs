//! Where the time of a derivative goes: its outermost loop nests, each with its time, what it computes, and the share of
//! what the machine can do.
//!
//! The code that is timed has a probe before and after each nest and is otherwise the code that runs; another variant,
//! without lanes, counts. Both run on one thread.

use crate::{Instance, Perturbed, check, function};
use anyhow::{Context, Result, ensure};
use cotan::cpu::{CallOptions, CompiledFunction, Probe, ProbeEvent};
use cotan::host::Value;
use cotan::host::fit_arguments;
use cotan::{Compiler, Engine};
use serde::{Deserialize, Serialize};
use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

/// The most that one core does in a second.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Peak {
    /// Operations on f64, two for each fused product and sum on registers.
    pub flops: f64,
    /// Bytes read from and written to memory.
    pub bytes: f64,
}

/// There are at least this many timed calls.
const FEWEST_CALLS: usize = 5;

/// An outermost loop nest.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NestFigures {
    /// Its outermost loop, and some of what it writes to.
    pub nest: String,
    /// Seconds for each call; the shortest time.
    pub seconds: f64,
    /// Operations on floats for each call, see [`ProbeEvent::Flops`].
    pub flops: i64,
    /// Bytes loaded and stored for each call, wherever they came from, see [`ProbeEvent::Bytes`].
    pub bytes: i64,
    /// Operations in a second, as a part of the peak, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of_flops: Option<f64>,
    /// Bytes in a second, as a part of what memory gives; above one where caches give them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of_bytes: Option<f64>,
}

/// What a derivative spends its time on.
#[derive(Clone, Debug, Serialize)]
pub struct Profile {
    /// The objective.
    pub objective: String,
    /// Which input.
    pub instance: String,
    /// What one core can do, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peak: Option<Peak>,
    /// The shortest call, in seconds, probes included.
    pub seconds: f64,
    /// In the order in which they run.
    pub nests: Vec<NestFigures>,
}

/// Profiles the derivative of an instance, or the function if it has none, by calls for so long; beside the peak of the
/// machine, where that is known.
pub fn profile(compiler: &Compiler, instance: &Instance, budget: Duration, peak: Option<Peak>) -> Result<Profile> {
    let request = instance.gradient.as_ref().unwrap_or(&instance.function);
    let function = function(compiler, &check(compiler, instance)?, request, Engine::CPU)?;
    let probed = |probe| compiler.probed(&function, probe).context("compiling with probes");
    let mut perturbed = Perturbed::new(fit_arguments(function.entry(), &instance.args)?);

    let mut counted = Vec::new();
    let mut results = call(&probed(Probe::Counts)?, perturbed.operands(), Vec::new(), &mut |event| match event {
        ProbeEvent::Begin(label) => counted.push(Counted { label: label.to_owned(), flops: 0, bytes: 0 }),
        ProbeEvent::End => {}
        ProbeEvent::Flops(n) => counted.iter_mut().next_back().into_iter().for_each(|nest| nest.flops = n),
        ProbeEvent::Bytes(n) => counted.iter_mut().next_back().into_iter().for_each(|nest| nest.bytes = n),
    })?;

    let timed = probed(Probe::Times)?;
    let mut best: Vec<Duration> = Vec::new();
    let mut shortest = Duration::MAX;
    let mut n_calls = 0;
    let start = Instant::now();
    while n_calls < FEWEST_CALLS || start.elapsed() < budget {
        perturbed.turn();
        let mut times: Vec<Duration> = Vec::with_capacity(counted.len());
        let mut begun = Instant::now();
        let whole = Instant::now();
        results = call(&timed, perturbed.operands(), std::mem::take(&mut results), &mut |event| match event {
            ProbeEvent::Begin(_) => begun = Instant::now(),
            ProbeEvent::End => times.push(begun.elapsed()),
            ProbeEvent::Flops(_) | ProbeEvent::Bytes(_) => {}
        })?;
        let whole = whole.elapsed();
        perturbed.note(&results);
        // The first call finds memory that is not warm.
        if n_calls == 1 {
            best.clone_from(&times);
        }
        if n_calls > 0 {
            shortest = shortest.min(whole);
        }
        best.iter_mut().zip(&times).for_each(|(best, time)| *best = (*best).min(*time));
        n_calls += 1;
    }
    ensure!(best.len() == counted.len(), "{} nests were timed, {} counted", best.len(), counted.len());
    let nests = counted.into_iter().zip(best).map(|(nest, time)| nest.figures(time, peak)).collect();
    let (objective, instance) = (instance.objective.clone(), instance.name.clone());
    Ok(Profile { objective, instance, peak, seconds: shortest.as_secs_f64(), nests })
}

/// A nest before it is timed.
struct Counted {
    label: String,
    flops: i64,
    bytes: i64,
}

impl Counted {
    fn figures(self, time: Duration, peak: Option<Peak>) -> NestFigures {
        let Counted { label, flops, bytes } = self;
        let seconds = time.as_secs_f64();
        NestFigures {
            nest: label,
            seconds,
            flops,
            bytes,
            of_flops: peak.map(|peak| flops as f64 / seconds / peak.flops),
            of_bytes: peak.map(|peak| bytes as f64 / seconds / peak.bytes),
        }
    }
}

/// Calls a function on one thread, with memory of earlier results; `see` gets what its probes tell.
fn call(
    f: &CompiledFunction,
    args: &[Value],
    earlier: Vec<Value>,
    see: &mut dyn FnMut(ProbeEvent<'_>),
) -> Result<Vec<Value>> {
    let options = CallOptions { threads: Some(NonZeroUsize::MIN), ..CallOptions::default() };
    let mut output = |text: &str| {
        if let Some(event) = ProbeEvent::read(text) {
            see(event);
        }
    };
    Ok(f.call_again_with_output(args, earlier, &options, &mut output)?.values)
}

/// Nests that take a smaller part of the time have one line together.
const SMALL: f64 = 0.005;

/// The lines of a profile.
pub fn profile_table(profile: &Profile) -> Vec<String> {
    let Profile { peak, seconds, nests, .. } = profile;
    let mut lines = vec![title(profile)];
    let mut head = format!("{:>11} {:>6} {:>10} {:>9}", "time", "share", "Mflop", "Gflop/s");
    if peak.is_some() {
        head += &format!(" {:>8} {:>10} {:>8} {:>9}", "of peak", "MB", "GB/s", "of memory");
    } else {
        head += &format!(" {:>10} {:>8}", "MB", "GB/s");
    }
    head += "  ";
    let width = head.len() - "       time  share".len();
    lines.push(head + "nest");
    let time = |time: f64| format!("{:>9.4}ms {:>5.1}%", 1e3 * time, 100.0 * time / seconds);
    let (small, large): (Vec<_>, Vec<_>) = nests.iter().partition(|nest| nest.seconds < SMALL * seconds);
    lines.extend(large.iter().map(|nest| format!("{} {}", time(nest.seconds), rates(nest))));
    let sum = |nests: &[&NestFigures]| nests.iter().map(|nest| nest.seconds).sum::<f64>();
    if !small.is_empty() {
        lines.push(format!("{}{:>width$}smaller nests ({})", time(sum(&small)), "", small.len()));
    }
    let rest = (seconds - sum(&small) - sum(&large)).max(0.0);
    lines.push(format!("{}{:>width$}everything else", time(rest), ""));
    lines
}

/// What was profiled, and what the machine can do.
fn title(profile: &Profile) -> String {
    let Profile { objective, instance, peak, seconds, .. } = profile;
    let head = format!("{objective} {instance}: {:.3} ms", 1e3 * seconds);
    let Some(peak) = peak else { return head };
    let (flops, bytes) = (1e-9 * peak.flops, 1e-9 * peak.bytes);
    format!("{head}; one core does {flops:.1} Gflop/s, memory {bytes:.1} GB/s")
}

/// The operations and bytes of a nest, in all and in a second, and which.
fn rates(nest: &NestFigures) -> String {
    let (flops, bytes) = (nest.flops as f64, nest.bytes as f64);
    let mut line = format!("{:>10.3} {:>9.2}", 1e-6 * flops, 1e-9 * flops / nest.seconds);
    if let Some(part) = nest.of_flops {
        line += &format!(" {:>7.1}%", 100.0 * part);
    }
    line += &format!(" {:>10.3} {:>8.2}", 1e-6 * bytes, 1e-9 * bytes / nest.seconds);
    if let Some(part) = nest.of_bytes {
        let of_memory = if part > 1.0 { "cached".to_owned() } else { format!("{:.1}%", 100.0 * part) };
        line += &format!(" {of_memory:>9}");
    }
    format!("{line}  {}", nest.nest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nest(name: &str, seconds: f64, of_bytes: f64) -> NestFigures {
        let (of_flops, of_bytes) = (Some(0.25), Some(of_bytes));
        NestFigures { nest: name.to_owned(), seconds, flops: 2_000_000, bytes: 4_000_000, of_flops, of_bytes }
    }

    #[test]
    fn the_table_names_what_takes_time_and_sums_up_the_others() {
        let nests = vec![nest("for i: x", 5e-3, 0.5), nest("for k", 1e-5, 2.0), nest("for j: y", 2e-3, 2.0)];
        let peak = Some(Peak { flops: 1e11, bytes: 2e10 });
        let (objective, instance) = ("f".to_owned(), "small".to_owned());
        let lines = profile_table(&Profile { objective, instance, peak, seconds: 1e-2, nests });
        let expected = [
            "f small: 10.000 ms; one core does 100.0 Gflop/s, memory 20.0 GB/s",
            "       time  share      Mflop   Gflop/s  of peak         MB     GB/s of memory  nest",
            "   5.0000ms  50.0%      2.000      0.40    25.0%      4.000     0.80     50.0%  for i: x",
            "   2.0000ms  20.0%      2.000      1.00    25.0%      4.000     2.00    cached  for j: y",
            "   0.0100ms   0.1%                                                              smaller nests (1)",
            "   2.9900ms  29.9%                                                              everything else",
        ];
        assert_eq!(lines, expected);
    }

    #[test]
    fn without_a_peak_there_are_no_shares_of_it() {
        let nests = vec![NestFigures { of_flops: None, of_bytes: None, ..nest("for i: x", 9e-3, 0.0) }];
        let (objective, instance) = ("f".to_owned(), "small".to_owned());
        let lines = profile_table(&Profile { objective, instance, peak: None, seconds: 1e-2, nests });
        let expected = [
            "f small: 10.000 ms",
            "       time  share      Mflop   Gflop/s         MB     GB/s  nest",
            "   9.0000ms  90.0%      2.000      0.22      4.000     0.44  for i: x",
            "   1.0000ms  10.0%                                           everything else",
        ];
        assert_eq!(lines, expected);
    }
}
