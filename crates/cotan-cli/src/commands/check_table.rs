//! The outcome of a check of a gradient: a table for people, an object for tools.

use crate::look::Look;
use crate::output;
use cotan::diagnostics::SourceMap;
use cotan::host::{Const, HostValue};
use cotan::{GradientCheck, ParameterCheck, Verdict};
use std::num::NonZeroUsize;

/// How many differences of a parameter the table shows: the one at the longest step, one between, and the last.
const SHOWN: usize = 3;

/// Digits of the numbers; `--json` has all.
const DIGITS: NonZeroUsize = NonZeroUsize::MIN.saturating_add(7);

/// The object of `--json`.
pub(super) fn object(check: &GradientCheck, sources: &SourceMap) -> HostValue {
    let parameters = check.parameters.iter().map(|parameter| (parameter.name.clone(), parameter_object(parameter)));
    let kinks: Vec<HostValue> = check.kinks(sources).into_iter().map(text_value).collect();
    let mut parts = vec![
        ("max_rel_err", HostValue::f64(check.max_rel_err())),
        ("ok", HostValue::Scalar(Const::bool(check.is_ok()))),
        ("verdict", text_value(check.verdict().word().to_owned())),
        ("parameters", output::object(parameters)),
    ];
    if !kinks.is_empty() {
        parts.push(("kinks", HostValue::Tuple(kinks)));
    }
    output::object(parts)
}

fn parameter_object(parameter: &ParameterCheck) -> HostValue {
    let numbers = [
        ("derivative", parameter.derivative),
        ("other_mode", parameter.other_mode),
        ("difference", parameter.difference),
        ("rel_err", parameter.rel_err),
    ];
    let entry = parameter.entry.iter().map(|entry| ("entry", text_value(entry.clone())));
    let numbers = numbers.into_iter().map(|(name, x)| (name, HostValue::f64(x)));
    let verdict = ("verdict", text_value(parameter.verdict.word().to_owned()));
    output::object(entry.chain(numbers).chain([verdict]))
}

/// A text among values.
fn text_value(text: String) -> HostValue {
    HostValue::Enum { variant: text, payload: None }
}

/// The table.
pub(super) fn text(check: &GradientCheck, sources: &SourceMap) -> String {
    let what = match (check.is_every_entry, check.n_probes) {
        (true, 1) => "1 entry".to_owned(),
        (true, n) => format!("{n} entries"),
        (false, n) => format!("{n} entries and random directions"),
    };
    let mut text = format!(
        "check of {what} against finite differences (tolerance {:.0e}) and the other mode ({:.0e}), the worst of each \
         parameter:\n",
        check.tolerance, check.mode_tolerance
    );
    let titles = ["entry", "derivative", "other mode (error)", "differences (step)", "error", "verdict"];
    let mut rows = vec![titles.map(str::to_owned)];
    rows.extend(check.parameters.iter().map(row));
    let widths: Vec<usize> =
        (0..titles.len()).map(|k| rows.iter().map(|row| row[k].chars().count()).max().unwrap_or(0)).collect();
    for row in &rows {
        let cells: Vec<String> = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}")).collect();
        text += &format!("  {}\n", cells.join("  ").trim_end());
    }
    let kinks = check.kinks(sources);
    if !kinks.is_empty() {
        text += &format!("  kinks near the point: {}\n", kinks.join(", "));
    }
    if check.parameters.iter().any(|p| p.derivative.is_nan() || p.other_mode.is_nan() || p.difference.is_nan()) {
        text += "  there are NaNs: `--trap-nan` says where one is made\n";
    }
    text + match check.verdict() {
        Verdict::Agrees => "  ok\n",
        Verdict::Inconclusive if check.parameters.iter().any(|p| p.is_hidden) => {
            "  inconclusive: the rounding of the value hides the derivative from differences; the modes agree\n"
        }
        Verdict::Inconclusive => "  inconclusive: a kink is near, and no side of it contradicts the gradient\n",
        Verdict::Differs => "  FAILED\n",
    }
}

fn row(parameter: &ParameterCheck) -> [String; 6] {
    let look = Look::to_digits(DIGITS);
    let all = &parameter.differences;
    let last = all.len().saturating_sub(1);
    let mut shown: Vec<usize> = (0..SHOWN).map(|k| k * last / (SHOWN - 1)).collect();
    shown.dedup();
    let differences: Vec<String> = shown
        .into_iter()
        .filter_map(|k| all.get(k))
        .map(|d| format!("{} ({:.0e})", look.number(d.value), d.step))
        .collect();
    let entry = parameter.entry.clone().unwrap_or_else(|| format!("{}, a direction", parameter.name));
    [
        entry,
        look.number(parameter.derivative),
        format!("{} ({:.0e})", look.number(parameter.other_mode), parameter.mode_err),
        if differences.is_empty() { "none".to_owned() } else { differences.join("  ") },
        format!("{:.1e}", parameter.rel_err),
        parameter.verdict.word().to_owned(),
    ]
}
