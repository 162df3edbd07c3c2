//! Structs, enums, traits, packs, patterns.

use super::{Feature, scalar, statement, vector};
use crate::generate::Construct as C;

const SHAPE: &str = "enum Shape[K] { Dot, Circle({t}), Box { w: {t}, h: {t} }, Line({t}[K]) }
fn shape[K](k: i64, x: {t}, v: {t}[K]) -> Shape[K] = match k % 4 {
  0 => Shape.Circle(x),
  1 => Shape.Line(v),
  2 => Shape.Box { w: x, h: 0.5 * x },
  _ => Shape.Dot
}";
const EXTENT: &str = "fn extent[K](s: Shape[K]) -> {t} = match s {
  Dot => 0.3,
  Circle(r) if r > 2.5 => r,
  Circle(r) => sin(r) * r,
  Box { w, h: height } => w * cos(height),
  Line(v) => sin(+/ (v .* v))
}";
const TURNED: &str = "fn turned[K](s: Shape[K], x: {t}) -> Shape[K] = match s {
  Circle(r) | Box { w: r, .. } => Shape.Circle(r * x),
  Line(v) => Shape.Line(x .* sin(v)),
  other => other
}";
const ENERGY_OF: &str = "trait Energy {
  fn energy_of(s: Self) -> {t}
  fn grown(s: Self, by: {t}) -> Self
}
struct Ring { r: {t} }
impl Energy for Ring {
  fn energy_of(s: Self) -> {t} = sin(s.r) * s.r
  fn grown(s: Self, by: {t}) -> Self = Ring { r: by * s.r }
}
impl[K] Energy for {t}[K] {
  fn energy_of(s: Self) -> {t} = +/ sin(s)
  fn grown(s: Self, by: {t}) -> Self = by .* s
}
impl[A: Energy, B: Energy] Energy for (A, B) {
  fn energy_of(s: Self) -> {t} = s.0.energy_of() * s.1.energy_of()
  fn grown(s: Self, by: {t}) -> Self = (s.0.grown(by), s.1.grown(by))
}
fn total[A: Energy](p: A, by: {t}) -> {t} = p.energy_of() + Energy.energy_of(p.grown(by))";
const SWAPPED: &str = "fn swapped[A, B](p: (A, B)) -> (B, A) = (p.1, p.0)";
const WEIGHED: &str = "fn weighed[T: Float, K](v: T[K], s: T) -> T = sum(sin(v)) * s";
const SPREAD_OVER: &str = "fn spread_over[K](x: {t}) -> {t}[K] = full([K], x)";
const TWICE: &str = "fn twice[A](f: (A) -> A, x: A) -> A = f(f(x))";
const PACKS: &str = "fn flat[T: Float, ..S](x: T[..S]) -> T = sum(sin(x) .* x)
fn row_sums[..S, K](x: {t}[..S, K]) -> {t}[..S] = +/ sin(x)
fn padded[..S](x: {t}[..S]) -> {t} = sum(reshape(x, [..S, 1]) .+ zeros([..S, 1]))";
const LAYER: &str = "type Weights[..S] = {t}[..S]
struct Layer[..S] { weight: Weights[..S], bias: {t} }
fn through[..S](layer: Layer[..S], by: {t}) -> {t} = sin(sum(by .* layer.weight) + layer.bias)";
const POINT: &str = "struct Point { px: {t}, py: {t}, n: i64 }";
const POINTS: &str = "fn points[K](v: {t}[K], s: {t}) -> {t} {
  let mut ps = tabulate(K, |i| Point { px: v[i], py: s, n: i })
  for i in 0..K { ps[i].py = sin(ps[i].px + s) }
  ps.px[0] *= 0.5
  let qs = map(|p| Point { px: p.px * p.py, ..p }, ps)
  (+/ qs.px) + qs[K - 1].py
}";

const POINTED: &str = "fn pointed(p: Point, s: {t}) -> {t} = sin(p.px * s) * p.py + (p.n as {t}) * s";

pub(super) const FEATURES: &[Feature] = &[
    scalar(C::EnumMatch, &[SHAPE, EXTENT], "extent(shape({k}, {x}, {v}))"),
    scalar(C::EnumMatch, &[SHAPE, EXTENT, TURNED], "extent(turned(shape({k}, {x}, {v}), {y}))"),
    scalar(C::EnumDerivative, &[SHAPE, EXTENT], "sin(extent(grad[s](extent)(shape({k}, {x}, {v}))))"),
    scalar(
        C::EnumDerivative,
        &[SHAPE, EXTENT],
        "sin(jvp[s](extent)(shape({k}, {x}, {v}), shape({k}, 0.4, 0.3 .* {v})).1)",
    ),
    scalar(
        C::EnumDerivative,
        &[SHAPE, EXTENT, TURNED],
        "sin(vjp[x](turned)(Shape.Line({v}), {y}, Shape.Line({w})).1 + vjp[x](turned)(shape(0, {x}, {v}), {y}, Shape.Circle(0.7)).1)",
    ),
    statement(
        C::EnumCarried,
        &[SHAPE, EXTENT, TURNED],
        "let {new} = { let mut c = shape({k}, {x}, {v}); for step in 0..3 { c = turned(c, {y} + (step as {t})) }; extent(c) }",
    ),
    scalar(
        C::MatchNumbers,
        &[],
        "(match {k} { 0 => {x}, 1 | 3 => {y} * 0.5, 4..=6 => sin({x}), n if n % 2 == 0 => cos({y}), _ => -0.4 })",
    ),
    scalar(
        C::MatchNumbers,
        &[],
        "(match ({k} % 2, {i} > 0) { (0, true) => {x}, (_, false) => {y}, (p, true) => 0.3 * (p as {t}) * {x} })",
    ),
    scalar(C::MatchFloat, &[], "(match {x} { -0.4..0.3 => sin({y}), u if u > 0.9 => u, _ => 0.8 * {y} })"),
    scalar(
        C::MatchStruct,
        &[],
        "(match (Pair { s: {x}, v: {v} }) { Pair { s, .. } if s > 1.7 => s, Pair { s: q, v: w } => sin(q) * (+/ w) })",
    ),
    statement(
        C::MatchStatement,
        &[],
        "match {k} % 3 { 0 => { {s} = sin({s} + {x}) }, 1 => { {a}[{i}] += 0.3 * {y} }, _ => {} }",
    ),
    scalar(C::TraitMethod, &[ENERGY_OF], "sin(total((Ring { r: {x} }, {v}), {y}))"),
    scalar(C::TraitMethod, &[ENERGY_OF], "sin(grad[p](total)(Ring { r: {x} }, {y}).r)"),
    scalar(C::TypeParameter, &[SWAPPED], "(swapped(swapped(({x}, {v}))).0 * swapped(({y}, 3)).1)"),
    scalar(C::TypeParameter, &[WEIGHED], "sin(weighed({v}, {x}) + grad[s](weighed)({w}, {y}))"),
    scalar(C::GivenParameter, &[SPREAD_OVER], "(0.3 * (+/ spread_over[3]({x})))"),
    scalar(C::FunctionParameter, &[TWICE], "twice(|q| sin(q + {y}), {x})"),
    vector(C::FunctionParameter, &[TWICE], "twice(|q| sin(q .* {x} .+ {v}), {w})"),
    scalar(C::ShapePack, &[PACKS], "sin(flat({m}) + flat({x}) + padded({v}))"),
    vector(C::ShapePack, &[PACKS], "row_sums({m})"),
    scalar(C::ShapePack, &[LAYER], "through(Layer { weight: {m}, bias: {x} }, {y})"),
    scalar(C::TensorOfStructs, &[POINT, POINTS], "sin(points({v}, {x}))"),
    scalar(
        C::StructDerivative,
        &[POINT, POINTED],
        "sin(jvp[p](pointed)(Point { px: {x}, py: {y}, n: {k} }, {y}, Point { px: 0.5, py: {x}, n: 0 }).1)",
    ),
    statement(
        C::StructPattern,
        &[POINT],
        "let Point { px: {new}, py: _, .. } = { let p = Point { px: {x}, py: {y}, n: {k} }; Point { py: p.px, ..p } }",
    ),
];
