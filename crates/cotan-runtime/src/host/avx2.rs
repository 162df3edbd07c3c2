//! Matrix products of the library by AVX2, for code that keeps to it on a machine for which the library would choose
//! AVX-512.

use gemm_common::Parallelism;
use gemm_common::gemm::gemm_basic_generic;
use gemm_common::simd::{MixedSimd, V3};

use super::product_run::{Run, Runs};

/// The library, kept to AVX2. Where the machine has none, nothing asks for it.
pub(super) struct Narrow;

macro_rules! by_avx2 {
    ($ty:ty, $lanes:literal, $kernels:path) => {
        impl Runs<$ty> for Narrow {
            const PACKS: bool = true;

            unsafe fn run(run: &Run<$ty>) {
                use $kernels::{H_M, H_N, H_UKR, MR_DIV_N, NR, UKR};
                let [rows, columns, summed] = run.extents;
                let ((to, to_strides), (left, left_strides), (right, right_strides)) = (run.to, run.left, run.right);
                let Some(simd) = <V3 as MixedSimd<$ty, $ty, $ty, $ty>>::try_new() else { return };
                // The transposed product, as for the library's own choice.
                // SAFETY: by this function's contract; the library reads and writes what the strides say.
                unsafe {
                    gemm_basic_generic::<_, $ty, $lanes, { MR_DIV_N * $lanes }, NR, MR_DIV_N, H_M, H_N>(
                        simd,
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
                        |a, b, c| a * b + c,
                        &UKR,
                        &H_UKR,
                        false,
                        Parallelism::None,
                    );
                }
            }
        }
    };
}

by_avx2!(f32, 8, gemm_f32::microkernel::fma::f32);
by_avx2!(f64, 4, gemm_f64::microkernel::fma::f64);
