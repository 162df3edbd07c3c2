//! The functions of the prelude that are no scalar primitives.

use cotan_ir::TensorOp;

/// A function of the prelude that is no scalar primitive. `n` stands for an integer of any type,
/// `v` for a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Builtin {
    /// `n.., f`: stacks `f(i..)` over all indices below the counts, in parallel. A negative count
    /// is a run-time error, and so are values of different shapes.
    Tabulate,
    /// `f, v..`: stacks `f(v[i]..)` over the first axis; with counts before `f`, or a pack that stands for them, over
    /// as many axes as there are counts.
    Map,
    /// `v..`: the tensor of the tuples of their elements (rows) along the first axis.
    Zip,
    /// `init, f, v`: stacks the accumulators after each element (row) of `v`.
    Scan,
    /// `init, f, v`: the accumulator after the last element (row) of `v`.
    Fold,
    /// `n, init, f`: `f` applied `n` times (none if negative).
    Iterate,
    /// `init, step, done, n`: `step` until `done` holds for the new state, at most `n` times.
    IterateUntil,
    /// `v..`: joined along the first axis.
    Concat,
    /// `v`: the first axis backwards.
    Reverse,
    /// `v`: the last two axes exchanged.
    Transpose,
    /// `v, n..`: the same elements with other extents. The number of elements is checked.
    Reshape,
    /// `v, n..`: repeated along new leading axes; the last extents are those of `v`, which is
    /// checked.
    Broadcast,
    /// `n..`: zeros of the result's type.
    Zeros,
    /// `n..`: ones of the result's type.
    Ones,
    /// `n.., x`: copies of a scalar.
    Full,
    /// `v`: zeros of the type and shape of `v`, a value of any type.
    ZerosLike,
    /// `n`: the integers below `n`.
    Iota,
    /// `v`: a vector as a diagonal matrix, or the diagonal of a square matrix.
    Diag,
    /// `v`: the sum of the diagonal of a square matrix.
    Trace,
    /// `v`: the sum of all elements.
    Sum,
    /// `v`: the product of all elements.
    Prod,
    /// `v`: the mean of all elements.
    Mean,
    /// `v, w`: the inner product of two vectors.
    Dot,
    /// `v`: the Euclidean norm of all elements, or of all floats of a value.
    Norm,
    /// `v, w, t`: whether the floats of two values differ by at most `t`, or by that part of the larger of the two.
    Close,
    /// `f, v..`: `f` of each float of the first value and those of the others there; what is no float stays.
    MapLeaves,
    /// `v`: the sum of all floats of a value.
    SumLeaves,
    /// `v, w`: the sum of the products of the floats of a value and those of another one, or of a tangent.
    Inner,
    /// `v`: how many floats there are in a value.
    CountLeaves,
    /// `x`: the value itself, of any type; no derivative flows through.
    StopGradient,
    /// `v, f`: `f` for its effects on each element (row) along the first axis, in order.
    Each,
    /// `v`: the elements along the last axis in ascending order, NaN last; equal ones keep their order.
    Sort,
    /// `v`: the positions along the last axis in the order of `sort`.
    Argsort,
    /// `v`: the position of the greatest element along the last axis: of several the first, of NaN
    /// the first. An empty axis is a run-time error.
    Argmax,
    /// `v`: the position of the least element along the last axis, likewise.
    Argmin,
    /// `v`: the sums of the elements up to each one, along the last axis.
    Cumsum,
    /// `v`: the products of the elements up to each one, along the last axis.
    Cumprod,
    /// `v, idx`: the elements (rows) of `v` at the positions that an integer tensor holds.
    Gather,
    /// `x`: integers or truth values as the integer type of the result, wrapped.
    WrappingAs,
    /// `attribute.., v..`: an operation of the op table, used by its name in a library. The attributes are literals.
    Operation(TensorOp, usize),
}
