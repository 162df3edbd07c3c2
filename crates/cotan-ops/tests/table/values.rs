//! Values that a reader can check by hand.

use super::samples::same;
use cotan_ir::{Const, Elem};
use cotan_ops::lookup;
use std::f64::consts::{FRAC_PI_2, LN_2, PI};

const INF: f64 = f64::INFINITY;
const NAN: f64 = f64::NAN;
/// A power of two whose square overflows.
const LARGE: f64 = (1u128 << 127) as f64
    * (1u128 << 127) as f64
    * (1u128 << 127) as f64
    * (1u128 << 127) as f64
    * (1u128 << 127) as f64;

#[test]
fn floats() {
    let cases: &[(&str, &[f64], f64)] = &[
        ("add", &[-0.0, 0.0], 0.0),
        ("add", &[INF, -INF], NAN),
        ("mul", &[0.0, INF], NAN),
        ("mulz", &[0.0, INF], 0.0),
        ("mulz", &[NAN, -0.0], 0.0),
        ("mulz", &[NAN, 1.0], NAN),
        ("div", &[1.0, -0.0], -INF),
        ("div", &[0.0, 0.0], NAN),
        ("rem", &[5.5, -2.0], 1.5),
        ("rem", &[-5.5, 2.0], -1.5),
        ("rem", &[5.0, INF], 5.0),
        ("rem", &[5.0, 0.0], NAN),
        ("fma", &[1e308, 10.0, -INF], -INF),
        ("neg", &[0.0], -0.0),
        ("abs", &[-0.0], 0.0),
        ("sign", &[-0.0], -0.0),
        ("sign", &[-INF], -1.0),
        ("max", &[-0.0, 0.0], 0.0),
        ("max", &[0.0, -0.0], 0.0),
        ("min", &[0.0, -0.0], -0.0),
        ("max", &[INF, INF], INF),
        ("max", &[-INF, 3.0], 3.0),
        ("min", &[-INF, -INF], -INF),
        ("clamp", &[INF, 0.0, 1.0], 1.0),
        ("relu", &[-3.0], 0.0),
        ("floor", &[-1.5], -2.0),
        ("ceil", &[-0.5], -0.0),
        ("trunc", &[-1.5], -1.0),
        ("round", &[2.5], 3.0),
        ("round", &[-2.5], -3.0),
        ("round", &[0.499_999_999_999_999_94], 0.0),
        ("copysign", &[3.0, -0.0], -3.0),
        ("hypot", &[3.0 * LARGE, 4.0 * LARGE], 5.0 * LARGE),
        ("hypot", &[INF, NAN], INF),
        ("sqrt", &[-0.0], -0.0),
        ("sqrt", &[2.25], 1.5),
        ("cbrt", &[-27.0], -3.0),
        ("pow", &[0.0, 0.0], 1.0),
        ("pow", &[-2.0, 3.0], -8.0),
        ("pow", &[-8.0, 1.0 / 3.0], NAN),
        ("pow", &[0.0, -1.0], INF),
        ("pow", &[1.0, NAN], 1.0),
        ("power_below", &[3.0, 3.0], 9.0),
        ("power_below", &[-2.0, 4.0], -8.0),
        ("power_below", &[-2.0, 5.0], 16.0),
        ("power_below", &[-2.0, 0.0], -0.5),
        ("power_below", &[-2.0, 2.5], NAN),
        ("power_below", &[0.0, 0.5], INF),
        ("power_below", &[0.0, 1.0], 1.0),
        ("power_below", &[2.0, INF], INF),
        ("power_below", &[2.0, -INF], 0.0),
        ("exp", &[-INF], 0.0),
        ("exp", &[INF], INF),
        ("exp2", &[10.0], 1024.0),
        ("expm1", &[1e-300], 1e-300),
        ("log", &[0.0], -INF),
        ("log", &[-1.0], NAN),
        ("log", &[2.0], LN_2),
        ("log2", &[8.0], 3.0),
        ("log10", &[1000.0], 3.0),
        ("log1p", &[1e-300], 1e-300),
        ("sin", &[-0.0], -0.0),
        ("sin", &[INF], NAN),
        ("cos", &[0.0], 1.0),
        ("atan", &[INF], FRAC_PI_2),
        ("atan2", &[0.0, -1.0], PI),
        ("atan2", &[-0.0, -1.0], -PI),
        ("atan2", &[0.0, 0.0], 0.0),
        ("acos", &[1.0], 0.0),
        ("acosh", &[1.0], 0.0),
        ("atanh", &[1.0], INF),
        ("tanh", &[400.0], 1.0),
        ("sech2", &[0.0], 1.0),
        ("sech2", &[400.0], 0.0),
        ("sigmoid", &[800.0], 1.0),
        ("sigmoid", &[-800.0], 0.0),
        ("sigmoid", &[0.0], 0.5),
        ("erf", &[INF], 1.0),
        ("erfc", &[INF], 0.0),
        ("lgamma", &[1.0], 0.0),
        ("wins", &[2.0, 1.0], 1.0),
        ("wins", &[1.0, 1.0], 0.5),
        ("wins", &[NAN, 1.0], NAN),
    ];
    for (name, at, expected) in cases {
        let row = lookup(name).expect("a row of that name");
        let at: Vec<Const> = at.iter().map(|x| Const::f64(*x)).collect();
        let found = row.eval(&at).expect("floats");
        assert!(same(found, Const::f64(*expected)), "{name}{at:?} = {found}, not {expected}");
    }
}

#[test]
fn integers() {
    let cases: &[(&str, Elem, &[i128], i128)] = &[
        ("add", Elem::I8, &[127, 1], -128),
        ("sub", Elem::U8, &[0, 1], 255),
        ("mul", Elem::I32, &[65_536, 65_536], 0),
        ("neg", Elem::I8, &[-128], -128),
        ("abs", Elem::I8, &[-128], -128),
        ("div", Elem::I64, &[-7, 2], -3),
        ("div", Elem::I64, &[7, 0], 0),
        ("div", Elem::I8, &[-128, -1], -128),
        ("rem", Elem::I64, &[-7, 2], -1),
        ("rem", Elem::I64, &[7, 0], 0),
        ("rem", Elem::I8, &[-128, -1], 0),
        ("floor_div", Elem::I64, &[-7, 2], -4),
        ("floor_div", Elem::I64, &[7, -2], -4),
        ("floor_div", Elem::I64, &[-6, 2], -3),
        ("floor_div", Elem::U8, &[200, 7], 28),
        ("floor_mod", Elem::I64, &[-7, 2], 1),
        ("floor_mod", Elem::I64, &[7, -2], -1),
        ("floor_mod", Elem::I64, &[6, -2], 0),
        ("and", Elem::U8, &[12, 10], 8),
        ("or", Elem::U8, &[12, 10], 14),
        ("xor", Elem::U8, &[12, 10], 6),
        ("not", Elem::U8, &[12], 243),
        ("not", Elem::I8, &[12], -13),
        ("max", Elem::I8, &[-3, 2], 2),
        ("clamp", Elem::I64, &[9, 0, 5], 5),
    ];
    for (name, elem, at, expected) in cases {
        let row = lookup(name).expect("a row of that name");
        let at: Vec<Const> = at.iter().map(|x| Const::integer(*elem, *x)).collect();
        assert_eq!(row.eval(&at), Ok(Const::integer(*elem, *expected)), "{name}{at:?}");
    }
}

#[test]
fn shifts_and_powers_of_integers() {
    let cases: &[(&str, Elem, i128, i64, i128)] = &[
        ("shl", Elem::I8, 1, 7, -128),
        ("shl", Elem::U8, 3, 9, 6),
        ("shr", Elem::I8, -128, 3, -16),
        ("shr", Elem::U8, 128, 3, 16),
        ("shr", Elem::I64, -1, 63, -1),
        ("powi", Elem::I64, -3, 3, -27),
        ("powi", Elem::I64, 0, 0, 1),
        ("powi", Elem::U8, 2, 8, 0),
        ("powi", Elem::I64, 2, -1, 0),
        ("powi", Elem::I64, -1, -3, -1),
    ];
    for (name, elem, x, n, expected) in cases {
        let row = lookup(name).expect("a row of that name");
        let found = row.eval(&[Const::integer(*elem, *x), Const::i64(*n)]);
        assert_eq!(found, Ok(Const::integer(*elem, *expected)), "{name}({x}_{elem}, {n})");
    }
    let powi = lookup("powi").expect("a row of that name");
    for (x, n, expected) in [(2.0, 10, 1024.0), (2.0, -2, 0.25), (0.0, 0, 1.0), (0.0, -1, INF), (-1.0, i64::MIN, 1.0)] {
        assert_eq!(powi.eval(&[Const::f64(x), Const::i64(n)]), Ok(Const::f64(expected)), "{x} to the power {n}");
    }
}

#[test]
fn conversions() {
    let (i, f) = (Const::i64, Const::f64);
    let cases = [
        ("to_i8", i(300), Const::integer(Elem::I8, 44)),
        ("to_u8", i(-1), Const::integer(Elem::U8, 255)),
        ("to_u8", f(300.7), Const::integer(Elem::U8, 255)),
        ("to_u8", f(-0.9), Const::integer(Elem::U8, 0)),
        ("to_i32", f(-2.9), Const::integer(Elem::I32, -2)),
        ("to_i64", f(NAN), i(0)),
        ("to_i64", f(1e300), i(i64::MAX)),
        ("to_i64", Const::bool(true), i(1)),
        ("to_f64", Const::bool(true), f(1.0)),
        ("to_f64", i(-3), f(-3.0)),
        ("to_f64", Const::f32(0.1), f(0.100_000_001_490_116_12)),
        ("to_f32", f(0.1), Const::f32(0.1)),
        ("to_f32", f(1e300), Const::f32(f32::INFINITY)),
        // By way of f64 this would be rounded twice, and end at 9007199791611904.
        ("to_f32", i(9_007_199_791_611_905), Const::f32(9_007_200_328_482_816.0)),
    ];
    for (name, x, expected) in cases {
        assert_eq!(lookup(name).expect("a row of that name").eval(&[x]), Ok(expected), "{name}({x})");
    }
}

#[test]
fn conditions_say_whether_the_result_is_exact() {
    let small = |x: i128| Const::integer(Elem::I8, x);
    let byte = |x: i128| Const::integer(Elem::U8, x);
    let cases: &[(&str, &[Const], bool)] = &[
        ("in_range", &[Const::i64(0), Const::i64(1)], true),
        ("in_range", &[Const::i64(-1), Const::i64(1)], false),
        ("in_range", &[Const::i64(1), Const::i64(1)], false),
        ("in_range", &[Const::i64(0), Const::i64(i64::MIN)], false),
        ("add_fits", &[small(100), small(27)], true),
        ("add_fits", &[small(100), small(28)], false),
        ("sub_fits", &[byte(3), byte(4)], false),
        ("mul_fits", &[small(-16), small(8)], true),
        ("mul_fits", &[small(16), small(8)], false),
        ("mul_fits", &[Const::integer(Elem::U64, i128::from(u64::MAX)), Const::integer(Elem::U64, 2)], false),
        ("neg_fits", &[small(-128)], false),
        ("neg_fits", &[byte(0)], true),
        ("neg_fits", &[byte(1)], false),
        ("abs_fits", &[small(-128)], false),
        ("abs_fits", &[byte(255)], true),
        ("div_fits", &[small(-128), small(-1)], false),
        ("div_fits", &[small(-128), small(0)], true),
        ("div_fits", &[byte(3), byte(255)], true),
        ("powi_fits", &[small(2), Const::i64(6)], true),
        ("powi_fits", &[small(2), Const::i64(7)], false),
        ("powi_fits", &[small(-2), Const::i64(7)], true),
        ("powi_fits", &[small(-1), Const::i64(i64::MAX)], true),
        ("powi_fits", &[small(2), Const::i64(-1)], false),
        ("shift_fits", &[small(1), Const::i64(7)], true),
        ("shift_fits", &[small(1), Const::i64(8)], false),
        ("cast_fits_u8", &[Const::f64(255.9)], true),
        ("cast_fits_u8", &[Const::f64(256.0)], false),
        ("cast_fits_u8", &[Const::f64(-0.9)], true),
        ("cast_fits_u8", &[Const::f64(NAN)], false),
        ("cast_fits_i64", &[Const::f64(9_223_372_036_854_775_808.0)], false),
        ("cast_fits_i64", &[Const::f64(-9_223_372_036_854_775_808.0)], true),
        ("cast_fits_u64", &[Const::f64(INF)], false),
        ("cast_fits_i8", &[Const::i64(128)], false),
        ("isnan", &[Const::f64(NAN)], true),
        ("isfinite", &[Const::f64(-INF)], false),
        ("isfinite", &[Const::f64(NAN)], false),
        ("isfinite", &[Const::f64(1e308)], true),
        ("lt", &[Const::f64(NAN), Const::f64(1.0)], false),
        ("ne", &[Const::f64(NAN), Const::f64(NAN)], true),
        ("eq", &[Const::f64(0.0), Const::f64(-0.0)], true),
        ("ge", &[Const::integer(Elem::U64, -1), Const::integer(Elem::U64, 1)], true),
    ];
    for (name, at, expected) in cases {
        assert_eq!(lookup(name).expect("a row of that name").eval(at), Ok(Const::bool(*expected)), "{name}{at:?}");
    }
}

#[test]
fn operands_of_wrong_types_are_errors() {
    let sin = lookup("sin").expect("a row of that name");
    assert_eq!(sin.eval(&[Const::i64(1)]), Err("`sin` is not defined on i64".to_owned()));
    assert_eq!(sin.eval(&[]), Err("`sin` takes 1 operands, found 0".to_owned()));
}
