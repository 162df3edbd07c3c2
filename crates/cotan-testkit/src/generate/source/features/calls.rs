//! Calls: named and default arguments, pipes, vmap, rules, modules.

use super::{Feature, scalar, vector};
use crate::generate::Construct as C;

const STEPPED: &str = "const RATE: {t} = 0.75 - 0.5
fn stepped(u: {t}, rate: {t} = RATE, n: i64 = 2) -> {t} = rate * sin(u) ** n + RATE";
const RULED: &str = "fn ruled(u: {t}, t: {t}) -> {t} = sin(u) * t
@vjp_for(ruled) fn ruled_vjp(u: {t}, t: {t}, y: {t}, y_cot: {t}) -> ({t}, {t}) = (y_cot * cos(u) * t, y_cot * sin(u))
@jvp_for(ruled)
fn ruled_jvp(u: {t}, t: {t}, u_tan: {t}, t_tan: {t}) -> ({t}, {t}) = (ruled(u, t), cos(u) * t * u_tan + sin(u) * t_tan)";
const RULED_SUM: &str = "fn ruled_sum[K](v: {t}[K], n: i64) -> {t} = (n as {t}) * (+/ (v .* v))
@vjp_for(ruled_sum) fn ruled_sum_vjp[K](v: {t}[K], n: i64, y: {t}, y_cot: {t}) -> {t}[K] = (2.0 * (n as {t}) * y_cot) .* v";
const RULED_FORWARD: &str = "fn ruled_forward(u: {t}) -> {t} = u * u * u
@jvp_for(ruled_forward) fn ruled_forward_jvp(u: {t}, u_tan: {t}) -> ({t}, {t}) = (u * u * u, 3.0 * u * u * u_tan)";
const HELD: &str = "fn held(u: {t}, @nodiff t: {t}) -> {t} = sin(u * t) + t * t";

pub(super) const FEATURES: &[Feature] = &[
    scalar(C::NamedArgument, &[STEPPED], "stepped({x}, n = 3)"),
    scalar(C::NamedArgument, &[STEPPED], "stepped(rate = {y}, u = {x})"),
    scalar(C::Rule, &[RULED], "ruled({x}, {y})"),
    vector(C::Rule, &[RULED], "map(ruled, {v}, {w})"),
    scalar(C::Rule, &[RULED_SUM], "sin(ruled_sum({v}, {k}))"),
    scalar(C::Rule, &[RULED_FORWARD], "sin(ruled_forward({x}) + grad(ruled_forward)({y}))"),
    scalar(C::NoDerivative, &[HELD], "held({x}, {y})"),
    vector(C::Vmap, &[], "vmap[0](|u| sin(u + {x} * u))({v})"),
    vector(C::Vmap, &[], "vmap[-2](|row, u| sin(+/ row) * u)({m}, {v})"),
    vector(C::Vmap, &[], "vmap(curve)({v}, {w})"),
    scalar(C::Vmap, &[], "sin(+/[all] vmap[1](|column| sin(column .* {v}))({m}))"),
    vector(C::Vmap, &[], "vmap[0](grad(|u| sin(u * {x}) * u))({v})"),
    vector(C::Vmap, &[], "vmap[0, _](|row, u| sin(+/ (row .* {y})) * u)({m}, {x})"),
    scalar(C::Vmap, &[], "sin(+/[all] vmap[_, -1, out = 0](|u, column| sin(column .* u))({v}, {m}))"),
    scalar(C::Vmap, &[], "sin(+/[all] vmap[0, _](vmap[_, 0](curve))({v}, {w}))"),
    scalar(
        C::Module,
        &["import std.complex"],
        "sin(complex.modulus(complex.mul(complex.of({x}, {y}), complex.of(1.5, {y}))) + complex.angle(complex.of(2.5, {x})))",
    ),
    scalar(C::Module, &["import std.nn"], "nn.cross_entropy({v}, {i})"),
    vector(C::Module, &["import std.nn"], "nn.softmax({v})"),
    scalar(C::Pipe, &[], "({x} |> max({y}) |> sin)"),
    vector(C::Pipe, &[], "({v} |> max(0.8 .* {w}))"),
];
