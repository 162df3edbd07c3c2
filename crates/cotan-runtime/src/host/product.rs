//! Matrix products by a library.
//!
//! A product is cut into blocks of rows and columns, and its sums into the runs that they are defined by; the library does
//! the runs of a block one after the other, on one thread. Where cuts are follows from sizes alone, and no sum depends on
//! what else is in its block, so bits are the same for any number of threads. Blocks of a product that stands in a chunk of
//! a parallel loop stay on the thread of the chunk.
//!
//! The library takes memory for itself from the machine while it works, for each thread at most what packing two blocks
//! takes, [`SIDE`] times [`RUN`](cotan_ops::RUN) elements each. It counts among the memory of the call; where the call may
//! not hold as much, plain loops do the block, with the same bits.

use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use cotan_ops::{RUN, runs};
use gemm_common::Parallelism;
use gemm_common::cache::CACHE_INFO;

#[cfg(target_arch = "x86_64")]
use super::avx2::Narrow;
use super::context;
use super::guard::guarded;
use super::product_run::{Run, Runs};
use crate::InstructionSet;
use crate::abi::{Ctx, ErrorSlot, FAILED, Matrix, MatrixProduct, OK, Products, Status};

/// Rows and columns of a block, at most.
const SIDE: usize = 256;

/// The same where larger blocks would be too few for several threads.
const SHORT_SIDE: usize = 128;

/// Products of two numbers that count as a step of the budget of a call.
const PRODUCTS_PER_STEP: usize = 64;

/// The library of this machine, which keeps to an instruction set where one is said.
pub(super) fn products(instructions: Option<InstructionSet>) -> &'static Products {
    const PLAIN: Products = Products { of_f32: product::<f32, Plain>, of_f64: product::<f64, Plain> };
    const LIBRARY: Products = Products { of_f32: product::<f32, Library>, of_f64: product::<f64, Library> };
    static ALL: OnceLock<Products> = OnceLock::new();
    #[cfg(target_arch = "x86_64")]
    if instructions == Some(InstructionSet::X86_64V3) {
        const NARROW: Products = Products { of_f32: product::<f32, Narrow>, of_f64: product::<f64, Narrow> };
        static AVX2: OnceLock<Products> = OnceLock::new();
        return AVX2.get_or_init(|| if has_library() { NARROW } else { PLAIN });
    }
    ALL.get_or_init(|| if has_library() { LIBRARY } else { PLAIN })
}

/// Whether the library can run here and adds products without rounding them first.
fn has_library() -> bool {
    // It divides by the size of the second cache.
    CACHE_INFO[1].cache_bytes > 0 && has_vectors()
}

#[cfg(target_arch = "x86_64")]
fn has_vectors() -> bool {
    use gemm_common::pulp::x86::{V3, V4};
    // It looks for one feature, and expects those that come with it.
    V3::try_new().is_some() && (!std::arch::is_x86_feature_detected!("avx512f") || V4::try_new().is_some())
}

#[cfg(target_arch = "aarch64")]
fn has_vectors() -> bool {
    std::arch::is_aarch64_feature_detected!("neon")
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn has_vectors() -> bool {
    false
}

/// The library.
struct Library;

/// Loops, for machines that the library has no fused instructions for.
struct Plain;

macro_rules! by_library {
    ($ty:ty, $function:path) => {
        impl Runs<$ty> for Library {
            const PACKS: bool = true;

            unsafe fn run(run: &Run<$ty>) {
                let [rows, columns, summed] = run.extents;
                let ((to, to_strides), (left, left_strides), (right, right_strides)) = (run.to, run.left, run.right);
                // It likes columns to lie in one piece, and here rows do: so it is given the transposed product.
                // SAFETY: by this function's contract; the library reads and writes what the strides say.
                unsafe {
                    $function()(
                        columns,
                        rows,
                        summed,
                        to,
                        to_strides[0],
                        to_strides[1],
                        run.adds,
                        right,
                        right_strides[0],
                        right_strides[1],
                        left,
                        left_strides[0],
                        left_strides[1],
                        1.0,
                        1.0,
                        false,
                        false,
                        false,
                        Parallelism::None,
                    );
                }
            }
        }

        impl Runs<$ty> for Plain {
            const PACKS: bool = false;

            unsafe fn run(run: &Run<$ty>) {
                let [rows, columns, summed] = run.extents;
                let at = |strides: [isize; 2], i: usize, j: usize| i as isize * strides[0] + j as isize * strides[1];
                for i in 0..rows {
                    for j in 0..columns {
                        // SAFETY: by this function's contract.
                        unsafe {
                            let term = |sum: $ty, k: usize| {
                                let (x, y) = (
                                    run.left.0.offset(at(run.left.1, i, k)),
                                    run.right.0.offset(at(run.right.1, k, j)),
                                );
                                (*x).mul_add(*y, sum)
                            };
                            let sum = (0..summed).fold(0.0, term);
                            let to = run.to.0.offset(at(run.to.1, i, j));
                            *to = if run.adds { *to + sum } else { sum };
                        }
                    }
                }
            }
        }
    };
}

by_library!(f32, gemm_f32::gemm::f32::get_gemm_fn);
by_library!(f64, gemm_f64::gemm::f64::get_gemm_fn);

/// A product, and where it is cut.
struct Work<'a> {
    product: &'a MatrixProduct,
    rows: Cuts,
    columns: Cuts,
}

// SAFETY: blocks write to places of their own and read what nobody writes.
unsafe impl Sync for Work<'_> {}

impl Work<'_> {
    /// Computes a block, by its number, one run after the other; `go_on` says before each whether the call is to go on.
    ///
    /// # Safety
    /// The product is one as the table of products takes it.
    unsafe fn block<T, R: Runs<T>>(
        &self,
        number: usize,
        mut go_on: impl FnMut(i64) -> Result<(), ErrorSlot>,
    ) -> Result<(), ErrorSlot> {
        let MatrixProduct { to, left, right, extents } = self.product;
        let (row, rows) = self.rows.part(number / self.columns.n);
        let (column, columns) = self.columns.part(number % self.columns.n);
        let part = |matrix: &Matrix, i: usize, j: usize| {
            let strides = matrix.strides.map(|stride| stride as isize);
            let offset = i as isize * strides[0] + j as isize * strides[1];
            (matrix.data.cast::<T>().wrapping_offset(offset), strides)
        };
        for terms in runs(extents[2] as usize, &cotan_ops::PLAIN) {
            let products = rows.saturating_mul(columns).saturating_mul(terms.len());
            go_on(i64::try_from(products / PRODUCTS_PER_STEP).unwrap_or(i64::MAX))?;
            let (left, right) = (part(left, row, terms.start), part(right, terms.start, column));
            let run = Run {
                to: part(to, row, column),
                left: (left.0.cast_const(), left.1),
                right: (right.0.cast_const(), right.1),
                extents: [rows, columns, terms.len()],
                adds: terms.start > 0,
            };
            // SAFETY: by this function's contract, this is a part of the product.
            unsafe { R::run(&run) }
        }
        Ok(())
    }

    /// Bytes that the library packs the factors of a block into.
    fn packing<T>(&self) -> usize {
        let summed = usize::try_from(self.product.extents[2]).unwrap_or(0).min(RUN);
        (self.rows.longest() + self.columns.longest()) * summed * size_of::<T>()
    }
}

/// Rows and columns of the blocks of a product, at most.
fn side_of_blocks(rows: usize, columns: usize) -> usize {
    if rows.min(columns) >= SHORT_SIDE && rows.max(columns) <= 2 * SIDE { SHORT_SIDE } else { SIDE }
}

/// A side that is cut into parts of almost the same length.
struct Cuts {
    length: usize,
    n: usize,
}

impl Cuts {
    fn of(length: usize, longest: usize) -> Cuts {
        Cuts { length, n: length.div_ceil(longest) }
    }

    /// How long the longest part is.
    fn longest(&self) -> usize {
        self.length.div_ceil(self.n.max(1))
    }

    /// Where a part begins, and how long it is.
    fn part(&self, number: usize) -> (usize, usize) {
        let start = |k: usize| k * self.length / self.n;
        (start(number), start(number + 1) - start(number))
    }
}

/// An entry of the table of products.
///
/// # Safety
/// The pointers in `ctx` are live, and the matrices are as [`MatrixProduct`] says.
unsafe extern "C" fn product<T, R: Runs<T>>(ctx: *mut Ctx, product: *const MatrixProduct) -> Status
where
    Plain: Runs<T>,
{
    // SAFETY: by this function's contract.
    let (ctx, product) = unsafe { (&mut *ctx, &*product) };
    let [rows, columns, _] = product.extents.map(|n| usize::try_from(n).unwrap_or(0));
    let side = side_of_blocks(rows, columns);
    let work = Work { product, rows: Cuts::of(rows, side), columns: Cuts::of(columns, side) };
    let n_blocks = work.rows.n * work.columns.n;
    // SAFETY: by this function's contract; null pointers stand for no watch and no pool.
    let (watch, pool) = unsafe { (context::watch(ctx).as_ref(), context::pool(ctx).as_ref()) };
    // SAFETY: by this function's contract.
    let limit = unsafe { &*context::arenas(ctx) }.limit();
    let packing = work.packing::<T>();
    let failure: Mutex<Option<ErrorSlot>> = Mutex::new(None);
    let status = AtomicI32::new(OK);
    let block = |number: u64| {
        if status.load(Ordering::Relaxed) != OK {
            return;
        }
        let go_on = |steps| watch.map_or(Ok(()), |watch| watch.poll(steps));
        let is_counted = R::PACKS && limit.hold(packing).is_ok();
        let done = guarded(|| {
            // SAFETY: by this function's contract.
            unsafe {
                if is_counted {
                    work.block::<T, R>(number as usize, go_on)
                } else {
                    work.block::<T, Plain>(number as usize, go_on)
                }
            }
        });
        if is_counted {
            limit.give_back(packing);
        }
        if let Err(error) = done.unwrap_or_else(Err) {
            status.store(FAILED, Ordering::Relaxed);
            *failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
        }
    };
    match pool.filter(|pool| n_blocks > 1 && pool.is_parallel() && !pool.is_busy_here()) {
        Some(pool) => pool.for_each(n_blocks as u64, block),
        None => (0..n_blocks as u64).for_each(block),
    }
    if let Some(error) = failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
        ctx.error = error;
    }
    status.into_inner()
}

/// `to = left right` by one call of the library, whole and on one thread: what a product by compiled code is held against.
/// The extents are rows, columns and terms; matrices are row-major.
///
/// # Panics
/// If a matrix has not as many elements as its extents say, or if the machine has no library.
pub fn whole_product([rows, columns, summed]: [usize; 3], left: &[f64], right: &[f64], to: &mut [f64]) {
    assert_eq!([left.len(), right.len(), to.len()], [rows * summed, summed * columns, rows * columns]);
    assert!(has_library(), "the library does not run on this machine");
    let run = Run {
        to: (to.as_mut_ptr(), [columns as isize, 1]),
        left: (left.as_ptr(), [summed as isize, 1]),
        right: (right.as_ptr(), [columns as isize, 1]),
        extents: [rows, columns, summed],
        adds: false,
    };
    // SAFETY: the extents are those of the slices.
    unsafe { <Library as Runs<f64>>::run(&run) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(n: usize, seed: usize) -> Vec<f64> {
        (0..n).map(|k| ((k + seed) as f64 * 0.618_033_988_749_894_9).fract() - 0.3).collect()
    }

    /// The product by blocks, each done in this way.
    fn by_blocks<R: Runs<f64>>([rows, columns, summed]: [usize; 3], is_transposed: [bool; 2]) -> Vec<u64> {
        let (mut left, mut right) = (numbers(rows * summed, 1), numbers(summed * columns, 5));
        let mut to = vec![f64::NAN; rows * columns];
        let matrix = |data: &mut Vec<f64>, [rows, columns]: [usize; 2], is_transposed: bool| Matrix {
            data: data.as_mut_ptr().cast(),
            strides: if is_transposed { [1, rows as i64] } else { [columns as i64, 1] },
        };
        let product = MatrixProduct {
            to: matrix(&mut to, [rows, columns], false),
            left: matrix(&mut left, [rows, summed], is_transposed[0]),
            right: matrix(&mut right, [summed, columns], is_transposed[1]),
            extents: [rows as i64, columns as i64, summed as i64],
        };
        let side = side_of_blocks(rows, columns);
        let work = Work { product: &product, rows: Cuts::of(rows, side), columns: Cuts::of(columns, side) };
        // SAFETY: the matrices have the extents of the product.
        let mut blocks = (0..work.rows.n * work.columns.n).map(|k| unsafe { work.block::<f64, R>(k, |_| Ok(())) });
        assert!(blocks.all(|done| done.is_ok()));
        to.into_iter().map(f64::to_bits).collect()
    }

    #[test]
    fn the_library_adds_up_in_the_order_of_the_definition_in_every_block() {
        if !has_library() {
            return;
        }
        let sides = [4, 5, 7, 8, 9, 15, 17, 24, 31, 33, 65, 128, 257, 300];
        let sums = [4, 5, 8, 31, 64, 511, 512, 513, 1025];
        // Every pair of sides comes up with one sum, and every sum with many pairs.
        let pairs = sides.iter().flat_map(|rows| sides.iter().map(move |columns| (*rows, *columns)));
        for (k, (rows, columns)) in pairs.filter(|(rows, columns)| rows * columns >= 512).enumerate() {
            let extents = [rows, columns, if rows * columns < 20_000 { sums[k % sums.len()] } else { 5 + k % 7 }];
            for is_transposed in [[false, false], [true, false], [false, true], [true, true]] {
                let (found, expected) =
                    (by_blocks::<Library>(extents, is_transposed), by_blocks::<Plain>(extents, is_transposed));
                assert!(found == expected, "{extents:?}, transposed {is_transposed:?}");
                #[cfg(target_arch = "x86_64")]
                assert!(by_blocks::<Narrow>(extents, is_transposed) == expected, "by AVX2: {extents:?}");
            }
        }
    }

    #[test]
    fn blocks_cover_a_side_evenly() {
        for length in [0, 1, 255, 256, 257, 600, 1024] {
            let cuts = Cuts::of(length, 256);
            let parts: Vec<(usize, usize)> = (0..cuts.n).map(|k| cuts.part(k)).collect();
            let end = parts.iter().fold(0, |at, (start, n)| {
                assert_eq!(at, *start);
                at + n
            });
            assert_eq!(end, length);
            assert!(parts.iter().all(|(_, n)| (128..=256).contains(n) || parts.len() == 1), "{parts:?}");
        }
    }
}
