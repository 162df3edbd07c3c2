//! A gradient held against finite differences and against the other mode.
//!
//! Up to [`EVERY_ENTRY`] entries, every entry is checked; a larger gradient is checked along [`DIRECTIONS`] directions
//! whose components are 1 or -1, from a fixed seed. Along a direction the function is differenced centrally at steps
//! that are powers of two, and the differences are extrapolated to step zero (Ridders, "Accurate computation of F'(x)
//! and F'(x)F''(x)", 1982); the estimate kept is the one that its neighbours confirm best. The other mode gives the
//! same derivative along the direction without any step.
//!
//! An error is relative to the gradient's norm along the direction, or to the largest entry where entries are checked
//! one by one. What rounding alone explains in a difference is no failure.

use crate::host::{Arguments, HostValue};
use crate::{CallError, Function};

/// Gradients of at most so many entries are checked entry by entry.
pub const EVERY_ENTRY: usize = 64;

/// How many directions a larger gradient is checked along.
pub const DIRECTIONS: usize = 16;

const SEED: u64 = 0x636f_7461_6e00_0001;

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

/// What came out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GradientCheck {
    /// How many directions were looked at.
    pub directions: usize,
    /// Whether they were the entries one by one.
    pub is_every_entry: bool,
    /// The largest relative error against finite differences.
    pub finite_differences: f64,
    /// The largest relative error against the other mode.
    pub other_mode: f64,
    /// The largest error against finite differences that passes.
    pub tolerance: f64,
    /// The largest error against the other mode that passes.
    pub mode_tolerance: f64,
    /// Whether every error is within its tolerance, or explained by rounding.
    pub is_ok: bool,
}

impl GradientCheck {
    /// The largest relative error of all.
    pub fn max_rel_err(&self) -> f64 {
        larger(self.finite_differences, self.other_mode)
    }
}

/// What rounding and the tolerances depend on.
#[derive(Clone, Copy)]
struct Precision {
    epsilon: f64,
    /// Steps from 2^-4 down, each a quarter of the one before.
    n_steps: usize,
    tolerance: f64,
    mode_tolerance: f64,
}

const DOUBLE: Precision = Precision { epsilon: f64::EPSILON, n_steps: 6, tolerance: 1e-6, mode_tolerance: 1e-9 };
const SINGLE: Precision = Precision { epsilon: f32::EPSILON as f64, n_steps: 4, tolerance: 1e-2, mode_tolerance: 1e-3 };

/// Checks a gradient. `tolerance` replaces the one against finite differences; `progress` is told how many of how many
/// directions are done.
pub fn check_gradient(
    subject: Subject<'_>,
    tolerance: Option<f64>,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<GradientCheck, CallError> {
    let Subject { function, args, wrt, gradient, other_mode } = subject;
    let point: Vec<HostValue> = wrt.iter().filter_map(|name| args.get(name).cloned()).collect();
    let precision = if point.iter().any(has_singles) { SINGLE } else { DOUBLE };
    let entries: Vec<f64> = gradient.iter().flat_map(HostValue::floats).collect();
    let is_every_entry = entries.len() <= EVERY_ENTRY;
    let directions = if is_every_entry { entries.len() } else { DIRECTIONS };
    let scale = if is_every_entry { largest(&entries) } else { entries.iter().map(|g| g * g).sum::<f64>().sqrt() };
    let mut check = GradientCheck {
        directions,
        is_every_entry,
        finite_differences: 0.0,
        other_mode: 0.0,
        tolerance: tolerance.unwrap_or(precision.tolerance),
        mode_tolerance: tolerance.unwrap_or(precision.mode_tolerance).max(precision.mode_tolerance),
        is_ok: true,
    };
    let mut random = SplitMix::new(SEED);
    for k in 0..directions {
        let direction: Vec<f64> = if is_every_entry {
            (0..entries.len()).map(|i| if i == k { 1.0 } else { 0.0 }).collect()
        } else {
            entries.iter().map(|_| if random.next() >> 63 == 0 { 1.0 } else { -1.0 }).collect()
        };
        let ours: f64 = entries.iter().zip(&direction).filter(|(_, v)| **v != 0.0).map(|(g, v)| g * v).sum();
        let scale = scale.max(ours.abs());
        let error = |theirs: f64| {
            let error = if ours.is_nan() || theirs.is_nan() { f64::INFINITY } else { (ours - theirs).abs() };
            if error == 0.0 { 0.0 } else { error / scale }
        };
        let first_step = if is_every_entry { 4 } else { 4 + entries.len().ilog2() / 2 };
        let estimate = difference(precision, first_step, &mut |h| {
            let mut moves = direction.iter().map(|v| v * h);
            let mut args = args.clone();
            for (name, value) in wrt.iter().zip(&point) {
                args.insert(name.clone(), value.map_floats(&mut |x| x + moves.next().unwrap_or(0.0)));
            }
            function.call(&args).map(|result| result.floats().first().copied().unwrap_or(f64::NAN))
        })?;
        let from_differences = error(estimate.value);
        check.finite_differences = larger(check.finite_differences, from_differences);
        let mut components = direction.iter().copied();
        // A gradient has the type of a tangent, and the variants of the point.
        let tangents: Vec<HostValue> =
            gradient.iter().map(|g| g.map_floats(&mut |_| components.next().unwrap_or(0.0))).collect();
        let from_mode = error(other_mode(&tangents)?);
        check.other_mode = larger(check.other_mode, from_mode);
        check.is_ok &= from_differences <= check.tolerance.max(estimate.noise / scale);
        check.is_ok &= from_mode <= check.mode_tolerance;
        progress(k + 1, directions);
    }
    Ok(check)
}

struct Estimate {
    value: f64,
    /// The error that rounding of the function's values explains.
    noise: f64,
}

/// The derivative of `f` at 0, by central differences at steps from `2^-first_step` down. Steps that leave the domain
/// of the function are skipped.
fn difference(
    precision: Precision,
    first_step: u32,
    f: &mut dyn FnMut(f64) -> Result<f64, CallError>,
) -> Result<Estimate, CallError> {
    let mut best = Estimate { value: f64::NAN, noise: 0.0 };
    let mut least = f64::INFINITY;
    // Row k of the tableau: the difference at step k, then its extrapolations with the steps before it.
    let mut above: Vec<f64> = Vec::new();
    for k in 0..precision.n_steps {
        let h = 0.5f64.powi(first_step as i32 + 2 * k as i32);
        let (high, low) = (f(h)?, f(-h)?);
        let central = (high - low) / (2.0 * h);
        if !central.is_finite() {
            above.clear();
            continue;
        }
        let noise = 8.0 * precision.epsilon * high.abs().max(low.abs()) / h;
        let mut row = vec![central];
        for (j, coarse) in above.iter().enumerate() {
            let fine = row[j];
            let value = fine + (fine - coarse) / (16f64.powi(j as i32 + 1) - 1.0);
            let spread = (value - fine).abs().max((value - coarse).abs());
            if spread < least {
                least = spread;
                best = Estimate { value, noise };
            }
            row.push(value);
        }
        if above.is_empty() && best.value.is_nan() {
            best = Estimate { value: central, noise };
        }
        above = row;
    }
    Ok(best)
}

fn has_singles(value: &HostValue) -> bool {
    let mut found = false;
    value.each_scalar(&mut |c| found |= c.elem() == cotan_ir::Elem::F32);
    found
}

fn largest(xs: &[f64]) -> f64 {
    xs.iter().fold(0.0, |m, x| larger(m, x.abs()))
}

/// The larger one; NaN is larger than every number.
fn larger(a: f64, b: f64) -> f64 {
    if b > a || b.is_nan() { b } else { a }
}

/// The generator of Steele, Lea and Flood, "Fast splittable pseudorandom number generators" (2014).
pub(crate) struct SplitMix(u64);

impl SplitMix {
    pub(crate) fn new(seed: u64) -> SplitMix {
        SplitMix(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn derivative(f: impl Fn(f64) -> f64) -> f64 {
        let estimate = difference(DOUBLE, 4, &mut |h| Ok(f(h))).map(|e| e.value);
        estimate.unwrap_or(f64::NAN)
    }

    #[test]
    fn differences_are_extrapolated_to_many_digits() {
        assert!((derivative(|h| (1.0 + h).sin()) - 1f64.cos()).abs() < 1e-12);
        assert!((derivative(|h| (3.0 + h).powi(3)) - 27.0).abs() < 1e-10);
        assert_eq!(derivative(|h| 2.0 * h), 2.0);
    }

    #[test]
    fn steps_outside_the_domain_are_skipped() {
        assert!((derivative(|h| (0.01 + h).ln()) - 100.0).abs() < 1e-6);
    }
}
