//! Numerical kernels that Cotan takes from libraries, on row-major slices: dense factorisations (`faer`), Fourier transforms
//! (`rustfft`, `realfft`), and sorting.
//!
//! It must not know anything of Cotan: programs, types, derivatives. There are no threads, no `unsafe`, no panics.
//!
//! Every function works on a batch: slices hold one matrix, or sequence, after the other, and their lengths tell how many. A
//! batch ends where one of the slices does. The result of each is the same, to the bit, on each call and wherever in a batch
//! it stands. It may differ from one machine to another, as the libraries choose instructions when they run.
//!
//! A result of a factorisation is finite in all entries or NaN in all of them: the latter where there is none (a singular
//! matrix, one that is not positive definite, no convergence, an overflow) and where an entry that is read is infinite or NaN.
//! Others of the batch are not touched by that. Small matrices need no allocation; larger ones one for the whole call.
//!
//! ```
//! // Two systems of order two with one right hand side each; the second one is singular.
//! let a = [2.0, 1.0, 0.0, 4.0, 1.0, 1.0, 1.0, 1.0];
//! let b = [3.0, 4.0, 1.0, 1.0];
//! let mut x = [0.0; 4];
//! cotan_kernels::solve(2, 1, &a, &b, &mut x, false);
//! assert_eq!(x[..2], [1.0, 1.0]);
//! assert!(x[2..].iter().all(|x: &f64| x.is_nan()));
//! ```

mod batch;
mod cholesky;
mod eigh;
mod fft;
mod lu;
mod orthonormal;
mod real;
mod sort;
mod svd;
mod triangular;

pub use cholesky::cholesky;
pub use eigh::eigh;
pub use fft::{fft, irfft, rfft};
pub use lu::{lu, lu_permutation, slogdet, solve};
pub use orthonormal::orthonormal;
pub use real::Real;
pub use sort::{Sortable, argsort, sort};
pub use svd::svd;
pub use triangular::{Triangle, triangular_solve};
