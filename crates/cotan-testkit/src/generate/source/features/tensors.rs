//! Functions of the prelude on tensors, dims, folds.

use super::{Feature, scalar, statement, vector};
use crate::generate::Construct as C;

const RAMP: &str = "fn ramp(n: i64, s: {t}) -> {t}[n] = tabulate(n, |i| s * (0.3 * (i as {t})))";
const PAIRED: &str = "const WIDE: i64 = 3
fn paired[K](v: {t}[K]) -> {t}[2*K] = concat(v, 0.5 .* v)
fn halved[K](v: {t}[2*K]) -> {t}[K] = v[K..]
fn wide(x: {t}) -> {t}[WIDE, WIDE - 1] = full([3, 2], x)
fn triangle[K](v: {t}[K]) -> {t}[K*(K+1)/2] = full([K*(K+1)/2], v[0])";
const VISITED: &str = "fn visited[K](v: {t}[K]) -> {t} {
  each(v, |u| { let doubled = 2.0 * u })
  v[0]
}";

pub(super) const FEATURES: &[Feature] = &[
    vector(C::Sort, &[], "{v}[argsort({w})]"),
    vector(C::Gather, &[], "gather({v}, {ix})"),
    scalar(C::Gather, &[], "(+/[all] {m}[{ix}])"),
    vector(C::Filled, &[], "({v} .* ones[{t}](N) .+ zeros_like({v}) .+ zeros([N]))"),
    scalar(C::Filled, &[], "(+/[all] (full([2, N], {x}) .+ (broadcast({v}, [2, N]) : {t}[2, N])))"),
    scalar(C::Rearranged, &[], "(concat({v}, {w})[{i}] + trace(diag({v})) + reverse({m})[{i}, 0])"),
    scalar(C::FoldAxes, &[], "sin((+/[axis = 0, 1] {m}) + (max/[all] {m}) + (+/ min/[axis = 0] {m}))"),
    scalar(C::FoldBy, &[], "(curve/{v})"),
    scalar(C::FoldBy, &[], "(sin(+/ ((|p, q| p * 0.5 + q)/{x}/{m})))"),
    scalar(C::Fold, &[], "fold(({x}, 0.5), |(p, q), u| (sin(p + u), 0.5 * q * p), {v}).0"),
    scalar(C::Fold, &[], "sin(+/ fold({v}, |acc, u| sin(acc .* u), {w}))"),
    vector(C::Scan, &[], "scan(({x}, 0.5), |(p, q), u| (sin(p + u), 0.5 * q), {v}).0"),
    vector(C::Map, &[], "map(curve, {v}, {w})"),
    vector(C::Map, &[], "map(|row| sin(+/ row), {m})"),
    vector(C::Zip, &[], "tabulate(N, |i| { let (p, q) = zip({v}, {w})[i]; sin(p * q) })"),
    vector(C::Tabulate, &[], "tabulate(N, |i| ({v}[i], sin({w}[i]))).1"),
    scalar(C::IntegerDim, &[RAMP], "sin(+/ ramp({k}, {x}))"),
    vector(C::SizeArithmetic, &[PAIRED], "halved(paired({v}))"),
    scalar(C::SizeArithmetic, &[PAIRED], "(0.2 * (+/[all] wide({x})) + 0.1 * (+/ triangle({v})))"),
    scalar(C::Each, &[VISITED], "visited({v})"),
    vector(C::MatrixProduct, &[], "sin(({m} @ transpose({m})) @ {v})"),
    scalar(C::MatrixProduct, &[], "sin(+/[all] ([{m}, {m}] @ [transpose({m}), transpose({m})]))"),
    statement(C::Ascribed, &[], "let {new}: {t} = ({v}[0..N] : {t}[N])[{i}]"),
    scalar(C::ArrayLiteral, &[], "([{x}, {y}, 0.3][{k} % 3] * (+/ [{v}, {w}][1]))"),
    scalar(C::Slice, &[], "((+/ {v}[{i}..=N - 1]) + (+/ {m}[{i}..N, 0]) + (+/ {m}[{i}, ..]))"),
    scalar(C::Range, &[], "(0.1 * (+/ ((0..={k}) as {t})) * {x})"),
    scalar(
        C::NamedSum,
        &[],
        "(mean({m}) + sum({m}) * 0.3 + sin(norm({m} .+ 2.0)) + 0.1 * prod(0.9 .+ 0.1 .* sin({m})))",
    ),
    vector(C::RunningTotal, &[], "sin(cumsum({v}) .+ cumprod(0.9 .+ 0.1 .* sin({w})))"),
];
