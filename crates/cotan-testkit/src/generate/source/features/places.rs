//! Places that are assigned, loops that carry, values that are moved.

use super::{Feature, scalar, statement, vector};
use crate::generate::Construct as C;

const RELAXED: &str = "fn relaxed[K](mut v: {t}[K], s: {t}) -> {t}[K] {
  for i in 1..K { v[i] = 0.7 * v[i] + 0.2 * sin(v[i - 1] + s) }
  v
}";
const SETTLED: &str = "fn settled[K](mut p: Pair[K], s: {t}) -> Pair[K] {
  p.v = sin(p.v .* s)
  p.v[0] += p.s
  (p.s, p.v[K - 1]) = (p.v[0], 0.5 * p.s)
  p
}";
const SCATTERED: &str = "kernel scattered[K](v: {t}[K], ix: i64[K], s: {t}) -> {t}[K] {
  let mut w = v
  let mut h = 0.5 .* v
  let mut least = s
  for i in 0..K { w[i] = sin(v[i] * s) + 0.1 }
  for i in tile(K, 2) { h[ix[i]] += 0.3 * w[i] }
  for i in 0..K {
    w[ix[i]] max= 0.4 * h[i]
    least min= h[i]
  }
  h .* w .+ least
}";
const PRODUCTS: &str = "kernel products[K](v: {t}[K], ix: i64[K]) -> {t}[K] {
  let mut p = full([K], 0.8)
  let mut low = 2.0 .* v
  for i in 0..K {
    p[ix[i]] *= 0.5 + 0.3 * v[i]
    low[ix[i]] min= v[i]
  }
  p .* low
}";
const STRIDED: &str = "kernel strided[K, L](m: {t}[K, L], v: {t}[K]) -> {t} {
  let mut w = zeros[{t}](2 * K + 1)
  let mut flat = zeros[{t}](K * L)
  for i in 0..K { w[2*i + 1] = v[i] * v[i] }
  for i in tile(K, 8) { for j in 0..L { flat[i*L + j] = sin(m[i, j]) * w[2*i + 1] } }
  +/ flat
}";

pub(super) const FEATURES: &[Feature] = &[
    statement(C::MovedArgument, &[RELAXED], "{a} = relaxed({a}, 0.3)"),
    vector(C::MovedArgument, &[SETTLED], "settled(Pair { s: {x}, v: {v} }, {y}).v"),
    vector(C::Kernel, &[SCATTERED], "scattered({v}, {ix}, {x})"),
    vector(C::KernelProducts, &[PRODUCTS], "products({v}, {ix})"),
    scalar(C::KernelBlocks, &[STRIDED], "sin(strided({m}, {v}))"),
    statement(C::ColumnPlace, &[], "{b}[.., 0] = sin({v})"),
    statement(C::ColumnPlace, &[], "{b}[{i}..N, 0] = sin({v})[{i}..N]"),
    statement(C::ColumnPlace, &[], "{b}[{i}, ..] .*= 0.7"),
    statement(C::WholeUpdate, &[], "{a} .+= 0.3 .* {v}"),
    statement(C::WholeUpdate, &[], "{a} .*= sin({v})"),
    statement(C::WholeUpdate, &[], "{b} .-= 0.1 .* {m}"),
    statement(C::WholeUpdate, &[], "{a} ./= 1.5 .+ {v} .* {v}"),
    statement(C::CompoundAssign, &[], "{s} /= 1.5 + {x} * {x}"),
    statement(C::CompoundAssign, &[], "{s} **= 2"),
    statement(C::CompoundAssign, &[], "{s} %= 1.5"),
    statement(C::CompoundAssign, &[], "{s} min= {x}"),
    statement(C::TuplePlaces, &[], "({s}, {a}[{i}]) = ({a}[{i}], sin({s} + {x}))"),
    statement(C::BackwardElements, &[], "for u in ({v}).rev() { {s} = sin({s} + u * {x}) }"),
    statement(C::RowElements, &[], "for row in {m} { {s} = sin({s} + (+/ row)) }"),
    statement(C::InclusiveRange, &[], "for q in 1..={k} { {s} = sin({s} + {x} * (q as {t})) }"),
    scalar(C::LetIn, &[], "(let q = sin({x}) in q * {y})"),
    scalar(C::BlockValue, &[], "{ let q = sin({x}); let mut p = q * {y}; if q > 2.0 { p = 0.5 }; p }"),
];
