use expect_test::expect;

use super::*;

fn in_body(body: &str, expected: expect_test::Expect) {
    check_errors(&format!("fn f(x: f64) -> f64 {{\n{body}\n}}"), expected);
}

#[test]
fn conditions_compare_with_two_equals_signs() {
    in_body(
        "if x = 1.0 { 2.0 } else { 3.0 }",
        expect![[r#"
        E0148 at 2:"=": expected a condition, found the assignment `=`
          help: write `==` to compare
    "#]],
    );
    in_body(
        "while x = y { x += 1.0 }",
        expect![[r#"
        E0148 at 2:"=": expected a condition, found the assignment `=`
          help: write `==` to compare
    "#]],
    );
    in_body(
        "let z = x = 2.0\nz",
        expect![[r#"
        E0148 at 2:"=": expected a value, found the assignment `=`
          help: an assignment is a statement of its own; write `==` to compare
    "#]],
    );
    in_body(
        "g(x += 1.0)",
        expect![[r#"
            E0148 at 2:"+=": expected a value, found the assignment `+=`
              help: an assignment is a statement of its own: put it on a line before
        "#]],
    );
}

#[test]
fn blocks_have_braces() {
    in_body(
        "if x > 0.0 return x\nx",
        expect![[r#"
        E0149 at 2:"return": expected `{` after the condition, found `return`
          help: put braces round the body: `{ ... }`
    "#]],
    );
    in_body(
        "if x > 0.0 then { x } else { 0.0 }",
        expect![[r#"
        E0149 at 2:"then": expected `{` after the condition, found `then`
          help: write `{ ... }` instead of `then`
    "#]],
    );
    in_body(
        "for i in 0..3\n  print(i)\nx",
        expect![[r#"
        E0149 at 2:"": expected `{` after the head of the loop, found `print`
          help: put braces round the body: `{ ... }`
    "#]],
    );
    in_body(
        "while x > 0.0: x -= 1.0\nx",
        expect![[r#"
        E0149 at 2:":": expected `{` after the condition, found `:`
          help: write `{ ... }` instead of `:`
    "#]],
    );
    in_body(
        "if x > 0.0 { x } else 0.0",
        expect![[r#"
        E0149 at 2:"0.0": expected `{` after `else`, found `0.0`
          help: put braces round the body: `{ ... }`
    "#]],
    );
}

#[test]
fn variables_have_values() {
    in_body(
        "let y\nx",
        expect![[r#"
        E0147 at 2:"": expected `=` and a value for `y`, found `x`
          help: write `let y = ...`: a variable has a value from the start
    "#]],
    );
    in_body(
        "let y: f64[3]\nx",
        expect![[r#"
        E0147 at 2:"": expected `=` and a value for `y`, found `x`
          help: write `let y = ...`: a variable has a value from the start
    "#]],
    );
    in_body(
        "let y := 1.0\ny",
        expect![[r#"
            E0122 at 2:":=": expected `=`, found `:=`
              help: write `=`
        "#]],
    );
    in_body(
        "let y == 1.0\ny",
        expect![[r#"
        E0147 at 2:"==": expected `=` and a value for `y`, found `==`
          help: write `let y = ...`: a variable has a value from the start
    "#]],
    );
    in_body(
        "let x y = 1.0\ny",
        expect![[r#"
        E0147 at 2:"y": expected `=` and a value for `x`, found `y`
          help: write `let x = ...`: a variable has a value from the start
    "#]],
    );
}

#[test]
fn else_if_is_two_words() {
    in_body(
        "if x > 1.0 { 1.0 } elif x > 0.0 { 0.5 } elsif x < 0.0 { 0.1 } else { 0.0 }",
        expect![[r#"
        E0150 at 2:"elif": expected `else if`, found `elif`
          help: write `else if`
        E0150 at 2:"elsif": expected `else if`, found `elsif`
          help: write `else if`
    "#]],
    );
    in_body(
        "else { x }",
        expect![[r#"
        E0151 at 2:"else": expected a statement, found `else` without `if`
          help: `else` follows the closing brace of an `if`
    "#]],
    );
}

#[test]
fn operators_of_other_languages_are_named() {
    in_body(
        "x > 1.0 and x < 2.0 or x == 3.0",
        expect![[r#"
        E0123 at 2:"and": expected an operator, found `and`
          help: write `&&`
        E0123 at 2:"or": expected an operator, found `or`
          help: write `||`
    "#]],
    );
    in_body(
        "a & b | c ^ 2",
        expect![[r#"
        E0122 at 2:"&": expected an operator, found `&`
          help: write `&&` for the logical and, `bit_and(a, b)` for the bits of integers
        E0122 at 2:"|": expected an operator, found `|`
          help: write `||` for the logical or, `bit_or(a, b)` for the bits of integers
        E0122 at 2:"^": expected an operator, found `^`
          help: write `**` for powers
    "#]],
    );
    in_body(
        "a ! = b",
        expect![[r#"
        E0122 at 2:"! =": expected an operator, found `! =`
          help: write `!=` without a space
    "#]],
    );
    in_body(
        "a === b",
        expect![[r#"
        E0122 at 2:"===": expected an operator, found `===`
          help: write `==`
    "#]],
    );
    in_body(
        "a ++ b",
        expect![[r#"
        E0122 at 2:"++": expected an operator, found `++`
          help: write `concat(a, b)` to join tensors
    "#]],
    );
    in_body(
        "x++",
        expect![[r#"
            E0122 at 2:"++": expected `+= 1`, found `++`
              help: write `x += 1`
        "#]],
    );
    in_body(
        "x mod 2",
        expect![[r#"
        E0123 at 2:"mod": expected an operator, found `mod`
          help: write `%`
    "#]],
    );
    in_body(
        "a @b",
        expect![[r#"
        E0124 at 2:"@": expected spaces round the matrix product, found `@`
          help: write `a @ b`; `@name` is an attribute
    "#]],
    );
    in_body(
        "a@b",
        expect![[r#"
        E0124 at 2:"@": expected spaces round the matrix product, found `@`
          help: write `a @ b`; `@name` is an attribute
    "#]],
    );
    in_body(
        "+x",
        expect![[r#"
            E0120 at 2:"+": expected an expression, found `+`
              help: there is no prefix `+`: leave it out
        "#]],
    );
    in_body(
        "a -> b",
        expect![[r#"
            E0122 at 2:"->": expected the end of the statement, found `->`
              help: `->` stands before the result type of a function
        "#]],
    );
    in_body(
        "x => x",
        expect![[r#"
            E0122 at 2:"=>": expected the end of the statement, found `=>`
              help: write a lambda as `|x| e`
        "#]],
    );
    in_body(
        "x <> y",
        expect![[r#"
        E0122 at 2:"<>": expected an operator, found `<>`
          help: write `!=` for unequal
    "#]],
    );
}

#[test]
fn folds_stand_before_their_operand() {
    in_body(
        "a +/ b",
        expect![[r#"
        E0125 at 2:"+/": expected an infix operator before a fold, found `+/`
          help: a fold has one operand, on its right: write `a + (+/ v)`
    "#]],
    );
    in_body(
        "a // b",
        expect![[r#"
        E0125 at 2:"//": expected an infix operator before a fold, found `//`
          help: write `/`, which truncates integers; `// v` folds the tensor `v`
    "#]],
    );
    in_body(
        "a */ b",
        expect![[r#"
        E0110 at 2:"*/": expected an infix operator before the product fold, found `*/`
          help: `*/ v` multiplies the elements of `v`; to end a comment, begin it with `/*`
    "#]],
    );
    in_body(
        "a */",
        expect![[r#"
            E0110 at 2:"*/": expected an infix operator before the product fold, found `*/`
              help: `*/ v` multiplies the elements of `v`; to end a comment, begin it with `/*`
        "#]],
    );
    check_errors(
        "*/\nfn f() -> f64 = 1.0",
        expect![[r#"
            E0110 at 1:"*/": expected a declaration, found the product fold `*/`
              help: `*/ v` multiplies the elements of `v`; to end a comment, begin it with `/*`
        "#]],
    );
}

#[test]
fn comparisons_and_ranges_do_not_chain() {
    in_body(
        "a < b < c <= d",
        expect![[r#"
        E0121 at 2:"<": expected the end of the operands of `<`, found `<`
          label at 2:"a < b": this is already a complete expression
          help: compare in pairs: `a < b && b < c`; or put parentheses round one comparison
        E0121 at 2:"<=": expected the end of the operands of `<`, found `<=`
          label at 2:"a < b < c": this is already a complete expression
          help: compare in pairs: `a < b && b < c`; or put parentheses round one comparison
    "#]],
    );
    in_body(
        "for i in 0..1..2 { x }",
        expect![[r#"
        E0121 at 2:"..": expected the end of the operands of `..`, found `..`
          label at 2:"0..1": this is already a complete expression
          help: a range has two ends; put parentheses round an end that is a range
    "#]],
    );
    in_body(
        "for i in ..n { x }",
        expect![[r#"
        E0126 at 2:"..": expected a range with two ends, found `..` without start
          help: only an index may leave an end out, as in `a[1..]`
    "#]],
    );
    in_body("a == b && c == d", expect![[""]]);
}

#[test]
fn brackets_are_closed() {
    in_body(
        "let y = (x + 1.0\nlet z = 2.0\ny",
        expect![[r#"
        E0141 at 2:"": expected `)` to close `(`, found `let`
          label at 2:"(": this `(` is not closed
          help: add `)`
    "#]],
    );
    in_body(
        "let y = g(x, h(1.0)\ny",
        expect![[r#"
        E0141 at 2:"": expected `)` to close `(`, found `y`
          label at 2:"(": this `(` is not closed
          help: add `)`
    "#]],
    );
    in_body(
        "let y = v[0\ny",
        expect![[r#"
        E0141 at 2:"": expected `]` to close `[`, found `y`
          label at 2:"[": this `[` is not closed
          help: add `]`
    "#]],
    );
    in_body(
        "x)",
        expect![[r#"
        E0142 at 2:")": expected an open bracket before `)`, found none
          help: remove `)`, or add the bracket that it closes
    "#]],
    );
    in_body(
        "(x]",
        expect![[r#"
        E0141 at 2:"]": expected `)` to close `(`, found `]`
          label at 2:"(": this `(` is not closed
          help: add `)`
    "#]],
    );
    check_errors(
        "fn f() -> f64 {\n  if x {\n    1.0\n\nfn g() -> f64 = 1.0\nfn h(x) -> f64 = x",
        expect![[r#"
            E0141 at 3:"": expected `}` to close `{`, found `fn`
              label at 2:"{": this `{` is not closed
              help: add `}`
            E0165 at 6:")": expected `:` and the type of `x`, found `)`
              help: write the types, as in `fn h(x: f64) -> f64`
        "#]],
    );
    check_errors(
        "fn f(x: f64 -> f64 = x\nfn g() -> f64 = 1.0",
        expect![[r#"
        E0141 at 1:"->": expected `)` to close `(`, found `->`
          label at 1:"(": this `(` is not closed
          help: add `)`
    "#]],
    );
    check_errors(
        "fn f() -> f64 { 1.0 }}\nfn g() -> f64 = 1.0",
        expect![[r#"
        E0142 at 1:"}": expected an open bracket before `}`, found none
          help: remove `}`, or add the bracket that it closes
    "#]],
    );
    check_errors(
        "struct P { x: f64\nfn g() -> f64 = 1.0",
        expect![[r#"
        E0141 at 1:"": expected `}` to close `{`, found `fn`
          label at 1:"{": this `{` is not closed
          help: add `}`
    "#]],
    );
}

#[test]
fn declarations_use_the_words_of_this_language() {
    check_errors(
        "function f(x: f64) -> f64 = x\ndef g() -> f64 { 1.0 }\nfun h() -> f64 = 1.0",
        expect![[r#"
        E0161 at 1:"function": expected `fn`, found `function`
          help: write `fn`
        E0161 at 2:"def": expected `fn`, found `def`
          help: write `fn`
        E0161 at 3:"fun": expected `fn`, found `fun`
          help: write `fn`
    "#]],
    );
    check_errors(
        "class P { x: f64 }\nuse std\nfn f() -> f64 = 1.0",
        expect![[r#"
            E0161 at 1:"class": expected `struct`, found `class`
              help: write `struct`
        "#]],
    );
    check_errors(
        "let x = 1.0\nfor i in 0..3 { x }\nfn f() -> f64 = 1.0",
        expect![[r#"
        E0160 at 1:"let": expected a declaration, found `let`
          help: outside of functions stand only declarations such as `fn`, `struct` and `const`
          help: put each declaration on a line of its own
    "#]],
    );
    check_errors(
        "@grad(w)\nlet x = 1.0",
        expect![[r#"
        E0153 at 1:"@grad(w)": expected a declaration after the attribute `grad`, found `let`
          help: an attribute stands directly before `fn` or another declaration
    "#]],
    );
    check_errors(
        "import \"layers.cot\"\nimport 3",
        expect![[r#"
        E0162 at 1:"\"layers.cot\"": expected the name of a module, found `"layers.cot"`
          help: write the path without quotes and `.cot`: `import ./layers.cot`
        E0162 at 2:"3": expected the name of a module, found `3`
          help: a name starts with a letter or `_` and goes on with letters, digits and `_`
    "#]],
    );
    in_body(
        "  fn g(y: f64) -> f64 = y\n  const N = 3\n  g(x)",
        expect![[r#"
            E0152 at 2:"fn": expected a statement, found the declaration `fn`
              help: move the declaration out of the function, or pass a lambda `|x| e`
            E0152 at 3:"const": expected a statement, found the declaration `const`
              help: move the declaration out of the function, or pass a lambda `|x| e`
        "#]],
    );
    in_body(
        "var y = 1.0\ny",
        expect![[r#"
            E0155 at 2:"var": expected `let`, found `var`
              help: write `let mut y = ...`
        "#]],
    );
}

#[test]
fn signatures_are_complete() {
    check_errors(
        "fn f(x) = x",
        expect![[r#"
            E0165 at 1:")": expected `:` and the type of `x`, found `)`
              help: write the types, as in `fn f(x: f64) -> f64`
        "#]],
    );
    check_errors(
        "fn f(f64 x) -> f64 = x",
        expect![[r#"
        E0165 at 1:"x": expected `:` and the type of `f64`, found `x`
          help: write `x: f64`
    "#]],
    );
    check_errors(
        "fn f(x: f64): f64 = x",
        expect![[r#"
            E0166 at 1:":": expected `->` before the result type, found `:`
              help: write `->`
        "#]],
    );
    check_errors(
        "fn f(x: f64) -> = x",
        expect![[r#"
        E0164 at 1:"=": expected a type, found `=`
          help: types are written as in `f64`, `f64[N, M]` and `(i64, f64)`
    "#]],
    );
    check_errors(
        "fn f -> f64 = 1.0",
        expect![[r#"
        E0140 at 1:"->": expected `(` and the parameters of `f`, found `->`
          help: write `fn f()` if there are none
    "#]],
    );
    check_errors(
        "fn (x: f64) -> f64 = x",
        expect![[r#"
        E0162 at 1:"(": expected the name of a function, found `(`
          help: a name starts with a letter or `_` and goes on with letters, digits and `_`
    "#]],
    );
    check_errors(
        "fn f<T>(x: T) -> T = x",
        expect![[r#"
        E0140 at 1:"<": expected `[` before the type parameters, found `<`
          help: write type and shape parameters in `[...]`
    "#]],
    );
    check_errors(
        "fn f(x: f64) -> f64\nfn g() -> f64 = 1.0",
        expect![[r#"
        E0167 at 1:"": expected `=` or `{` and the body of `f`, found `fn`
          help: a body is `= e` or `{ ... }`
    "#]],
    );
    check_errors(
        "fn f(x: f64; y: f64) -> f64 = x",
        expect![[r#"
        E0143 at 1:";": expected `,` or `)` after a parameter, found `;`
          help: separate the parts with `,`
    "#]],
    );
    check_errors(
        "fn f(x: &f64, y: [f64; 3]) -> f64 = x",
        expect![[r#"
            E0164 at 1:"&": expected a type, found `&`
              help: there are no references: write the type itself
            E0164 at 1:"[": expected a type, found `[`
              help: write `f64[3]`
        "#]],
    );
    check_errors(
        "struct P { x f64, y: f64; z: f64 w: f64 }",
        expect![[r#"
            E0165 at 1:"f64": expected `:` and the type of `x`, found `f64`
              help: write `x: f64`
            E0143 at 1:";": expected `,` or a new line or `}` after a field, found `;`
              help: separate the parts with `,` or newlines
            E0143 at 1:"w": expected `,` or a new line or `}` after a field, found `w`
              help: separate the parts with `,` or newlines
        "#]],
    );
}

#[test]
fn keywords_are_no_names() {
    check_errors(
        "fn match(in: f64) -> f64 = 1.0",
        expect![[r#"
            E0163 at 1:"match": expected the name of a function, found the keyword `match`
              help: choose another name, such as `match_`
        "#]],
    );
    in_body(
        "let type = 1.0\nfor for in 0..3 { x }\nx",
        expect![[r#"
            E0163 at 3:"for": expected the name of a variable, found the keyword `for`
              help: choose another name
        "#]],
    );
    in_body(
        "x.fn",
        expect![[r#"
        E0163 at 2:"fn": expected the name of a field, found the keyword `fn`
          help: choose another name, such as `fn_`
    "#]],
    );
    in_body(
        "x + fn",
        expect![[r#"
        E0120 at 2:"fn": expected an expression, found the keyword `fn`
          help: write a lambda as `|x| e`
    "#]],
    );
}

#[test]
fn statements_are_separated() {
    in_body(
        "let y = 1.0 let z = 2.0\ny",
        expect![[r#"
        E0144 at 2:"let": expected the end of the statement, found `let`
          help: put each statement on a line of its own, or end it with `;`
    "#]],
    );
    in_body(
        "x y z\nx",
        expect![[r#"
        E0144 at 2:"y": expected the end of the statement, found `y`
          help: put each statement on a line of its own, or end it with `;`
    "#]],
    );
    in_body(
        "; x;;",
        expect![[r#"
        E0146 at 2:";": expected a statement, found `;`
          help: remove the `;`
        E0146 at 2:";": expected a statement, found `;`
          help: remove the `;`
    "#]],
    );
    in_body(
        "let (a b) = x\ng(a b, c)\na",
        expect![[r#"
        E0143 at 2:"b": expected `,` or `)` after a pattern, found `b`
          help: separate the parts with `,`
        E0143 at 3:"b": expected `,` or `)` after an argument, found `b`
          help: separate the parts with `,`
    "#]],
    );
}

#[test]
fn struct_literals_in_heads_have_parentheses() {
    in_body(
        "if p == P { x: 1.0, y: 2.0 } { 1.0 } else { 2.0 }",
        expect![[r#"
        E0128 at 2:"P": expected parentheses round the struct literal of `P` in the head of a block, found none
          help: write `(P { ... })`
    "#]],
    );
    in_body(
        "P { x = 1.0 }",
        expect![[r#"
        E0140 at 2:"=": expected `:` after the field `x`, found `=`
          help: write `x: ...`
    "#]],
    );
}

#[test]
fn patterns_are_names_or_parts() {
    in_body(
        "let mut (a, b) = x\na",
        expect![[r#"
        E0154 at 2:"mut": expected `mut` before a name, found it before `(`
          help: write `mut` before each name that changes: `(mut a, b)`
    "#]],
    );
    in_body(
        "match x { 1.. => 1, + => 2, _ = 3 }",
        expect![[r#"
            E0131 at 2:"=>": expected a literal that ends the range, found `=>`
              help: ranges in patterns have two ends, as in `1..10`
            E0131 at 2:"+": expected a pattern, found `+`
              help: a pattern is a name, `_`, a literal, a tuple, or a struct or variant with patterns inside
            E0140 at 2:"=": expected `=>` after the pattern, found `=`
              help: add `=>` here
        "#]],
    );
    in_body(
        "map(|1 + 2| x, v)",
        expect![[r#"
            E0140 at 2:"+": expected `|` after the parameters of a lambda, found `+`
              help: add `|` here
        "#]],
    );
    in_body(
        "for i 0..3 { x }\nx",
        expect![[r#"
        E0140 at 2:"0": expected `in` after the pattern of a loop, found `0`
          help: write `for i in lo..hi { ... }`
    "#]],
    );
    in_body(
        "g(_, a[_])",
        expect![[r#"
        E0127 at 2:"_": expected an expression, found `_`
          help: `_` is a pattern that matches everything, or a size that is left open as in `f64[_]`
    "#]],
    );
    in_body(
        "g(a = 1, 2)",
        expect![[r#"
        E0129 at 2:"2": expected a named argument after a named argument, found one without a name
          label at 2:"1": this argument is named
          help: put the arguments without names first, or write `name = value`
    "#]],
    );
}

#[test]
fn many_errors_of_one_file_are_reported_once_each() {
    check_errors(
        "fn a(x) -> f64 = x\n\nfn b() -> f64 {\n  let y = 1.0 +\n  let z = (2.0\n  if z = 1.0 { y }\n  x ^ 2\n}\n\nstruct S { f f64 }\nfn c( -> f64 = 1.0\nfn d() = 1\nlet q = 3\nfn e() -> f64 = 1.0 $ 2.0\n",
        expect![[r#"
            E0165 at 1:")": expected `:` and the type of `x`, found `)`
              help: write the types, as in `fn a(x: f64) -> f64`
            E0120 at 4:"": expected an expression, found the keyword `let`
              help: write the right operand of `+`, or remove the operator
            E0141 at 5:"": expected `)` to close `(`, found `if`
              label at 5:"(": this `(` is not closed
              help: add `)`
            E0148 at 6:"=": expected a condition, found the assignment `=`
              help: write `==` to compare
            E0122 at 7:"^": expected an operator, found `^`
              help: write `**` for powers
            E0165 at 10:"f64": expected `:` and the type of `f`, found `f64`
              help: write `f: f64`
            E0141 at 11:"->": expected `)` to close `(`, found `->`
              label at 11:"(": this `(` is not closed
              help: add `)`
            E0166 at 12:"=": expected `->` and the result type of `d`, found `=`
              help: write `fn d() -> f64`, or `-> ()` if there is no result
            E0160 at 13:"let": expected a declaration, found `let`
              help: outside of functions stand only declarations such as `fn`, `struct` and `const`
              help: put each declaration on a line of its own
            E0101 at 14:"$": expected a token, found the character `$`
        "#]],
    );
}
