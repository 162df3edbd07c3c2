//! How time is taken: one warm-up call with compilation apart, repeats until a sample is long enough to trust the
//! clock, samples until the budget is spent, each on operands that differ from the last one's; minima and medians.

use crate::Instance;
use crate::perturb::Perturbed;
use anyhow::{Context, Result, anyhow};
use cotan::explain::RecordCounts;
use cotan::host::Value;
use cotan::host::{Arguments, HostValue, fit_arguments};
use cotan::vulkan::{CallStatistics, Ran};
use cotan::{CallLimits, Compiler, Engine, Function, MadeVersion, Program, Request, tape_gradient};
use serde::Serialize;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// A sample is at least this long.
pub const SHORTEST_SAMPLE: Duration = Duration::from_millis(2);
/// What is compared takes its samples in this many turns, so that a disturbance meets both.
const TURNS: u32 = 4;
/// The code of what has elements shorter than eight bytes has run so often on its operands before it is timed.
const WARM_UPS: u32 = 4;

/// A turn of what is compared with ours.
#[derive(Clone, Copy, Debug)]
pub struct Turn<'a> {
    /// How long it takes samples.
    pub budget: Duration,
    /// The value that we found, if there is one.
    pub value: Option<f64>,
    /// The derivative entries that we found.
    pub entries: &'a [f64],
}

/// Runs something else for a turn.
pub type Beside<'a> = &'a mut dyn FnMut(&Turn<'_>) -> Result<()>;

/// What to measure with.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// What runs the program.
    pub engine: Engine,
    /// Threads, for the report.
    pub threads: usize,
    /// Time for the samples of one function.
    pub budget: Duration,
    /// There are at least this many samples, whatever the budget.
    pub fewest_samples: usize,
}

/// One line of the report; times in seconds. What an engine or an instance does not have is `None`.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "the names are those of the command's contract")]
pub struct Measured {
    pub objective: String,
    pub instance: String,
    pub backend: &'static str,
    pub threads: usize,
    pub value: Option<f64>,
    pub entries: usize,
    pub norm2: f64,
    pub compile_s: f64,
    /// The versions for small sizes that the calls got.
    pub versions: Vec<Version>,
    pub first_call_s: f64,
    pub obj_min: f64,
    pub obj_med: f64,
    pub grad_min: Option<f64>,
    pub grad_med: Option<f64>,
    pub samples: usize,
    /// What all samples computed, in sum; it keeps them from being left out.
    pub checksum: f64,
    pub allocations_per_call: Option<u64>,
    pub peak_mib: Option<f64>,
    /// The same in bytes: the most that a call held at once, beside its arguments and results.
    pub peak_bytes: Option<usize>,
    /// The most bytes of records that were alive at once.
    pub record_bytes: Option<i64>,
    /// The bytes of all records, one after the other, as told by the lengths alone.
    pub predicted_written_bytes: i64,
    /// The most bytes of records at any one time, as told by the lengths alone.
    pub predicted_record_bytes: i64,
    /// The shortest and the median time of the code of the function alone: without bringing elements that are shorter
    /// than eight bytes into its layout and back.
    pub obj_code_min: Option<f64>,
    pub obj_code_med: Option<f64>,
    /// The same of the gradient.
    pub grad_code_min: Option<f64>,
    pub grad_code_med: Option<f64>,
    /// What calls on a device took, of a backend with one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device: Option<DeviceUse>,
}

/// What the last call on a device took, of the gradient if there is one, and what the CPU takes for it.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "the names are those of the command's contract")]
pub struct DeviceUse {
    /// Why calls ran on the host, if they did; the counts are zero then.
    pub on_host: Option<String>,
    pub launches: u64,
    pub submissions: u64,
    pub read_backs: u64,
    pub moved_bytes: u64,
    /// The shortest and the median time of the CPU backend, in turns with the device.
    pub cpu_min: f64,
    pub cpu_med: f64,
}

impl DeviceUse {
    fn of(ran: Ran, cpu: &Times) -> DeviceUse {
        let (on_host, taken) = match ran {
            Ran::OnDevice(taken) => (None, taken),
            Ran::OnHost(why) => (Some(why), CallStatistics::default()),
        };
        let CallStatistics { launches, submissions, read_backs, moved_bytes, .. } = taken;
        let (cpu_min, cpu_med) = (cpu.min(), median(&cpu.seconds).unwrap_or(f64::NAN));
        DeviceUse { on_host, launches, submissions, read_backs, moved_bytes, cpu_min, cpu_med }
    }
}

/// Code that calls of small sizes got.
#[derive(Clone, Debug, Serialize)]
pub struct Version {
    /// The sizes, by their names.
    pub sizes: BTreeMap<String, i64>,
    /// How long it took to make.
    pub seconds: f64,
}

impl Version {
    fn of(made: MadeVersion) -> Version {
        Version { sizes: made.sizes.into_iter().collect(), seconds: made.time.as_secs_f64() }
    }
}

/// The value and the derivative entries of an instance, in the order of its parameters.
pub fn evaluate(compiler: &Compiler, instance: &Instance, engine: Engine) -> Result<(f64, Vec<f64>)> {
    let program = check(compiler, instance)?;
    let request = instance.gradient.as_ref().context("expected an instance with a gradient")?;
    let gradient = function(compiler, &program, request, engine)?;
    let (value, entries) = call(&gradient, &instance.args)?;
    let value = match value {
        Some(value) => value,
        None => value_of(&function(compiler, &program, &instance.function, engine)?, instance)?,
    };
    Ok((value, entries))
}

/// The same with respect to parameters by name, by the tape engine, which knows nothing of the derivative passes.
pub fn evaluate_by_tape(compiler: &Compiler, instance: &Instance, wrt: &[&str]) -> Result<(f64, Vec<f64>)> {
    let program = check(compiler, instance)?;
    let lowered = compiler.lower_to_derive(&program, &instance.function)?;
    let wrt: Vec<String> = wrt.iter().map(|name| (*name).to_owned()).collect();
    let (value, gradients) = tape_gradient(&lowered, &instance.args, &wrt, None, &CallLimits::default())?;
    let value = value.as_scalar().and_then(|c| c.as_float()).context("expected a float value")?;
    Ok((value, gradients.iter().flat_map(HostValue::floats).collect()))
}

/// Times an instance. The entries of the derivative come with the figures.
pub fn measure(compiler: &Compiler, instance: &Instance, settings: Settings) -> Result<(Measured, Vec<f64>)> {
    measure_beside(compiler, instance, settings, &mut |_| Ok(()))
}

/// The same, in turns with something that is compared with it.
pub fn measure_beside(
    compiler: &Compiler,
    instance: &Instance,
    settings: Settings,
    beside: Beside<'_>,
) -> Result<(Measured, Vec<f64>)> {
    let program = check(compiler, instance)?;
    let start = Instant::now();
    let objective = function(compiler, &program, &instance.function, settings.engine)?;
    let request = instance.gradient.as_ref();
    let gradient = request.map(|r| function(compiler, &program, r, settings.engine)).transpose()?;
    let compile_s = start.elapsed().as_secs_f64();

    // The function that does most of the work speaks for the instance.
    let main = gradient.as_ref().unwrap_or(&objective);
    let start = Instant::now();
    let (value, entries) = call(main, &instance.args)?;
    let first_call_s = start.elapsed().as_secs_f64();
    let (value, entries) = match (value, &gradient) {
        (None, Some(_)) => (Some(value_of(&objective, instance)?), entries),
        (value, Some(_)) => (value, entries),
        (value, None) => (value, Vec::new()),
    };

    let entries = if instance.tolerance.has_result {
        [objective.call(&instance.args)?.floats(), entries].concat()
    } else {
        entries
    };

    let turn = Turn { budget: settings.budget / TURNS, value, entries: &entries };
    let mut of_objective = Sampler::new(&objective, &instance.args)?;
    let mut of_gradient = gradient.as_ref().map(|g| Sampler::new(g, &instance.args)).transpose()?;
    let of_cpu = (settings.engine == Engine::VULKAN).then(|| {
        let request = request.unwrap_or(&instance.function);
        function(compiler, &program, request, Engine::CPU)
    });
    let of_cpu = of_cpu.transpose()?;
    let mut of_cpu = of_cpu.as_ref().map(|f| Sampler::new(f, &instance.args)).transpose()?;
    for _ in 0..TURNS {
        if gradient.is_some() {
            beside(&turn)?;
        }
        of_objective.take(turn.budget)?;
        of_gradient.as_mut().map(|sampler| sampler.take(turn.budget)).transpose()?;
        of_cpu.as_mut().map(|sampler| sampler.take(turn.budget)).transpose()?;
    }
    let objective_times = of_objective.finish(settings.fewest_samples)?;
    let gradient_times = of_gradient.map(|sampler| sampler.finish(settings.fewest_samples)).transpose()?;
    let cpu_times = of_cpu.map(|sampler| sampler.finish(settings.fewest_samples)).transpose()?;
    let statistics = main.statistics();
    let predicted = predicted(compiler, main, instance, settings.engine)?;
    let main_times = gradient_times.as_ref().unwrap_or(&objective_times);
    let (samples, checksum) = (main_times.seconds.len(), main_times.checksum);
    let measured = Measured {
        objective: instance.objective.clone(),
        instance: instance.name.clone(),
        backend: backend(main),
        threads: settings.threads,
        value,
        entries: entries.len(),
        norm2: entries.iter().map(|x| x * x).sum::<f64>().sqrt(),
        compile_s,
        versions: main.versions().into_iter().map(Version::of).collect(),
        first_call_s,
        obj_min: objective_times.min(),
        obj_med: median(&objective_times.seconds).unwrap_or(f64::NAN),
        grad_min: gradient_times.as_ref().map(Times::min),
        grad_med: gradient_times.as_ref().and_then(|times| median(&times.seconds)),
        samples,
        checksum,
        allocations_per_call: statistics.map(|s| s.allocations),
        peak_mib: statistics.map(|s| s.peak_bytes as f64 / (1 << 20) as f64),
        peak_bytes: statistics.map(|s| s.peak_bytes),
        record_bytes: statistics.map(|s| s.record_bytes),
        predicted_written_bytes: predicted.written,
        predicted_record_bytes: predicted.peak,
        obj_code_min: objective_times.code.first().copied(),
        obj_code_med: median(&objective_times.code),
        grad_code_min: gradient_times.as_ref().and_then(|times| times.code.first().copied()),
        grad_code_med: gradient_times.as_ref().and_then(|times| median(&times.code)),
        device: main.ran().zip(cpu_times.as_ref()).map(|(ran, cpu)| DeviceUse::of(ran, cpu)),
    };
    Ok((measured, entries))
}

/// What runs a function.
fn backend(function: &Function) -> &'static str {
    let engine = match (function.ran(), function.is_compiled()) {
        (Some(_), _) => Engine::VULKAN,
        (None, true) => Engine::CPU,
        (None, false) => Engine::INTERPRETER,
    };
    engine.name()
}

/// The program of an instance; its first error is the error.
pub fn check(compiler: &Compiler, instance: &Instance) -> Result<Program> {
    let program = compiler.check(&instance.file, &instance.source);
    match program.diagnostics.iter().find(|d| d.is_error()) {
        Some(d) => Err(anyhow!("{}: {}", instance.file, d.message)),
        None => Ok(program),
    }
}

/// A function or derivative of the program, ready to be called.
pub fn function(compiler: &Compiler, program: &Program, request: &Request, engine: Engine) -> Result<Function> {
    compiler.function(program, request, engine).with_context(|| format!("compiling `{}`", request.function))
}

/// The value, if the result is a scalar or begins with one, and the derivative entries: everything else in a tuple, or
/// a tensor alone.
fn call(function: &Function, args: &Arguments) -> Result<(Option<f64>, Vec<f64>)> {
    let result = function.call(args)?;
    let parts = if let HostValue::Tuple(parts) = &result { parts.as_slice() } else { std::slice::from_ref(&result) };
    let value = parts.first().and_then(HostValue::as_scalar).and_then(|c| c.as_float());
    let rest = if value.is_some() { &parts[1..] } else { parts };
    Ok((value, rest.iter().flat_map(HostValue::floats).collect()))
}

/// The bytes of the records of a call, without making it.
fn predicted(compiler: &Compiler, function: &Function, instance: &Instance, engine: Engine) -> Result<RecordCounts> {
    // It has no parallel loops.
    let engine = if engine == Engine::VULKAN { Engine::CPU } else { engine };
    let counter =
        compiler.bind(compiler.record_counter(&function.lowered()), engine).context("compiling the counter")?;
    RecordCounts::of(&counter.call(&instance.args)?).context("expected two numbers of bytes")
}

/// The value of a function that gives a float.
fn value_of(function: &Function, instance: &Instance) -> Result<f64> {
    call(function, &instance.args)?.0.context("expected a float value")
}

/// The middle one of sorted times.
fn median(sorted: &[f64]) -> Option<f64> {
    sorted.get(sorted.len() / 2).copied()
}

struct Times {
    /// Per call, sorted.
    seconds: Vec<f64>,
    /// The same of the code alone; empty where an interpreter ran.
    code: Vec<f64>,
    checksum: f64,
}

impl Times {
    fn min(&self) -> f64 {
        self.seconds.first().copied().unwrap_or(f64::NAN)
    }
}

/// Times calls with operands that are flat already, and with memory for the results: what is measured is the function, not
/// the reading of arguments.
struct Sampler<'a> {
    function: &'a Function,
    perturbed: Perturbed,
    results: Vec<Value>,
    /// How often the code runs before it is timed. Operands that are brought into the layout of the code at each call would
    /// push each other out of caches, which those of a caller who has them in that layout do not: then [`WARM_UPS`], else 0.
    warm_ups: u32,
    repeats: u32,
    seconds: Vec<f64>,
    code: Vec<f64>,
}

impl<'a> Sampler<'a> {
    /// Calls often enough to know how many calls a sample has.
    fn new(function: &'a Function, args: &Arguments) -> Result<Sampler<'a>> {
        let perturbed = Perturbed::new(fit_arguments(function.entry(), args)?);
        let results = function.call_flat(perturbed.operands())?;
        let is_short = |value: &Value| value.elem.bytes() < size_of::<u64>();
        let warm_ups = if perturbed.operands().iter().any(is_short) { WARM_UPS } else { 0 };
        let (seconds, code) = (Vec::new(), Vec::new());
        let mut found = Sampler { function, perturbed, results, warm_ups, repeats: 1, seconds, code };
        while found.timed()?.0 < SHORTEST_SAMPLE && found.repeats < 1 << 20 {
            found.repeats *= 2;
        }
        Ok(found)
    }

    /// The time of the calls of a sample, and that of their code.
    fn timed(&mut self) -> Result<(Duration, Option<Duration>)> {
        self.perturbed.note(&self.results);
        self.perturbed.turn();
        let (whole, mut code) = self.calls(0)?;
        if self.warm_ups > 0 {
            code = self.calls(self.warm_ups)?.1;
        }
        Ok((whole, self.function.is_compiled().then_some(code)))
    }

    /// The same of calls whose code runs so often before.
    fn calls(&mut self, warm_ups: u32) -> Result<(Duration, Duration)> {
        let mut code = Duration::ZERO;
        let start = Instant::now();
        for _ in 0..self.repeats {
            let earlier = std::mem::take(&mut self.results);
            self.results =
                std::hint::black_box(self.function.call_warm(self.perturbed.operands(), earlier, warm_ups)?);
            code += self.function.statistics().map_or(Duration::ZERO, |statistics| statistics.code_time);
        }
        Ok((start.elapsed(), code))
    }

    fn one(&mut self) -> Result<()> {
        let per_call = |time: Duration, repeats: u32| time.as_secs_f64() / f64::from(repeats);
        let (whole, code) = self.timed()?;
        self.seconds.push(per_call(whole, self.repeats));
        self.code.extend(code.map(|code| per_call(code, self.repeats)));
        Ok(())
    }

    /// Takes samples for so long, at least one in all.
    fn take(&mut self, budget: Duration) -> Result<()> {
        let start = Instant::now();
        while self.seconds.is_empty() || start.elapsed() < budget {
            self.one()?;
        }
        Ok(())
    }

    fn finish(mut self, fewest: usize) -> Result<Times> {
        while self.seconds.len() < fewest {
            self.one()?;
        }
        self.seconds.sort_by(f64::total_cmp);
        self.code.sort_by(f64::total_cmp);
        Ok(Times { seconds: self.seconds, code: self.code, checksum: self.perturbed.checksum() })
    }
}
