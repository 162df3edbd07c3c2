//! Values in the memory layout of compiled code, and back.
//!
//! Elements of eight bytes lie in a [`Value`] as compiled code has them, and all elements in tensors that a host lends, so
//! they are not copied. What describes arguments
//! and results is kept from call to call, and results may lie in the memory of earlier ones: calls of equal sizes
//! allocate nothing.

use super::error::NoMemory;
use super::operand::{Operand, reserve};
use crate::abi::Buf;
use cotan_ir::{Elem, Ty};
use cotan_ops::{ElementCount, TensorMut, Value};

/// Why a result is not what a call left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Unmade {
    /// There is no memory for a copy of it.
    NoMemory(NoMemory),
    /// It has extents that no tensor has there, or does not lie in the memory for it.
    BadExtents(Vec<i64>),
}

/// What describes the arguments and results of a call.
#[derive(Debug, Default)]
pub(super) struct Buffers {
    pub(super) inputs: Vec<Buf>,
    pub(super) outputs: Vec<Buf>,
    /// The bytes of arguments whose elements are shorter than eight, in words for the sake of alignment.
    packed: Vec<Vec<u64>>,
    /// The strides of all of them.
    strides: Vec<i64>,
    /// The extents of results that have no place for them.
    extents: Vec<i64>,
}

// SAFETY: between calls there are no pointers in it that anybody follows; a call uses it on one thread.
unsafe impl Send for Buffers {}

impl Buffers {
    /// Describes arguments and results; both stay where they are until the call is over.
    pub(super) fn describe<A: Operand, R: Destination>(
        &mut self,
        args: &[A],
        results: &mut [R],
    ) -> Result<(), NoMemory> {
        let of_results: usize = results.iter().map(Destination::rank).sum();
        let mut next_strides =
            room(&mut self.strides, args.iter().map(|arg| arg.dims().len()).sum::<usize>() + of_results);
        let mut next_extents = room(&mut self.extents, of_results);
        self.inputs.clear();
        self.packed.resize_with(args.len().max(self.packed.len()), Vec::new);
        for (arg, words) in args.iter().zip(&mut self.packed) {
            // Arguments are never written to.
            self.inputs.push(Buf {
                data: arg.data(words)?.cast_mut().cast(),
                extents: arg.dims().as_ptr().cast_mut(),
                strides: next_strides(arg.dims().len()),
                capacity: 0,
            });
        }
        self.outputs.clear();
        self.outputs.extend(results.iter_mut().map(|result| {
            let rank = result.rank();
            result.describe(next_strides(rank), next_extents(rank))
        }));
        Ok(())
    }
}

/// Makes so many numbers zero; gives parts of them, one behind the other, which together are no more.
fn room(numbers: &mut Vec<i64>, n: usize) -> impl FnMut(usize) -> *mut i64 {
    numbers.clear();
    numbers.resize(n, 0);
    let mut next = numbers.as_mut_ptr();
    move |rank| {
        let own = next;
        // SAFETY: there are as many numbers as all parts together.
        next = unsafe { next.add(rank) };
        own
    }
}

/// Memory that a call writes a result to.
pub(super) trait Destination {
    /// The rank of the result.
    fn rank(&self) -> usize;

    /// Its description, with room for as many strides, and for as many extents if it has none itself.
    fn describe(&mut self, strides: *mut i64, extents: *mut i64) -> Buf;
}

impl Destination for ResultBuffer {
    fn rank(&self) -> usize {
        self.value.dims.len()
    }

    fn describe(&mut self, strides: *mut i64, _extents: *mut i64) -> Buf {
        let Value { bits, dims, .. } = &mut self.value;
        Buf { data: bits.as_mut_ptr().cast(), extents: dims.as_mut_ptr(), strides, capacity: self.capacity }
    }
}

/// A result in a tensor that a host lends.
impl Destination for TensorMut<'_> {
    fn rank(&self) -> usize {
        self.dims().len()
    }

    fn describe(&mut self, strides: *mut i64, extents: *mut i64) -> Buf {
        Buf { data: self.as_mut_ptr().cast(), extents, strides, capacity: self.n_bytes() as i64 }
    }
}

/// Sees to it that what a call left lies in the tensor: elsewhere it is copied from. The extents of the result, if they are
/// not those of the tensor, are the error.
///
/// # Safety
/// `buf` describes this tensor after a successful call, and what the call wrote is still there: the extents, and as many
/// elements from `buf.data` on.
pub(super) unsafe fn take(tensor: &mut TensorMut<'_>, buf: &Buf) -> Result<(), Vec<i64>> {
    // SAFETY: by this function's contract there are as many extents as the tensor has.
    let extents = unsafe { std::slice::from_raw_parts(buf.extents.cast_const(), tensor.dims().len()) };
    if extents != tensor.dims() {
        return Err(extents.to_vec());
    }
    let (bytes, to, from) = (tensor.n_bytes(), tensor.as_mut_ptr(), buf.data.cast_const());
    if from.cast() != to.cast_const() && bytes > 0 {
        if from.is_null() {
            return Err(extents.to_vec());
        }
        // SAFETY: the extents are those of the tensor, so by this function's contract there are as many bytes, in memory of
        // the call, and the tensor has room for them. They are elements of its type.
        unsafe { std::ptr::copy_nonoverlapping(from.cast(), to, bytes) };
    }
    Ok(())
}

/// Memory for a result.
#[derive(Debug)]
pub(super) struct ResultBuffer {
    /// No elements yet, but memory for them, and as many extents as the rank.
    value: Value,
    /// The number of elements, where the arguments decide it and it may be held.
    known: Option<ElementCount>,
    /// Bytes that the call may write there.
    capacity: i64,
}

impl ResultBuffer {
    /// Room for so many elements, in the memory of an earlier result if there is one. Where there is none, the call finds
    /// out that it has none either, and reports it.
    pub(super) fn new(ty: &Ty, known: Option<ElementCount>, earlier: Option<Value>) -> ResultBuffer {
        let Value { mut bits, mut dims, .. } =
            earlier.unwrap_or_else(|| Value { elem: ty.elem, bits: Vec::new(), dims: Vec::new() });
        bits.clear();
        dims.clear();
        dims.resize(ty.rank(), 0);
        let n = known.map_or(0, ElementCount::get);
        // A scalar is written without a look at the capacity: there is always room for one.
        let has_room = n <= 1 || bits.try_reserve_exact(n).is_ok();
        if n <= 1 {
            bits.reserve_exact(1);
        }
        let capacity = if has_room { known.map_or(0, |n| n.bytes(ty.elem)) as i64 } else { 0 };
        ResultBuffer { value: Value { elem: ty.elem, bits, dims }, known, capacity }
    }

    /// The result that a call left, here or in memory of its own, of which it is then a copy of at most so many bytes. Extents
    /// of no tensor are a bug of whoever made the code, which is told and not followed.
    ///
    /// # Safety
    /// `buf` describes this room after a successful call, and what the call wrote is still there: the extents, to which
    /// `buf.extents` points, and, if they are those of a tensor, as many elements from `buf.data` on. That the extents are
    /// those of a tensor, and that elements that lie here fit, is looked at here.
    pub(super) unsafe fn value(self, buf: &Buf, max_bytes: usize) -> Result<Value, Unmade> {
        let Value { elem, mut bits, dims } = self.value;
        let is_expected = |n: &ElementCount| self.known.is_none_or(|known| known == *n);
        let Some(count) = ElementCount::of(&dims).filter(is_expected) else { return Err(Unmade::BadExtents(dims)) };
        let n = count.get();
        let from = buf.data.cast_const();
        let is_here = bits.as_ptr().cast() == from;
        if is_here && count.bytes(elem) as i64 > self.capacity || n > 0 && from.is_null() {
            return Err(Unmade::BadExtents(dims));
        }
        if is_here && elem.bytes() == 8 {
            // SAFETY: there is room for so many words, as was seen above, and by this function's contract the call has
            // written these elements, here.
            unsafe { bits.set_len(n) };
            return Ok(Value { elem, bits, dims });
        }
        let read = |k: usize| -> u64 {
            // SAFETY: by this function's contract there are `n > k` elements of this type; the closure is called for those
            // alone.
            unsafe {
                match elem {
                    Elem::Bool | Elem::U8 => from.cast::<u8>().add(k).read().into(),
                    Elem::I8 => i64::from(from.cast::<i8>().add(k).read()) as u64,
                    Elem::I16 => i64::from(from.cast::<i16>().add(k).read()) as u64,
                    Elem::U16 | Elem::F16 | Elem::BF16 => from.cast::<u16>().add(k).read().into(),
                    Elem::I32 => i64::from(from.cast::<i32>().add(k).read()) as u64,
                    Elem::U32 | Elem::F32 => from.cast::<u32>().add(k).read().into(),
                    Elem::I64 | Elem::U64 | Elem::F64 => from.cast::<u64>().add(k).read(),
                }
            }
        };
        if !is_here {
            if n.saturating_mul(size_of::<u64>()) > max_bytes {
                return Err(Unmade::NoMemory(NoMemory(n.saturating_mul(size_of::<u64>()))));
            }
            reserve(&mut bits, n).map_err(Unmade::NoMemory)?;
            bits.extend((0..n).map(read));
            return Ok(Value { elem, bits, dims });
        }
        // From the last one on: an element becomes longer, and takes the place of those behind it.
        let to = bits.as_mut_ptr();
        for k in (0..n).rev() {
            let element = read(k);
            // SAFETY: there is room for `n` words, as was seen above; those that are read later lie before this one.
            unsafe { to.add(k).write(element) };
        }
        // SAFETY: all of them are written.
        unsafe { bits.set_len(n) };
        Ok(Value { elem, bits, dims })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cotan_ir::Dim;

    #[test]
    fn short_elements_become_long_ones_where_they_lie() {
        for n in [0usize, 1, 7, 100] {
            let numbers: Vec<f64> = (0..n).map(|k| k as f64 / 3.0 - 5.0).collect();
            let bits: Vec<u64> = numbers.iter().map(|x| (*x as f32).to_bits().into()).collect();
            let expected = Value { elem: Elem::F32, bits, dims: vec![n as i64] };
            let mut room =
                ResultBuffer::new(&Ty::new(Elem::F32, vec![Dim::Const(n as i64)]), ElementCount::of(&[n as i64]), None);
            let mut packed = Vec::new();
            expected.data(&mut packed).unwrap();
            let mut buffers = Buffers::default();
            buffers.describe::<Value, _>(&[], std::slice::from_mut(&mut room)).unwrap();
            let buf = buffers.outputs[0];
            room.value.dims[0] = n as i64;
            // SAFETY: the room has `n` words, and the bytes of `n` elements of four bytes are fewer.
            let value = unsafe {
                std::ptr::copy_nonoverlapping(packed.as_ptr().cast::<u8>(), buf.data.cast(), 4 * n);
                room.value(&buf, usize::MAX)
            };
            assert_eq!(value, Ok(expected));
        }
    }

    /// What is made of extents that code gives for a room of two elements of this type.
    fn given(elem: Elem, known: Option<ElementCount>, dims: &[i64]) -> Result<Value, Unmade> {
        let rank = vec![Dim::Const(2); dims.len()];
        let mut room = ResultBuffer::new(&Ty::new(elem, rank), known, None);
        let mut buffers = Buffers::default();
        buffers.describe::<Value, _>(&[], std::slice::from_mut(&mut room)).unwrap();
        let buf = buffers.outputs[0];
        room.value.dims.copy_from_slice(dims);
        // SAFETY: the extents are looked at before elements are, and those of the good one are written.
        unsafe {
            buf.data.cast::<u64>().write_bytes(0, 1);
            room.value(&buf, usize::MAX)
        }
    }

    #[test]
    fn d1_extents_of_no_tensor_and_elements_beyond_the_room_are_told_and_not_followed() {
        for elem in [Elem::F64, Elem::F32, Elem::Bool] {
            for known in [None, ElementCount::of(&[1])] {
                for dims in [&[-1][..], &[-2, -3], &[i64::MIN], &[1 << 32, 1 << 32], &[i64::MAX], &[1 << 20]] {
                    assert_eq!(given(elem, known, dims), Err(Unmade::BadExtents(dims.to_vec())), "{elem}");
                }
            }
            assert_eq!(
                given(elem, ElementCount::of(&[1]), &[0]),
                Err(Unmade::BadExtents(vec![0])),
                "not as many as the arguments say"
            );
            assert!(given(elem, ElementCount::of(&[1]), &[1]).is_ok());
            assert!(given(elem, None, &[0, i64::MAX]).is_ok_and(|value| value.bits.is_empty()));
        }
    }
}
