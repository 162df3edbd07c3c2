//! Codes about statements and brackets.

use super::codes;

codes! {
    /// Codes about statements and brackets.
    STATEMENTS:
    EXPECTED_TOKEN = "E0140", "token missing",
"A word or mark that belongs to this construct is missing.

Mended:

fn f(n: i64) -> i64 {
  for i in 0..n { print(i) }
  n
}",
"fn f(n: i64) -> i64 {
  for i 0..n { print(i) }
  n
}";

    UNCLOSED_BRACKET = "E0141", "bracket not closed",
"Every `(`, `[` and `{` needs its partner.

Mended:

fn f(x: f64) -> f64 {
  let y = (x + 1.0)
  y
}",
"fn f(x: f64) -> f64 {
  let y = (x + 1.0
  y
}";

    UNMATCHED_BRACKET = "E0142", "bracket that closes nothing",
"A `)`, `]` or `}` needs an opening partner before it.

Mended:

fn f(x: f64) -> f64 = x",
"fn f(x: f64) -> f64 = x)";

    EXPECTED_SEPARATOR = "E0143", "separator missing",
"The parts of a list are separated by `,`; fields, variants and arms also by newlines.

Mended:

fn f(x: f64) -> f64 = max(x, 1.0)",
"fn f(x: f64) -> f64 = max(x 1.0)";

    UNENDED_STATEMENT = "E0144", "statement not ended",
"A statement ends with its line or with `;`. Two statements on one line need the `;`.

Mended:

fn f(x: f64) -> f64 {
  let y = x; y
}",
"fn f(x: f64) -> f64 {
  let y = x y
}";

    OPERATOR_AT_LINE_START = "E0145", "infix operator at the start of a line",
"A newline ends a statement unless the line ends in an operator. Only `|>`, `&&`, `||`,
`as`, `else` and dotted operators continue the line before.

Mended:

fn f(x: f64, y: f64) -> f64 {
  x *
  y
}",
"fn f(x: f64, y: f64) -> f64 {
  x
  * y
}";

    STRAY_SEMICOLON = "E0146", "stray `;`",
"A `;` ends a statement. There are no empty statements, and declarations that end in a
brace need no `;`.

Mended:

fn f(x: f64) -> f64 { x }",
"fn f(x: f64) -> f64 { x };";

    LET_WITHOUT_VALUE = "E0147", "`let` without a value",
"A variable has a value from the start, so that reading it is always defined. One that
changes later is declared with `let mut`.

Mended:

fn f(x: f64) -> f64 {
  let y: f64 = x
  y
}",
"fn f(x: f64) -> f64 {
  let y: f64
  x
}";

    ASSIGNMENT_AS_VALUE = "E0148", "assignment as a value",
"An assignment is a statement and has no value. Comparison is `==`.

Mended:

fn f(x: f64) -> f64 {
  if x == 1.0 { 2.0 } else { x }
}",
"fn f(x: f64) -> f64 {
  if x = 1.0 { 2.0 } else { x }
}";

    MISSING_BLOCK = "E0149", "braces missing",
"The bodies of `if`, `else`, `for`, `while` and `match` are in braces.

Mended:

fn f(x: f64) -> f64 {
  if x > 0.0 { x } else { 0.0 }
}",
"fn f(x: f64) -> f64 {
  if x > 0.0 then x else { 0.0 }
}";

    ELSE_IF_SPELLING = "E0150", "wrong spelling of `else if`",
"A further condition is written `else if`.

Mended:

fn f(x: f64) -> f64 {
  if x > 1.0 { 1.0 } else if x < 0.0 { 0.0 } else { x }
}",
"fn f(x: f64) -> f64 {
  if x > 1.0 { 1.0 } elif x < 0.0 { 0.0 } else { x }
}";

    STRAY_ELSE = "E0151", "`else` without `if`",
"An `else` belongs to the `if` whose closing brace stands directly before it.

Mended:

fn f(x: f64) -> f64 {
  if x > 0.0 { x }
  else { 0.0 }
}",
"fn f(x: f64) -> f64 {
  let y = x
  else { y }
}";

    NESTED_ITEM = "E0152", "declaration inside a function",
"Declarations stand at the top of a file, where everything in the file can see them.
Inside a function a lambda does for small helpers.

Mended:

fn g(y: f64) -> f64 = y
fn f(x: f64) -> f64 {
  g(x)
}",
"fn f(x: f64) -> f64 {
  fn g(y: f64) -> f64 = y
  g(x)
}";

    MISPLACED_ATTRIBUTE = "E0153", "attribute in the wrong place",
"An attribute stands directly before a declaration, a parameter, a field, a loop or a
block.

Mended:

fn f(x: f64) -> f64 {
  @recompute
  { x }
}",
"fn f(x: f64) -> f64 {
  @recompute
  let y = x
  y
}";

    MISPLACED_MUT = "E0154", "`mut` in the wrong place",
"`mut` stands before each name that changes.

Mended:

fn f(p: (f64, f64)) -> f64 {
  let (mut a, b) = p
  a += 1.0
  a + b
}",
"fn f(p: (f64, f64)) -> f64 {
  let mut (a, b) = p
  a + b
}";

    FOREIGN_STATEMENT = "E0155", "statement of another language",
"A variable is declared with `let`, or `let mut` if it changes; its type follows after a colon. Several
values are a tuple, in parentheses. A loop over integers is `for i in lo..hi`, an endless one
`while true`.

Mended:

fn f(x: f64) -> f64 {
  let y: f64 = x
  y
}",
"fn f(x: f64) -> f64 {
  double y = x
  y
}";

}
