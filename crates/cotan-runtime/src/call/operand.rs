//! Operands of calls: values with a word for every element, and tensors that a host lends.

use super::error::NoMemory;
use cotan_ir::Elem;
use cotan_ops::{Elements, TensorRef, Value};

/// An argument of a call.
pub(super) trait Operand {
    /// The element type.
    fn elem(&self) -> Elem;

    /// The extents.
    fn dims(&self) -> &[i64];

    /// The number of elements that are there.
    fn n_elements(&self) -> usize;

    /// The number that a scalar i64 is.
    fn as_i64(&self) -> Option<i64>;

    /// The elements in the layout of compiled code; `words` is memory for them where they have another one.
    fn data(&self, words: &mut Vec<u64>) -> Result<*const u8, NoMemory>;
}

impl Operand for Value {
    fn elem(&self) -> Elem {
        self.elem
    }

    fn dims(&self) -> &[i64] {
        &self.dims
    }

    fn n_elements(&self) -> usize {
        self.bits.len()
    }

    fn as_i64(&self) -> Option<i64> {
        self.scalar().filter(|c| c.elem() == Elem::I64)?.as_i64()
    }

    fn data(&self, words: &mut Vec<u64>) -> Result<*const u8, NoMemory> {
        if self.elem.bytes() == 8 {
            return Ok(self.bits.as_ptr().cast());
        }
        pack(self, words)?;
        Ok(words.as_ptr().cast())
    }
}

impl Operand for TensorRef<'_> {
    fn elem(&self) -> Elem {
        TensorRef::elem(self)
    }

    fn dims(&self) -> &[i64] {
        TensorRef::dims(self)
    }

    fn n_elements(&self) -> usize {
        self.elements().len()
    }

    fn as_i64(&self) -> Option<i64> {
        match (self.elements(), self.dims().is_empty()) {
            (Elements::I64(&[number]), true) => Some(number),
            _ => None,
        }
    }

    fn data(&self, _words: &mut Vec<u64>) -> Result<*const u8, NoMemory> {
        Ok(self.elements().as_ptr())
    }
}

/// The bytes of elements of less than eight bytes.
fn pack(value: &Value, words: &mut Vec<u64>) -> Result<(), NoMemory> {
    let bytes = value.elem.bytes();
    let n = (value.bits.len() * bytes).div_ceil(8).max(1);
    words.clear();
    reserve(words, n)?;
    words.resize(n, 0);
    // Little-endian machines alone are supported by the layout of `bool` and narrow integers in words.
    for (k, bits) in value.bits.iter().enumerate() {
        let at = k * bytes;
        let mask = (1u64 << (8 * bytes)) - 1;
        words[at / 8] |= (bits & mask) << (8 * (at % 8));
    }
    Ok(())
}

/// Room for `n` words behind those that are there.
pub(super) fn reserve(words: &mut Vec<u64>, n: usize) -> Result<(), NoMemory> {
    words.try_reserve_exact(n).map_err(|_| NoMemory(n.saturating_mul(size_of::<u64>())))
}
