//! Arrays of a C program: what is looked at before anything reads or writes them.

use crate::status::{Failure, Outcome, Status};
use cotan::host::{Elem, Elements, ElementsMut, TensorMut, TensorRef};
use std::ffi::c_void;
use std::ops::Range;
use std::slice::{from_raw_parts, from_raw_parts_mut};

/// `cotan_tensor`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
#[expect(missing_docs, reason = "the header says what they are")]
pub struct CotanTensor {
    pub data: *mut c_void,
    pub element: i32,
    pub rank: i32,
    pub extents: *const i64,
    pub strides: *const i64,
}

/// The element types, by their numbers in the header: these never change, whatever order the types have elsewhere.
const ELEMENTS: [Elem; 13] = [
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

/// The number of an element type in the header.
pub fn number_of(elem: Elem) -> i32 {
    ELEMENTS.iter().position(|other| *other == elem).map_or(-1, |k| k as i32)
}

/// The most axes that an array has here.
const MOST_AXES: i32 = 64;

/// An array that was looked at, but for its elements.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lent<'t> {
    what: (&'static str, usize),
    pub(crate) data: *mut u8,
    pub(crate) elem: Elem,
    pub(crate) dims: &'t [i64],
    strides: Option<&'t [i64]>,
    n_elements: usize,
}

impl<'t> Lent<'t> {
    /// An array that a call reads. Only one without elements may have no data.
    ///
    /// # Safety
    /// Its pointers are NULL or point to what the header says, and stay so.
    pub(crate) unsafe fn argument(k: usize, tensor: &CotanTensor) -> Outcome<Lent<'t>> {
        // SAFETY: by this function's contract.
        let lent = unsafe { Lent::new(("argument", k), tensor) }?;
        match lent.data.is_null() {
            true if lent.n_elements > 0 => Err(Failure::new(Status::Null, format!("argument {k}: `data` is NULL"))),
            // A slice of no elements has an address too.
            true => Ok(Lent { data: std::ptr::without_provenance_mut(lent.elem.bytes()), ..lent }),
            false => Ok(lent),
        }
    }

    /// An array that a call writes. One without data is wanted from the library.
    ///
    /// # Safety
    /// As of [`Lent::argument`].
    pub(crate) unsafe fn result(k: usize, tensor: &CotanTensor) -> Outcome<Lent<'t>> {
        let what = ("result", k);
        if tensor.data.is_null() {
            let elem = element(what, tensor)?;
            return Ok(Lent { what, data: std::ptr::null_mut(), elem, dims: &[], strides: None, n_elements: 0 });
        }
        // SAFETY: by this function's contract.
        unsafe { Lent::new(what, tensor) }
    }

    /// # Safety
    /// As of [`Lent::argument`].
    unsafe fn new(what: (&'static str, usize), tensor: &CotanTensor) -> Outcome<Lent<'t>> {
        let wrong = |status, text: &str| Err(wrong(what, status, text));
        let elem = element(what, tensor)?;
        if !(0..=MOST_AXES).contains(&tensor.rank) {
            return wrong(Status::Value, &format!("expected a rank from 0 to {MOST_AXES}, found {}", tensor.rank));
        }
        let rank = tensor.rank as usize;
        let data = tensor.data.cast::<u8>();
        if rank > 0 && tensor.extents.is_null() {
            return wrong(Status::Null, "`extents` is NULL");
        }
        // SAFETY: by this function's contract there are as many as the rank.
        let dims = if rank == 0 { &[][..] } else { unsafe { from_raw_parts(tensor.extents, rank) } };
        let Some(count) = cotan::host::ElementCount::of(dims) else {
            return wrong(Status::Argument, &format!("there is no array of the extents {dims:?}"));
        };
        if !data.addr().is_multiple_of(elem.bytes()) {
            return wrong(Status::Argument, &format!("`data` is not aligned to {} bytes", elem.bytes()));
        }
        // SAFETY: by this function's contract there are as many as the rank, if they are there.
        let strides = (rank > 0 && !tensor.strides.is_null()).then(|| unsafe { from_raw_parts(tensor.strides, rank) });
        let strides = strides.filter(|strides| !is_row_major(dims, strides));
        let lent = Lent { what, data, elem, dims, strides, n_elements: count.get() };
        if lent.span().is_none() {
            let strides = strides.unwrap_or_default();
            return wrong(Status::Argument, &format!("the strides {strides:?} lead out of all memory"));
        }
        Ok(lent)
    }

    /// What it is in messages.
    pub(crate) fn name(&self) -> String {
        format!("{} {}", self.what.0, self.what.1)
    }

    /// Whether the library is to give it memory.
    pub(crate) fn is_wanted(&self) -> bool {
        self.data.is_null()
    }

    pub(crate) fn is_strided(&self) -> bool {
        self.strides.is_some()
    }

    pub(crate) fn n_bytes(&self) -> usize {
        self.n_elements * self.elem.bytes()
    }

    /// The offset of the element with a number in row-major order, in elements.
    fn offset(&self, number: usize) -> i64 {
        let Some(strides) = self.strides else { return number as i64 };
        let (mut rest, mut offset) = (number as i64, 0);
        for (extent, stride) in self.dims.iter().zip(strides).rev() {
            offset += rest % extent * stride;
            rest /= extent;
        }
        offset
    }

    /// The addresses that it reaches; `None` if there are no such ones.
    fn span(&self) -> Option<Range<usize>> {
        let start = self.data.addr();
        if self.n_elements == 0 {
            return Some(start..start);
        }
        let bytes = self.elem.bytes() as i64;
        let (mut first, mut last) = (0_i64, 0_i64);
        for (k, extent) in self.dims.iter().enumerate() {
            let rows: i64 = self.dims[k + 1..].iter().product();
            let stride = self.strides.map_or(rows, |strides| strides[k]);
            let reach = (extent - 1).checked_mul(stride)?.checked_mul(bytes)?;
            first = first.checked_add(reach.min(0))?;
            last = last.checked_add(reach.max(0))?;
        }
        let start_of = isize::try_from(first).ok()?;
        let end = isize::try_from(last.checked_add(bytes)?).ok()?;
        Some(start.checked_add_signed(start_of)?..start.checked_add_signed(end)?)
    }

    /// Whether they reach into each other.
    pub(crate) fn overlaps(&self, other: &Lent<'_>) -> bool {
        let (Some(a), Some(b)) = (self.span(), other.span()) else { return true };
        !a.is_empty() && !b.is_empty() && a.start < b.end && b.start < a.end
    }

    /// The elements in row-major order, copied to `words`.
    ///
    /// # Safety
    /// The memory that it describes is there.
    pub(crate) unsafe fn gather(&self, words: &mut Vec<u64>) {
        let bytes = self.elem.bytes();
        words.resize(self.n_bytes().div_ceil(8).max(1), 0);
        let to = words.as_mut_ptr().cast::<u8>();
        for number in 0..self.n_elements {
            // SAFETY: by this function's contract the element is there, and there is room for so many.
            unsafe {
                let from = self.data.offset(self.offset(number) as isize * bytes as isize);
                std::ptr::copy_nonoverlapping(from, to.add(number * bytes), bytes);
            }
        }
    }

    /// Writes elements in row-major order to their places.
    ///
    /// # Safety
    /// The memory that it describes is there and nobody else's, and there are as many elements in `words`.
    pub(crate) unsafe fn scatter(&self, words: &[u64]) {
        let bytes = self.elem.bytes();
        let from = words.as_ptr().cast::<u8>();
        for number in 0..self.n_elements {
            // SAFETY: by this function's contract.
            unsafe {
                let to = self.data.offset(self.offset(number) as isize * bytes as isize);
                std::ptr::copy_nonoverlapping(from.add(number * bytes), to, bytes);
            }
        }
    }

    /// The array for the library to read; `data` is where its elements lie in row-major order.
    ///
    /// # Safety
    /// They are there, and nobody writes to them.
    pub(crate) unsafe fn readable(self, data: *const u8) -> Outcome<TensorRef<'t>> {
        let n = self.n_elements;
        // SAFETY: by this function's contract; `data` is aligned, as was looked at, or of words.
        let elements: Elements<'t> = unsafe {
            match self.elem {
                Elem::Bool | Elem::U8 => from_raw_parts(data, n).into(),
                Elem::I8 => from_raw_parts(data.cast::<i8>(), n).into(),
                Elem::I16 => from_raw_parts(data.cast::<i16>(), n).into(),
                Elem::I32 => from_raw_parts(data.cast::<i32>(), n).into(),
                Elem::I64 => from_raw_parts(data.cast::<i64>(), n).into(),
                Elem::U16 | Elem::F16 | Elem::BF16 => from_raw_parts(data.cast::<u16>(), n).into(),
                Elem::U32 => from_raw_parts(data.cast::<u32>(), n).into(),
                Elem::U64 => from_raw_parts(data.cast::<u64>(), n).into(),
                Elem::F32 => from_raw_parts(data.cast::<f32>(), n).into(),
                Elem::F64 => from_raw_parts(data.cast::<f64>(), n).into(),
            }
        };
        let (what, k) = self.what;
        let no_bool = || Failure::new(Status::Argument, format!("{what} {k}: a bool is the byte 0 or 1"));
        TensorRef::new(self.elem, self.dims, elements).map_err(|_| no_bool())
    }

    /// The same for it to write.
    ///
    /// # Safety
    /// They are there and nobody else's.
    pub(crate) unsafe fn writable(self, data: *mut u8) -> Outcome<TensorMut<'t>> {
        let n = self.n_elements;
        // SAFETY: by this function's contract; `data` is aligned, as was looked at, or of words.
        let elements: ElementsMut<'t> = unsafe {
            match self.elem {
                Elem::Bool | Elem::U8 => from_raw_parts_mut(data, n).into(),
                Elem::I8 => from_raw_parts_mut(data.cast::<i8>(), n).into(),
                Elem::I16 => from_raw_parts_mut(data.cast::<i16>(), n).into(),
                Elem::I32 => from_raw_parts_mut(data.cast::<i32>(), n).into(),
                Elem::I64 => from_raw_parts_mut(data.cast::<i64>(), n).into(),
                Elem::U16 | Elem::F16 | Elem::BF16 => from_raw_parts_mut(data.cast::<u16>(), n).into(),
                Elem::U32 => from_raw_parts_mut(data.cast::<u32>(), n).into(),
                Elem::U64 => from_raw_parts_mut(data.cast::<u64>(), n).into(),
                Elem::F32 => from_raw_parts_mut(data.cast::<f32>(), n).into(),
                Elem::F64 => from_raw_parts_mut(data.cast::<f64>(), n).into(),
            }
        };
        TensorMut::new(self.elem, self.dims, elements).map_err(|e| Failure::new(Status::Internal, e.to_string()))
    }
}

fn wrong(what: (&str, usize), status: Status, text: &str) -> Failure {
    Failure::new(status, format!("{} {}: {text}", what.0, what.1))
}

fn element(what: (&str, usize), tensor: &CotanTensor) -> Outcome<Elem> {
    let found = usize::try_from(tensor.element).ok().and_then(|at| ELEMENTS.get(at)).copied();
    found.ok_or_else(|| wrong(what, Status::Value, &format!("there is no element type {}", tensor.element)))
}

/// Whether strides are those of an array that lies in one piece; those of an axis with one element do not matter.
fn is_row_major(dims: &[i64], strides: &[i64]) -> bool {
    let mut expected = 1_i64;
    let axes = dims.iter().zip(strides).rev();
    axes.into_iter().all(|(extent, stride)| {
        let fits = *extent <= 1 || *stride == expected;
        expected = expected.saturating_mul((*extent).max(1));
        fits
    })
}
