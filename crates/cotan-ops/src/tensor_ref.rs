//! Borrowed tensors: row-major arrays of a host, in the native width of their elements.
//!
//! What a host lends stays as it is, so that compiled code reads and writes it without a copy.

use crate::element_count::ElementCount;
use crate::elements::{Elements, ElementsMut};
use crate::value::Value;
use cotan_ir::{Const, Elem};

/// A tensor that is lent for reading.
#[derive(Clone, Copy, Debug)]
pub struct TensorRef<'a> {
    elem: Elem,
    dims: &'a [i64],
    elements: Elements<'a>,
}

/// A tensor that is lent for writing.
#[derive(Debug)]
pub struct TensorMut<'a> {
    elem: Elem,
    dims: &'a [i64],
    elements: ElementsMut<'a>,
}

/// Elements that are no tensor of a type and extents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoTensor;

impl std::fmt::Display for NoTensor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the elements are not as many as the extents say, or of another type")
    }
}

impl std::error::Error for NoTensor {}

impl<'a> TensorRef<'a> {
    /// A tensor of an element type and extents, outermost first. Truth values are the bytes 0 and 1, floats of sixteen bits
    /// their bits.
    pub fn new(elem: Elem, dims: &'a [i64], elements: impl Into<Elements<'a>>) -> Result<TensorRef<'a>, NoTensor> {
        let elements = elements.into();
        let is_tensor =
            is_whole(dims, elements.len()) && elements.are(elem) && (elem != Elem::Bool || are_bools(elements));
        if is_tensor { Ok(TensorRef { elem, dims, elements }) } else { Err(NoTensor) }
    }

    /// A scalar i64.
    pub fn i64(number: &'a i64) -> TensorRef<'a> {
        TensorRef { elem: Elem::I64, dims: &[], elements: Elements::I64(std::slice::from_ref(number)) }
    }

    /// The element type.
    pub fn elem(&self) -> Elem {
        self.elem
    }

    /// The extents.
    pub fn dims(&self) -> &'a [i64] {
        self.dims
    }

    /// The elements, row-major.
    pub fn elements(&self) -> Elements<'a> {
        self.elements
    }

    /// The number that a scalar is; `None` of a tensor.
    pub fn to_scalar(&self) -> Option<Const> {
        if self.dims.is_empty() { Some(Const::from_bits(self.elem, self.elements.word(0)?)) } else { None }
    }

    /// A copy with a word for every element; `None` if there is no memory for it.
    pub fn to_value(&self) -> Option<Value> {
        let mut bits = Vec::new();
        bits.try_reserve_exact(self.elements.len()).ok()?;
        self.elements.widen(&mut bits);
        Some(Value { elem: self.elem, dims: self.dims.to_vec(), bits })
    }

    /// Whether an element is NaN.
    pub fn has_nan(&self) -> bool {
        match self.elements {
            // Without a branch for every element this runs as fast as memory gives them.
            Elements::F64(x) => x.chunks(PIECE).any(|piece| piece.iter().fold(false, |nan, x| nan | x.is_nan())),
            Elements::F32(x) => x.chunks(PIECE).any(|piece| piece.iter().fold(false, |nan, x| nan | x.is_nan())),
            Elements::U16(bits) => {
                let infinity = match self.elem {
                    Elem::F16 => 0x7c00,
                    Elem::BF16 => 0x7f80,
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
                    | Elem::F64 => return false,
                };
                bits.iter().any(|bits| bits & (u16::MAX >> 1) > infinity)
            }
            Elements::I8(_)
            | Elements::I16(_)
            | Elements::I32(_)
            | Elements::I64(_)
            | Elements::U8(_)
            | Elements::U32(_)
            | Elements::U64(_) => false,
        }
    }
}

/// Elements that are looked at together.
const PIECE: usize = 1024;

impl<'a> TensorMut<'a> {
    /// A tensor of an element type and extents, outermost first.
    pub fn new(elem: Elem, dims: &'a [i64], elements: impl Into<ElementsMut<'a>>) -> Result<TensorMut<'a>, NoTensor> {
        let elements = elements.into();
        let is_tensor = is_whole(dims, elements.as_ref().len()) && elements.as_ref().are(elem);
        if is_tensor { Ok(TensorMut { elem, dims, elements }) } else { Err(NoTensor) }
    }

    /// A scalar i64.
    pub fn i64(number: &'a mut i64) -> TensorMut<'a> {
        TensorMut { elem: Elem::I64, dims: &[], elements: ElementsMut::I64(std::slice::from_mut(number)) }
    }

    /// The element type.
    pub fn elem(&self) -> Elem {
        self.elem
    }

    /// The extents.
    pub fn dims(&self) -> &'a [i64] {
        self.dims
    }

    /// How many bytes its elements have.
    pub fn n_bytes(&self) -> usize {
        self.elements.as_ref().len() * self.elem.bytes()
    }

    /// Where the elements lie.
    pub fn as_mut_ptr(&mut self) -> *mut u8 {
        self.elements.as_mut_ptr()
    }

    /// The same tensor, for a shorter time.
    pub fn reborrow(&mut self) -> TensorMut<'_> {
        TensorMut { elem: self.elem, dims: self.dims, elements: self.elements.reborrow() }
    }

    /// The tensor as it is now.
    pub fn as_ref(&self) -> TensorRef<'_> {
        TensorRef { elem: self.elem, dims: self.dims, elements: self.elements.as_ref() }
    }

    /// Takes over the elements of a value; whether its type and extents are the same.
    pub fn copy_from(&mut self, value: &Value) -> bool {
        let n = self.elements.as_ref().len();
        let fits = value.elem == self.elem && value.dims == self.dims && value.bits.len() == n;
        if fits {
            self.elements.narrow(&value.bits);
        }
        fits
    }
}

fn is_whole(dims: &[i64], n_elements: usize) -> bool {
    ElementCount::of(dims).is_some_and(|n| n.get() == n_elements)
}

/// Compiled code relies on it.
fn are_bools(elements: Elements<'_>) -> bool {
    let Elements::U8(bytes) = elements else { return false };
    bytes.iter().all(|byte| *byte <= 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_become_words_and_back() {
        let lent = TensorRef::new(Elem::F32, &[2], &[1.5f32, -0.0][..]).expect("two elements");
        let value = lent.to_value().expect("memory");
        assert_eq!(value.bits, [1.5f32.to_bits().into(), u64::from((-0.0f32).to_bits())]);
        let mut back = [0.0f32; 2];
        assert!(TensorMut::new(Elem::F32, &[2], &mut back[..]).is_ok_and(|mut own| own.copy_from(&value)));
        assert_eq!(back.map(f32::to_bits), [1.5f32.to_bits(), (-0.0f32).to_bits()]);
        let negative = TensorRef::new(Elem::I8, &[2], &[-1i8, 7][..]).expect("two elements");
        assert_eq!(negative.to_value().expect("memory").bits, [u64::MAX, 7]);
    }

    #[test]
    fn elements_of_other_extents_or_types_are_no_tensor() {
        assert!(TensorRef::new(Elem::I64, &[3], &[1i64, 2][..]).is_err());
        assert!(TensorRef::new(Elem::I64, &[-2, -1], &[1i64, 2][..]).is_err());
        assert!(TensorRef::new(Elem::U64, &[2], &[1i64, 2][..]).is_err());
        assert!(TensorRef::new(Elem::Bool, &[2], &[1u8, 2][..]).is_err());
        assert!(TensorRef::new(Elem::Bool, &[2], &[1u8, 0][..]).is_ok());
        let mut room = [0i64; 2];
        let mut own = TensorMut::new(Elem::I64, &[2], &mut room[..]).expect("two elements");
        assert!(!own.copy_from(&Value::i64s(&[1, 2], &[1, 2])), "another rank");
        assert!(!own.copy_from(&Value::f64s(&[2], &[1.0, 2.0])), "another type");
    }

    #[test]
    fn a_nan_is_found_in_every_float_type() {
        let has_nan = |elem, elements: Elements<'_>| TensorRef { elem, dims: &[2], elements }.has_nan();
        assert!(has_nan(Elem::F64, Elements::F64(&[f64::NEG_INFINITY, f64::NAN])));
        assert!(!has_nan(Elem::F64, Elements::F64(&[0.0, f64::INFINITY])));
        assert!(has_nan(Elem::F32, Elements::F32(&[1.0, -f32::NAN])));
        assert!(!has_nan(Elem::F32, Elements::F32(&[1.0, f32::INFINITY])));
        assert!(has_nan(Elem::F16, Elements::U16(&[0, 0x7e00])) && !has_nan(Elem::F16, Elements::U16(&[0, 0xfc00])));
        assert!(has_nan(Elem::BF16, Elements::U16(&[0, 0xffc0])) && !has_nan(Elem::BF16, Elements::U16(&[0, 0xff80])));
        assert!(!has_nan(Elem::U16, Elements::U16(&[0, 0xffff])));
    }
}
