//! Operands over all exponents: uniform in the bits, near small and special numbers, and pairs of every ratio.

use crate::random::Rng;
use cotan_ir::{Const, Elem, OperandElem};
use cotan_ops::{PrimRow, Sample};

/// Numbers beside which partials have zeros, poles, kinks, or change their form.
const SPECIAL: [f64; 16] = [
    0.5,
    1.0,
    2.0,
    4.0,
    8.0,
    20.0,
    27.2,
    37.0,
    512.0,
    700.0,
    745.0,
    1.461_632_144_968_362_3,
    std::f64::consts::FRAC_PI_2,
    std::f64::consts::PI,
    std::f64::consts::LN_2,
    1.0 / 3.0,
];

/// Any float of the type: each exponent as likely as each other.
fn any(rng: &mut Rng, elem: Elem) -> f64 {
    let bits = rng.bits();
    if elem == Elem::F32 { f64::from(f32::from_bits(bits as u32)) } else { f64::from_bits(bits) }
}

/// A float of the type that lies a few or many units beside a number.
fn beside(rng: &mut Rng, elem: Elem, x: f64) -> f64 {
    let distance = ((rng.bits() >> rng.below(64)) as i64 % (1 << 52)) >> rng.below(53);
    if elem == Elem::F32 {
        f64::from(f32::from_bits((x as f32).to_bits().wrapping_add((distance % 4096) as u32)))
    } else {
        f64::from_bits(x.to_bits().wrapping_add_signed(if rng.chance(0.5) { distance } else { -distance }))
    }
}

/// A power of two whose exponent is small as often as large.
fn ratio(rng: &mut Rng) -> f64 {
    let bound = rng.choice(&[2, 60, 1100, 2000]);
    let power = rng.range(-bound, bound + 1) as i32;
    2.0_f64.powi(power / 2) * 2.0_f64.powi(power - power / 2)
}

/// A float for a row that is sampled in this interval.
fn float(rng: &mut Rng, elem: Elem, sample: Sample, earlier: Option<f64>) -> f64 {
    let x = match (rng.below(8), earlier) {
        (0 | 1, Some(x)) => x * ratio(rng) * rng.choice(&[1.0, -1.0]) * rng.span(0.5, 2.0),
        (0..=3, _) => any(rng, elem),
        (4, _) => rng.span(-750.0, 750.0),
        (5, _) => rng.span(-8.0, 8.0),
        (6, _) => {
            let near = rng.choice(&SPECIAL) * rng.choice(&[1.0, -1.0]);
            beside(rng, elem, near)
        }
        _ => match sample {
            Sample::Span(lo, hi) => rng.span(lo, hi),
            Sample::Whole(lo, hi) => rng.range(lo, hi) as f64,
            Sample::Truth => 1.0,
        },
    };
    let x = if elem == Elem::F32 { f64::from(x as f32) } else { x };
    let least = if elem == Elem::F32 { f64::from(f32::MIN_POSITIVE) } else { f64::MIN_POSITIVE };
    if x.is_finite() && x.abs() >= least { x } else { least }
}

/// So many points inside the domain of a row at which its value is finite.
pub fn points(row: &'static PrimRow, elem: Elem, count: usize, seed: u64) -> Vec<Vec<Const>> {
    let mut rng = Rng::new(seed);
    let mut found = Vec::with_capacity(count);
    // Of some rows nearly all points lie outside of the domain.
    for _ in 0..1000 * count {
        if found.len() == count {
            break;
        }
        let mut point: Vec<Const> = Vec::with_capacity(row.sig.operands.len());
        for (operand, sample) in row.sig.operands.iter().zip(row.samples) {
            let earlier = point.last().and_then(|c| c.as_float());
            point.push(match operand {
                OperandElem::T => Const::float(elem, float(&mut rng, elem, *sample, earlier)),
                OperandElem::Is(Elem::Bool) => Const::bool(rng.chance(0.5)),
                OperandElem::Is(_) if row.name() == "polygamma" => Const::i64(rng.range(0, 100)),
                OperandElem::Is(_) => Const::i64((rng.bits() as i64) >> rng.below(64)),
            });
        }
        let at: Vec<f64> = point.iter().map(number_of).collect();
        let is_finite = row.eval(&point).is_ok_and(|value| value.as_float().is_some_and(f64::is_finite));
        if is_finite && row.domain.iter().all(|condition| condition.holds(&at)) {
            found.push(point);
        }
    }
    found
}

/// A constant as a float.
pub(super) fn number_of(c: &Const) -> f64 {
    c.as_float().or_else(|| c.as_i64().map(|n| n as f64)).unwrap_or(f64::from(u8::from(c.bits() != 0)))
}
