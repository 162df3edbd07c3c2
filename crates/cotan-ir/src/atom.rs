//! Operands: variables and constants.

use crate::{Elem, Storage};
use std::fmt;

/// A variable of a function: an index into its table of variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Var(pub u32);

impl Var {
    /// The index into the function's table of variables.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A scalar constant: an element type and the bits of the value, so that equality and hashing are those of the bits.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Const {
    elem: Elem,
    bits: u64,
}

impl Const {
    /// A truth value.
    pub const fn bool(value: bool) -> Const {
        Const { elem: Elem::Bool, bits: value as u64 }
    }

    /// An i64.
    pub fn i64(value: i64) -> Const {
        Const { elem: Elem::I64, bits: value as u64 }
    }

    /// An f64.
    pub fn f64(value: f64) -> Const {
        Const { elem: Elem::F64, bits: value.to_bits() }
    }

    /// An f32.
    pub fn f32(value: f32) -> Const {
        Const { elem: Elem::F32, bits: value.to_bits() as u64 }
    }

    /// An integer of integer type `elem`, wrapped to its width.
    pub fn integer(elem: Elem, value: i128) -> Const {
        assert!(elem.is_integer(), "{elem} is no integer type");
        let wrapped = match elem {
            Elem::I8 => value as i8 as u64,
            Elem::I16 => value as i16 as u64,
            Elem::I32 => value as i32 as u64,
            Elem::U8 => value as u8 as u64,
            Elem::U16 => value as u16 as u64,
            Elem::U32 => value as u32 as u64,
            Elem::I64 | Elem::U64 | Elem::Bool | Elem::F16 | Elem::BF16 | Elem::F32 | Elem::F64 => value as u64,
        };
        Const { elem, bits: wrapped }
    }

    /// The float `value` rounded to float type `elem`.
    pub fn float(elem: Elem, value: f64) -> Const {
        assert!(elem.is_float(), "{elem} is no float type");
        match elem.storage() {
            Some(storage) => Const { elem, bits: storage.narrow_double(value).into() },
            None if elem == Elem::F32 => Const::f32(value as f32),
            None => Const::f64(value),
        }
    }

    /// The constant of a type with these bits, as [`Const::bits`] gives them.
    pub fn from_bits(elem: Elem, bits: u64) -> Const {
        match elem {
            Elem::Bool => Const::bool(bits != 0),
            Elem::F16 | Elem::BF16 => Const { elem, bits: bits & 0xffff },
            Elem::F32 => Const::f32(f32::from_bits(bits as u32)),
            Elem::F64 => Const::f64(f64::from_bits(bits)),
            Elem::I8 | Elem::I16 | Elem::I32 | Elem::I64 | Elem::U8 | Elem::U16 | Elem::U32 | Elem::U64 => {
                Const::integer(elem, bits.into())
            }
        }
    }

    /// The NaN that has no text of its own.
    fn default_nan(elem: Elem) -> Const {
        if elem == Elem::F64 { Const::f64(f64::NAN) } else { Const::float(elem, f64::from(f32::NAN)) }
    }

    /// A small whole number as a constant of any numeric type.
    pub fn number(elem: Elem, value: i32) -> Const {
        if elem.is_float() { Const::float(elem, value.into()) } else { Const::integer(elem, value.into()) }
    }

    /// The zero of a type (`false` for `bool`).
    pub fn zero(elem: Elem) -> Const {
        Const { elem, bits: 0 }
    }

    /// The constant that this text displays.
    pub fn from_text(text: &str) -> Option<Const> {
        let suffixed = text.rsplit_once('_').and_then(|(body, suffix)| Some((body, Elem::from_name(suffix)?)));
        let (body, elem) = suffixed.unzip();
        let body = body.unwrap_or(text);
        let is_whole = body.strip_prefix('-').unwrap_or(body).chars().all(|c| c.is_ascii_digit());
        match (body, elem) {
            ("true", None) => Some(Const::bool(true)),
            ("false", None) => Some(Const::bool(false)),
            (_, Some(Elem::Bool)) => None,
            (_, None) if is_whole => Some(Const::i64(body.parse().ok()?)),
            (_, None) => Const::float_from_text(Elem::F64, body),
            (_, Some(elem)) if elem.is_float() => Const::float_from_text(elem, body),
            (_, Some(elem)) => {
                let value = if is_whole { body.parse::<i128>().ok()? } else { return None };
                elem.integer_range().filter(|(least, greatest)| (least..=greatest).contains(&&value))?;
                Some(Const::integer(elem, value))
            }
        }
    }

    fn float_from_text(elem: Elem, text: &str) -> Option<Const> {
        if let Some(digits) = text.strip_prefix("nan_0x") {
            let bits = u64::from_str_radix(digits, 16).ok()?;
            let value = Const::from_bits(elem, bits);
            return (value.bits == bits && value.as_float()?.is_nan()).then_some(value);
        }
        match text {
            "inf" => return Some(Const::float(elem, f64::INFINITY)),
            "-inf" => return Some(Const::float(elem, f64::NEG_INFINITY)),
            "nan" => return Some(Const::default_nan(elem)),
            _ => {}
        }
        // The standard library also reads words such as `infinity`, and rounds what is too large to infinity.
        let starts_as_number = text.strip_prefix('-').unwrap_or(text).starts_with(|c: char| c.is_ascii_digit());
        let value =
            if elem == Elem::F32 { Const::f32(text.parse().ok()?) } else { Const::float(elem, text.parse().ok()?) };
        (starts_as_number && value.as_float().is_some_and(f64::is_finite)).then_some(value)
    }

    /// The element type.
    pub fn elem(self) -> Elem {
        self.elem
    }

    /// The bits: sign-extended for signed integers, zero-extended for everything else.
    pub fn bits(self) -> u64 {
        self.bits
    }

    /// The value of a `bool`.
    pub fn as_bool(self) -> Option<bool> {
        (self.elem == Elem::Bool).then_some(self.bits != 0)
    }

    /// The value of an integer.
    pub fn as_integer(self) -> Option<i128> {
        if self.elem.is_signed() {
            Some((self.bits as i64).into())
        } else if self.elem.is_unsigned() {
            Some(self.bits.into())
        } else {
            None
        }
    }

    /// The value of an i64.
    pub fn as_i64(self) -> Option<i64> {
        (self.elem == Elem::I64).then_some(self.bits as i64)
    }

    /// The value of a float, widened to f64.
    pub fn as_float(self) -> Option<f64> {
        match self.elem {
            Elem::F16 => Some(Storage::F16.widen(self.bits as u16).into()),
            Elem::BF16 => Some(Storage::BF16.widen(self.bits as u16).into()),
            Elem::F32 => Some(f32::from_bits(self.bits as u32).into()),
            Elem::F64 => Some(f64::from_bits(self.bits)),
            Elem::Bool
            | Elem::I8
            | Elem::I16
            | Elem::I32
            | Elem::I64
            | Elem::U8
            | Elem::U16
            | Elem::U32
            | Elem::U64 => None,
        }
    }

    /// The fewest digits that read back to the same bits, of a float; `NaN` and `inf` for what has none.
    pub fn digits(self) -> String {
        let value = self.as_float().unwrap_or(f64::NAN);
        match self.elem.storage() {
            None if self.elem == Elem::F32 => format!("{:?}", value as f32),
            None => format!("{value:?}"),
            Some(_) if !value.is_finite() => format!("{value:?}"),
            Some(_) => {
                let rounded = |n_digits| format!("{value:.n_digits$e}").parse::<f64>().unwrap_or(value);
                let reads_back = |short: &f64| Const::float(self.elem, *short) == self;
                // A number of 16 bits has at most five significant digits of its own.
                let shortest = (0..5).map(rounded).find(reads_back).unwrap_or(value);
                format!("{shortest:?}")
            }
        }
    }

    /// Whether this is the number `value`; -0.0 is not 0.
    pub fn is_number(self, value: i32) -> bool {
        self.elem != Elem::Bool && self == Const::number(self.elem, value)
    }
}

/// The text form: `true`, `3`, `3_i32`, `0.5`, `0.5_f32`, `inf`, `nan`; i64 and f64 carry no suffix. Floats have the
/// fewest digits that read back to the same bits; a NaN other than the default one prints its bits.
impl fmt::Display for Const {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(b) = self.as_bool() {
            return write!(f, "{b}");
        }
        if let Some(i) = self.as_integer() {
            return if self.elem == Elem::I64 { write!(f, "{i}") } else { write!(f, "{i}_{}", self.elem) };
        }
        let suffix = if self.elem == Elem::F64 { String::new() } else { format!("_{}", self.elem) };
        let text = self.digits();
        if text == "NaN" && *self != Const::default_nan(self.elem) {
            write!(f, "nan_{:#x}{suffix}", self.bits)
        } else {
            write!(f, "{}{suffix}", text.to_lowercase())
        }
    }
}

impl fmt::Debug for Const {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// An operand of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Atom {
    /// A variable in scope.
    Var(Var),
    /// A scalar constant. As an operand of an element-wise primitive it stands for a tensor filled with it.
    Const(Const),
}

impl Atom {
    /// The variable, if it is one.
    pub fn var(self) -> Option<Var> {
        match self {
            Atom::Var(v) => Some(v),
            Atom::Const(_) => None,
        }
    }

    /// The constant, if it is one.
    pub fn constant(self) -> Option<Const> {
        match self {
            Atom::Const(c) => Some(c),
            Atom::Var(_) => None,
        }
    }

    /// What is known of a condition: that it holds, that it does not, or nothing. A constant is not a condition that holds.
    pub fn truth(self) -> Option<bool> {
        self.constant().and_then(Const::as_bool)
    }

    /// An i64 constant.
    pub fn i64(value: i64) -> Atom {
        Atom::Const(Const::i64(value))
    }
}

impl From<Var> for Atom {
    fn from(v: Var) -> Atom {
        Atom::Var(v)
    }
}

impl From<Const> for Atom {
    fn from(c: Const) -> Atom {
        Atom::Const(c)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_condition_is_known_to_hold_known_not_to_or_not_known() {
        assert_eq!(Atom::from(Const::bool(true)).truth(), Some(true));
        assert_eq!(Atom::from(Const::bool(false)).truth(), Some(false));
        assert_eq!(Atom::Var(Var(0)).truth(), None);
        assert_eq!(Atom::i64(1).truth(), None);
    }

    #[test]
    fn constants_show_their_type_except_the_common_ones() {
        let check = |c: Const, expected: &str| assert_eq!(c.to_string(), expected);
        check(Const::bool(true), "true");
        check(Const::i64(-3), "-3");
        check(Const::integer(Elem::U64, u64::MAX.into()), "18446744073709551615_u64");
        check(Const::integer(Elem::I8, -128), "-128_i8");
        check(Const::f64(2.0), "2.0");
        check(Const::f64(-0.0), "-0.0");
        check(Const::f64(1e300), "1e300");
        check(Const::f32(0.1), "0.1_f32");
        check(Const::f32(f32::NEG_INFINITY), "-inf_f32");
        check(Const::f64(f64::NAN), "nan");
        check(Const::f64(f64::from_bits(0xfff8000000000000)), "nan_0xfff8000000000000");
        check(Const::f32(f32::from_bits(0x7fc00001)), "nan_0x7fc00001_f32");
        check(Const::float(Elem::F16, 0.1), "0.1_f16");
        check(Const::float(Elem::BF16, 0.1), "0.1_bf16");
        check(Const::float(Elem::F16, 65504.0), "65500.0_f16");
        check(Const::float(Elem::F16, f64::NAN), "nan_f16");
        check(Const::from_bits(Elem::BF16, 0x7fc1), "nan_0x7fc1_bf16");
    }

    #[test]
    fn integers_wrap_to_their_width() {
        let check = |elem, value, expected| assert_eq!(Const::integer(elem, value).as_integer(), Some(expected));
        check(Elem::I8, 128, -128);
        check(Elem::U8, -1, 255);
        check(Elem::I32, 1 << 31, -(1 << 31));
        check(Elem::U32, -1, u32::MAX.into());
        check(Elem::I64, 1 << 63, i64::MIN.into());
        check(Elem::U64, -1, u64::MAX.into());
    }

    #[test]
    fn constants_are_equal_by_bits() {
        assert_ne!(Const::f64(0.0), Const::f64(-0.0));
        assert_eq!(Const::f64(f64::NAN), Const::f64(f64::NAN));
        assert_ne!(Const::f32(1.0), Const::f64(1.0));
        assert!(Const::f32(1.0).is_number(1) && !Const::f64(-0.0).is_number(0) && !Const::bool(true).is_number(1));
    }

    #[test]
    fn values_are_read_as_what_they_are() {
        assert_eq!(Const::f32(0.5).as_float(), Some(0.5));
        assert_eq!(Const::i64(1).as_float(), None);
        assert_eq!(Const::integer(Elem::I32, 1).as_i64(), None);
        assert_eq!(Const::bool(false).as_bool(), Some(false));
        assert_eq!(Const::bool(false).as_integer(), None);
        assert_eq!(Const::number(Elem::F32, -2), Const::f32(-2.0));
        assert_eq!(Const::zero(Elem::U8), Const::number(Elem::U8, 0));
    }

    #[test]
    fn constants_of_every_form_read_back_to_the_same_bits() {
        let mut constants: Vec<Const> = vec![Const::bool(true), Const::bool(false)];
        for elem in Elem::ALL {
            if let Some((least, greatest)) = elem.integer_range() {
                constants.extend([least, -1, 0, 1, greatest].map(|v| Const::integer(elem, v)));
            }
        }
        for bits in [0, 1, 1 << 31, 0x7f800000, 0xff800000, 0x7fc00000, 0x7f800001, 0xffffffff, 0x3dcccccd, 0x7f7fffff]
        {
            constants.push(Const::f32(f32::from_bits(bits)));
            constants.push(Const::f64(f64::from_bits(u64::from(bits) << 32)));
            constants.push(Const::f64(f64::from_bits(u64::from(bits) << 32 | 0x12345)));
        }
        for elem in [Elem::F16, Elem::BF16] {
            constants.extend((0..=u64::from(u16::MAX)).map(|bits| Const::from_bits(elem, bits)));
        }
        for c in constants {
            assert_eq!(Const::from_text(&c.to_string()), Some(c), "{c}");
        }
    }

    #[test]
    fn texts_that_are_no_constant_are_refused() {
        for text in ["", "-", "_", "_i32", "x", "1_bool", "-1_u8", "256_u8", "1.5_i32", "1e999", "1e99_f32", "infinity"]
        {
            assert_eq!(Const::from_text(text), None, "{text}");
        }
        for text in
            ["-nan", "nan_0x", "nan_0x1", "nan_0x7ff8000000000000_f32", "true_i64", "1__f64", "9223372036854775808"]
        {
            assert_eq!(Const::from_text(text), None, "{text}");
        }
    }
}
