//! `cotan bench`: times a function and its gradient.

use crate::args::BenchArgs;
use crate::diagnostics::Failure;
use crate::environment;
use crate::exit;
use crate::input;
use crate::output;
use crate::session::{Session, read_program};
use crate::terminal;
use cotan::{CallError, Compiler, Config, DerivativeForm, Request, codes, derivative};
use cotan_measure::{Instance, Measured, Settings, Tolerance, measure};
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
    // Compiled anew: what the cache holds would be no compile time.
    let config = Config { cache: None, quick_start: false, ..environment::config(&args.engine)? };
    let compiler = Compiler::new(config).map_err(|e| Failure::plain(exit::USAGE, codes::LIMIT, e))?;
    let status = terminal::status("compiling and timing");
    let measured = measure(&compiler, &instance, settings);
    status.finish_and_clear();
    let (measured, _) = measured.map_err(|e| match e.downcast_ref::<CallError>() {
        Some(error) => session.call_failure(&args.function, error),
        None => Failure::bug(format!("{e:#}")),
    })?;
    if args.json {
        let line = serde_json::to_string(&measured).map_err(|e| Failure::bug(format!("the report: {e}")))?;
        output::print_json(&line)?;
    } else {
        output::print(&table(&measured))?;
    }
    Ok(exit::DONE)
}

fn table(m: &Measured) -> String {
    let milliseconds = |s: f64| format!("{:.4} ms", 1e3 * s);
    let mut rows = vec![
        ("engine", format!("{}, {} threads, {} samples", m.backend, m.threads, m.samples)),
        ("compilation", milliseconds(m.compile_s)),
        ("first call", milliseconds(m.first_call_s)),
        ("function", format!("{} (median {})", milliseconds(m.obj_min), milliseconds(m.obj_med))),
    ];
    if let (Some(least), Some(median)) = (m.grad_min, m.grad_med) {
        rows.push(("gradient", format!("{} (median {})", milliseconds(least), milliseconds(median))));
        rows.push(("ratio", format!("{:.2}", least / m.obj_min)));
    }
    if let (Some(peak), Some(allocations), Some(records)) = (m.peak_bytes, m.allocations_per_call, m.record_bytes) {
        rows.push(("memory", format!("{peak} bytes, {allocations} allocations per call, {records} bytes of records")));
    }
    let written = m.predicted_written_bytes;
    rows.push((
        "predicted",
        format!("at most {} bytes of records at once, {written} in all", m.predicted_record_bytes),
    ));
    rows.into_iter().map(|(label, text)| format!("{label:<12} {text}\n")).collect()
}
