//! Codes about declarations and types.

use super::codes;

codes! {
    /// Codes about declarations and types.
    DECLARATIONS:
    EXPECTED_ITEM = "E0160", "declaration missing",
"Outside of functions stand only declarations: `fn`, `kernel`, `struct`, `enum`, `type`,
`const`, `trait`, `impl` and `import`, with attributes or `pub` before them.

Mended:

const X: f64 = 1.0",
"let x = 1.0";

    FOREIGN_KEYWORD = "E0161", "keyword of another language",
"Functions are declared with `fn`, types with `struct`, `enum` and `type`, and modules
are imported with `import`.

Mended:

fn f(x: f64) -> f64 = x",
"def f(x: f64) -> f64 = x";

    EXPECTED_NAME = "E0162", "name missing",
"A declaration, a parameter or a field needs a name. Names start with a letter or `_`.

Mended:

fn f(x: f64) -> f64 = x",
"fn (x: f64) -> f64 = x";

    KEYWORD_AS_NAME = "E0163", "keyword as a name",
"Keywords can not be names, except for `kernel`, `type` and `in` where they begin nothing.

Mended:

fn f(if_: f64) -> f64 = 1.0",
"fn f(if: f64) -> f64 = 1.0";

    EXPECTED_TYPE = "E0164", "type missing",
"After `:` and `->` stands a type, such as `f64`, `f64[N, M]`, `(i64, f64)` or the name
of a struct.

Mended:

fn f(x: f64) -> f64 = x",
"fn f(x: ) -> f64 = 1.0";

    MISSING_PARAM_TYPE = "E0165", "parameter or field without a type",
"Parameters of functions and fields of structs have types; only those of lambdas are
inferred.

Mended:

fn f(x: f64) -> f64 = x",
"fn f(x) -> f64 = 1.0";

    MISSING_RESULT = "E0166", "function without a result type",
"The result type of a function is written after `->`, also if it is `()`. Only `main` may
leave it out.

Mended:

fn f(x: f64) -> f64 = x",
"fn f(x: f64) = x";

    MISSING_BODY = "E0167", "declaration without a body",
"A function has a body, `= e` or `{ ... }`; a struct, enum, trait or impl has braces.

Mended:

fn f(x: f64) -> f64 = x",
"fn f(x: f64) -> f64";

}
