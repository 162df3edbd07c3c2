//! Value and gradient of the ADBench objectives against reference values.

use super::{Line, Measured, Workplace};
use cotan::host::{Budget, HostValue, read_npy};
use cotan::{Compiler, Config, Engine};
use cotan_bench::{Instance, Objective, compare_blocks, evaluate, evaluate_by_tape, read_adbench};
use serde_json::Value as Json;
use std::fs;

pub(super) const LINES: &[Line] = &[
    Line { title: "GMM and LSTM, every instance, compiled", bar: "at most 1e-9 per block", measure: compiled },
    Line { title: "GMM and LSTM, small instances, interpreter", bar: "at most 1e-9 per block", measure: interpreted },
    Line { title: "GMM and LSTM, small instances, tape engine", bar: "at most 1e-9 per block", measure: taped },
];

const BAR: f64 = 1e-9;

const INSTANCES: [(Objective, &str, &str); 8] = [
    (Objective::Gmm, "gmm/1k/gmm_d10_K25.txt", "gmm_1k_d10_K25"),
    (Objective::Gmm, "gmm/1k/gmm_d20_K50.txt", "gmm_1k_d20_K50"),
    (Objective::Gmm, "gmm/1k/gmm_d64_K25.txt", "gmm_1k_d64_K25"),
    (Objective::Gmm, "gmm/10k/gmm_d10_K25.txt", "gmm_10k_d10_K25"),
    (Objective::Gmm, "gmm/10k/gmm_d20_K100.txt", "gmm_10k_d20_K100"),
    (Objective::Lstm, "lstm/lstm_l2_c1024.txt", "lstm_l2_c1024"),
    (Objective::Lstm, "lstm/lstm_l4_c1024.txt", "lstm_l4_c1024"),
    (Objective::Lstm, "lstm/lstm_l4_c4096.txt", "lstm_l4_c4096"),
];

const SMALL: [&str; 2] = ["gmm_1k_d10_K25", "lstm_l2_c1024"];

fn compiled(place: &Workplace) -> Result<Measured, String> {
    compare(place, |_| true, |compiler, instance| evaluate(compiler, instance, Engine::CPU))
}

fn interpreted(place: &Workplace) -> Result<Measured, String> {
    compare(place, |name| SMALL.contains(&name), |compiler, instance| evaluate(compiler, instance, Engine::INTERPRETER))
}

fn taped(place: &Workplace) -> Result<Measured, String> {
    compare(
        place,
        |name| SMALL.contains(&name),
        |compiler, instance| {
            let wrt: &[&str] =
                if instance.objective == "gmm" { &["alphas", "means", "icf"] } else { &["weights", "extra"] };
            evaluate_by_tape(compiler, instance, wrt)
        },
    )
}

fn compare(
    place: &Workplace,
    is_wanted: impl Fn(&str) -> bool,
    run: impl Fn(&Compiler, &Instance) -> anyhow::Result<(f64, Vec<f64>)>,
) -> Result<Measured, String> {
    let compiler = Compiler::new(Config::default())?;
    let references = fs::read_to_string(place.adbench.join("reference/reference.json"));
    let references: Json = serde_json::from_str(&references.map_err(|e| format!("{}: {e}", place.adbench.display()))?)
        .map_err(|e| e.to_string())?;
    let (mut worst, mut worst_value, mut n): (f64, f64, usize) = (0.0, 0.0, 0);
    for (objective, file, name) in INSTANCES.into_iter().filter(|(_, _, name)| is_wanted(name)) {
        let text = fs::read_to_string(place.adbench.join(file)).map_err(|e| format!("{file}: {e}"))?;
        let instance = read_adbench(objective, name, &text, None).map_err(|e| e.to_string())?;
        let (value, entries) = run(&compiler, &instance).map_err(|e| format!("{name}: {e:#}"))?;
        let npy = fs::read(place.adbench.join(format!("reference/{name}.npy"))).map_err(|e| format!("{name}: {e}"))?;
        let reference: HostValue = read_npy(&npy, &mut Budget::default()).map_err(|e| format!("{name}: {e}"))?;
        let blocks =
            compare_blocks(&entries, &reference.floats(), &instance.blocks).ok_or("numbers of entries differ")?;
        let expected = references[name.replacen('_', "/", 1)]["value"].as_f64().ok_or("no reference value")?;
        for error in blocks.into_iter().map(|b| b.relative()) {
            worst = larger(worst, error);
        }
        let error = ((value - expected) / expected).abs();
        worst_value = larger(worst_value, error);
        n += 1;
    }
    let text = format!("{n} instances, worst block {worst:.1e}, worst value {worst_value:.1e}");
    Ok(Measured::new(worst <= BAR && worst_value <= BAR, text))
}

/// The larger of two errors; a NaN stays, where `f64::max` would lose it.
pub(super) fn larger(a: f64, b: f64) -> f64 {
    if a.is_nan() || b <= a { a } else { b }
}

#[cfg(test)]
mod tests {
    use super::larger;

    #[test]
    fn a_nan_is_the_largest_error_wherever_it_stands() {
        assert!(larger(f64::NAN, 1.0).is_nan());
        assert!(larger(1.0, f64::NAN).is_nan());
        assert_eq!(larger(larger(0.0, 2.0), 1.0), 2.0);
    }
}
