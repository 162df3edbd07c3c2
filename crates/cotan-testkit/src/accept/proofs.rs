//! Lines of the proofs: theorems and what they assume, proved rules, and engines held to the proved model.

use super::suites::tests;
use super::{Line, Measured, Workplace};
use cotan_ops::{Proof, obligations};
use std::path::Path;
use std::process::Command;
use std::time::Instant;

pub(super) const LINES: &[Line] = &[
    Line {
        title: "without Coq: one line that says what to install, and the rules on file are those of the table",
        bar: "the packages are named, nothing is built, the test of the file passes",
        measure: without_coq,
    },
    Line {
        title: "all theories from nothing, and what every headline theorem assumes (`cargo xtask proofs`)",
        bar: "silent, under 300 s on two cores; the committed list (proofs/axioms.expected)",
        measure: theories,
    },
    Line {
        title: "scalar primitives whose partials are proved to be derivatives on their domain",
        bar: "all but those that say why not",
        measure: proved_rules,
    },
    Line {
        title: "broken rules before the prover (`cargo xtask proofs --mutants`): signs, terms, factors, conditions",
        bar: "all that are really wrong are refused; the others are listed with reasons (proofs/mutants.expected)",
        measure: mutants,
    },
    Line {
        title: "model = tape = shipped vjp on residues: random graphs, and graphs of functions that people wrote",
        bar: "5,000 and at least 200, all agree",
        measure: model,
    },
    Line {
        title: "certificates of gradients before the proved checker: random straight-line programs, kernels of ADBench, broken ones",
        bar: "at least 95 % of 500 accepted, and every kernel; at least 95 % of broken ones refused, the others right by the theorem",
        measure: certificates,
    },
    Line {
        title: "faults seeded into cotan-ad that break reverse mode, before the same comparison",
        bar: "all are found",
        measure: faults,
    },
];

/// The bound on building everything, in seconds.
const BUILD_SECONDS: f64 = 300.0;

fn without_coq(place: &Workplace) -> Result<Measured, String> {
    let xtask = place.built.join("../debug/xtask");
    let output = Command::new(&xtask)
        .arg("proofs")
        .env("PATH", "")
        .current_dir(&place.root)
        .output()
        .map_err(|e| format!("running {}: {e}", xtask.display()))?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let first = said.lines().next().unwrap_or_default().to_owned();
    let current = tests(place, "cotan-ops", &["--test", "all", "obligations::"], "")?;
    let holds = !output.status.success() && first.contains("libcoq-coquelicot") && output.stdout.is_empty();
    Ok(Measured::new(holds, format!("{first}; {current}")))
}

fn theories(place: &Workplace) -> Result<Measured, String> {
    let built = place.root.join("target/proofs");
    if built.exists() {
        std::fs::remove_dir_all(&built).map_err(|e| format!("removing {}: {e}", built.display()))?;
    }
    let start = Instant::now();
    let said = cargo(&place.root, &["xtask", "proofs"])?;
    let seconds = start.elapsed().as_secs_f64();
    let audited = std::fs::read_to_string(place.root.join("proofs/axioms.expected"))
        .map_err(|e| format!("reading the list: {e}"))?;
    let n_audited = audited.lines().filter(|line| !line.starts_with('#')).count();
    let holds = seconds < BUILD_SECONDS && said.is_empty() && built.join("oracle").is_file();
    let silence = if said.is_empty() { "silent" } else { &said };
    Ok(Measured::new(holds, format!("{n_audited} theorems assume what is listed; {seconds:.0} s; {silence}")))
}

fn proved_rules(_: &Workplace) -> Result<Measured, String> {
    let rules = obligations();
    let names = |proof: fn(&Proof) -> bool| -> Vec<&str> {
        rules.iter().filter(|rule| proof(&rule.proof)).map(|rule| rule.name).collect()
    };
    let proved = names(|proof| *proof == Proof::Proved);
    let conventions = names(|proof| *proof == Proof::Nothing);
    let unproved = names(|proof| matches!(proof, Proof::Unproved { reason } if reason.len() > 10));
    let holds = proved.len() + conventions.len() + unproved.len() == rules.len();
    let text = format!(
        "{} of {} rules proved; unproved: {}; conventions by name: {}",
        proved.len(),
        rules.len(),
        unproved.join(" "),
        conventions.join(" ")
    );
    Ok(Measured::new(holds, text))
}

fn mutants(place: &Workplace) -> Result<Measured, String> {
    let said = cargo(&place.root, &["xtask", "proofs", "--mutants"])?;
    let line = said.lines().find(|line| line.starts_with("mutants:")).ok_or("no figures")?;
    Ok(Measured::new(true, line))
}

fn model(place: &Workplace) -> Result<Measured, String> {
    let said = output(Command::new(place.built.join("model")).args(["5000", "1"]))?;
    let line = |what: &str| said.lines().find(|line| line.starts_with(what)).map(str::to_owned).ok_or("no figures");
    let (random, real) = (line("random:")?, line("real:")?);
    let count = |line: &str| line.split_whitespace().nth(1).and_then(|n| n.parse::<usize>().ok()).unwrap_or(0);
    Ok(Measured::new(count(&random) >= 5000 && count(&real) >= 200, format!("{random}; {real}")))
}

/// The scalar kernels of ADBench's objectives, as the examples call them.
const KERNELS: [&str; 9] = [
    "rotate",
    "project",
    "reprojection_error",
    "weight_error",
    "surface_residual",
    "joint",
    "rotation",
    "squared_norm",
    "logsumexp",
];

fn certificates(place: &Workplace) -> Result<Measured, String> {
    let said = output(Command::new(place.built.join("certificates")).args(["500", "1"]))?;
    let line = |what: &str| said.lines().find(|line| line.starts_with(what)).map(str::to_owned).ok_or("no figures");
    let (random, broken, examples) = (line("straight line:")?, line("broken:")?, line("examples:")?);
    let is_kernel = |line: &&str| KERNELS.iter().any(|kernel| line.contains(&format!(" {kernel}: ")));
    let wrong: Vec<&str> =
        said.lines().filter(|line| line.starts_with("  not") || line.starts_with("  none")).collect();
    let refused: Vec<&str> = wrong.into_iter().filter(is_kernel).collect();
    let holds = share(&random) >= 0.95 && share(&broken) >= 0.95 && refused.is_empty();
    let kernels = if refused.is_empty() { "all kernels".to_owned() } else { refused.join(";") };
    Ok(Measured::new(holds, format!("{random}; {broken}; {examples}, {kernels}")))
}

/// What part `A of B` is.
fn share(line: &str) -> f64 {
    let numbers: Vec<f64> = line.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    match numbers[..] {
        [part, whole] => part / whole.max(1.0),
        _ => 0.0,
    }
}

fn faults(place: &Workplace) -> Result<Measured, String> {
    let said = output(Command::new(place.built.join("faults")).args(["1000", "residues"]))?;
    let line = said.lines().last().unwrap_or_default();
    Ok(Measured::new(line.ends_with("faults found"), line))
}

fn cargo(root: &Path, args: &[&str]) -> Result<String, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    output(Command::new(cargo).current_dir(root).args(args))
}

/// What a command prints, or the end of what it says is wrong.
fn output(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|e| format!("{command:?}: {e}"))?;
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    if output.status.success() {
        return Ok(text);
    }
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    Err(errors.lines().chain(text.lines()).take(10).collect::<Vec<_>>().join("\n"))
}
