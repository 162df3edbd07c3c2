//! Functions that people wrote: the objectives of ADBench and other examples at small sizes, and every program under
//! `tests/run` that is differentiated.

use crate::derived_case::Subject;
use crate::files::{programs, tests_folder, workspace_file};
use crate::frontend::{loaded, lower_to_derive};
use crate::header::{Expected, cases, named_arguments};
use crate::random::Rng;
use cotan::Request;
use cotan::host::fit_arguments;
use cotan_ir::Module;
use serde_json::{Map, Value as Json, json};
use std::path::Path;

/// All of them, each with a name and the reason if there is none.
pub fn subjects() -> Vec<(String, Result<Subject, String>)> {
    let mut all = examples();
    let root = tests_folder().join("run");
    for path in programs(&root) {
        let file = path.strip_prefix(&root).unwrap_or(&path).display().to_string();
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        for case in cases(&text).unwrap_or_default() {
            if !case.wrt.is_empty() && matches!(case.expected, Expected::Value { .. }) {
                let subject = subject(&file, &text, &case.function, &case.args, &root);
                all.push((format!("tests/run/{file}: {} {}", case.function, case.name), subject));
            }
        }
    }
    all
}

/// Those of the examples, and the kernels that they are made of.
pub fn examples() -> Vec<(String, Result<Subject, String>)> {
    let made = calls().into_iter().map(|(file, name, args)| {
        let path = workspace_file("examples").join(file);
        let subject = std::fs::read_to_string(&path)
            .map_err(|e| format!("reading {}: {e}", path.display()))
            .and_then(|text| subject(file, &text, name, &args, &workspace_file("examples")));
        (format!("examples/{file}: {name}"), subject)
    });
    made.collect()
}

fn subject(file: &str, text: &str, name: &str, args: &Map<String, Json>, below: &Path) -> Result<Subject, String> {
    let program = loaded(file, text, below)?;
    let lowered = lower_to_derive(&program, &Request::function(name))?;
    let args = fit_arguments(&lowered.entry, &named_arguments(args, &lowered.entry)?).map_err(|e| e.to_string())?;
    let symbol = lowered.entry.symbol.clone();
    Ok(Subject::new(format!("{file}: {name}"), Module::clone(&lowered.module), symbol, args))
}

/// File, function and arguments.
fn calls() -> Vec<(&'static str, &'static str, Map<String, Json>)> {
    let mut rng = Rng::new(7);
    let mut reals = |dims: &[usize]| tensor(dims, &mut || json!(rng.span(0.1, 0.9)));
    let (first, second) = (hand(&mut reals, 2), hand(&mut reals, 3));
    let all = [
        (
            "gmm/gmm.cot",
            "gmm",
            json!({
                "alphas": reals(&[2]), "means": reals(&[2, 3]), "icf": reals(&[2, 6]), "x": reals(&[4, 3]), "gamma": 1.0, "m": 0,
            }),
        ),
        (
            "ba/ba.cot",
            "ba",
            json!({
                "cameras": reals(&[2, 11]), "points": reals(&[3, 3]), "weights": reals(&[4]),
                "observations": [[0, 0], [1, 2], [1, 1], [0, 2]], "features": reals(&[4, 2]),
            }),
        ),
        (
            "ba/ba.cot",
            "reprojection_error",
            json!({
                "camera": reals(&[11]), "point": reals(&[3]), "weight": 0.7, "feature": reals(&[2]),
            }),
        ),
        ("gmm/gmm.cot", "squared_norm", json!({ "diagonal": reals(&[3]), "below": reals(&[3]), "v": reals(&[3]) })),
        ("gmm/gmm.cot", "logsumexp", json!({ "v": reals(&[4]) })),
        ("hand/hand.cot", "rotation", json!({ "r": reals(&[3]) })),
        ("hand/hand.cot", "joint", json!({ "bend": 0.4, "spread": 0.3 })),
        ("ba/ba.cot", "weight_error", json!({ "weight": 0.7 })),
        ("ba/ba.cot", "rotate", json!({ "r": reals(&[3]), "x": reals(&[3]) })),
        ("ba/ba.cot", "project", json!({ "camera": reals(&[11]), "point": reals(&[3]) })),
        (
            "hand/hand.cot",
            "hand",
            json!({
                "theta": reals(&[26]), "model": first, "corresponding": [1, 0], "points": reals(&[2, 3]),
            }),
        ),
        (
            "hand/hand.cot",
            "hand_residuals",
            json!({
                "theta": reals(&[26]), "model": second, "corresponding": [2], "points": reals(&[1, 3]),
            }),
        ),
        (
            "hand/hand.cot",
            "surface_residual",
            json!({
                "u": reals(&[2]), "corner": reals(&[3, 3]), "point": reals(&[3]),
            }),
        ),
        (
            "lstm/lstm.cot",
            "lstm",
            json!({
                "weights": reals(&[2, 2, 4, 3]), "extra": reals(&[3, 3]), "state": reals(&[2, 2, 3]), "sequence": reals(&[4, 3]),
            }),
        ),
        (
            "loops/mass_spring.cot",
            "mass_spring",
            json!({
                "x0": reals(&[4]), "k": reals(&[3]), "steps": 5, "dt": 0.1, "c": 0.2, "beta": 0.3,
            }),
        ),
        ("loops/ode_rk4.cot", "ode_rk4", json!({ "p": reals(&[6]), "steps": 4, "h": 0.1 })),
        ("products/chain.cot", "chain", json!({ "a": reals(&[3, 3]), "b": reals(&[3, 3]), "c": reals(&[3, 3]) })),
    ];
    all.into_iter().map(|(file, name, args)| (file, name, args.as_object().cloned().unwrap_or_default())).collect()
}

/// The model of a hand with so many vertices, whose bones are a chain.
fn hand(reals: &mut dyn FnMut(&[usize]) -> Json, n_vertices: usize) -> Json {
    let bones: Vec<i64> = (0..22).map(|k| k - 1).collect();
    json!({
        "parent": bones, "relative": reals(&[22, 4, 4]), "inverse": reals(&[22, 4, 4]),
        "position": reals(&[n_vertices, 4]), "weight": reals(&[n_vertices, 22]),
    })
}

fn tensor(dims: &[usize], next: &mut dyn FnMut() -> Json) -> Json {
    match dims {
        [] => next(),
        [n, inner @ ..] => (0..*n).map(|_| tensor(inner, next)).collect(),
    }
}
