//! Codes about derivatives.

use super::codes;

codes! {
    /// Codes about derivatives.
    DERIVATIVES:
    NOT_DIFFERENTIABLE = "E0501", "parameter that can't be differentiated",
"Only floats, and tensors, tuples and structs with floats in them, have derivatives.

Mended:

@grad(x) fn df(x: f64, n: i64) -> f64 = x ** n",
"@grad(n) fn df(x: f64, n: i64) -> i64 = x ** n";

    NOT_SCALAR = "E0502", "gradient of something that is no number",
"A gradient, and a Hessian, is of one float. Fold a tensor to one, or use `jacobian`.

Mended:

@grad(x) fn df[N](x: f64[N]) -> f64[N] = +/(x .* x)",
"@grad(x) fn df[N](x: f64[N]) -> f64[N] = x .* x";

    UNKNOWN_PARAMETER = "E0503", "unknown parameter in a derivative",
"The names in `@grad(w)` and `grad[w](f)` are parameters of the function that is differentiated.

Mended:

@grad(w) fn df(w: f64) -> f64 = w * w",
"@grad(x) fn df(w: f64) -> f64 = w * w";

    DERIVATIVE_RESULT = "E0504", "declared result that is not that of the derivative",
"The result of `@grad(w)` has the type of `w`, that of `@grad(w, b)` is a tuple, that of
`@value_and_grad(w)` begins with the value, and that of `@jvp(w)` is the value and its tangent.

Mended:

@grad(x) fn df[N](x: f64[N]) -> f64[N] = +/(x .* x)",
"@grad(x) fn df[N](x: f64[N]) -> f64 = +/(x .* x)";

    NO_PARAMETER = "E0505", "derivative with respect to nothing",
"A derivative needs a parameter with floats in it.

Mended:

@grad(x) fn df(x: f64) -> f64 = x * x",
"@grad() fn df(x: f64) -> f64 = x * x";

    MODE = "E0506", "unknown mode",
"The mode of a derivative is `forward` or `reverse`; `jvp` and `vjp` have one mode each.

Mended:

fn f(x: f64) -> f64 = x * x
fn g(x: f64) -> f64 = grad[x, mode = forward](f)(x)",
"fn f(x: f64) -> f64 = x * x
fn g(x: f64) -> f64 = grad[x, mode = fast](f)(x)";

    DERIVATIVE_ATTRIBUTE = "E0507", "attributes of derivatives that do not go together",
"Several `@grad` on one declaration name one parameter each. The last parameters of a `@jvp` are
the tangents of those that it names, with their types.

Mended:

@grad(w, b) fn df(w: f64, b: f64) -> (f64, f64) = w * b",
"@grad(w, b) @grad(b) fn df(w: f64, b: f64) -> f64 = w * b";

    REPEATED_PARAMETER = "E0508", "parameter twice in a derivative",
"Each parameter is named once.

Mended:

@grad(x) fn df(x: f64) -> f64 = x * x",
"@grad(x, x) fn df(x: f64) -> f64 = x * x";

    NODIFF_PARAMETER = "E0509", "derivative with respect to a `@nodiff` parameter",
"No derivative flows into a parameter that is marked `@nodiff`.

Mended:

@grad(x) fn df(x: f64, @nodiff t: f64) -> f64 = x * t",
"@grad(t) fn df(x: f64, @nodiff t: f64) -> f64 = x * t";

    NEEDS_FUNCTION = "E0510", "derivative of something that is no function",
"`grad[w](f)` takes a function, and is called with the arguments of that function.

Mended:

fn f(x: f64) -> f64 = x * x
fn g(x: f64) -> f64 = grad(f)(x)",
"fn f(x: f64) -> f64 = x * x
fn g(x: f64) -> f64 = grad(f(x))";

    AUX_COUNT = "E0520", "values beside the loss that do not fit the declared result",
"The body under `@grad` may be a tuple that begins with the loss: the rest is returned beside the
gradient, and the declared result says so.

Mended:

@grad(w) fn df[N](w: f64, x: f64[N]) -> (f64, f64[N]) {
  let y = w .* x
  (+/ y, y)
}",
"@grad(w) fn df[N](w: f64, x: f64[N]) -> f64 {
  let y = w .* x
  (+/ y, y)
}";

    RULE_TARGET = "E0521", "rule for something that can't have one",
"`@vjp_for(f)` and `@jvp_for(f)` name a function of the program with floats in a parameter and in
its result. A function that takes functions may have rules: they take the same functions. A result
whose size only the run knows has no rule for forward mode.

Mended:

fn square(x: f64) -> f64 = x * x
@vjp_for(square) fn square_vjp(x: f64, y: f64, y_cot: f64) -> f64 = 2.0 * x * y_cot",
"fn square(x: f64) -> f64 = x * x
@vjp_for(sqare) fn square_vjp(x: f64, y: f64, y_cot: f64) -> f64 = 2.0 * x * y_cot";

    RULE_SIGNATURE = "E0522", "rule with another signature",
"A `@vjp_for(f)` takes the parameters of `f`, its result, and the cotangent of the result, and gives
one cotangent for each parameter that can be differentiated. A `@jvp_for(f)` takes the parameters
of `f` and one tangent for each of those, and gives the value and its tangent.

Mended:

fn power(x: f64, n: i64) -> f64 = x ** n
@vjp_for(power)
fn power_vjp(x: f64, n: i64, y: f64, y_cot: f64) -> f64 = (n as f64) * x ** (n - 1) * y_cot",
"fn power(x: f64, n: i64) -> f64 = x ** n
@vjp_for(power)
fn power_vjp(x: f64, y: f64, y_cot: f64) -> f64 = y / x * y_cot";

    RULE_TWICE = "E0523", "second rule for a function",
"A function has one rule for each mode.

Mended:

fn square(x: f64) -> f64 = x * x
@vjp_for(square) fn backward(x: f64, y: f64, y_cot: f64) -> f64 = 2.0 * x * y_cot
@jvp_for(square) fn forward(x: f64, x_tan: f64) -> (f64, f64) = (x * x, 2.0 * x * x_tan)",
"fn square(x: f64) -> f64 = x * x
@vjp_for(square) fn one(x: f64, y: f64, y_cot: f64) -> f64 = 2.0 * x * y_cot
@vjp_for(square) fn two(x: f64, y: f64, y_cot: f64) -> f64 = 2.0 * y_cot * x";

    RULE_CYCLE = "E0524", "rule that needs itself",
"A rule that differentiates the function that it is for, in its own mode, has no end. It may call
the function, and it may differentiate it in the other mode.

Mended:

fn square(x: f64) -> f64 = x * x
@vjp_for(square)
fn rule(x: f64, y: f64, y_cot: f64) -> f64 = jvp(square)(x, y_cot).1",
"fn square(x: f64) -> f64 = x * x
@vjp_for(square)
fn rule(x: f64, y: f64, y_cot: f64) -> f64 = y_cot * grad(square)(x)";

    VMAP_AXIS = "E0525", "axis that `vmap` can't go over",
"`vmap[0](f)` calls `f` for every position along an axis that all its arguments have, and puts the
axis at the same position into the results. `vmap[0, _, -1, out = 1](f)` says an axis for each
argument, `_` for one that is the same for every position, and the axis of the results: each must
be there. Axes count from 0, or from the back with -1, among those with the new one.

Mended:

fn f(x: f64, w: f64) -> f64 = x * w
fn g[N](xs: f64[N], w: f64) -> f64[N] = vmap[0, _](f)(xs, w)",
"fn f(x: f64, w: f64) -> f64 = x * w
fn g[N](xs: f64[N], w: f64) -> f64[N] = vmap[0](f)(xs, w)";

    CHECKPOINT = "E0526", "unknown scheme of checkpoints",
"`@checkpoint` on a loop says what the reverse sweep keeps of it: one in `every = k` iterations,
`sqrt` of them, segments within segments `levels = k` deep, or what fits `budget = bytes`; the rest
is computed again. `all` keeps what the loops inside need too. The bits of the gradient stay the
same. `@recompute` takes no list.

Mended:

@grad(x) fn df(x: f64) -> f64 {
  let mut y = x
  @checkpoint(every = 10) for i in 0..100 { y = sin(y) }
  y
}",
"@grad(x) fn df(x: f64) -> f64 {
  let mut y = x
  @checkpoint(10) for i in 0..100 { y = sin(y) }
  y
}";

    VMAP_AXIS_COUNT = "E0527", "number of axes in `vmap` that does not fit",
"The list in `vmap[0, _](f)` has one axis, or `_`, for each argument of `f`. A single axis is that of
all arguments.

Mended:

fn f(x: f64, w: f64) -> f64 = x * w
fn g[N](xs: f64[N], w: f64) -> f64[N] = vmap[0, _](f)(xs, w)",
"fn f(x: f64, w: f64) -> f64 = x * w
fn g[N](xs: f64[N], w: f64) -> f64[N] = vmap[0, _, _](f)(xs, w)";

    CAPTURED_FLOAT = "E0528", "captured float in a function that a rule gets",
"The rule of a function that takes functions gives derivatives of the parameters that are values. A
float that a given function captures would lose its derivative there. So it comes in as a part of a
parameter, or where no derivative of it is wanted as `stop_gradient(a)`. Integers may be captured.

Mended:

fn apply(f: (f64, f64) -> f64, p: f64, x: f64) -> f64 = f(p, x)
@vjp_for(apply)
fn rule(f: (f64, f64) -> f64, p: f64, x: f64, y: f64, y_cot: f64) -> (f64, f64) {
  let (_, p_cot, x_cot) = vjp[p, x](|p: f64, x: f64| f(p, x))(p, x, y_cot)
  (p_cot, x_cot)
}
fn scaled(a: f64, x: f64) -> f64 = apply(|a, x| a * x, a, x)",
"fn apply(f: (f64) -> f64, x: f64) -> f64 = f(x)
@vjp_for(apply)
fn rule(f: (f64) -> f64, x: f64, y: f64, y_cot: f64) -> f64 = vjp(f)(x, y_cot).1
fn scaled(a: f64, x: f64) -> f64 = apply(|x| a * x, x)";

    CUT_GRADIENT = "W0501", "gradient that is zero everywhere",
"Casts to integers, comparisons and functions such as `floor` have the derivative zero. If every
way from a parameter to the result leads through one of them, the gradient is zero.

Mended:

@grad(x) fn df(x: f64) -> f64 = x * x",
"@grad(x) fn df(x: f64) -> f64 = (x as i64) as f64";

    CUT_WAY = "N0501", "cast to an integer on one of several ways of a derivative",
"Integers have no derivative. Where a float is cast to an integer, and the result is computed from
that integer, nothing flows along this way, and the derivative is that of the other ways alone. It
is a note, because it may be what is meant; `--deny warnings` does not count it. An integer that is
an index, a bound, or compared has no derivative by nature, and no note.

Mended:

@grad(x) fn df(x: f64) -> f64 = x * stop_gradient(floor(x))",
"@grad(x) fn df(x: f64) -> f64 = x * ((x as i64) as f64)";

    UNDIFFERENTIATED_TRIP_COUNT = "W0502", "loop that a differentiable value alone decides",
"How often a loop runs has no derivative. If the condition of a `while` depends on a
differentiable value and nothing else, the gradient jumps where the number of steps changes.

Mended:

@grad(x) fn df(x: f64) -> f64 {
  let mut y = x
  let mut k = 0
  while abs(y) > 1.0 && k < 100 {
    y = y / 2.0
    k += 1
  }
  y
}",
"@grad(x) fn df(x: f64) -> f64 {
  let mut y = x
  while abs(y) > 1.0 { y = y / 2.0 }
  y
}";

    IDLE_HINT = "W0503", "hint without effect",
"`@checkpoint` says what is kept of a loop that carries values from one iteration to the next; the
outermost loops of a kernel carry none. `@mode` on a block says how a reverse sweep differentiates
the loops in it and in what it calls; a block with neither has nothing to choose.

Mended:

kernel f[N](x: f64[N], n: i64) -> f64[N] {
  let mut y = zeros[f64](N)
  for i in 0..N {
    let mut s = x[i]
    @checkpoint(sqrt) for k in 0..n { s = sin(s) }
    y[i] = s
  }
  y
}",
"kernel f[N](x: f64[N], n: i64) -> f64[N] {
  let mut y = zeros[f64](N)
  @checkpoint(sqrt) for i in 0..N {
    let mut s = x[i]
    for k in 0..n { s = sin(s) }
    y[i] = s
  }
  y
}";
}
