use expect_test::expect;

use super::{check_errors, check_module};

#[test]
fn a_newline_ends_a_statement_in_braces_only() {
    check_module(
        "fn f() -> f64 {\n let y = a\n -b\n (c)\n [d]\n}",
        expect![[r#"
        (fn f (result f64) (block (let y a) (- b) c (value (array d))))
    "#]],
    );
    check_module(
        "fn f() -> f64 {\n g(a\n -b,\n c\n )\n}",
        expect![[r#"
        (fn f (result f64) (block (value (postfix g (call (infix a - b) c)))))
    "#]],
    );
    check_module(
        "fn f() -> f64 = (a\n + b)",
        expect![[r#"
        (fn f (result f64) (infix a + b))
    "#]],
    );
    check_module(
        "fn f() -> f64 = g(|x| {\n x\n -x\n })",
        expect![[r#"
        (fn f (result f64) (postfix g (call (lambda (params x) (block x (value (- x)))))))
    "#]],
    );
}

#[test]
fn a_line_that_ends_in_an_operator_goes_on() {
    check_module(
        "fn f() -> f64 {\n let y =\n a +\n b\n y\n}",
        expect![[r#"
        (fn f (result f64) (block (let y (infix a + b)) (value y)))
    "#]],
    );
    check_module(
        "fn f() -> f64 =\n a",
        expect![[r#"
        (fn f (result f64) a)
    "#]],
    );
}

#[test]
fn some_tokens_continue_the_line_before() {
    check_module(
        "fn f() -> f64 {\n a\n |> g\n .+ b\n && c\n || d\n as f64\n}",
        expect![[r#"
        (fn
          f
          (result f64)
          (block (value (|> a (infix (infix (infix g .+ b) && c) || (postfix d (as f64)))))))
    "#]],
    );
    check_module(
        "fn f() -> f64 {\n if a { b }\n else { c }\n}",
        expect![[r#"
        (fn f (result f64) (block (value (if a (block (value b)) (block (value c))))))
    "#]],
    );
}

#[test]
fn semicolons_end_statements() {
    check_module(
        "fn f() -> f64 { let a = 1; a += 1; a }",
        expect![[r#"
        (fn f (result f64) (block (let a 1) (+= a 1) (value a)))
    "#]],
    );
    check_module(
        "fn f() -> () { g(1); }",
        expect![[r#"
        (fn f (result (tuple)) (block (postfix g (call 1))))
    "#]],
    );
    check_module(
        "const N: i64 = 1;\nfn f() -> i64 = N;",
        expect![[r#"
        (const N i64 1)
        (fn f (result i64) N)
    "#]],
    );
}

#[test]
fn return_takes_a_value_from_its_own_line_only() {
    check_module(
        "fn f() -> f64 {\n if a { return }\n return\n b\n return b\n}",
        expect![[r#"
        (fn f (result f64) (block (if a (block (value (return)))) (return) b (value (return b))))
    "#]],
    );
}

#[test]
fn an_at_sign_is_an_attribute_at_the_start_of_a_line() {
    check_module(
        "fn f() -> f64 {\n let y = a @ b\n @recompute\n { y }\n}",
        expect![[r#"
        (fn f (result f64) (block (let y (infix a @ b)) (value (block @recompute (value y)))))
    "#]],
    );
}

#[test]
fn an_infix_operator_at_the_start_of_a_line_is_an_error() {
    check_errors(
        "fn f(x: f64) -> f64 {\n  x\n  / 2.0\n}",
        expect![[r#"
        E0145 at 3:"/": expected a statement, found the infix operator `/`
          help: end the line before with `/`
    "#]],
    );
    check_errors(
        "fn f(x: f64) -> f64 {\n  let y = x\n  + 2.0\n  y\n}",
        expect![[r#"
        E0145 at 3:"+": expected a statement, found the infix operator `+`
          help: end the line before with `+`
    "#]],
    );
    check_errors(
        "fn f(x: f64) -> f64 = x\n  * 2.0\nfn g() -> f64 = 1.0",
        expect![[r#"
            E0145 at 2:"*": expected a declaration, found the infix operator `*`
              help: end the line before with `*`
        "#]],
    );
}
