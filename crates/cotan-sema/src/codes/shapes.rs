//! Codes about shapes.

use super::codes;

codes! {
    /// Codes about shapes.
    SHAPES:
    SHAPE_MISMATCH = "E0401", "sizes that differ",
"Sizes that come from the signature or from literals are equal if they are the same polynomial.
Where you know more than that, say so: `(value : f64[N])` is checked when the program runs.

Mended:

fn f[N](a: f64[N], b: f64[N]) -> f64[N] = a .+ b",
"fn f[N, M](a: f64[N], b: f64[M]) -> f64[N] = a .+ b";

    RANK_MISMATCH = "E0402", "numbers of dims that differ",
"A vector is no matrix. There is no broadcasting behind your back: `broadcast` says it.

Mended:

fn f[N, M](m: f64[N, M], v: f64[M]) -> f64[N, M] = m .+ broadcast(v, [N, M])",
"fn f[N, M](m: f64[N, M], v: f64[M]) -> f64[N, M] = m .+ v";

    UNKNOWN_GENERIC_SIZE = "E0403", "size that can't be inferred",
"Size parameters are inferred from the shapes of the arguments, where a dim is linear in one of
them. Others are given in brackets.

Mended:

fn start[N]() -> f64[N] = zeros[f64](N)
fn f() -> f64[4] = start[4]()",
"fn start[N]() -> f64[N] = zeros[f64](N)
fn f() -> f64[4] = start()";

    NOT_A_SIZE = "E0404", "something that is no size",
"Sizes in types are made of integers, size parameters and integer parameters with `+`, `-`, `*`
and `/`, which rounds down.

Mended:

fn f[N](x: f64[2 * N]) -> i64 = N",
"fn f[N](x: f64[2 % N]) -> i64 = N";

    NEGATIVE_SIZE = "E0405", "negative size",
"A size counts elements.

Mended:

fn f() -> f64[3] = zeros[f64](3)",
"fn f() -> f64[3] = zeros[f64](-3)";

    SIZE_TOO_COMPLEX = "E0406", "size that is too complex",
"Sizes are polynomials of moderate length with coefficients that fit an `i64`, and never divide
by zero.

Mended:

fn f[N](x: f64[N / 2]) -> f64 = +/ x",
"fn f[N](x: f64[N / 0]) -> f64 = +/ x";

    OPEN_SIZE = "E0407", "`_` where it means nothing",
"`_` leaves a size open in the type of a parameter, a result or a variable. A field of a struct
has a size that is known, or a parameter of the struct.

Mended:

struct P[N] { x: f64[N] }",
"struct P { x: f64[_] }";

    MATRIX_PRODUCT = "E0408", "matrix product of something else",
"`@` multiplies matrices and vectors: `[M, K] @ [K, N]`, `[M, K] @ [K]`, `[K] @ [K, N]` and
`[K] @ [K]`, batched over equal leading dims.

Mended:

fn f[N](a: f64, v: f64[N]) -> f64[N] = a .* v",
"fn f[N](a: f64, v: f64[N]) -> f64[N] = a @ v";

    BAD_SUM = "E0414", "Einstein sum that can't be read",
"`einsum[\"ij,jk->ik\"](a, b)` names the axes of each operand by lower-case letters and, behind the arrow, the
axes of the result, each of them once. What is not among those is summed over; `...` stands for leading
axes that all operands and the result have.

Mended:

fn f[N, M, K](a: f64[N, M], b: f64[M, K]) -> f64[N, K] = einsum[\"ij,jk->ik\"](a, b)",
"fn f[N, M, K](a: f64[N, M], b: f64[M, K]) -> f64[N, K] = einsum[\"ij,jk\"](a, b)";

    OUT_OF_RANGE = "E0415", "index, slice or range that fails in every run",
"An index is at least 0 and less than the extent of its axis, and a slice `lo..hi` has
`0 <= lo <= hi <= extent`; neither counts from the end. Where literals and sizes alone say that this is not
so, whatever the sizes are, it is an error before the program runs, and in code that never runs, too; else
the run says so (`R0001`, `R0002`). A range has at most as many values as an `i64` counts.

Mended:

fn f[N](x: f64[N + 1]) -> f64 = x[N]",
"fn f[N](x: f64[N + 1]) -> f64 = x[-1]";

}
