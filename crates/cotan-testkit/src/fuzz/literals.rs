//! Programs around one construct that takes numbers: sizes, indices, slices, trip counts, writes of kernels. The numbers are
//! small, negative, reversed, past the end, or at the edge of their type.

use crate::random::Rng;

/// `#` stands for any number, `%` for one that is likely to be an extent.
const TEMPLATES: &[&str] = &[
    "fn f(x: f64[%]) -> f64 = x[#]",
    "fn f(x: f64[%]) -> f64 = +/ x[#..#]",
    "fn f(x: f64[%]) -> f64 = +/ x[#..=#]",
    "fn f(x: f64[%]) -> f64 = x[#..#][#]",
    "fn f(x: f64[%]) -> f64 = x[#..=#][0]",
    "fn f(x: f64[%]) -> f64 = +/ x[..#]",
    "fn f(x: f64[%]) -> f64 = +/ x[#..]",
    "fn f(x: f64[%]) -> f64[_] = x[#..#]",
    "fn f(x: f64[%]) -> f64[%] = x[#..#]",
    "fn f(x: f64[%, %]) -> f64 = x[#, #]",
    "fn f(x: f64[%, %]) -> f64 = +/ x[#]",
    "fn f(x: f64[%, %]) -> f64 = +/ x[#..#, #]",
    "fn f(x: f64[%, %]) -> f64 = +/[all] x[#..#, #..#]",
    "fn f[N](x: f64[N]) -> f64 = x[#]",
    "fn f[N](x: f64[N]) -> f64 = x[N - #]",
    "fn f[N](x: f64[N]) -> f64 = +/ x[#..N]",
    "fn f[N](x: f64[N]) -> f64 = +/ x[#..N - #]",
    "fn f[N](x: f64[N]) -> f64 = +/ x[N - #..#]",
    "fn f[N](x: f64[N + #]) -> f64 = +/ x[0..N]",
    "fn f[N](x: f64[N - #]) -> f64 = +/ x",
    "fn f[N](x: f64[# * N + #]) -> f64 = +/ x[#..N]",
    "fn f[N, K](x: f64[N + K - #], w: f64[K]) -> f64 = +/ tabulate(N, |i| +/ (x[i..i + K] .* w))",
    "fn f[N](x: f64) -> f64[N] = zeros[f64](N) .+ x",
    "fn f(x: f64) -> f64[%] = zeros[f64](%) .+ x",
    "fn f(n: i64, x: f64) -> f64 = +/ (zeros[f64](n) .+ x)",
    "fn f(n: i64, x: f64) -> f64 = +/ (full(n * #, x))",
    "fn f(n: i64, x: f64[%]) -> f64 = x[n]",
    "fn f(n: i64, x: f64[%]) -> f64 = x[n + #]",
    "fn f(n: i64, x: f64[%]) -> f64 = +/ x[n..#]",
    "fn f(n: i64, x: f64[%]) -> f64 = +/ x[#..n]",
    "fn f(n: i64, x: f64[%]) -> f64[_] = x[n..n + #]",
    "fn f(x: f64[%]) -> f64 = +/ tabulate(#, |i| x[i])",
    "fn f(x: f64[%]) -> f64 = +/ tabulate(%, |i| x[i + #])",
    "fn f(x: f64[%]) -> f64 = +/[all] tabulate([%, #], |i, j| x[i] * x[j])",
    "fn f(x: f64) -> f64 {\n  let mut v = full(%, x)\n  v[#] = 2.0 * x\n  +/ v\n}",
    "fn f(x: f64) -> f64 {\n  let mut v = full(%, x)\n  v[#..#] .*= 2.0 * x\n  +/ v\n}",
    "fn f(x: f64[%]) -> f64 {\n  let mut s = 0.0\n  for i in #..# { s += x[0] * (i as f64) }\n  s\n}",
    "fn f(x: f64[%]) -> f64 {\n  let mut s = 0.0\n  for i in #..# { s += x[i] }\n  s\n}",
    "fn f(n: i64, x: f64[%]) -> f64 {\n  let mut s = 0.0\n  for i in #..n { s += x[0] }\n  for i in n..# { s += x[i] }\n  s\n}",
    "fn f[N](x: f64[N]) -> f64 {\n  let mut s = 0.0\n  for i in #..N { s += x[i] * x[i] }\n  for i in 0..N + # { s = sin(s) + 1.0 }\n  s\n}",
    "kernel k(x: f64[%]) -> f64[%] {\n  let mut w = zeros[f64](%)\n  for i in #..# { w[i] += x[i] }\n  w\n}\nfn f(x: f64[%]) -> f64 = +/ k(x)",
    "kernel k(x: f64[%]) -> f64[%] {\n  let mut w = zeros[f64](%)\n  for i in 0..% { w[i] += x[#] }\n  w\n}\nfn f(x: f64[%]) -> f64 = +/ k(x)",
    "kernel k[N](x: f64[N]) -> f64[N, %] {\n  let mut w = zeros[f64](N, %)\n  for i in 0..N { w[i, #..#] .-= 1.0 }\n  w\n}\nfn f[N](x: f64[N]) -> f64 = +/[all] k(x)",
    "kernel k[N](x: f64[N]) -> f64[%] {\n  let mut w = zeros[f64](%)\n  for i in 0..N { w[#] += x[i] }\n  w\n}\nfn f[N](x: f64[N]) -> f64 = +/ k(x)",
];

/// Numbers far from any extent.
const FAR: &[i64] = &[40, 1000, 65536, 1 << 31, 1 << 32, i64::MAX - 1, i64::MAX, -1000, i64::MIN + 1];

/// A program.
pub(super) fn program(rng: &mut Rng) -> String {
    let template = rng.choice(TEMPLATES);
    // One extent may stand in several places, as it has to where shapes are to agree.
    let extent = rng.range(0, 6);
    let mut text = String::new();
    for c in template.chars() {
        match c {
            '%' if rng.chance(0.9) => text += &extent.to_string(),
            '%' => text += &rng.range(-2, 7).to_string(),
            '#' if rng.chance(0.12) => text += &rng.choice(FAR).to_string(),
            '#' => text += &rng.range(-3, 7).to_string(),
            other => text.push(other),
        }
    }
    text + "\n"
}
