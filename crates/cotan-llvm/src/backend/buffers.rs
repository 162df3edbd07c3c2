//! Values in the memory layout of compiled code, and back.

use std::borrow::Cow;

use crate::abi::Buf;
use cotan_ir::Elem;
use cotan_ops::Value;

/// An argument in memory of the host. Elements of eight bytes lie there as values have them, so they are not copied.
pub(super) struct ArgumentBuffer<'v> {
    /// The bytes of the elements, in words for the sake of alignment.
    words: Cow<'v, [u64]>,
    extents: &'v [i64],
    strides: Vec<i64>,
}

impl<'v> ArgumentBuffer<'v> {
    pub(super) fn of(value: &'v Value) -> ArgumentBuffer<'v> {
        let bytes = value.elem.bytes();
        let words = if bytes == 8 { Cow::Borrowed(value.bits.as_slice()) } else { Cow::Owned(packed(value)) };
        ArgumentBuffer { words, extents: &value.dims, strides: vec![0; value.dims.len()] }
    }

    /// What compiled code is told of it. Arguments are never written to.
    pub(super) fn buf(&mut self) -> Buf {
        Buf {
            data: self.words.as_ptr().cast_mut().cast(),
            extents: self.extents.as_ptr().cast_mut(),
            strides: self.strides.as_mut_ptr(),
            capacity: 0,
        }
    }
}

/// Room for a result.
pub(super) struct ResultBuffer {
    /// Empty, with room for the elements: nothing is written to it before the call does.
    words: Vec<u64>,
    extents: Vec<i64>,
    strides: Vec<i64>,
    capacity: i64,
}

impl ResultBuffer {
    /// Room for so many elements, in memory that is given away if it suffices. Where there is none, the call finds out
    /// that it has none either, and reports it.
    pub(super) fn room(elem: Elem, rank: usize, n: usize, mut words: Vec<u64>) -> ResultBuffer {
        words.clear();
        let bytes = n.saturating_mul(elem.bytes());
        let has_room = words.try_reserve_exact(bytes.div_ceil(8).max(1)).is_ok();
        let capacity = if has_room { bytes as i64 } else { 0 };
        ResultBuffer { words, extents: vec![0; rank], strides: vec![0; rank], capacity }
    }

    pub(super) fn buf(&mut self) -> Buf {
        Buf {
            data: self.words.as_mut_ptr().cast(),
            extents: self.extents.as_mut_ptr(),
            strides: self.strides.as_mut_ptr(),
            capacity: self.capacity,
        }
    }

    /// The result that a call left, here or in memory of its own.
    ///
    /// # Safety
    /// `buf` is this buffer after a successful call, which has written the extents and as many elements.
    pub(super) unsafe fn value(mut self, elem: Elem, buf: &Buf) -> Value {
        let n: usize = self.extents.iter().map(|d| *d as usize).product();
        if elem.bytes() == 8 && self.words.as_ptr().cast() == buf.data.cast_const() && n <= self.words.capacity() {
            // SAFETY: by this function's contract the call has written these elements, here.
            unsafe { self.words.set_len(n) };
            return Value { elem, bits: self.words, dims: self.extents };
        }
        let read = |k: usize| -> u64 {
            let at = buf.data.cast_const();
            // SAFETY: by this function's contract there are `n > k` elements of this type.
            unsafe {
                match elem {
                    Elem::Bool | Elem::U8 => at.cast::<u8>().add(k).read().into(),
                    Elem::I8 => i64::from(at.cast::<i8>().add(k).read()) as u64,
                    Elem::I16 => i64::from(at.cast::<i16>().add(k).read()) as u64,
                    Elem::U16 | Elem::F16 | Elem::BF16 => at.cast::<u16>().add(k).read().into(),
                    Elem::I32 => i64::from(at.cast::<i32>().add(k).read()) as u64,
                    Elem::U32 | Elem::F32 => at.cast::<u32>().add(k).read().into(),
                    Elem::I64 | Elem::U64 | Elem::F64 => at.cast::<u64>().add(k).read(),
                }
            }
        };
        Value { elem, bits: (0..n).map(read).collect(), dims: self.extents }
    }
}

/// The bytes of elements of less than eight bytes.
fn packed(value: &Value) -> Vec<u64> {
    let bytes = value.elem.bytes();
    let mut words = vec![0u64; (value.bits.len() * bytes).div_ceil(8).max(1)];
    // Little-endian machines alone are supported by the layout of `bool` and narrow integers in words.
    for (k, bits) in value.bits.iter().enumerate() {
        let at = k * bytes;
        let mask = (1u64 << (8 * bytes)) - 1;
        words[at / 8] |= (bits & mask) << (8 * (at % 8));
    }
    words
}
