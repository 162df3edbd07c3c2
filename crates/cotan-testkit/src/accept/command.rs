//! The built command, as a stranger runs it.

use super::{Line, Measured, Workplace};
use serde_json::Value as Json;
use std::process::{Command, Output};

pub(super) const LINES: &[Line] = &[
    Line {
        title: "the README's main job: objective, gradient norm, check against finite differences",
        bar: "the check is ok, largest relative error at most 1e-6",
        measure: main_job,
    },
    Line {
        title: "an empty environment and another folder: compiled code runs",
        bar: "the same value, and no word of an interpreter on stderr",
        measure: bare_environment,
    },
    Line {
        title: "with every LLVM hidden the interpreter runs and one line says so",
        bar: "the same value, one line on stderr",
        measure: no_llvm,
    },
    Line { title: "the brief's program, verbatim", bar: "loss and gradient exact", measure: brief },
];

const BRIEF: &str = "fn loss[N](w: f32[N], x: f32[N], y: f32) -> f32 { let pred = +/(w .* x)
let err = pred - y
err * err }
@grad(w) fn dloss_dw[N](w: f32[N], x: f32[N], y: f32) -> f32[N] = loss(w, x, y)
";

pub(super) fn cotan(place: &Workplace) -> Command {
    Command::new(place.built.join("cotan"))
}

pub(super) fn output(command: &mut Command) -> Result<Output, String> {
    let out = command.output().map_err(|e| format!("running the command: {e}"))?;
    if out.status.success() {
        return Ok(out);
    }
    Err(format!("exit {:?}: {}", out.status.code(), String::from_utf8_lossy(&out.stderr).trim()))
}

pub(super) fn json(out: &Output) -> Result<Json, String> {
    serde_json::from_slice(&out.stdout).map_err(|e| format!("output is no JSON: {e}"))
}

/// A number of a report.
pub(super) fn number(report: &Json, key: &str) -> Result<f64, String> {
    report[key].as_f64().ok_or_else(|| format!("no number `{key}` in {report}"))
}

fn main_job(place: &Workplace) -> Result<Measured, String> {
    let mut command = cotan(place);
    command.current_dir(&place.root);
    command.args("grad examples/gmm/gmm.cot --fn gmm --wrt alphas,means,icf --value --check --json --args".split(' '));
    command.arg("examples/gmm/data/gmm_d10_K25.json");
    let result = json(&output(&mut command)?)?;
    let mut squares = 0.0;
    sum_squares(&result["grad"], &mut squares);
    let error = result["check"]["max_rel_err"].as_f64().ok_or("no `check.max_rel_err`")?;
    let ok = result["check"]["ok"].as_bool().ok_or("no `check.ok`")?;
    let text = format!("objective {}, gradient norm {}, max_rel_err {error:.2e}", result["value"], squares.sqrt());
    Ok(Measured::new(ok && error <= 1e-6, text))
}

fn sum_squares(json: &Json, sum: &mut f64) {
    match json {
        Json::Number(n) => *sum += n.as_f64().unwrap_or(f64::NAN).powi(2),
        Json::Array(items) => items.iter().for_each(|item| sum_squares(item, sum)),
        Json::Object(fields) => fields.values().for_each(|item| sum_squares(item, sum)),
        Json::Null | Json::Bool(_) | Json::String(_) => {}
    }
}

/// `cotan grad` of the LSTM from another folder; the environment is what `setup` leaves.
fn lstm(place: &Workplace, setup: impl Fn(&mut Command)) -> Result<(f64, String), String> {
    let folder = std::env::temp_dir();
    let root = place.root.canonicalize().map_err(|e| e.to_string())?;
    let mut command = Command::new(place.built.join("cotan"));
    command.current_dir(folder).arg("grad").arg(root.join("examples/lstm/lstm.cot"));
    command.args(["--fn", "lstm", "--wrt", "weights,extra", "--value", "--json", "--args"]);
    command.arg(root.join("examples/lstm/data/lstm_l2_c1024.json"));
    setup(&mut command);
    let out = output(&mut command)?;
    let value = json(&out)?["value"].as_f64().ok_or("no `value`")?;
    Ok((value, String::from_utf8_lossy(&out.stderr).trim().to_owned()))
}

fn bare(command: &mut Command) {
    command.env_clear().env("PATH", "/usr/bin:/bin");
    if let Some(home) = std::env::var_os("HOME") {
        command.env("HOME", home);
    }
}

fn bare_environment(place: &Workplace) -> Result<Measured, String> {
    let (expected, _) = lstm(place, |_| {})?;
    let (value, stderr) = lstm(place, bare)?;
    let holds = value.to_bits() == expected.to_bits() && stderr.is_empty();
    Ok(Measured::new(holds, format!("value {value}, stderr: {stderr:?}")))
}

fn no_llvm(place: &Workplace) -> Result<Measured, String> {
    let (expected, _) = lstm(place, |_| {})?;
    let (value, stderr) = lstm(place, |command| {
        command.env("COTAN_LLVM", "none");
    })?;
    let says_so = stderr.lines().count() == 1 && stderr.contains("interpreter");
    Ok(Measured::new(value.to_bits() == expected.to_bits() && says_so, format!("value {value}, stderr: {stderr:?}")))
}

fn brief(place: &Workplace) -> Result<Measured, String> {
    let folder = std::env::temp_dir().join(format!("cotan-accept-{}", std::process::id()));
    std::fs::create_dir_all(&folder).map_err(|e| e.to_string())?;
    let (program, args) = (folder.join("brief.cot"), folder.join("args.json"));
    let write = |path, text| std::fs::write(path, text).map_err(|e| e.to_string());
    write(&program, BRIEF)?;
    write(&args, r#"{"w": [1, 2, 3], "x": [0.5, -1, 2], "y": 1.5}"#)?;
    let mut results = Vec::new();
    for name in ["loss", "dloss_dw"] {
        let mut command = cotan(place);
        command.arg("run").arg(&program).args(["--fn", name, "--json", "--args"]).arg(&args);
        results.push(json(&output(&mut command)?)?["result"].to_string());
    }
    std::fs::remove_dir_all(&folder).map_err(|e| e.to_string())?;
    // err = 0.5 - 2 + 6 - 1.5 = 3; the gradient is 2 err x.
    let holds = results == ["9.0", "[3.0,-6.0,12.0]"];
    Ok(Measured::new(holds, format!("loss {}, gradient {}", results[0], results[1])))
}
