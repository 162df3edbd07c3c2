//! Derivatives inside programs, in all forms and modes, and what reverse sweeps keep.

use super::{Feature, scalar, statement, vector};
use crate::generate::Construct as C;

const STAGED: &str = "fn staged_curve(u: {t}, t: {t}) -> {t} = sin(u * u * t) + cos(u + t * t)
fn staged(u: {t}, t: {t}) -> ({t}, {t}) = (staged_curve(u, t), sin(u - t) * cos(u))";
const SPREAD: &str = "fn spread[K](v: {t}[K], s: {t}) -> {t}[K] = sin(v .* s) .+ s";
const QUADRATIC: &str = "fn quadratic[K](v: {t}[K], s: {t}) -> {t} = sin(s) * (+/ (v .* v .* v))";
const DECLARED: &str = "@grad(u) fn slope(u: {t}, t: {t}) -> {t} = sin(u * t) + u
@grad(u, t) fn slopes(u: {t}, t: {t}) -> ({t}, {t}) = sin(u * t) + u * u
@grad(u) @grad(t) fn each_slope(u: {t}, t: {t}) -> {t} = cos(u * t) * t
@value_and_grad(u) fn with_value(u: {t}, t: {t}) -> ({t}, {t}) = sin(u) * t
@jvp(u, t) fn pushed(u: {t}, t: {t}, du: {t}, dt: {t}) -> ({t}, {t}) = sin(u * t)";
const FORWARD: &str = "@mode(forward) fn forward_energy[K](v: {t}[K], s: {t}) -> {t} = sin(+/ (v .* v .* s))
@mode(reverse) fn backward_spread[K](v: {t}[K]) -> {t}[K] = sin(v) .* v";
const AGAIN: &str = "@recompute fn again[K](v: {t}[K], n: i64) -> {t} {
  let mut s = 0.2
  for i in 0..n { s = sin(s + v[i % K]) }
  s
}";
const STRUCTURED: &str = "fn structured[K](p: Pair[K], t: {t}) -> {t} = sin(p.s * t) + (+/ sin(p.v))
fn outwards[K](p: Pair[K], t: {t}) -> ({t}, {t}[K]) = (p.s * sin(t), sin(p.v .* t))";
const CHECKPOINTS: &str = "fn kept_by_count(x: {t}, n: i64) -> {t} {
  let mut s = x
  @checkpoint(every = 2) for i in 0..n { s = sin(s + x * (i as {t})) }
  s
}
fn kept_by_root[K](v: {t}[K], n: i64) -> {t} {
  let mut w = v
  @checkpoint(sqrt) for i in 0..n { w = sin(w .* v) .+ 0.1 }
  +/ w
}
fn kept_by_levels(x: {t}, n: i64) -> {t} {
  let mut s = x
  @checkpoint(levels = 2) for i in (0..n).rev() { s = cos(s * x) }
  s
}
fn kept_by_budget[K](v: {t}[K], n: i64) -> {t} {
  let mut w = v
  @checkpoint(budget = 64) for i in 0..n { w[i % K] = sin(w[0] + v[i % K]) }
  +/ w
}
fn kept_whole[K](v: {t}[K], n: i64) -> {t} {
  let mut s = v[0]
  @checkpoint(all) for i in 0..n {
    for j in 0..i + 1 { s = sin(s + v[j % K]) }
    let mut left = 0.7 * s
    while left > 0.2 { left = left * 0.6 * cos(s) }
    s = s + left * v[i % K]
  }
  s
}
fn kept_online(x: {t}) -> {t} {
  let mut s = x
  let mut n = 0
  @checkpoint(sqrt) while n < 4 && s < 1.5 {
    n += 1
    s = s + 0.4 * cos(s * x)
  }
  s
}";

pub(super) const FEATURES: &[Feature] = &[
    scalar(C::ValueBesideLoss, &[STAGED], "sin(grad[u](staged)({x}, {y}).1)"),
    scalar(C::ValueBesideLoss, &[STAGED], "sin(value_and_grad[u](staged)({x}, {y}).2)"),
    scalar(C::MatrixForm, &[STAGED], "sin(hvp[u](staged_curve)({x}, {y}, 0.5))"),
    scalar(C::MatrixForm, &[STAGED], "sin(hessian[t](staged_curve)({x}, {y}) + hvp[u](staged_curve)({y}, {x}, 0.5))"),
    scalar(C::MatrixForm, &[SPREAD], "sin(+/[all] jacobian[v](spread)({v}, {x}))"),
    scalar(C::MatrixForm, &[SPREAD], "sin(+/ jacobian[s, mode = forward](spread)({v}, {x}))"),
    scalar(C::MatrixForm, &[SPREAD], "sin(+/ jacfwd[s](spread)({v}, {x}) + +/[all] jacrev[v](spread)({v}, {y}))"),
    scalar(C::MatrixForm, &[QUADRATIC], "sin(+/[all] hessian[v](quadratic)({v}, {x}))"),
    scalar(C::MatrixForm, &[QUADRATIC], "sin(+/ hvp[v](quadratic)({v}, {x}, {w}))"),
    scalar(C::MatrixForm, &[QUADRATIC], "sin(+/ hessian[v, s](quadratic)({v}, {x}).1.0)"),
    scalar(C::DeclaredDerivative, &[DECLARED], "sin(slope({x}, {y}) + slopes({x}, {y}).1)"),
    scalar(C::DeclaredDerivative, &[DECLARED], "sin(each_slope.u({x}, {y}) + each_slope.t({y}, {x}))"),
    scalar(C::DeclaredDerivative, &[DECLARED], "sin(with_value({x}, {y}).1 + pushed({x}, {y}, 0.5, {y}).1)"),
    scalar(C::Mode, &[FORWARD], "sin(+/ grad[v](forward_energy)({v}, {x}))"),
    scalar(C::Mode, &[], "sin(grad[u, mode = forward](curve)({x}, {y}) + grad[t, mode = reverse](curve)({x}, {y}))"),
    scalar(C::Mode, &[FORWARD], "sin(+/[all] jacobian(backward_spread)({v}))"),
    statement(
        C::Mode,
        &[],
        "let {new} = @mode(forward) { let mut r = {x}; for step in 0..{k} { r = sin(r * {y}) }; r }",
    ),
    statement(C::Recompute, &[], "{s} = @recompute { let mut r = {x}; for step in 0..{k} { r = sin(r + {y}) }; r }"),
    scalar(C::Recompute, &[AGAIN], "again({v}, {k} + 1)"),
    scalar(C::Checkpoint, &[CHECKPOINTS], "(kept_by_count({x}, {k} + 2) * kept_by_levels({y}, {k} + 3))"),
    scalar(C::Checkpoint, &[CHECKPOINTS], "sin(kept_by_root({v}, {k} + 2) + kept_by_budget({v}, {k} + 3))"),
    scalar(C::Checkpoint, &[CHECKPOINTS], "sin(kept_by_levels({x}, {k} + 3) + kept_by_root({v}, {k} + 3))"),
    scalar(C::Checkpoint, &[CHECKPOINTS], "sin(kept_by_budget({v}, {k} + 2) + kept_by_count({x}, {k} + 3))"),
    scalar(C::Checkpoint, &[CHECKPOINTS], "sin(kept_whole({v}, {k} + 2) + kept_by_root({v}, {k} + 3))"),
    scalar(C::Checkpoint, &[CHECKPOINTS], "sin(kept_whole({v}, {k} + 3) + kept_by_budget({v}, {k} + 2))"),
    scalar(C::Checkpoint, &[CHECKPOINTS], "sin(kept_online({x}) + kept_whole({v}, {k} + 1))"),
    scalar(C::Checkpoint, &[CHECKPOINTS], "sin(kept_online({y}) * kept_by_count({x}, {k} + 2))"),
    scalar(
        C::StructDerivative,
        &[STRUCTURED],
        "sin(structured(grad[p](structured)(Pair { s: {x}, v: {v} }, {y}), {x}))",
    ),
    scalar(
        C::StructDerivative,
        &[STRUCTURED],
        "sin(+/ vjp[p, t](outwards)(Pair { s: {x}, v: {v} }, {y}, (0.5, {w})).1.v)",
    ),
    vector(
        C::StructDerivative,
        &[STRUCTURED],
        "sin(jvp[p](outwards)(Pair { s: {x}, v: {v} }, {y}, Pair { s: 0.4, v: {w} }).1.1)",
    ),
    scalar(C::StopGradient, &[], "stop_gradient(sin({x} * {y}))"),
];
