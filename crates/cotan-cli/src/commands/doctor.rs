//! `cotan doctor`: what was found on this machine, and what is missing.

use crate::args::DoctorArgs;
use crate::diagnostics::Failure;
use crate::environment;
use crate::exit;
use crate::output;
use crate::terminal;
use cotan::cpu::{Attempt, Report, doctor};
use cotan::diagnostics::visible_line;
use cotan::vulkan::{self, Finding};
use serde_json::{Value as Json, json};
use std::num::NonZeroUsize;

pub(crate) fn run(args: &DoctorArgs) -> Result<u8, Failure> {
    let threads = environment::threads(None)?.or(std::thread::available_parallelism().ok());
    let threads = threads.map_or(1, NonZeroUsize::get);
    let (report, missing) = doctor(&environment::llvm(), environment::cache());
    let status = terminal::status("asking the devices");
    let devices = vulkan::doctor(&environment::device(None).choice);
    status.finish_and_clear();
    if args.json {
        output::print_json(&object(&report, threads, missing, &devices).to_string())?;
    } else {
        output::print(&lines(&report, threads, missing, &devices))?;
    }
    Ok(exit::DONE)
}

/// The attempt that found the library in use.
fn used(report: &Report) -> Option<&Attempt> {
    report.attempts.iter().find(|attempt| attempt.outcome.is_ok())
}

fn object(report: &Report, threads: usize, missing: Option<String>, devices: &vulkan::Report) -> Json {
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
        "vulkan": vulkan_object(devices),
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

fn vulkan_object(report: &vulkan::Report) -> Json {
    let devices: Vec<Json> = report
        .devices
        .iter()
        .flatten()
        .map(|device| {
            json!({
                "number": device.number,
                "name": device.name,
                "kind": device.kind.name(),
                "driver": device.driver,
                "version": device.version,
                "features": device.features.names(),
            })
        })
        .collect();
    let chosen = report.chosen.as_ref().ok();
    json!({
        "devices": devices,
        "chosen": chosen.map(|(device, _)| device.number),
        "replaced": chosen.map(|(_, outcome)| outcome.findings.iter().map(replaced).collect::<Vec<_>>()),
        "missing": report.chosen.as_ref().err(),
    })
}

/// An instruction that a driver gets wrong, on a type.
fn replaced(finding: &Finding) -> String {
    format!("{} of {}", format!("{:?}", finding.instruction).to_lowercase(), finding.elem)
}

/// A line for each device; below the one that is chosen, what it offers and what of it is replaced.
fn vulkan_rows(report: &vulkan::Report) -> Vec<(&'static str, String)> {
    let mut rows = Vec::new();
    let chosen = report.chosen.as_ref().ok();
    for device in report.devices.iter().flatten() {
        let (name, kind) = (&device.name, device.kind.name());
        rows.push(("Vulkan", format!("{}: {name}, {kind}, {}, {}", device.number, device.driver, device.version)));
        if let Some((_, outcome)) = chosen.filter(|(chosen, _)| chosen.number == device.number) {
            rows.push(("  offers", device.features.names().join(", ")));
            let found: Vec<String> = outcome.findings.iter().map(replaced).collect();
            rows.push(("  replaced", if found.is_empty() { "nothing".to_owned() } else { found.join(", ") }));
        }
    }
    if let Err(why) = &report.chosen {
        rows.push(("Vulkan", format!("none, which only --backend vulkan needs: {why}")));
    }
    rows
}

fn lines(report: &Report, threads: usize, missing: Option<String>, devices: &vulkan::Report) -> String {
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
    rows.extend(vulkan_rows(devices));
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
