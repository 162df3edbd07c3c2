//! Programs without errors.

use super::accept;

#[test]
fn scalars_and_operators() {
    accept("fn f(x: f64, n: i64) -> f64 = -x ** 2.0 + x ** n * 3.0 % 2.0 - max(x, 1.0) / 2.0");
    accept("fn f(a: i32, b: i32) -> bool = a + 1 < b * 2 && a != b || !(a == 3)");
    accept("fn f(x: f32) -> f32 { let y = 1.5\n y * x }");
    accept("fn f() -> i8 = -128");
    accept("fn f(c: bool) -> f64 = c as f64 + select(c, 1.0, 2.0) + pi + e");
    accept("fn f(x: f64) -> i32 = (x as i32) + 'A'");
}

#[test]
fn the_program_of_the_brief() {
    accept(
        "fn loss[N](w: f32[N], x: f32[N], y: f32) -> f32 { let pred = +/(w .* x)\nlet err = pred - y\nerr * err }\n\
         @grad(w) fn dloss_dw[N](w: f32[N], x: f32[N], y: f32) -> f32[N] = loss(w, x, y)",
    );
}

#[test]
fn tensors_and_matrix_products() {
    accept(
        "fn mse[N, D](w: f64[D], x: f64[N, D], y: f64[N]) -> f64 {\n let err = x @ w .- y\n +/(err .* err) / (N as f64)\n}",
    );
    accept("fn f[B, M, K, N](a: f64[B, M, K], b: f64[B, K, N]) -> f64[B, M, N] = a @ b");
    accept("fn f[K, N](a: f64[K], b: f64[K, N]) -> f64[N] = a @ b");
    accept("fn f[N](v: f64[N]) -> f64 = v @ v");
    accept("fn f[N](v: f64[N]) -> f64[N] = exp(-v) .+ 1.0 ./ v .** 2");
    accept(
        "fn f[N, M](m: f64[N, M]) -> (f64[N], f64[M], f64, f64[M]) = (+/ m, max/[axis = 0] m, +/[all] m, */[axis = 0] m)",
    );
    accept("fn f[N](v: bool[N]) -> bool = and/ v && or/ v");
}

#[test]
fn sizes_have_normal_forms() {
    accept("fn f[D](l: f64[D * (D + 1) / 2]) -> f64[(D * D + D) / 2] = l");
    accept("fn f[N, M](a: f64[N, M]) -> f64[M * N] = reshape(a, [N * M])");
    accept("fn f[N](a: f64[N]) -> f64[N + N] = concat(a, a)");
    accept("fn f(n: i64) -> f64[n] = tabulate(n, |i| i as f64)");
    accept("fn f(n: i64) -> f64[2 * n] { let m = n * 2\n zeros(m) }");
    accept("fn f[N](v: f64[N]) -> f64[N - 1] = v[1..]");
    accept("fn f[N](v: f64[N]) -> f64[3] = v[0..3]");
}

#[test]
fn sizes_that_only_exist_at_run_time_are_checked_then() {
    accept("fn f[N](v: f64[N], n: i64) -> f64[N] = v[0..n]");
    accept("fn f[N](v: f64[N], w: f64[_]) -> f64[N] = v .+ (w : f64[N])");
    accept("fn f[N](n: i64) -> f64[N] = tabulate(n, |i| 1.0)\nfn g() -> f64[3] = f[3](4)");
    accept("fn f[N](v: f64[N]) -> f64[_] { let k = N / 2\n let w: f64[_] = v[k..]\n w }");
    accept("fn f[N, M](v: f64[N]) -> f64[M] { let w: f64[M] = v\n w }\nfn g() -> f64[2] = f[2, 2](zeros(2))");
    accept("fn f[N](v: f64[N], c: bool, n: i64) -> f64 = +/(if c { v[0..n] } else { v[n..] })");
}

#[test]
fn sizes_are_solved_from_arguments() {
    accept("fn f[N](v: f64[2 * N + 1]) -> i64 = N\nfn g() -> i64 = f(zeros(7))");
    accept(
        "fn f[N, M](a: f64[N * M], b: f64[N], c: f64[M]) -> f64 = +/ a\nfn g(a: f64[6]) -> f64 = f(a, zeros(2), zeros(3))",
    );
    accept("fn f[N, K](v: f64[N]) -> f64[K] = v[0..K]\nfn g(v: f64[9]) -> f64[4] = f[9, 4](v)");
    accept("fn f[N](v: f64[N + 1]) -> f64[N] = v[1..]\nfn g[M](v: f64[M + 3]) -> f64[M + 2] = f(v)");
}

#[test]
fn element_types_are_generic() {
    accept("fn f[T: Float, N](v: T[N], x: T) -> T = +/(v .* x) |> g\nfn g[T: Float](x: T) -> T = 2.0 * x");
    accept("fn f[T: Float](x: T) -> T = exp(x) + 1.0\nfn g(x: f32) -> f32 = f(x)\nfn h() -> f64 = f(1.0)");
    accept("fn zero[T: Numeric]() -> T = 0 as T\nfn f() -> i32 = zero[i32]()");
}

#[test]
fn structs_and_tuples() {
    accept(
        "struct Params[K, D] { mu: f64[K, D]\n alpha: f64[K] }\n\
         fn f[K, D](p: Params[K, D]) -> Params[K, D] = Params { alpha: p.alpha .* 2.0, ..p }\n\
         fn g() -> f64 { let p = Params { mu: zeros([2, 3]), alpha: [1.0, 2.0] }\n let Params { alpha, .. } = f(p)\n +/ alpha }",
    );
    accept(
        "struct P { x: f64, y: i64 }\nfn f[N](ps: P[N]) -> f64 { let mut qs = ps\n for i in 0..N { qs[i].x += 1.0 }\n qs[0].x }",
    );
    accept("fn f(t: (f64, (i64, bool))) -> f64 { let (a, (n, b)) = t\n if b { a } else { t.0 + (n as f64) } }");
    accept("type Vec3 = f64[3]\ntype Pair[N] = (f64[N], f64[N])\nfn f(v: Vec3, p: Pair[3]) -> Vec3 = v .+ p.0 .+ p.1");
}

#[test]
fn loops_and_places() {
    accept(
        "fn f[N, M](m: f64[N, M]) -> f64[N, M] {\n let mut a = m\n for i in 0..N { for j in (0..M).rev() {\n\
         if j == i { continue }\n a[i, j] = a[i, j] * 2.0\n a[i] .+= 1.0\n a[i, 0..2] = [1.0, 2.0] } }\n a }",
    );
    accept("fn f(n: i64) -> i64 {\n let mut p = 0\n let mut q = 1\n for k in 1..=n { (p, q) = (q, p + q) }\n p }");
    accept(
        "fn f[N](v: f64[N]) -> f64 {\n let mut s = 0.0\n for x in v { s max= x }\n while s > 1.0 { s /= 2.0\n if s < 0.5 { break } }\n s }",
    );
    accept("fn f(x: f64) -> f64 {\n if x > 0.0 { return x }\n -x }");
    accept("fn f(x: f64) -> f64 = let y = x * x in y + y");
    accept("fn f(n: i64) -> i64 { while true { if n > 3 { return n } }\n 0 }");
}

#[test]
fn functions_as_arguments() {
    accept(
        "fn sq(x: f64) -> f64 = x * x\nfn f[N](v: f64[N]) -> f64[N] = map(sq, v) .+ map(exp, v) .+ map(|x| x + 1.0, v)",
    );
    accept("fn f[N](v: f64[N], w: f64[N]) -> f64[N] = map(|x, y| x * y, v, w)");
    accept(
        "fn f[N](v: f64[N]) -> f64 = fold(0.0, |sum, x| sum + x, v) + (|a, b| a * b)/v + max/ scan(1.0, |a, b| a * b, v)",
    );
    accept("fn add(a: f64, b: f64) -> f64 = a + b\nfn f[N](v: f64[N]) -> f64 = 2.0 * add/v - add/1.0/v");
    accept(
        "fn f(x: f64) -> f64 = iterate(10, x, |y| y / 2.0) + iterate_until((x, 0), |(y, k)| (y * 0.5, k + 1), |(y, k)| y < 1.0, 100).0",
    );
    accept("fn f(n: i64) -> f64[n, n] = tabulate([n, n], |i, j| if i == j { 1.0 } else { 0.0 })");
    accept("fn f(x: f64) -> f64 = x |> exp |> max(1.0) |> (|y| y * 2.0)");
    accept(
        "fn apply(f: (f64) -> f64, x: f64) -> f64 = f(f(x))\nfn g(x: f64, k: f64) -> f64 = apply(|y| y * k, x) + apply(exp, x)",
    );
    accept("fn f[N](v: f64[N]) -> f64[N, N] = map(|x| map(|y| x * y, v), v)");
    accept("fn f[N](v: f64[N], w: i64[N]) -> f64 = fold(0.0, |s, (x, n)| s + x * (n as f64), zip(v, w))");
}

#[test]
fn derivatives_as_attributes() {
    accept("@grad(w, b) fn d[N](w: f64[N], b: f64, x: f64[N]) -> (f64[N], f64) = +/(w .* x) + b");
    accept("@grad(w) @grad(b) fn d(w: f64, b: f64) -> f64 = w * b\nfn f(x: f64) -> f64 = d.w(x, 1.0) + d.b(x, 2.0)");
    accept("@value_and_grad(w) fn d(w: f64) -> (f64, f64) = w * w");
    accept("@jvp(w) fn push[N](w: f64[N], dw: f64[N]) -> (f64[N], f64[N]) = exp(w)");
    accept("struct P { x: f64, n: i64 }\n@grad(p) fn d(p: P) -> P = p.x * (p.n as f64)\nfn f(p: P) -> f64 = d(p).x");
    accept("@grad(x) fn d(x: f64, @nodiff t: f64) -> f64 = x * t + stop_gradient(x)");
}

#[test]
fn derivatives_as_expressions() {
    let loss = "fn loss[N](w: f64[N], y: f64) -> f64 = +/(w .* w) - y\n";
    for body in [
        "-> f64[N] = grad(loss)(w, y)",
        "-> f64 = grad[y](loss)(w, y)",
        "-> (f64[N], f64) = grad[w, y](loss)(w, y)",
        "-> (f64, f64[N]) = value_and_grad[w](loss)(w, y)",
        "-> (f64, f64) = jvp[w](loss)(w, y, w)",
        "-> (f64, f64[N], f64) = vjp[w, y](loss)(w, y, 1.0)",
        "-> f64[N, N] = hessian[w](loss)(w, y)",
        "-> f64[N] = hvp[w](loss)(w, y, w)",
        "-> f64[N, N] = jacobian[w, mode = forward](grad[w](loss))(w, y)",
        "-> f64[N] = jacobian[y](grad[w](loss))(w, y)",
        "-> ((f64[N, N], f64[N]), (f64[N], f64)) = hessian[w, y](loss)(w, y)",
        "-> (f64[N], f64) = hvp[w, y](loss)(w, y, w, y)",
        "-> f64 = grad(|x| x * y * x)(3.0)",
        "-> f64 = grad(sin)(y) + (y |> grad(exp))",
        "-> f64 = grad(|x| grad(|z| z * x * z)(x))(y)",
        "-> f64[N] = map(|x| grad(|z| z ** 3)(x), w)",
    ] {
        accept(&format!("{loss}fn f[N](w: f64[N], y: f64) {body}"));
    }
}

#[test]
fn derivatives_of_tuples_and_between_tensors() {
    accept("fn f(x: f64) -> (f64, f64) = (x, x * x)\nfn g(x: f64) -> ((f64, f64), f64) = vjp[x](f)(x, (1.0, 1.0))");
    accept(
        "fn f[M, N](a: f64[M, N], x: f64[N]) -> f64[M] = a @ x\nfn g[M, N](a: f64[M, N], x: f64[N]) -> f64[M, N] = jacobian[x](f)(a, x)",
    );
    accept("@jvp(w, b) fn push[N](w: f64[N], b: f64, dw: f64[N], db: f64) -> (f64, f64) = b * +/(w .* w)");
    accept("@grad(w) fn d[T: Float, N](w: T[N]) -> T[N] = +/(w .* w)\nfn f(w: f32[3]) -> f32[3] = d[f32, 3](w)");
    accept("struct P[N] { x: f64[N] }\ntype Ps[K, N] = P[N][K]\nfn f[K, N](ps: Ps[K, N]) -> f64[N] = ps[0].x");
}

#[test]
fn the_prelude() {
    accept(
        "fn f[N](m: f64[N, N]) -> f64 = trace(m) + sum(diag(m)) + mean(m) + norm(m) + prod(m) + dot(m[0], m[.., 1])",
    );
    accept("fn f[N, M](m: f64[N, M]) -> f64[M, N] = transpose(reverse(m))");
    accept(
        "fn f[N](v: f64[N]) -> f64[3, N] = broadcast(v, [3, N]) .+ zeros([3, N]) .+ ones[f64]([3, N]) .+ full([3, N], 2.0)",
    );
    accept("fn f[N](v: f64[N], idx: i64[4]) -> f64[4] = v[idx] .* (iota(4) as f64) .+ (zeros_like(v))[idx]");
    accept("fn f(n: i64) -> i64 = +/ (0..n) + +/ (1..=3)");
    accept("fn max(a: f64, b: f64) -> f64 = a\nfn f(x: f64) -> f64 = max(x, 2.0)");
}

#[test]
fn the_examples_of_the_repository_that_import_nothing() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut open = vec![root];
    let mut n_checked = 0;
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else if path.extension().is_some_and(|extension| extension == "cot") {
            let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
            // The library is a matter of the crate `cotan`; programs that use it run in the book's tests.
            if !text.contains("import std.") {
                accept(&text);
                n_checked += 1;
            }
        }
    }
    assert!(n_checked >= 3, "found {n_checked} programs");
}

#[test]
fn structs_and_tuples_are_vectors() {
    let p = "struct P { a: f64, n: i64, w: f64[2] }\n";
    for body in [
        "fn f(p: P, g: tangent[P]) -> P = p .- 0.1 .* g",
        "fn f(p: P, q: P) -> P = exp(p) .* q ./ 2 .** p",
        "fn f(p: P[3]) -> P[3] = -p .+ 1",
        "fn f(p: (f64, P)) -> (f64, P) = p .+ p",
        "fn f(p: P) -> f64 = norm(p) + inner(p, p) + sum_leaves(p) + (count_leaves(p) as f64)",
        "fn f(p: P) -> P = map_leaves(|x| 2 * x, p)",
        "fn f(p: P, g: tangent[P]) -> P = map_leaves(|x, d| x - d, p, g)",
        "fn g[T: Differentiable](p: T, d: tangent[T]) -> T = p .- 0.1 .* d\nfn f(p: P, d: tangent[P]) -> P = g(p, d)",
        "fn g[T: Differentiable](p: T) -> T = 2 .* p\nfn f(x: f64[3]) -> f64[3] = g(x)",
        "fn g[T: Differentiable](d: tangent[T], p: T) -> tangent[T] = d .* d\nfn f(p: P, d: tangent[P]) -> tangent[P] = g(d, p)",
        "fn g[T: Differentiable](p: T, d: tangent[T]) -> T = p .- d\nfn f[T: Differentiable](p: T, d: tangent[T]) -> T = g(p, d)",
        "fn l[T: Differentiable](p: T, d: tangent[T]) -> f64 = inner(p, d)\nfn f(p: P, d: tangent[P]) -> tangent[P] = grad[p](l)(p, d)",
    ] {
        accept(&format!("{p}{body}"));
    }
}
