//! Element types.

use crate::Storage;
use std::fmt;

/// The type of a scalar, or of the elements of a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Elem {
    /// Truth value.
    Bool,
    /// 8-bit signed integer.
    I8,
    /// 16-bit signed integer.
    I16,
    /// 32-bit signed integer.
    I32,
    /// 64-bit signed integer: the type of sizes and loop indices.
    I64,
    /// 8-bit unsigned integer.
    U8,
    /// 16-bit unsigned integer.
    U16,
    /// 32-bit unsigned integer.
    U32,
    /// 64-bit unsigned integer.
    U64,
    /// IEEE half precision, for storage.
    F16,
    /// The upper half of an f32, for storage.
    BF16,
    /// IEEE single precision.
    F32,
    /// IEEE double precision.
    F64,
}

impl Elem {
    /// Every element type.
    pub const ALL: [Elem; 13] = [
        Elem::Bool,
        Elem::I8,
        Elem::I16,
        Elem::I32,
        Elem::I64,
        Elem::U8,
        Elem::U16,
        Elem::U32,
        Elem::U64,
        Elem::F16,
        Elem::BF16,
        Elem::F32,
        Elem::F64,
    ];

    /// The name in the language and in the IR's text form.
    pub fn name(self) -> &'static str {
        match self {
            Elem::Bool => "bool",
            Elem::I8 => "i8",
            Elem::I16 => "i16",
            Elem::I32 => "i32",
            Elem::I64 => "i64",
            Elem::U8 => "u8",
            Elem::U16 => "u16",
            Elem::U32 => "u32",
            Elem::U64 => "u64",
            Elem::F16 => "f16",
            Elem::BF16 => "bf16",
            Elem::F32 => "f32",
            Elem::F64 => "f64",
        }
    }

    /// The element type of that name.
    pub fn from_name(name: &str) -> Option<Elem> {
        Elem::ALL.into_iter().find(|e| e.name() == name)
    }

    /// Whether values of this type carry derivatives.
    pub fn is_float(self) -> bool {
        matches!(self, Elem::F16 | Elem::BF16 | Elem::F32 | Elem::F64)
    }

    /// The format of a float type that is for storage alone: it is moved, converted and compared, and computed with as
    /// f32.
    pub fn storage(self) -> Option<Storage> {
        match self {
            Elem::F16 => Some(Storage::F16),
            Elem::BF16 => Some(Storage::BF16),
            Elem::Bool
            | Elem::I8
            | Elem::I16
            | Elem::I32
            | Elem::I64
            | Elem::U8
            | Elem::U16
            | Elem::U32
            | Elem::U64
            | Elem::F32
            | Elem::F64 => None,
        }
    }

    /// The type that values of this type are computed with; tangents and cotangents have it too.
    pub fn computed(self) -> Elem {
        if self.storage().is_some() { Elem::F32 } else { self }
    }

    /// Whether this is a signed or unsigned integer type.
    pub fn is_integer(self) -> bool {
        self.is_signed() || self.is_unsigned()
    }

    /// Whether this is a signed integer type.
    pub fn is_signed(self) -> bool {
        matches!(self, Elem::I8 | Elem::I16 | Elem::I32 | Elem::I64)
    }

    /// Whether this is an unsigned integer type.
    pub fn is_unsigned(self) -> bool {
        matches!(self, Elem::U8 | Elem::U16 | Elem::U32 | Elem::U64)
    }

    /// Bytes of one element in memory; a `bool` takes one.
    pub fn bytes(self) -> usize {
        match self {
            Elem::Bool | Elem::I8 | Elem::U8 => 1,
            Elem::I16 | Elem::U16 | Elem::F16 | Elem::BF16 => 2,
            Elem::I32 | Elem::U32 | Elem::F32 => 4,
            Elem::I64 | Elem::U64 | Elem::F64 => 8,
        }
    }

    /// Least and greatest value of an integer type; `None` for the others.
    pub fn integer_range(self) -> Option<(i128, i128)> {
        let bits = 8 * self.bytes() as u32;
        if self.is_signed() {
            Some((-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1))
        } else if self.is_unsigned() {
            Some((0, (1i128 << bits) - 1))
        } else {
            None
        }
    }
}

impl fmt::Display for Elem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A set of element types: what a primitive is defined on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ElemSet(u16);

impl ElemSet {
    /// `bool` alone.
    pub const BOOL: ElemSet = ElemSet::of(&[Elem::Bool]);
    /// `f32` and `f64`.
    pub const FLOAT: ElemSet = ElemSet::of(&[Elem::F32, Elem::F64]);
    /// `f16` and `bf16`.
    pub const STORAGE: ElemSet = ElemSet::of(&[Elem::F16, Elem::BF16]);
    /// All integer types.
    pub const INTEGER: ElemSet =
        ElemSet::of(&[Elem::I8, Elem::I16, Elem::I32, Elem::I64, Elem::U8, Elem::U16, Elem::U32, Elem::U64]);
    /// Integers and floats.
    pub const NUMERIC: ElemSet = ElemSet::FLOAT.or(ElemSet::INTEGER);
    /// The types that are compared.
    pub const ORDERED: ElemSet = ElemSet::NUMERIC.or(ElemSet::BOOL);
    /// Every element type.
    pub const ANY: ElemSet = ElemSet::ORDERED.or(ElemSet::STORAGE);

    /// The set of the given types.
    pub const fn of(elems: &[Elem]) -> ElemSet {
        let mut bits = 0;
        let mut k = 0;
        while k < elems.len() {
            bits |= 1 << elems[k] as u16;
            k += 1;
        }
        ElemSet(bits)
    }

    /// Union.
    pub const fn or(self, other: ElemSet) -> ElemSet {
        ElemSet(self.0 | other.0)
    }

    /// Membership.
    pub const fn has(self, elem: Elem) -> bool {
        self.0 & (1 << elem as u16) != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back() {
        for elem in Elem::ALL {
            assert_eq!(Elem::from_name(elem.name()), Some(elem));
        }
        assert_eq!(Elem::from_name("f128"), None);
    }

    #[test]
    fn sets_hold_what_their_names_say() {
        for elem in Elem::ALL {
            assert_eq!(ElemSet::FLOAT.has(elem), elem.is_float() && elem.storage().is_none(), "{elem}");
            assert_eq!(ElemSet::STORAGE.has(elem), elem.storage().is_some(), "{elem}");
            assert_eq!(ElemSet::INTEGER.has(elem), elem.is_integer(), "{elem}");
            assert_eq!(ElemSet::NUMERIC.has(elem), elem != Elem::Bool && elem.storage().is_none(), "{elem}");
            assert_eq!(ElemSet::BOOL.has(elem), elem == Elem::Bool, "{elem}");
            assert!(ElemSet::ANY.has(elem), "{elem}");
        }
    }

    #[test]
    fn integer_ranges_follow_from_the_width() {
        assert_eq!(Elem::I8.integer_range(), Some((-128, 127)));
        assert_eq!(Elem::U16.integer_range(), Some((0, 65535)));
        assert_eq!(Elem::I64.integer_range(), Some((i64::MIN.into(), i64::MAX.into())));
        assert_eq!(Elem::U64.integer_range(), Some((0, u64::MAX.into())));
        assert_eq!(Elem::F64.integer_range(), None);
        assert_eq!(Elem::Bool.integer_range(), None);
    }
}
