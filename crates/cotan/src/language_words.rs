//! The words and symbols of the language: keywords, operators, derivative forms and attributes, each with what it does,
//! a program, and the section of the reference that says everything.
//!
//! What is called as a function is not here: the manifest of operations has it.

/// What stands in programs and is no function.
#[derive(Clone, Copy, Debug)]
pub struct LanguageWord {
    /// How it is written; the first one is the heading.
    pub words: &'static [&'static str],
    /// How it is used.
    pub form: &'static str,
    /// What it does.
    pub doc: &'static str,
    /// A program that compiles.
    pub example: &'static str,
    /// The page of the reference and the section.
    pub reference: &'static str,
}

/// The word or symbol as it is written.
pub fn language_word(word: &str) -> Option<&'static LanguageWord> {
    LANGUAGE_WORDS.iter().find(|entry| entry.words.contains(&word))
}

const fn word(
    words: &'static [&'static str],
    form: &'static str,
    doc: &'static str,
    example: &'static str,
    reference: &'static str,
) -> LanguageWord {
    LanguageWord { words, form, doc, example, reference }
}

/// All words and symbols.
pub static LANGUAGE_WORDS: &[LanguageWord] = &[
    // Declarations
    word(
        &["fn"],
        "fn name[N](x: f64[N]) -> f64 = e",
        "Declares a function. Sizes and types that it is generic over stand in brackets; the body is `= e` or `{ ... }`.",
        "fn mean_square[N](x: f64[N]) -> f64 = x @ x / (N as f64)",
        "declarations#functions",
    ),
    word(
        &["kernel"],
        "kernel name(...) -> T { for ... }",
        "Declares a function whose outermost `for` loops run in parallel; two iterations may not touch one element.",
        "kernel twice[N](x: f64[N]) -> f64[N] {\n  let mut y = x\n  for i in 0..N { y[i] = 2.0 * x[i] }\n  y\n}",
        "kernels#what-an-iteration-may-touch",
    ),
    word(
        &["axis"],
        "f(x, axis = 0)",
        "Calls a function of vectors for each vector along an axis of `x`; what it gives stands where the axis was. Behind a \
         fold, `[axis = 0]` chooses the axis that is folded.",
        "fn spread[N, M](x: f64[N, M]) -> f64[M] = norm(x, axis = 0) .- +/[axis = 0] x",
        "declarations#along-an-axis",
    ),
    word(
        &["struct"],
        "struct P { a: f64, b: f64[3] }",
        "Declares a type with named fields. A value is `P { a: 1.0, b: v }`, a field `p.a`; gradients have the same fields.",
        "struct P { a: f64, b: f64[3] }\nfn total(p: P) -> f64 = p.a + sum(p.b)",
        "types#structs",
    ),
    word(
        &["enum"],
        "enum Shape { Dot, Circle(f64) }",
        "Declares a type whose values are one of several variants, each with what it carries; `match` tells them apart.",
        "enum Shape { Dot, Circle(f64) }\nfn area(s: Shape) -> f64 = match s {\n  Dot => 0.0\n  Circle(r) => pi * r * r\n}",
        "types#enums",
    ),
    word(
        &["type"],
        "type Name = T",
        "Gives a type another name.",
        "type Point = f64[2]\nfn length(p: Point) -> f64 = norm(p)",
        "types#aliases",
    ),
    word(
        &["const"],
        "const NAME: T = e",
        "Declares a value that is computed when the program is checked. Sizes may name it.",
        "const K: i64 = 3\nfn first(x: f64[K]) -> f64 = x[0]",
        "declarations#constants",
    ),
    word(
        &["trait", "impl"],
        "trait Area { fn area(of: Self) -> f64 }, impl Area for Disc { ... }",
        "A trait names functions that types may have; `impl` gives them to a type, and `T: Area` asks for them.",
        "struct Disc { r: f64 }\ntrait Area { fn area(of: Self) -> f64 }\nimpl Area for Disc { fn area(of: Disc) -> f64 = pi * of.r * of.r }\n\
         fn twice[T: Area](x: T) -> f64 = 2.0 * x.area()",
        "types#traits",
    ),
    word(
        &["import", "pub"],
        "import std.nn, import ./layers",
        "Makes the declarations of another module that are marked `pub` known, behind the last name of its path. A file is \
         imported by its path, a module of the library by its name.",
        "import std.nn\nfn f[N](x: f64[N]) -> f64[N] = nn.softmax(x)",
        "declarations#modules",
    ),
    // Statements
    word(
        &["let", "mut"],
        "let x = e, let mut x = e",
        "Binds a name to a value; with `mut` it may be assigned to, also in parts: `v[i] = e`. Derivatives follow.",
        "fn f(x: f64) -> f64 {\n  let y = x * x\n  let mut v = [y, y]\n  v[0] += 1.0\n  v[0] * v[1]\n}",
        "expressions#variables",
    ),
    word(
        &["if", "else"],
        "if c { a } else { b }",
        "Computes one branch and not the other. It is an expression; the condition is a `bool`, the braces are always there.",
        "fn f(x: f64) -> f64 = if x > 0.0 { x } else { 0.1 * x }",
        "expressions#branches",
    ),
    word(
        &["match", "=>"],
        "match e { pattern => a, _ => b }",
        "Computes the first arm whose pattern fits. Every value must find an arm.",
        "fn f(n: i64) -> f64 = match n {\n  0 => 1.0\n  1..=9 => 2.0\n  _ => 3.0\n}",
        "expressions#match",
    ),
    word(
        &["for", "in"],
        "for i in lo..hi { ... }, for x in v { ... }",
        "Runs the body for each integer of a range, or each element along the first axis of a tensor. Bounds may be any values \
         of the run; loops have derivatives in both modes.",
        "fn total[N](v: f64[N]) -> f64 {\n  let mut s = 0.0\n  for x in v { s += x }\n  s\n}",
        "expressions#loops",
    ),
    word(
        &["while"],
        "while c { ... }",
        "Runs the body as long as `c` holds. The number of iterations need not be known: the reverse sweep goes back through \
         as many as there were.",
        "fn root(a: f64) -> f64 {\n  let mut x = a\n  while abs(x * x - a) > 1e-12 { x = 0.5 * (x + a / x) }\n  x\n}",
        "expressions#loops",
    ),
    word(
        &["break", "continue", "return"],
        "break, continue, return e",
        "`break` leaves the innermost loop, `continue` ends its iteration, `return` leaves the function or the lambda.",
        "fn first_above[N](v: f64[N], y: f64) -> f64 {\n  for x in v { if x > y { return x } }\n  nan\n}",
        "expressions#loops",
    ),
    word(
        &["true", "false", "bool"],
        "true, false",
        "The truth values, of the type `bool`. Numbers are none: compare, as in `n != 0`.",
        "fn f(x: f64) -> bool = if x > 0.0 { true } else { false }",
        "types#scalars",
    ),
    // Operators
    word(
        &["+", "-", "*", "/", "%"],
        "a + b",
        "Arithmetic on two scalars of one type. `/` on integers cuts the fraction, `%` has the sign of the dividend. Tensors \
         take the dotted operators.",
        "fn f(a: f64, b: f64) -> f64 = a * b - a / b",
        "operators#arithmetic-on-scalars",
    ),
    word(
        &["**", ".**"],
        "x ** n",
        "The power, with an integer exponent or a float one; `.**` goes element by element.",
        "fn f[N](x: f64, v: f64[N]) -> f64 = x ** 2 + sum(v .** 3)",
        "operators#arithmetic-on-scalars",
    ),
    word(
        &[".*", ".+", ".-", "./", ".%"],
        "v .* w",
        "Arithmetic element by element, on tensors of one shape, or a tensor and a scalar. Shapes are not extended silently: \
         `broadcast` does that.",
        "fn f[N](v: f64[N], w: f64[N]) -> f64[N] = 2.0 .* (v .- w)",
        "operators#tensors",
    ),
    word(
        &["@"],
        "a @ b",
        "The matrix product, with spaces around it: of matrices, of a matrix and a vector, of two vectors, and of batches of \
         matrices. Before a declaration, `@name` is an attribute.",
        "fn f[M, K, N](a: f64[M, K], b: f64[K, N]) -> f64[M, N] = a @ b",
        "operators#matrix-products",
    ),
    word(
        &["==", "!=", "<", "<=", ">", ">=", ".==", ".!=", ".<", ".<=", ".>", ".>="],
        "a < b, v .< w",
        "Comparisons; with a dot they go element by element and give a tensor of `bool`.",
        "fn f[N](v: f64[N]) -> f64[N] = select(v .> 0.0, v, zeros_like(v))",
        "operators#tensors",
    ),
    word(
        &["&&", "||", "!"],
        "p && q, p || q, !p",
        "And, or, not. The right side is computed only if the left one does not decide.",
        "fn f(x: f64) -> bool = x > 0.0 && !(x > 1.0)",
        "operators#logic",
    ),
    word(
        &["+/", "*/", "-/", "//", "max/", "min/", "and/", "or/"],
        "+/ v, max/[axis = 0] m, +/[all] m",
        "A fold: combines the elements along the last axis, along another one, or all of them. It binds tighter than any infix \
         operator: `+/ (a .* b)` needs the parentheses.",
        "fn f[N, M](m: f64[N, M]) -> f64 = max/ (+/[axis = 0] m) + +/[all] m",
        "operators#folds",
    ),
    word(
        &["|>"],
        "x |> f(y)",
        "The value on the left becomes the first argument: `f(x, y)`.",
        "fn f[N](v: f64[N]) -> f64 = v |> exp |> sum",
        "operators#pipes",
    ),
    word(
        &["..", "..="],
        "lo..hi, v[1..], v[..n], fn f[..S](x: f64[..S])",
        "A range; its end is not in it, that of `..=` is. In an index it is a slice, among sizes `..S` is a shape pack.",
        "fn f[N](v: f64[N]) -> f64[_] = v[1..]",
        "expressions#indexing",
    ),
    word(
        &["[]", "_"],
        "v[i], m[i, j], m[.., 0], [1.0, 2.0], f64[_]",
        "An index, a slice or a gather; an array of elements; in types the sizes, of which `_` is one that the run decides.",
        "fn f[N, M](m: f64[N, M], at: i64[3]) -> f64 = m[0, 1] + sum(m[.., 0]) + sum(m[at])",
        "expressions#indexing",
    ),
    word(
        &["|", "lambda"],
        "|x, y| e",
        "A function without a name, as an argument of another one. It reads what is around it, and changes nothing there.",
        "fn f[N](v: f64[N], a: f64) -> f64[N] = map(|x| a * x, v)",
        "declarations#lambdas",
    ),
    word(
        &["as"],
        "n as f64",
        "Converts a number, or each element of a tensor. Nothing else does: sizes and integers stay what they are.",
        "fn f(n: i64) -> f64 = 0.5 * (n as f64)",
        "types#casts",
    ),
    // Derivatives and transformations
    word(
        &["grad", "value_and_grad", "@grad", "@value_and_grad"],
        "grad[w](loss)(w, x), @grad(w) fn dloss(...)",
        "The gradient of a function that gives a number, with respect to the parameters in the brackets, or the first one that \
         has a derivative. It may be taken again. `value_and_grad` gives the value first.",
        "fn loss[N](w: f64[N], x: f64[N]) -> f64 = (w @ x) ** 2\n\
         fn dloss[N](w: f64[N], x: f64[N]) -> f64[N] = grad[w](loss)(w, x)",
        "derivatives#forms-as-expressions",
    ),
    word(
        &["jvp", "vjp", "@jvp"],
        "jvp(f)(x, dx), vjp(f)(x, dy)",
        "The value with the derivative along a tangent, and the value with the gradient for a cotangent of the result.",
        "fn f(x: f64[2]) -> f64[2] = sin(x)\nfn along(x: f64[2], t: f64[2]) -> (f64[2], f64[2]) = jvp(f)(x, t)",
        "derivatives#forms-as-expressions",
    ),
    word(
        &["jacobian", "jacfwd", "jacrev", "hessian", "hvp"],
        "jacfwd(f)(x), hessian(loss)(x), hvp(loss)(x, v)",
        "All partial derivatives: the axes of the result, then those of the parameter. `hvp` is the product of the Hessian with \
         a vector, at the price of a gradient.",
        "fn f(x: f64[2]) -> f64[2] = sin(x)\nfn j(x: f64[2]) -> f64[2, 2] = jacfwd(f)(x)",
        "derivatives#forms-as-expressions",
    ),
    word(
        &["vmap"],
        "vmap[0](f)(xs), vmap[0, _](f)(xs, y)",
        "A function over one more axis of its arguments: the brackets say which axis of each, `_` for one that all share.",
        "import std.nn\nfn f[B, N](x: f64[B, N]) -> f64[B, N] = vmap[0](nn.softmax)(x)",
        "derivatives#one-more-axis",
    ),
    word(
        &["einsum"],
        "einsum[\"ij,jk->ik\"](a, b)",
        "A sum of products: the letters name the axes, and what the result does not have is summed over.",
        "fn f[N, M](a: f64[N, M], x: f64[M]) -> f64[N] = einsum[\"ij,j->i\"](a, x)",
        "prelude#sums-and-products",
    ),
    word(
        &["@nodiff"],
        "fn f(x: f64, @nodiff y: f64) -> f64",
        "Before a parameter: no derivative is taken with respect to it.",
        "fn f(x: f64, @nodiff y: f64) -> f64 = x * y",
        "derivatives#where-no-derivative-flows",
    ),
    word(
        &["@checkpoint"],
        "@checkpoint(sqrt) for ... { ... }",
        "Before a loop or a block: the reverse sweep computes parts of it again in place of keeping all that it needs.",
        "fn f(x: f64) -> f64 {\n  let mut y = x\n  @checkpoint(sqrt)\n  for i in 0..1000 { y = sin(y) }\n  y\n}",
        "derivatives#what-is-kept-and-what-is-computed-again",
    ),
    // Output and tests
    word(
        &["@io", "print", "main"],
        "@io fn main() { print(\"x =\", x) }",
        "A function that prints is marked `@io`, and so is each one that calls it. `print` takes any values.",
        "@io fn main() { print(\"the sum is\", +/ [1.0, 2.0]) }",
        "declarations#output",
    ),
    word(
        &["@test"],
        "@test fn name() -> bool = e",
        "A test for `cotan test`: it passes if it gives `true`.",
        "@test fn sums() -> bool = +/ [1, 2, 3] == 6",
        "declarations#tests",
    ),
];
