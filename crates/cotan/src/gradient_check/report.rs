//! What a check of a gradient found: one line for each parameter.

use super::ladder::Rung;
use crate::nan_origin::{quoted, symbol};
use cotan_interp::Place;
use cotan_ops::lookup;
use cotan_syntax::{FileId, SourceMap};
use std::collections::BTreeSet;

/// What differences say of a derivative.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// They confirm it, and so does the other mode.
    Agrees,
    /// A kink near the point keeps them from saying more than that it is a derivative of one of its sides, or between
    /// those; the other mode confirms it.
    Inconclusive,
    /// They contradict it, or the other mode does.
    Differs,
}

impl Verdict {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Agrees => "agrees",
            Verdict::Inconclusive => "inconclusive",
            Verdict::Differs => "differs",
        }
    }
}

/// A central difference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference {
    /// How far the entry was moved to both sides.
    pub step: f64,
    /// The quotient.
    pub value: f64,
}

/// The entry of a parameter, or the direction in it, at which the check came out worst.
#[derive(Clone, Debug, PartialEq)]
pub struct ParameterCheck {
    /// The parameter.
    pub name: String,
    /// The entry, as `w[1, 2]` or `p.rate`; `None` for a direction.
    pub entry: Option<String>,
    /// The derivative.
    pub derivative: f64,
    /// What the other mode gives.
    pub other_mode: f64,
    /// What the differences give, extrapolated to step zero; NaN if no step stays in the domain of the function.
    pub difference: f64,
    /// The differences, from the longest step to the shortest.
    pub differences: Vec<Difference>,
    /// The relative error against the differences.
    pub rel_err: f64,
    /// The relative error against the other mode.
    pub mode_err: f64,
    /// What that says.
    pub verdict: Verdict,
    /// Whether the rounding of the function's values hides the derivative from the differences.
    pub is_hidden: bool,
    /// Where the program decides otherwise within the shortest step.
    pub kinks: Vec<Place>,
}

/// A derivative as a check looks at it: of an entry or along a direction, in units of the parameter.
#[derive(Clone, Debug)]
pub(super) struct Probe {
    pub(super) derivative: f64,
    pub(super) other_mode: f64,
    pub(super) difference: f64,
    pub(super) rungs: Vec<Rung>,
    pub(super) rel_err: f64,
    pub(super) mode_err: f64,
    pub(super) verdict: Verdict,
    pub(super) is_hidden: bool,
    pub(super) kinks: Vec<Place>,
}

impl Probe {
    /// Whether it came out worse than another one.
    pub(super) fn is_worse(&self, other: &Probe) -> bool {
        let error = |probe: &Probe| larger(probe.rel_err, probe.mode_err);
        match self.verdict.cmp(&other.verdict) {
            std::cmp::Ordering::Greater => true,
            std::cmp::Ordering::Less => false,
            std::cmp::Ordering::Equal => error(self) > error(other),
        }
    }

    /// What is told of a parameter, whose unit this is.
    pub(super) fn of_parameter(self, name: &str, entry: Option<String>, unit: f64) -> ParameterCheck {
        let differences =
            self.rungs.iter().map(|rung| Difference { step: rung.step * unit, value: rung.central() / unit });
        ParameterCheck {
            name: name.to_owned(),
            entry,
            derivative: self.derivative / unit,
            other_mode: self.other_mode / unit,
            difference: self.difference / unit,
            differences: differences.collect(),
            rel_err: self.rel_err,
            mode_err: self.mode_err,
            verdict: self.verdict,
            is_hidden: self.is_hidden,
            kinks: self.kinks,
        }
    }
}

/// What came out.
#[derive(Clone, Debug, PartialEq)]
pub struct GradientCheck {
    /// One for each parameter.
    pub parameters: Vec<ParameterCheck>,
    /// How many entries and directions were looked at.
    pub n_probes: usize,
    /// Whether they were all entries, one by one.
    pub is_every_entry: bool,
    /// The largest error against finite differences that passes.
    pub tolerance: f64,
    /// The largest error against the other mode that passes.
    pub mode_tolerance: f64,
}

impl GradientCheck {
    /// The largest relative error of all.
    pub fn max_rel_err(&self) -> f64 {
        self.parameters.iter().fold(0.0, |most, p| larger(most, larger(p.rel_err, p.mode_err)))
    }

    /// The worst verdict.
    pub fn verdict(&self) -> Verdict {
        self.parameters.iter().map(|p| p.verdict).max().unwrap_or(Verdict::Agrees)
    }

    /// Whether nothing contradicts the gradient.
    pub fn is_ok(&self) -> bool {
        self.verdict() != Verdict::Differs
    }

    /// The kinks near the point, in the order of the program.
    pub fn kinks(&self, sources: &SourceMap) -> Vec<String> {
        let all: BTreeSet<&Place> = self.parameters.iter().flat_map(|p| &p.kinks).collect();
        let mut texts: Vec<String> = all.into_iter().map(|place| kink(place, sources)).collect();
        texts.dedup();
        texts
    }
}

/// A kink as people look for it: the operation, or the text that decides, and its line and column.
fn kink(place: &Place, sources: &SourceMap) -> String {
    let is_word = lookup(place.operation).is_some_and(|row| !row.words.is_empty());
    let text = quoted(place.span, sources).filter(|_| !is_word);
    let text = format!("`{}`", text.unwrap_or_else(|| symbol(place.operation)));
    match sources.get(FileId(place.span.file)).filter(|_| place.span.is_some()) {
        None => text,
        Some(file) => {
            let at = file.line_column(place.span.start);
            let name = if place.span.file == 0 { String::new() } else { format!("{}:", file.name()) };
            format!("{text} at {name}{}:{}", at.line, at.column)
        }
    }
}

/// The larger one; NaN is larger than every number.
pub(super) fn larger(a: f64, b: f64) -> f64 {
    if b > a || b.is_nan() { b } else { a }
}
