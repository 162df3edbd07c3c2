//! `cotan doctor`: what was found on this machine, and what is missing.

use crate::args::DoctorArgs;
use crate::diagnostics::Failure;
use crate::environment;
use crate::exit;
use crate::output;
use cotan::cpu::{Attempt, Report, doctor};
use cotan::diagnostics::visible_line;
use serde_json::{Value as Json, json};
use std::num::NonZeroUsize;

pub(crate) fn run(args: &DoctorArgs) -> Result<u8, Failure> {
    let threads = environment::threads(None)?.or(std::thread::available_parallelism().ok());
    let threads = threads.map_or(1, NonZeroUsize::get);
    let (report, missing) = doctor(&environment::llvm(), environment::cache());
    if args.json {
        output::print_json(&object(&report, threads, missing).to_string())?;
    } else {
        output::print(&lines(&report, threads, missing))?;
    }
    Ok(exit::DONE)
}

/// The attempt that found the library in use.
fn used(report: &Report) -> Option<&Attempt> {
    report.attempts.iter().find(|attempt| attempt.outcome.is_ok())
}

fn object(report: &Report, threads: usize, missing: Option<String>) -> Json {
    let library = report.library.as_ref().zip(used(report));
    let attempts: Vec<String> = report.attempts.iter().map(ToString::to_string).collect();
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "llvm": library.map(|((path, version), attempt)| json!({
            "library": path.display().to_string(),
            "version": version.to_string(),
            "origin": attempt.origin.to_string(),
        })),
        "attempts": attempts,
        "cpu": report.target.as_ref().map(|t| json!({
            "name": t.cpu,
            "triple": t.triple,
            "vector_bits": t.vector_bits,
        })),
        "threads": threads,
        "cache": report.cache.as_ref().map(|c| json!({
            "folder": c.folder.display().to_string(),
            "bytes": c.bytes.as_ref().ok(),
            "max_bytes": c.max_bytes,
        })),
        "checker": environment::checker().ok().map(|path| path.display().to_string()),
        "missing": missing,
    })
}

fn lines(report: &Report, threads: usize, missing: Option<String>) -> String {
    let mut rows = vec![("cotan", env!("CARGO_PKG_VERSION").to_owned())];
    match report.library.as_ref().zip(used(report)) {
        Some(((path, version), attempt)) => {
            rows.push(("LLVM", format!("{version}, {} ({})", path.display(), attempt.origin)));
        }
        None => rows.push(("LLVM", "none".to_owned())),
    }
    let refused = report.attempts.iter().filter(|attempt| attempt.outcome.is_err());
    rows.extend(refused.map(|attempt| ("  refused", format!("({}) {attempt}", attempt.origin))));
    if let Some(target) = &report.target {
        rows.push(("CPU", format!("{}, {}", target.cpu, target.triple)));
        rows.push(("vectors", format!("{} bits", target.vector_bits)));
    }
    rows.push(("threads", threads.to_string()));
    rows.push(match &report.cache {
        Some(cache) => {
            let size = cache.bytes.as_ref().map_or_else(Clone::clone, |bytes| format!("{} KiB", bytes >> 10));
            ("cache", format!("{}, {size} of {} MiB", cache.folder.display(), cache.max_bytes >> 20))
        }
        None => ("cache", "none".to_owned()),
    });
    let checker = environment::checker().map_or_else(
        |_| "none, which only --certify needs; `cargo xtask proofs` in the repository makes it".to_owned(),
        |path| path.display().to_string(),
    );
    rows.push(("checker", checker));
    rows.push(("missing", missing.unwrap_or_else(|| "nothing".to_owned())));
    rows.into_iter().map(|(label, text)| format!("{label:<10} {}\n", visible_line(&text))).collect()
}
