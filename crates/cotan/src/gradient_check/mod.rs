//! A gradient held against finite differences and against the other mode.
//!
//! Up to [`EVERY_ENTRY`] entries, every entry is checked. Of a larger gradient, a parameter of many entries is checked along
//! directions whose components are 1 or -1, from a fixed seed, [`DIRECTIONS`] in all, and at its largest entry; where a
//! direction is contradicted, its worst entry is found by bisection. The function is differenced centrally at steps in units
//! of the parameter, which shrink as long as the differences do not confirm the derivative and rounding allows it
//! ([`ladder`]). The other mode gives the same derivative along the direction without any step.
//!
//! An error is relative to the largest derivative of the parameter. What rounding alone explains in a difference is no
//! failure, and neither is what a kink near the point explains ([`sides`]): that is *inconclusive*, and the places where the
//! program decides otherwise within the step are named.

mod entry;
mod ladder;
mod random;
mod report;
mod sides;

pub(crate) use random::SplitMix;
pub use report::{Difference, GradientCheck, ParameterCheck, Verdict};

use crate::host::{Arguments, HostValue, fit_arguments};
use crate::{CallError, Function};
use cotan_interp::{Decisions, Limits, Place, decisions};
use entry::entry_name;
use ladder::{DOUBLE, Estimate, Ladder, Precision, SINGLE, noise};
use report::Probe;
use std::collections::BTreeSet;
use std::ops::Range;

/// Gradients of at most so many entries are checked entry by entry.
pub const EVERY_ENTRY: usize = 64;

/// How many directions a larger gradient is checked along.
pub const DIRECTIONS: usize = 16;

const SEED: u64 = 0x636f_7461_6e00_0001;

/// The longest step in units of the parameter is two to the power of minus this.
const FIRST_STEP: u32 = 4;

/// No ladder has more steps.
const MAX_STEPS: usize = 22;

/// The finest steps are believed alone too: coarser ones may lie on other branches, or step over waves.
const FINEST: usize = 4;

/// An error is relative to at least this part of the largest derivative of all, and of the slopes around the point.
const FLOOR: f64 = 1e-3;

/// Steps of the interpreter that decisions at a point may take.
const DECISION_STEPS: u64 = 1 << 26;

/// What to check.
pub struct Subject<'a> {
    /// The scalar function, or one whose result starts with the scalar.
    pub function: &'a Function,
    /// The point.
    pub args: &'a Arguments,
    /// The parameters.
    pub wrt: &'a [String],
    /// The gradient, one for each parameter.
    pub gradient: &'a [HostValue],
    /// The derivative along a direction by the other mode: tangents of the parameters in, tangent of the value out.
    pub other_mode: &'a mut dyn FnMut(&[HostValue]) -> Result<f64, CallError>,
}

/// Checks a gradient. `tolerance` replaces the one against finite differences; `progress` is told how many of how many
/// derivatives are done.
pub fn check_gradient(
    subject: Subject<'_>,
    tolerance: Option<f64>,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<GradientCheck, CallError> {
    let mut checker = Checker::new(subject, tolerance)?;
    let n_parameters = checker.parameters.len();
    let n_entries = checker.entries.len();
    let few = if n_entries <= EVERY_ENTRY { EVERY_ENTRY } else { EVERY_ENTRY / n_parameters.max(1) };
    let n_directions = (DIRECTIONS / n_parameters.max(1)).max(2);
    let is_short = |parameter: &Parameter| parameter.entries.len() <= few;
    let n_probes =
        checker.parameters.iter().map(|p| if is_short(p) { p.entries.len() } else { n_directions + 1 }).sum();
    let mut n_done = 0;
    let mut done = || {
        n_done += 1;
        progress(n_done, n_probes);
    };
    let mut parameters = Vec::with_capacity(n_parameters);
    for parameter in checker.parameters.clone() {
        parameters.extend(match is_short(&parameter) {
            true => checker.entry_by_entry(&parameter, &mut done)?,
            false => Some(checker.along_directions(&parameter, n_directions, &mut done)?),
        });
    }
    let Checker { tolerance, mode_tolerance, .. } = checker;
    Ok(GradientCheck { parameters, n_probes, is_every_entry: n_entries <= EVERY_ENTRY, tolerance, mode_tolerance })
}

/// A parameter of the gradient.
#[derive(Clone)]
struct Parameter {
    /// Its number among the parameters.
    at: usize,
    /// Its entries among all.
    entries: Range<usize>,
    /// A power of two of the size of its values.
    unit: f64,
    precision: Precision,
}

/// How an error is judged.
struct Comparison {
    difference: f64,
    scale: f64,
    rel_err: f64,
    passes: bool,
    /// Whether rounding explains the error, and would explain any other.
    is_hidden: bool,
}

struct Checker<'a> {
    subject: Subject<'a>,
    point: Vec<HostValue>,
    /// The value at the point.
    value: f64,
    /// The gradient's entries.
    entries: Vec<f64>,
    parameters: Vec<Parameter>,
    tolerance: f64,
    mode_tolerance: f64,
    random: SplitMix,
    /// The decisions at the point, if they were asked for, and nothing if they can't be known.
    decisions: Option<Option<Decisions>>,
}

impl<'a> Checker<'a> {
    fn new(subject: Subject<'a>, tolerance: Option<f64>) -> Result<Checker<'a>, CallError> {
        let point: Vec<HostValue> = subject.wrt.iter().filter_map(|name| subject.args.get(name).cloned()).collect();
        let precision = if point.iter().any(has_singles) { SINGLE } else { DOUBLE };
        let mut entries = Vec::new();
        let mut parameters = Vec::new();
        for (at, (value, gradient)) in point.iter().zip(subject.gradient).enumerate() {
            let first = entries.len();
            entries.extend(gradient.floats());
            let values = value.floats();
            let of_points = if values.iter().all(|x| *x == 0.0) { 0.0 } else { precision.of_points };
            let precision = Precision { of_points, ..precision };
            parameters.push(Parameter { at, entries: first..entries.len(), unit: unit(&values), precision });
        }
        let value = first_float(&subject.function.call(subject.args)?);
        Ok(Checker {
            subject,
            point,
            value,
            entries,
            parameters,
            tolerance: tolerance.unwrap_or(precision.tolerance),
            mode_tolerance: tolerance.unwrap_or(precision.mode_tolerance).max(precision.mode_tolerance),
            random: SplitMix::new(SEED),
            decisions: None,
        })
    }

    /// The worst entry of a parameter, if it has any.
    fn entry_by_entry(
        &mut self,
        parameter: &Parameter,
        done: &mut dyn FnMut(),
    ) -> Result<Option<ParameterCheck>, CallError> {
        let mut worst: Option<(usize, Probe)> = None;
        for entry in parameter.entries.clone() {
            let probe = self.probe(parameter, &[(entry, 1.0)])?;
            if worst.as_ref().is_none_or(|(_, worst)| probe.is_worse(worst)) {
                worst = Some((entry, probe));
            }
            done();
        }
        Ok(worst.map(|(entry, probe)| self.told(parameter, Some(entry), probe)))
    }

    /// The worst of random directions in a parameter, led back to an entry, or its largest entry.
    fn along_directions(
        &mut self,
        parameter: &Parameter,
        n_directions: usize,
        done: &mut dyn FnMut(),
    ) -> Result<ParameterCheck, CallError> {
        let size = |entry: &usize| self.entries[*entry].abs();
        let largest = parameter.entries.clone().max_by(|a, b| size(a).total_cmp(&size(b))).unwrap_or_default();
        let mut worst = (Some(largest), self.probe(parameter, &[(largest, 1.0)])?);
        done();
        for _ in 0..n_directions {
            let mut sign = || if self.random.next() >> 63 == 0 { 1.0 } else { -1.0 };
            let direction: Vec<(usize, f64)> = parameter.entries.clone().map(|entry| (entry, sign())).collect();
            let probe = self.probe(parameter, &direction)?;
            if probe.verdict != Verdict::Agrees && probe.is_worse(&worst.1) {
                worst = self.worst_entry(parameter, direction, probe)?;
            } else if probe.is_worse(&worst.1) {
                worst = (None, probe);
            }
            done();
        }
        Ok(self.told(parameter, worst.0, worst.1))
    }

    /// The entry to which the error along a direction leads, by bisection; or the direction, if it leads to none.
    fn worst_entry(
        &mut self,
        parameter: &Parameter,
        direction: Vec<(usize, f64)>,
        probe: Probe,
    ) -> Result<(Option<usize>, Probe), CallError> {
        let (mut part, mut found) = (direction, probe.clone());
        while part.len() > 1 {
            let upper = part.split_off(part.len() / 2);
            let (lower_probe, upper_probe) = (self.probe(parameter, &part)?, self.probe(parameter, &upper)?);
            (part, found) = if upper_probe.is_worse(&lower_probe) { (upper, upper_probe) } else { (part, lower_probe) };
        }
        let leads_there = found.verdict >= probe.verdict;
        Ok(if leads_there { (part.first().map(|(entry, _)| *entry), found) } else { (None, probe) })
    }

    fn told(&self, parameter: &Parameter, entry: Option<usize>, probe: Probe) -> ParameterCheck {
        let name = &self.subject.wrt[parameter.at];
        let gradient = &self.subject.gradient[parameter.at];
        let entry = entry.map(|entry| entry_name(gradient, name, entry - parameter.entries.start));
        probe.of_parameter(name, entry, parameter.unit)
    }

    /// Checks the derivative along a direction, whose components are in units of the parameter.
    fn probe(&mut self, parameter: &Parameter, direction: &[(usize, f64)]) -> Result<Probe, CallError> {
        let derivative: f64 = direction.iter().map(|(entry, v)| self.entries[*entry] * v * parameter.unit).sum();
        let mut components = vec![0.0; self.entries.len()];
        direction.iter().for_each(|(entry, v)| components[*entry] = v * parameter.unit);
        let tangents = self.tangents(&components);
        let other_mode = (self.subject.other_mode)(&tangents)?;
        let largest = self.largest(parameter).max(if derivative.is_finite() { derivative.abs() } else { 0.0 });
        let mut ladder =
            Ladder::new(parameter.precision, self.value, self.first_step(parameter, direction.len(), largest));
        let mut along = |step: f64| self.value_at(&components, step);
        for _ in 0..parameter.precision.n_steps {
            ladder.climb(&mut along)?;
        }
        let mut found = self.compare(derivative, largest, &ladder);
        while !found.passes && ladder.rungs.len() < MAX_STEPS && ladder.next_noise() < self.tolerance * found.scale {
            ladder.climb(&mut along)?;
            found = self.compare(derivative, largest, &ladder);
        }
        let mode_err = relative(derivative, other_mode, found.scale);
        let modes_agree = mode_err <= self.mode_tolerance;
        let (verdict, kinks) = if !modes_agree || derivative.is_nan() {
            (Verdict::Differs, BTreeSet::new())
        } else if found.passes {
            (Verdict::Agrees, BTreeSet::new())
        } else if found.is_hidden {
            (Verdict::Inconclusive, BTreeSet::new())
        } else {
            self.judge_sides(derivative, &components, &ladder, &found)?
        };
        let Comparison { difference, rel_err, is_hidden, .. } = found;
        let kinks = kinks.into_iter().collect();
        let rungs = ladder.rungs;
        Ok(Probe { derivative, other_mode, difference, rungs, rel_err, mode_err, verdict, is_hidden, kinks })
    }

    /// The largest derivative of a parameter in its unit, or a part of the largest of all.
    fn largest(&self, parameter: &Parameter) -> f64 {
        let of = |parameter: &Parameter| {
            let sizes = self.entries[parameter.entries.clone()].iter().map(|g| (g * parameter.unit).abs());
            sizes.filter(|size| size.is_finite()).fold(0.0, f64::max)
        };
        of(parameter).max(FLOOR * self.parameters.iter().map(of).fold(0.0, f64::max))
    }

    /// The longest step: shorter along directions of many entries, and longer where rounding would hide the slope, though not
    /// longer than it is for a parameter of size 1.
    fn first_step(&self, parameter: &Parameter, n_entries: usize, slope: f64) -> f64 {
        let mut step = 0.5f64.powi((FIRST_STEP + n_entries.ilog2() / 2) as i32);
        let is_hidden =
            |step: f64| noise(parameter.precision, self.value.abs(), 0.0, step) > FLOOR * self.tolerance * slope;
        while is_hidden(step) && step * parameter.unit < 0.25 * 0.5f64.powi(FIRST_STEP as i32) {
            step *= 4.0;
        }
        step
    }

    /// The derivative held against the differences: all of them, and the finest alone.
    fn compare(&self, derivative: f64, largest: f64, ladder: &Ladder) -> Comparison {
        let judge = |estimate: Option<Estimate>| {
            let Estimate { value, noise, steepest } =
                estimate.unwrap_or(Estimate { value: f64::NAN, noise: 0.0, steepest: 0.0 });
            let scale = largest.max(FLOOR * steepest);
            let rel_err = relative(derivative, value, scale);
            let (noise, most) = (noise / scale, ladder.precision.most_noise);
            let passes = rel_err <= self.tolerance.max(noise.min(most));
            Comparison { difference: value, scale, rel_err, passes, is_hidden: noise > most && rel_err <= noise }
        };
        let all = judge(ladder.estimate());
        let finest = &ladder.rungs[ladder.rungs.len().saturating_sub(FINEST)..];
        if all.passes || all.is_hidden || finest.len() < FINEST {
            return all;
        }
        let fine = judge(Ladder::of(ladder.precision, self.value, finest).estimate());
        if fine.passes { fine } else { all }
    }

    /// What a kink near the point explains.
    fn judge_sides(
        &mut self,
        derivative: f64,
        components: &[f64],
        ladder: &Ladder,
        found: &Comparison,
    ) -> Result<(Verdict, BTreeSet<Place>), CallError> {
        let (accepted, precision) = (self.tolerance * found.scale, ladder.precision);
        let usable = ladder.rungs.iter().take_while(|rung| rung.noise(precision, self.value) <= accepted).count();
        let rungs = &ladder.rungs[..if usable < 3 { ladder.rungs.len() } else { usable }];
        let Some(finest) = rungs.last() else { return Ok((Verdict::Differs, BTreeSet::new())) };
        let sides = [-finest.step, finest.step].map(|step| self.decided_otherwise(components, step));
        let (clean, kinks) = match sides {
            [Some(lower), Some(upper)] => {
                let is_clean = |value: f64, kinks: &BTreeSet<Place>| value.is_finite() && kinks.is_empty();
                ([is_clean(finest.low, &lower), is_clean(finest.high, &upper)], &lower | &upper)
            }
            // A run that can't be followed: the slopes of the sides tell alone.
            [None, _] | [_, None] => {
                let is_smooth = !sides::disagree(rungs, self.value, precision, accepted);
                ([is_smooth; 2], BTreeSet::new())
            }
        };
        let is_explained =
            clean != [true; 2] && sides::explains(derivative, rungs, self.value, clean, precision, accepted);
        Ok((if is_explained { Verdict::Inconclusive } else { Verdict::Differs }, kinks))
    }

    /// The value of the function beside the point; NaN where it has none.
    fn value_at(&self, components: &[f64], step: f64) -> Result<f64, CallError> {
        match self.subject.function.call(&self.arguments_at(components, step)) {
            Ok(result) => Ok(first_float(&result)),
            // A step may leave the domain of the function.
            Err(CallError::Check(_)) => Ok(f64::NAN),
            Err(other) => Err(other),
        }
    }

    fn arguments_at(&self, components: &[f64], step: f64) -> Arguments {
        let mut moves = components.iter().map(|v| v * step);
        let mut args = self.subject.args.clone();
        for (name, value) in self.subject.wrt.iter().zip(&self.point) {
            args.insert(name.clone(), value.map_floats(&mut |x| x + moves.next().unwrap_or(0.0)));
        }
        args
    }

    /// The components as tangents: a gradient has the type of one, and the variants of the point.
    fn tangents(&self, components: &[f64]) -> Vec<HostValue> {
        let mut components = components.iter().copied();
        let gradient = self.subject.gradient.iter();
        gradient.map(|g| g.map_floats(&mut |_| components.next().unwrap_or(0.0))).collect()
    }

    /// Where the program decides otherwise beside the point; `None` if that can't be known.
    fn decided_otherwise(&mut self, components: &[f64], step: f64) -> Option<BTreeSet<Place>> {
        let there = self.decisions_at(components, step)?;
        if self.decisions.is_none() {
            self.decisions = Some(self.decisions_at(components, 0.0));
        }
        let here = self.decisions.as_ref()?.as_ref()?;
        Some(here.differing(&there))
    }

    fn decisions_at(&self, components: &[f64], step: f64) -> Option<Decisions> {
        let (function, args) = (self.subject.function, self.arguments_at(components, step));
        let flat = fit_arguments(function.entry(), &args).ok()?;
        let limits = Limits { steps: DECISION_STEPS, ..Limits::default() };
        decisions(function.ir(), &function.entry().symbol, &flat, limits).ok()
    }
}

/// The error of a derivative against another one.
fn relative(ours: f64, theirs: f64, scale: f64) -> f64 {
    if ours == theirs {
        return 0.0;
    }
    let error = (ours - theirs).abs();
    if error.is_nan() { f64::INFINITY } else { error / scale }
}

/// A power of two of the size of values; 1 for zeros.
fn unit(values: &[f64]) -> f64 {
    let largest = values.iter().map(|x| x.abs()).filter(|x| x.is_finite()).fold(0.0, f64::max);
    if largest == 0.0 { 1.0 } else { largest.log2().floor().max(-1000.0).exp2() }
}

fn first_float(result: &HostValue) -> f64 {
    result.floats().first().copied().unwrap_or(f64::NAN)
}

fn has_singles(value: &HostValue) -> bool {
    let mut found = false;
    value.each_scalar(&mut |c| found |= c.elem() == cotan_ir::Elem::F32);
    found
}
