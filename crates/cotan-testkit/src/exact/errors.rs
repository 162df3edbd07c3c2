//! Errors in units in the last place, and the rows that may have larger ones.
//!
//! A unit is that of the exact partial: the distance of the floats around it, at least that of the numbers below the
//! normal ones. A partial beyond the greatest float counts as the number behind it, for which infinity stands. Operands are zero or normal numbers: below those a float has few digits itself.

use super::number::Number;
use super::partials::exact_partials;
use super::points::{number_of, points};
use cotan_ir::{Const, Elem, OperandElem};
use cotan_ops::{Partial, PrimRow, table, typed_number};

/// What every partial has to keep, in units in the last place.
pub const BOUND: f64 = 8.0;

/// A row that may have larger errors.
#[derive(Clone, Copy, Debug)]
pub struct Exception {
    /// The row.
    pub row: &'static str,
    /// Where: at all other points the bound holds.
    pub at: fn(&[f64], f64, Range) -> bool,
    /// That in words.
    pub place: &'static str,
    /// Why.
    pub reason: &'static str,
}

/// The least normal number of a type and the greatest one.
#[derive(Clone, Copy, Debug)]
pub struct Range {
    least: f64,
    greatest: f64,
}

impl Range {
    fn of(elem: Elem) -> Range {
        if elem == Elem::F32 {
            Range { least: f32::MIN_POSITIVE.into(), greatest: f32::MAX.into() }
        } else {
            Range { least: f64::MIN_POSITIVE, greatest: f64::MAX }
        }
    }

    /// Whether the magnitude is that of a normal number.
    fn has(self, value: f64) -> bool {
        (self.least..=self.greatest).contains(&value.abs())
    }
}

/// All of them.
pub const EXCEPTIONS: &[Exception] = &[
    Exception {
        row: "pow",
        at: |at, value, range| !range.has(value) || !range.has(value / at[0]),
        place: "where it, or the power whose exponent is less by 1, is below the normal numbers or beyond the floats",
        reason: "the power is multiplied with the exponent or the logarithm, with the digits that it has left; else \
                 each derivative would take a second power",
    },
    Exception {
        row: "power_below",
        at: |_, _, _| true,
        place: "everywhere",
        reason: "it is the slope of `pow`, and in its own slope the exponent is rounded",
    },
    Exception {
        row: "powi",
        at: |at, _, range| at[1].abs() > 4.0 || !range.has(at[0].powf(1.0 - at[1])),
        place: "where the exponent is beyond 4, or a power on the way beyond the floats",
        reason: "a whole power is a chain of products, as the language says, and its roundings grow with the exponent",
    },
    Exception {
        row: "lgamma",
        at: |_, _, _| true,
        place: "everywhere",
        reason: "`digamma` is a sum: beside its zeros, one in every interval between poles, it has an absolute bound",
    },
    Exception {
        row: "polygamma",
        at: |_, _, _| true,
        place: "everywhere",
        reason: "`polygamma` sums up to a hundred steps of a recurrence, and beside its zeros has an absolute bound",
    },
];

/// The largest error of a partial.
#[derive(Clone, Debug)]
pub struct Worst {
    /// The row.
    pub row: &'static str,
    /// The operand.
    pub operand: usize,
    /// Points that were tried.
    pub points: usize,
    /// The error where the bound holds, and the operands there.
    pub error: (f64, Vec<f64>),
    /// The error where it need not.
    pub excepted: Option<(f64, Vec<f64>)>,
}

/// How far a float is from an exact number, in units in the last place of that.
pub fn units(found: f64, exact: Number, elem: Elem) -> f64 {
    let (digits, lowest, highest) = if elem == Elem::F32 { (24, -149, 128) } else { (53, -1074, 1024) };
    let beyond = Number::whole(1).scaled(highest);
    let clipped = if exact.exponent() > highest && !exact.is_zero() {
        if exact.is_negative() { -beyond } else { beyond }
    } else {
        exact
    };
    let found = match found {
        x if x.is_nan() => return f64::INFINITY,
        x if x == f64::INFINITY => beyond,
        x if x == f64::NEG_INFINITY => -beyond,
        x => Number::of(x),
    };
    let exponent =
        if clipped.is_zero() { lowest } else { (clipped.exponent() - digits).clamp(lowest, highest - digits) };
    (found - clipped).scaled(-exponent).rough().abs()
}

/// The largest errors of the partials of one row, over so many points for each.
pub fn worst_errors(row: &'static PrimRow, elem: Elem, count: usize, seed: u64) -> Vec<Worst> {
    let Some(exact) = exact_partials(row) else { return Vec::new() };
    let exception = EXCEPTIONS.iter().find(|e| e.row == row.name());
    let points = points(row, elem, count, seed);
    let operands = row.sig.operands.iter().enumerate().filter(|(_, kind)| **kind == OperandElem::T);
    let mut all: Vec<Worst> = operands
        .map(|(operand, _)| Worst {
            row: row.name(),
            operand,
            points: points.len(),
            error: (0.0, Vec::new()),
            excepted: exception.map(|_| (0.0, Vec::new())),
        })
        .collect();
    for point in &points {
        let at: Vec<f64> = point.iter().map(number_of).collect();
        let numbers = numbers(point);
        let Ok(value) = row.eval(point) else { continue };
        let is_excepted = exception.is_some_and(|e| (e.at)(&at, number_of(&value), Range::of(elem)));
        for (worst, exact) in all.iter_mut().zip(exact) {
            let found = found(&row.partials[worst.operand], elem, point, value);
            let error = units(found, exact(&numbers), elem);
            let best = if is_excepted { worst.excepted.get_or_insert_default() } else { &mut worst.error };
            if error > best.0 {
                *best = (error, at.clone());
            }
        }
    }
    all
}

/// The operands of a point as exact numbers.
fn numbers(point: &[Const]) -> Vec<Number> {
    point.iter().map(|c| c.as_i64().map_or_else(|| Number::of(number_of(c)), Number::whole)).collect()
}

/// A partial at a point where it has to keep the bound.
#[derive(Clone, Debug)]
pub struct Known {
    /// The operands.
    pub point: Vec<Const>,
    /// The operand by which is differentiated.
    pub operand: usize,
    elem: Elem,
    partial: Number,
}

impl Known {
    /// Whether a derivative keeps the bound.
    pub fn is_near(&self, derivative: f64) -> bool {
        units(derivative, self.partial, self.elem) <= BOUND
    }
}

/// The partials of a row at so many points; none of a row without a closed form.
pub fn known_partials(row: &'static PrimRow, elem: Elem, count: usize, seed: u64) -> Vec<Known> {
    let Some(exact) = exact_partials(row) else { return Vec::new() };
    let exception = EXCEPTIONS.iter().find(|e| e.row == row.name());
    let operands = row.sig.operands.iter().enumerate().filter(|(_, kind)| **kind == OperandElem::T);
    let mut known = Vec::new();
    for point in points(row, elem, count, seed) {
        let (at, numbers): (Vec<f64>, _) = (point.iter().map(number_of).collect(), numbers(&point));
        let Ok(value) = row.eval(&point) else { continue };
        if exception.is_some_and(|e| (e.at)(&at, number_of(&value), Range::of(elem))) {
            continue;
        }
        let of_operands = operands.clone().zip(exact);
        known.extend(of_operands.map(|((operand, _), exact)| Known {
            point: point.clone(),
            operand,
            elem,
            partial: exact(&numbers),
        }));
    }
    known
}

/// What the table says that a partial is.
fn found(partial: &Partial, elem: Elem, point: &[Const], value: Const) -> f64 {
    let constant = match partial {
        Partial::Term { term, .. } => term.eval(elem, point, value).unwrap_or(typed_number(elem, f64::NAN)),
        Partial::Convert => typed_number(elem, 1.0),
        Partial::Zero { .. } => typed_number(elem, 0.0),
    };
    constant.as_float().unwrap_or(f64::NAN)
}

/// The rows whose partials are judged, and those that have neither a closed form nor a reason to have none.
pub fn judged() -> (Vec<&'static PrimRow>, Vec<&'static PrimRow>) {
    let rows = table().iter().copied().filter(|row| !super::without_partials(row));
    rows.partition(|row| exact_partials(row).is_some())
}
