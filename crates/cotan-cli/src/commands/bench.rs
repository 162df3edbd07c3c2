//! `cotan bench`: times a function and its gradient.

use crate::args::BenchArgs;
use crate::diagnostics::Failure;
use crate::environment;
use crate::exit;
use crate::input;
use crate::output;
use crate::session::{Session, read_program};
use crate::terminal;
use cotan::{CallError, Compiler, Config, DerivativeForm, Engine, Request, codes, derivative};
use cotan_measure::{DeviceUse, Instance, Measured, Profile, Settings, Tolerance, measure, profile, profile_table};
use serde::Serialize;
use std::num::NonZeroUsize;
use std::time::Duration;

pub(crate) fn run(args: &BenchArgs) -> Result<u8, Failure> {
    let session = Session::open(&args.file, &args.engine)?;
    let (file, source) = read_program(&args.file)?;
    let function = Request::function(args.function.as_str());
    let wrt: Vec<&str> = args.grad.iter().map(String::as_str).collect();
    let gradient =
        if wrt.is_empty() { None } else { Some(derivative(&args.function, DerivativeForm::ValueAndGrad, &wrt)) };
    // Errors of the program and of the arguments are told as elsewhere, before anything is timed.
    session.lower(&function)?;
    if let Some(gradient) = &gradient {
        session.lower(gradient)?;
    }
    let raw = input::read(&args.inputs)?;
    let called = session.function(&function)?;
    session.call(&args.function, &called, &raw)?;
    let instance = Instance {
        objective: args.function.clone(),
        name: args.inputs.args.join(" "),
        file,
        source,
        args: session.arguments(&args.function, called.signature(), &raw)?,
        function,
        gradient,
        blocks: Vec::new(),
        tolerance: Tolerance::default(),
    };
    let usage = |message: String| Failure::plain(exit::USAGE, codes::UNSUPPORTED_OPTION, message);
    let budget = Duration::try_from_secs_f64(args.budget)
        .map_err(|_| usage(format!("--budget: expected seconds, at least 0, found {}", args.budget)))?;
    let threads = environment::threads(args.engine.threads)?.or(std::thread::available_parallelism().ok());
    let settings = Settings {
        engine: session.engine,
        threads: threads.map_or(1, NonZeroUsize::get),
        budget,
        fewest_samples: args.repeat,
    };
    if args.profile && session.engine != Engine::CPU {
        let message = "`--profile` looks into compiled code".to_owned();
        return Err(usage(message).help("use --backend cpu"));
    }
    // Compiled anew: what the cache holds would be no compile time.
    let config = Config { cache: None, quick_start: false, ..environment::config(&args.engine)? };
    let compiler = Compiler::new(config).map_err(|e| Failure::plain(exit::USAGE, codes::LIMIT, e))?;
    let status = terminal::status("compiling and timing");
    let found = measure(&compiler, &instance, settings).and_then(|(measured, _)| {
        let profile = args.profile.then(|| profile(&compiler, &instance, budget, None)).transpose()?;
        Ok(Report { measured, profile })
    });
    status.finish_and_clear();
    let report = found.map_err(|e| match e.downcast_ref::<CallError>() {
        Some(error) => session.call_failure(&args.function, error),
        None => Failure::bug(format!("{e:#}")),
    })?;
    if args.json {
        let line = serde_json::to_string(&report).map_err(|e| Failure::bug(format!("the report: {e}")))?;
        output::print_json(&line)?;
    } else {
        output::print(&table(&report.measured))?;
        let nests = report.profile.iter().flat_map(profile_table);
        output::print(&nests.map(|line| line + "\n").collect::<String>())?;
    }
    Ok(exit::DONE)
}

/// What is printed under `--json`.
#[derive(Serialize)]
struct Report {
    #[serde(flatten)]
    measured: Measured,
    #[serde(skip_serializing_if = "Option::is_none")]
    profile: Option<Profile>,
}

fn table(m: &Measured) -> String {
    let mut rows = vec![
        ("engine", format!("{}, {} threads, {} samples", m.backend, m.threads, m.samples)),
        ("compilation", duration(m.compile_s)),
        ("first call", duration(m.first_call_s)),
        ("function", format!("{} (median {})", duration(m.obj_min), duration(m.obj_med))),
    ];
    if let (Some(least), Some(median)) = (m.grad_min, m.grad_med) {
        rows.push(("gradient", format!("{} (median {})", duration(least), duration(median))));
        rows.push(("ratio", format!("{:.2}", least / m.obj_min)));
    }
    rows.extend(m.versions.iter().map(|version| {
        let sizes: Vec<String> = version.sizes.iter().map(|(name, size)| format!("{name} = {size}")).collect();
        ("version", format!("{}, compiled in {}", sizes.join(", "), duration(version.seconds)))
    }));
    if let (Some(peak), Some(allocations), Some(records)) = (m.peak_bytes, m.allocations_per_call, m.record_bytes) {
        rows.push(("memory", format!("{peak} bytes, {allocations} allocations per call, {records} bytes of records")));
    }
    if let Some(device) = &m.device {
        let DeviceUse { launches, submissions, read_backs, moved_bytes, cpu_min, cpu_med, .. } = device;
        rows.push(match &device.on_host {
            None => {
                let counts = format!("{launches} launches in {submissions} submissions, {read_backs} read-backs");
                ("device", format!("{counts}, {moved_bytes} bytes moved per call"))
            }
            Some(why) => ("device", format!("not used: {why}")),
        });
        rows.push(("on the CPU", format!("{} (median {})", duration(*cpu_min), duration(*cpu_med))));
    }
    let written = m.predicted_written_bytes;
    rows.push((
        "predicted",
        format!("at most {} bytes of records at once, {written} in all", m.predicted_record_bytes),
    ));
    rows.into_iter().map(|(label, text)| format!("{label:<12} {text}\n")).collect()
}

/// A time in the unit in which it is a number of some digits.
fn duration(seconds: f64) -> String {
    let units = [(1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns")];
    let (unit, name) = units.into_iter().find(|(unit, _)| seconds >= *unit).unwrap_or((1e-9, "ns"));
    format!("{:.3} {name}", seconds / unit)
}

#[cfg(test)]
mod tests {
    use super::duration;

    #[test]
    fn units_follow_the_time() {
        let times = [2.5, 0.9405, 5e-7, 1e-10];
        assert_eq!(times.map(duration), ["2.500 s", "940.500 ms", "500.000 ns", "0.100 ns"]);
    }
}
