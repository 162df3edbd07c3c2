//! Codes about characters, literals and files.

use super::codes;

codes! {
    /// Codes about characters, literals and files.
    LEXICAL:
    UNKNOWN_CHARACTER = "E0101", "unknown character",
"Source text consists of names, numbers, strings and operators made of ASCII characters.
Other characters may stand in comments and strings only.

Mended:

fn f(x: f64) -> f64 = x * 2.0",
"fn f(x: f64) -> f64 = x × 2.0";

    UNTERMINATED_STRING = "E0102", "string without end",
r#"A string ends on the line on which it starts. A line break inside is written `\n`.

Mended:

@io fn f() -> () {
  print("hello")
}"#,
r#"@io fn f() -> () {
  print("hello)
}"#;

    UNTERMINATED_COMMENT = "E0103", "block comment without end",
"Block comments nest, so that code with comments in it can be commented out. Each `/*`
needs a `*/`.

Mended:

/* outer /* inner */ */
fn f() -> f64 = 1.0",
"/* outer /* inner */
fn f() -> f64 = 1.0";

    MALFORMED_CHARACTER = "E0104", "malformed character literal",
"A character literal is exactly one character, or one escape, between `'`. Its value is
the code point as an `i32`.

Mended:

fn f() -> i32 = 'a'",
"fn f() -> i32 = 'ab'";

    UNKNOWN_ESCAPE = "E0105", "unknown escape sequence",
r#"The escapes in strings and characters are `\n`, `\t`, `\r`, `\0`, `\\`, `\"`, `\'`,
`\xNN` up to `\x7f`, and `\u{...}` with the code point of a character.

Mended:

@io fn f() -> () {
  print("C:\\dir")
}"#,
r#"@io fn f() -> () {
  print("C:\dir")
}"#;

    MALFORMED_NUMBER = "E0106", "malformed number",
"A float has a digit on both sides of its point, because `1.` and `.5` would be hard to
tell from ranges and dotted operators. An exponent has digits. Integers are decimal or
hexadecimal.

Mended:

fn f(x: f64) -> f64 = 0.5 * x",
"fn f(x: f64) -> f64 = .5 * x";

    UNKNOWN_SUFFIX = "E0107", "wrong type after a number",
"A number may name its type after an underscore, as in `1.0_f32` and `7_i64`. A float
literal can name a float type only.

Mended:

fn f(x: f64) -> f64 = 2.0 * x",
"fn f(x: f64) -> f64 = 2x";

    INTEGER_TOO_LARGE = "E0108", "integer too large for every type",
"An integer literal is below 2^127. Larger numbers are written as floats.

Mended:

fn f(x: f64) -> f64 = x * 1e40",
"fn f(x: f64) -> f64 = x * 10000000000000000000000000000000000000000";

    INVALID_UTF8 = "E0109", "text that is not UTF-8",
"Source files are UTF-8. A file in another encoding must be converted, for instance by
`iconv -f latin1 -t utf8`.",
"(a file that contains the byte 0xff)";

    STRAY_COMMENT_END = "E0110", "`*/` without a comment",
"`*/ v` is the product of the elements of `v`. Where a comment should end, there is no
`/*` that it could belong to, perhaps because the comment ended earlier.

Mended:

fn f(x: f64) -> f64 {
  /* just x */ x
}",
"fn f(x: f64) -> f64 {
  x */
}";

    FILE_TOO_LARGE = "E0111", "file too large",
"Positions in a file are 32-bit numbers, and the caller may set a lower limit.",
"(a file of more than 4 GiB)";

    FOREIGN_COMMENT = "E0112", "comment of another language",
"A comment begins with `#` and ends with its line; `##` documents the declaration after it, and `/*`
and `*/` enclose comments that may be nested. `// v` folds a tensor by division.

Mended:

fn f(x: f64) -> f64 = x # the identity",
"fn f(x: f64) -> f64 = x // the identity";

}
