//! Numbers that are not of the float type of the program, truth values, characters.

use super::{Feature, scalar, vector};
use crate::generate::Construct as C;

const NARROW: &str = "fn narrow[K](v: {t}[K], x: {t}) -> {t} {
  let h: f16[K] = v as f16
  let mut b = zeros[bf16](2)
  b[1] = x as bf16
  b[0] = b[1] * b[1]
  (+/ (h .* h)) as {t} + (b[0] as {t})
}";
const CHECKSUM: &str = "fn checksum[K](ix: i64[K], k: i64) -> i64 {
  let bytes = wrapping_as[u8](ix .* 37 .+ k)
  let mut sum: u32 = 7
  for b in bytes { sum = bit_xor(wrapping_mul(sum, 31), bit_or(b as u32, bit_and(sum, 6))) }
  let total = (+/ (ix .+ 1)) * (*/ (1..=(k % 4))) - (min/ ix) + (max/ ix) ** 2
  (sum % 5) as i64 + total % 7 - (-/ ix) % 3 + 0x1f % 3 + wrapping_neg(k % 2) + wrapping_abs(-k) + wrapping_pow(3, k)
}";

const WIDTHS: &str = "fn widths(k: i64) -> i64 {
  let (a, b, c) = ((k as i8) * 2, (k as i16) % 5, (k as i32) - 1)
  let (d, e, f, g) = ((k as u8) + 1, (k as u16) * 3, (k as u32) % 7, (k as u64) / 2)
  (a as i64) + (b as i64) - (c as i64) + (d as i64) * (e as i64) - (f as i64) + (g as i64)
}";

pub(super) const FEATURES: &[Feature] = &[
    scalar(C::NarrowFloat, &[], "(({x} as f16) as {t})"),
    scalar(C::NarrowFloat, &[], "((({x} as bf16) * ({y} as f16 as bf16)) as {t})"),
    scalar(C::NarrowFloat, &[NARROW], "narrow({v}, {x})"),
    scalar(C::EveryInteger, &[], "(0.1 * ((({k} as {int}) * 2 + 1) as {t}) * {x})"),
    scalar(C::EveryInteger, &[], "sin(((wrapping_mul(wrapping_as[{int}]({k} - 3), 77) % 9) as {t}) + {x})"),
    scalar(C::EveryInteger, &[], "{v}[({k} as {int}) % (N as {int})]"),
    scalar(C::EveryInteger, &[WIDTHS], "(0.1 * (widths({k}) as {t}) + {x})"),
    scalar(C::IntegerFolds, &[CHECKSUM], "(0.2 * (checksum({ix}, {k}) as {t}) + {x})"),
    scalar(C::TruthFolds, &[], "(if and/ ({v} .< 1.5) && !(or/ ({w} .>= 1.2)) { {x} } else { {y} })"),
    vector(C::TruthFolds, &[], "select({v} .> {w}, {v}, sin({w}))"),
    scalar(C::Logic, &[], "(({k} <= 1 || {x} != 0.3 && true) as {t} * {y})"),
    scalar(C::Character, &[], "(0.01 * ('A' as {t}) * {x})"),
    scalar(C::NamedConstant, &[], "sin(min({x}, inf) * pi + e)"),
    scalar(C::NamedConstant, &[], "(if isnan({x} + nan) { {y} } else { 0.0 })"),
    scalar(C::Power, &[], "(({x} ** {k}) * (2.0 ** -1.0) + ((2 ** {k}) as {t}) * 0.1)"),
    vector(C::Power, &[], "((1.5 .+ sin({v})) .** 0.7 .- {w} .** 2)"),
];
