//! Values that are exact: zeros with their signs, infinities, NaN, the least and greatest numbers.

use cotan_ir::Const;
use cotan_ops::lookup;

const INF: f64 = f64::INFINITY;
const NAN: f64 = f64::NAN;
/// The least positive number.
const LEAST: f64 = f64::from_bits(1);

fn value(name: &str, operands: &[f64]) -> f64 {
    let operands: Vec<Const> = operands.iter().map(|x| Const::f64(*x)).collect();
    let found = lookup(name).expect("a row of that name").eval(&operands).expect("floats");
    found.as_float().expect("a float")
}

fn single(name: &str, operands: &[f64]) -> f64 {
    let operands: Vec<Const> = operands.iter().map(|x| Const::f32(*x as f32)).collect();
    let found = lookup(name).expect("a row of that name").eval(&operands).expect("floats");
    found.as_float().expect("a float")
}

fn is(found: f64, expected: f64) -> bool {
    found.to_bits() == expected.to_bits() || found.is_nan() && expected.is_nan()
}

fn check(cases: &[(&str, &[f64], f64)]) {
    for (name, at, expected) in cases {
        let found = value(name, at);
        assert!(is(found, *expected), "{name}{at:?} = {found:e}, not {expected:e}");
        let fits = at.iter().chain([expected]).all(|x| is(f64::from(*x as f32), *x));
        if fits {
            let found = single(name, at);
            assert!(is(found, *expected), "{name}{at:?} = {found:e}, not {expected:e}, at f32");
        }
    }
}

/// Functions that give a zero and the least numbers back.
#[test]
fn what_is_nearly_the_identity_keeps_the_least_numbers_and_the_signs_of_zeros() {
    for name in ["expm1", "log1p", "sin", "tan", "asin", "atan", "sinh", "tanh", "asinh", "atanh"] {
        for x in [0.0, -0.0, LEAST, -LEAST, 3.0 * LEAST, 1e-310, -1e-310, f64::MIN_POSITIVE, 1e-100, -1e-30] {
            let found = value(name, &[x]);
            assert!(is(found, x), "{name}({x:e}) = {found:e}");
        }
        for x in [0.0, -0.0, f64::from(f32::from_bits(1)), -f64::from(f32::from_bits(7)), 1e-30] {
            let x = f64::from(x as f32);
            let found = single(name, &[x]);
            assert!(is(found, x), "{name}({x:e}) = {found:e} at f32");
        }
    }
}

#[test]
fn nan_is_passed_on() {
    let unary = [
        "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "asin", "acos", "atan", "sinh",
        "cosh", "tanh", "sech2", "asinh", "acosh", "atanh", "sigmoid", "sqrt", "rsqrt", "cbrt", "round", "erf", "erfc",
        "lgamma",
    ];
    // Signs and payloads of any kind.
    for bits in [0x7FF8_0000_0000_0000, 0xFFF8_0000_0000_0000, 0x7FF0_0000_0000_0001, 0xFFFF_FFFF_FFFF_FFFF] {
        for name in unary {
            let found = value(name, &[f64::from_bits(bits)]);
            assert!(found.is_nan(), "{name}(NaN {bits:x}) = {found}");
        }
    }
    for name in unary {
        assert!(single(name, &[NAN]).is_nan(), "{name}(NaN) at f32");
    }
    for name in ["atan2", "pow", "hypot"] {
        for other in [0.5, -2.0, 1e300] {
            assert!(value(name, &[NAN, other]).is_nan() && value(name, &[other, NAN]).is_nan(), "{name} of NaN");
        }
    }
}

#[test]
fn exponentials() {
    check(&[
        ("exp", &[0.0], 1.0),
        ("exp", &[-0.0], 1.0),
        ("exp", &[INF], INF),
        ("exp", &[-INF], 0.0),
        ("exp", &[710.0], INF),
        ("exp", &[-746.0], 0.0),
        ("exp", &[1e300], INF),
        ("exp", &[-1e300], 0.0),
        ("exp2", &[0.0], 1.0),
        ("exp2", &[1023.0], 2.0 * (1u128 << 127) as f64 * 0.5_f64.powi(-895)),
        ("exp2", &[1024.0], INF),
        ("exp2", &[-1074.0], LEAST),
        ("exp2", &[-1022.0], f64::MIN_POSITIVE),
        ("exp2", &[-1076.0], 0.0),
        ("exp2", &[-3.0], 0.125),
        ("exp2", &[INF], INF),
        ("exp2", &[-INF], 0.0),
        ("expm1", &[INF], INF),
        ("expm1", &[-INF], -1.0),
        ("expm1", &[-60.0], -1.0),
        ("expm1", &[710.0], INF),
    ]);
    assert!(is(value("exp", &[709.782_712_893_384]), 1.797_693_134_862_273_2e308));
    assert!(is(value("exp", &[709.782_712_893_384_1]), INF));
    assert!(is(value("exp", &[-745.133_219_101_941_1]), LEAST));
    assert!(is(value("exp", &[-745.133_219_101_941_2]), 0.0));
    assert!(is(single("exp", &[88.722_84]), INF));
    assert!(single("exp", &[88.722_83]).is_finite());
}

/// Near the greatest operands whose values are finite.
#[test]
fn the_logarithm_of_the_gamma_function_overflows_where_its_value_does() {
    let found = value("lgamma", &[2.559_98e305]);
    assert!((found / 1.797_690_794_622_354_8e308 - 1.0).abs() < 1e-15, "{found:e}");
    assert!(is(value("lgamma", &[2.56e305]), INF));
    let found = single("lgamma", &[4.085e36]);
    assert!((found / 3.402_820_73e38 - 1.0).abs() < 1e-6, "{found:e} at f32");
    assert!(is(single("lgamma", &[4.0851e36]), INF));
}

#[test]
fn every_power_of_two_is_exact() {
    for k in -1074..1024 {
        let power = value("exp2", &[k.into()]);
        let expected =
            if k < -1022 { f64::from_bits(1 << (k + 1074)) } else { f64::from_bits(((k + 1023) as u64) << 52) };
        assert!(is(power, expected), "2^{k} = {power:e}");
        assert!(is(value("log2", &[power]), k.into()), "log2(2^{k})");
    }
}

#[test]
fn logarithms() {
    for name in ["log", "log2", "log10"] {
        check(&[
            (name, &[1.0], 0.0),
            (name, &[0.0], -INF),
            (name, &[-0.0], -INF),
            (name, &[INF], INF),
            (name, &[-1.0], NAN),
            (name, &[-LEAST], NAN),
            (name, &[-INF], NAN),
        ]);
    }
    check(&[("log1p", &[-1.0], -INF), ("log1p", &[-1.5], NAN), ("log1p", &[-INF], NAN), ("log1p", &[INF], INF)]);
    let mut power = 1.0;
    for k in 0..=22 {
        assert!(is(value("log10", &[power]), k.into()), "log10(1e{k})");
        power *= 10.0;
    }
}

#[test]
fn circular_functions() {
    for name in ["sin", "cos", "tan"] {
        check(&[(name, &[INF], NAN), (name, &[-INF], NAN)]);
    }
    check(&[("cos", &[0.0], 1.0), ("cos", &[-0.0], 1.0), ("cos", &[LEAST], 1.0)]);
}

#[test]
fn hyperbolic_functions() {
    check(&[
        ("sinh", &[INF], INF),
        ("sinh", &[-INF], -INF),
        ("sinh", &[711.0], INF),
        ("sinh", &[-1e300], -INF),
        ("cosh", &[INF], INF),
        ("cosh", &[-INF], INF),
        ("cosh", &[0.0], 1.0),
        ("cosh", &[-0.0], 1.0),
        ("cosh", &[-711.0], INF),
        ("tanh", &[INF], 1.0),
        ("tanh", &[-INF], -1.0),
        ("tanh", &[25.0], 1.0),
        ("tanh", &[-1e300], -1.0),
        ("sech2", &[0.0], 1.0),
        ("sech2", &[-1e-200], 1.0),
        ("sech2", &[-INF], 0.0),
        ("sech2", &[400.0], 0.0),
        ("sigmoid", &[0.0], 0.5),
        ("sigmoid", &[-0.0], 0.5),
        ("sigmoid", &[INF], 1.0),
        ("sigmoid", &[-INF], 0.0),
        ("sigmoid", &[-800.0], 0.0),
        ("sigmoid", &[40.0], 1.0),
    ]);
    for name in ["sinh", "cosh"] {
        assert!(value(name, &[710.475_860_073_943_9]).is_finite());
        assert!(is(value(name, &[710.475_860_073_944_1]), INF));
    }
}

#[test]
fn inverse_functions() {
    use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI};
    check(&[
        ("asin", &[1.0], FRAC_PI_2),
        ("asin", &[-1.0], -FRAC_PI_2),
        ("asin", &[1.000_000_1], NAN),
        ("asin", &[-INF], NAN),
        ("acos", &[1.0], 0.0),
        ("acos", &[-1.0], PI),
        ("acos", &[0.0], FRAC_PI_2),
        ("acos", &[-0.0], FRAC_PI_2),
        ("acos", &[INF], NAN),
        ("acos", &[-1.000_000_1], NAN),
        ("atan", &[INF], FRAC_PI_2),
        ("atan", &[-INF], -FRAC_PI_2),
        ("atan", &[1.0], FRAC_PI_4),
        ("asinh", &[INF], INF),
        ("asinh", &[-INF], -INF),
        ("acosh", &[1.0], 0.0),
        ("acosh", &[INF], INF),
        ("acosh", &[0.999_999_9], NAN),
        ("acosh", &[-INF], NAN),
        ("acosh", &[-3.0], NAN),
        ("atanh", &[1.0], INF),
        ("atanh", &[-1.0], -INF),
        ("atanh", &[1.000_000_1], NAN),
        ("atanh", &[INF], NAN),
    ]);
}

#[test]
fn angles_of_points() {
    use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI};
    check(&[
        ("atan2", &[0.0, 0.0], 0.0),
        ("atan2", &[-0.0, 0.0], -0.0),
        ("atan2", &[0.0, -0.0], PI),
        ("atan2", &[-0.0, -0.0], -PI),
        ("atan2", &[0.0, 3.0], 0.0),
        ("atan2", &[-0.0, 3.0], -0.0),
        ("atan2", &[0.0, -3.0], PI),
        ("atan2", &[-0.0, -3.0], -PI),
        ("atan2", &[2.0, 0.0], FRAC_PI_2),
        ("atan2", &[-2.0, -0.0], -FRAC_PI_2),
        ("atan2", &[INF, INF], FRAC_PI_4),
        ("atan2", &[INF, -INF], 3.0 * FRAC_PI_4),
        ("atan2", &[-INF, -INF], -3.0 * FRAC_PI_4),
        ("atan2", &[5.0, INF], 0.0),
        ("atan2", &[-5.0, INF], -0.0),
        ("atan2", &[5.0, -INF], PI),
        ("atan2", &[INF, 1e300], FRAC_PI_2),
        ("atan2", &[-INF, -5.0], -FRAC_PI_2),
        ("atan2", &[LEAST, LEAST], FRAC_PI_4),
        ("atan2", &[LEAST, 1e300], 0.0),
        ("atan2", &[1e300, LEAST], FRAC_PI_2),
        ("atan2", &[f64::MAX, -f64::MAX], 3.0 * FRAC_PI_4),
    ]);
}

#[test]
fn roots_and_lengths() {
    check(&[
        ("sqrt", &[-0.0], -0.0),
        ("sqrt", &[INF], INF),
        ("sqrt", &[-LEAST], NAN),
        ("rsqrt", &[0.0], INF),
        ("rsqrt", &[INF], 0.0),
        ("rsqrt", &[4.0], 0.5),
        ("rsqrt", &[-1.0], NAN),
        ("cbrt", &[0.0], 0.0),
        ("cbrt", &[-0.0], -0.0),
        ("cbrt", &[INF], INF),
        ("cbrt", &[-INF], -INF),
        ("hypot", &[0.0, -0.0], 0.0),
        ("hypot", &[-INF, NAN], INF),
        ("hypot", &[NAN, INF], INF),
        ("hypot", &[INF, 0.0], INF),
        ("hypot", &[f64::MAX, f64::MAX], INF),
        ("hypot", &[f64::MAX, 0.0], f64::MAX),
        ("hypot", &[0.0, -LEAST], LEAST),
        ("hypot", &[3.0 * LEAST, 4.0 * LEAST], 5.0 * LEAST),
    ]);
    for k in -100..=100 {
        let x = f64::from(k);
        assert!(is(value("cbrt", &[x * x * x]), x), "cbrt({k}^3)");
    }
}

#[test]
fn rounding_halves_away_from_zero() {
    let large = 4_503_599_627_370_497.0;
    check(&[
        ("round", &[0.5], 1.0),
        ("round", &[-0.5], -1.0),
        ("round", &[-0.25], -0.0),
        ("round", &[-0.0], -0.0),
        ("round", &[2.5], 3.0),
        ("round", &[0.5 - 0.5_f64.powi(54)], 0.0),
        ("round", &[large], large),
        ("round", &[large - 1.5], large - 1.0),
        ("round", &[INF], INF),
        ("round", &[-INF], -INF),
    ]);
    assert!(is(single("round", &[0.499_999_97]), 0.0));
}

#[test]
fn powers() {
    check(&[
        ("pow", &[NAN, 0.0], 1.0),
        ("pow", &[0.0, -0.0], 1.0),
        ("pow", &[INF, 0.0], 1.0),
        ("pow", &[1.0, NAN], 1.0),
        ("pow", &[1.0, INF], 1.0),
        ("pow", &[-1.0, INF], 1.0),
        ("pow", &[-1.0, -INF], 1.0),
        ("pow", &[0.0, 3.0], 0.0),
        ("pow", &[-0.0, 3.0], -0.0),
        ("pow", &[-0.0, 2.0], 0.0),
        ("pow", &[-0.0, 0.5], 0.0),
        ("pow", &[0.0, -2.0], INF),
        ("pow", &[-0.0, -3.0], -INF),
        ("pow", &[-0.0, -2.5], INF),
        ("pow", &[0.0, INF], 0.0),
        ("pow", &[0.0, -INF], INF),
        ("pow", &[INF, 0.25], INF),
        ("pow", &[INF, -3.0], 0.0),
        ("pow", &[-INF, 3.0], -INF),
        ("pow", &[-INF, 2.0], INF),
        ("pow", &[-INF, -3.0], -0.0),
        ("pow", &[-INF, 0.5], INF),
        ("pow", &[0.5, INF], 0.0),
        ("pow", &[0.5, -INF], INF),
        ("pow", &[-2.0, INF], INF),
        ("pow", &[-2.0, -INF], 0.0),
        ("pow", &[-2.0, 0.5], NAN),
        ("pow", &[-2.0, 3.0], -8.0),
        ("pow", &[-2.0, -2.0], 0.25),
        ("pow", &[-1.5, 1e300], INF),
        ("pow", &[2.0, -1074.0], LEAST),
        ("pow", &[2.0, -1076.0], 0.0),
        ("pow", &[2.0, 1024.0], INF),
        ("pow", &[-2.0, 1025.0], -INF),
        ("pow", &[LEAST, 1.0], LEAST),
        ("pow", &[-7.3, 1.0], -7.3),
        ("pow", &[f64::MAX, 1.0], f64::MAX),
        ("pow", &[1.0 + f64::EPSILON, 1e25], INF),
        ("pow", &[1.0 - f64::EPSILON, 1e25], 0.0),
        ("pow", &[-1.0, 9_007_199_254_740_991.0], -1.0),
        ("pow", &[-1.0, 9_007_199_254_740_992.0], 1.0),
    ]);
    for k in 0..=20 {
        let exact = 7_f64.powi(k);
        if exact < 9e15 {
            assert!(is(value("pow", &[7.0, k.into()]), exact), "7^{k}");
        }
    }
}

#[test]
fn error_functions() {
    check(&[
        ("erf", &[0.0], 0.0),
        ("erf", &[-0.0], -0.0),
        ("erf", &[INF], 1.0),
        ("erf", &[-INF], -1.0),
        ("erf", &[6.0], 1.0),
        ("erf", &[LEAST], LEAST),
        ("erfc", &[0.0], 1.0),
        ("erfc", &[-0.0], 1.0),
        ("erfc", &[INF], 0.0),
        ("erfc", &[28.0], 0.0),
        ("erfc", &[-INF], 2.0),
        ("erfc", &[-6.5], 2.0),
    ]);
}

#[test]
fn logarithms_of_the_gamma_function() {
    check(&[
        ("lgamma", &[0.0], INF),
        ("lgamma", &[-0.0], INF),
        ("lgamma", &[-1.0], INF),
        ("lgamma", &[-1e300], INF),
        ("lgamma", &[INF], INF),
        ("lgamma", &[-INF], INF),
        ("lgamma", &[1.0], 0.0),
        ("lgamma", &[2.0], 0.0),
        ("lgamma", &[1e306], INF),
    ]);
    assert!(value("lgamma", &[2.55e305]).is_finite());
}
