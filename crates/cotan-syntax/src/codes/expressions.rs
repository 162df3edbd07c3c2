//! Codes about expressions and patterns.

use super::codes;

codes! {
    /// Codes about expressions and patterns.
    EXPRESSIONS:
    EXPECTED_EXPRESSION = "E0120", "expression missing",
"An operator, a bracket or a `=` needs an expression after it.

Mended:

fn f(x: f64) -> f64 = x * 2.0",
"fn f(x: f64) -> f64 = x *";

    CHAINED_OPERATORS = "E0121", "chained comparison or range",
"Comparisons and ranges do not combine: `a < b < c` would compare a `bool` with a number.

Mended:

fn f(a: f64, b: f64, c: f64) -> bool = a < b && b < c",
"fn f(a: f64, b: f64, c: f64) -> bool = a < b < c";

    FOREIGN_OPERATOR = "E0122", "operator of another language",
"There are no bit operators, and power is `**`. The logical operators are `&&`, `||` and
`!`, and unequal is `!=`.

Mended:

fn f(x: f64) -> f64 = x ** 2",
"fn f(x: f64) -> f64 = x ^ 2";

    WORD_OPERATOR = "E0123", "word instead of an operator",
"The logical operators are written `&&`, `||` and `!`; the words `and` and `or` exist
only as the folds `and/` and `or/`.

Mended:

fn f(a: bool, b: bool) -> bool = a && b",
"fn f(a: bool, b: bool) -> bool = a and b";

    UNSPACED_PRODUCT = "E0124", "matrix product without spaces",
"`@name` is an attribute, so the matrix product has a space on both sides.

Mended:

fn f[N](a: f64[N, N], b: f64[N]) -> f64[N] = a @ b",
"fn f[N](a: f64[N, N], b: f64[N]) -> f64[N] = a @b";

    FOLD_AS_INFIX = "E0125", "fold between two values",
"The folds `+/`, `*/`, `-/` and `//` stand before one tensor. Between two values an infix
operator is needed.

Mended:

fn f[N](x: f64, v: f64[N]) -> f64 = x + (+/ v)",
"fn f[N](x: f64, v: f64[N]) -> f64 = x +/ v";

    OPEN_RANGE = "E0126", "range with an open end outside of an index",
"In an index the ends of a range default to the ends of the axis. Elsewhere there is
nothing that they could default to.

Mended:

fn f(n: i64) -> i64 {
  for i in 0..n { print(i) }
  n
}",
"fn f(n: i64) -> i64 {
  for i in 0.. { print(i) }
  n
}";

    HOLE_AS_VALUE = "E0127", "`_` as a value",
"`_` is a pattern that matches everything, and in the brackets of a type a size that is
left open. It has no value.

Mended:

fn f(x: f64) -> f64 = x + 1.0",
"fn f(x: f64) -> f64 = x + _";

    STRUCT_LITERAL_IN_HEAD = "E0128", "struct literal in the head of a block",
"In `if`, `while`, `for` and `match` a `{` starts the block. A struct literal there is
put in parentheses.

Mended:

struct P { x: f64 }
fn f(p: P) -> f64 {
  if p == (P { x: 1.0 }) { 1.0 } else { 2.0 }
}",
"struct P { x: f64 }
fn f(p: P) -> f64 {
  if p == P { x: 1.0 } { 1.0 } else { 2.0 }
}";

    POSITIONAL_AFTER_NAMED = "E0129", "argument without a name after a named one",
"Arguments without names belong to parameters by position, so they come first.

Mended:

fn f(x: f64) -> f64 = g(2.0, a = x)",
"fn f(x: f64) -> f64 = g(a = x, 2.0)";

    NESTING_TOO_DEEP = "E0130", "nesting too deep",
"Brackets, blocks, prefix operators and lambdas may be nested 1,000 levels deep in one
declaration. Long sums and other runs of infix operators do not count. The limit can be
set by programs that use the compiler as a library.",
"(an expression in more than 1,000 parentheses)";

    EXPECTED_PATTERN = "E0131", "pattern missing",
"`let`, `for`, the arms of `match` and the parameters of a lambda need a pattern: a name,
`_`, a literal, a tuple, or a struct or variant with patterns inside.

Mended:

fn f(x: f64) -> f64 {
  let y = x
  y
}",
"fn f(x: f64) -> f64 {
  let = x
  x
}";

    TOO_MANY_DIAGNOSTICS = "E0132", "more errors than are shown",
"Of a program with very many errors, or warnings, the first 100 are shown and the others counted; what
repeats a mistake of the file is shown with it. Where the checker has found many more, it does not look into further
expressions. Mend the first ones: many of the others often follow from them.",
"(a program with more than 100 errors)";

    DECLARATION_TOO_LARGE = "E0133", "declaration too large",
"A declaration has at most 500,000 parts: names, literals, calls, operations and types. Programs that
are written by other programs are cut into functions, and long lists of numbers are read from files.",
"(a sum of a million terms)";

    FOREIGN_EXPRESSION = "E0134", "expression of another language",
"A lambda is `|x| e`, a condition with two values `if c { a } else { b }`, a slice `v[lo..hi]`, the
logical not `!`. There are no macros and no format strings.

Mended:

fn f[N](x: f64[N]) -> f64[N] = map(|t| 2.0 * t, x)",
"fn f[N](x: f64[N]) -> f64[N] = map(lambda t: 2.0 * t, x)";

}
