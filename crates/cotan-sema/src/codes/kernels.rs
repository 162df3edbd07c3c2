//! Codes about kernels, whose loops run in parallel, and about values that are given up to `mut` parameters.

use super::codes;

codes! {
    /// Codes about kernels and moves.
    KERNELS:
    PARALLEL_EXIT = "E0640", "`break` or `return` in a parallel loop",
"The outermost `for` loops of a kernel run in parallel: when one iteration wants to stop, others
have run already. `continue` ends a single iteration, and loops inside may be left.

Mended:

kernel f[N](v: f64[N]) -> f64 {
  let mut s = 0.0
  for i in 0..N {
    if v[i] < 0.0 { continue }
    s += v[i]
  }
  s
}",
"kernel f[N](v: f64[N]) -> f64 {
  let mut s = 0.0
  for i in 0..N {
    if v[i] < 0.0 { break }
    s += v[i]
  }
  s
}";

    RACE = "E0641", "race between iterations of a parallel loop",
"The outermost `for` loops of a kernel run in parallel. An array from outside that the loop writes is
used only at an index that belongs to the iteration: one index position has the same form in all
accesses, `c*i + k` with a literal `c` that is not zero and a `k` that is the same in all iterations, or `i*M + j` with `j`
from `0..M` or a `tile`. Or it is accumulated into, with one of `+=`, `*=`, `max=`, `min=` at any
index, and not read in that loop. Each loop waits for the one before it, so a second loop may read
what the first one writes.

Mended:

kernel f[N](v: f64[N]) -> f64[N] {
  let mut w = v
  for i in 1..N { w[i] = v[i - 1] }
  w
}",
"kernel f[N](v: f64[N]) -> f64[N] {
  let mut w = v
  for i in 1..N { w[i] = w[i - 1] }
  w
}";

    SHARED_VARIABLE = "E0642", "variable that all iterations of a parallel loop change",
"The outermost `for` loops of a kernel run in parallel. A variable from outside that is changed as a
whole is accumulated into, with one of `+=`, `*=`, `max=`, `min=`, and not read in that loop;
a variable that belongs to one iteration is declared in it.

Mended:

kernel f[N](v: f64[N]) -> f64[N] {
  let mut w = v
  for i in 0..N {
    let t = v[i] * v[i]
    w[i] = t + 1.0 / t
  }
  w
}",
"kernel f[N](v: f64[N]) -> f64[N] {
  let mut w = v
  let mut t = 0.0
  for i in 0..N {
    t = v[i] * v[i]
    w[i] = t + 1.0 / t
  }
  w
}";

    TILE = "E0645", "wrong use of `tile`",
"`tile(n, b)` stands in the head of a `for` loop and means `0..n`; the size of a block, `b`, is a
hint at how to run it and is at least 1.

Mended:

fn f[N](v: f64[N]) -> f64 {
  let mut s = 0.0
  for i in tile(N, 32) { s += v[i] }
  s
}",
"fn f[N](v: f64[N]) -> f64 {
  let mut s = 0.0
  for i in tile(N, 0) { s += v[i] }
  s
}";

    USED_AFTER_MOVE = "E0650", "use of a value that was given up",
"An argument for a `mut` parameter is moved: the caller gives it up and gets the changed value back
as the result. Until the name is assigned again it has no value. To keep the old value, copy it
first.

Mended:

fn doubled[N](mut x: f64[N]) -> f64[N] {
  for i in 0..N { x[i] *= 2.0 }
  x
}
fn f[N](v: f64[N]) -> f64[N] {
  let old = v
  let new = doubled(v)
  new .- old
}",
"fn doubled[N](mut x: f64[N]) -> f64[N] {
  for i in 0..N { x[i] *= 2.0 }
  x
}
fn f[N](v: f64[N]) -> f64[N] {
  let new = doubled(v)
  new .- v
}";

    MOVED_IN_LOOP = "E0651", "value given up in a loop and not assigned again",
"What a loop moves has no value in the next iteration unless the same iteration assigns the name
again before it ends, also where it ends with `continue`.

Mended:

fn doubled[N](mut x: f64[N]) -> f64[N] {
  for i in 0..N { x[i] *= 2.0 }
  x
}
fn f[N](v: f64[N]) -> f64[N] {
  let mut x = v
  for k in 0..3 { x = doubled(x) }
  x
}",
"fn doubled[N](mut x: f64[N]) -> f64[N] {
  for i in 0..N { x[i] *= 2.0 }
  x
}
fn f[N](v: f64[N]) -> f64 {
  let mut s = 0.0
  for k in 0..3 { s += +/ doubled(v) }
  s
}";

    MOVED_AND_USED = "E0652", "argument list that moves a value and uses it too",
"One argument list may use a value that it moves only once. A copy makes two values of it.

Mended:

fn plus[N](mut x: f64[N], y: f64[N]) -> f64[N] {
  for i in 0..N { x[i] += y[i] }
  x
}
fn f[N](v: f64[N]) -> f64[N] {
  let w = v
  plus(v, w)
}",
"fn plus[N](mut x: f64[N], y: f64[N]) -> f64[N] {
  for i in 0..N { x[i] += y[i] }
  x
}
fn f[N](v: f64[N]) -> f64[N] = plus(v, v)";

    MOVED_CAPTURE = "E0653", "move of a captured value",
"A lambda may run many times, and the iterations of a parallel loop run side by side: they read
what they capture and give nothing of it up. A copy belongs to the lambda or to the iteration.

Mended:

fn doubled[N](mut x: f64[N]) -> f64[N] {
  for i in 0..N { x[i] *= 2.0 }
  x
}
fn f[N](v: f64[N]) -> f64[3] = tabulate(3, |i| {
  let copy = v
  +/ doubled(copy)
})",
"fn doubled[N](mut x: f64[N]) -> f64[N] {
  for i in 0..N { x[i] *= 2.0 }
  x
}
fn f[N](v: f64[N]) -> f64[3] = tabulate(3, |i| +/ doubled(v))";
}
