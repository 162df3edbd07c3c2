//! Tests of the lexer.

use expect_test::{Expect, expect};

use super::*;

/// The tokens between spaces, a newline before a token as `⏎`, then comments and errors.
fn check(source: &str, expected: Expect) {
    let lexed = lex(FileId(0), source, 100);
    let mut out = String::new();
    for token in &lexed.tokens {
        if token.newline_before {
            out.push_str("⏎ ");
        }
        let text = &source[token.span.range()];
        match token.kind.text() {
            Some(text) => out.push_str(text),
            None => out.push_str(&format!("{:?}({text})", token.kind)),
        }
        out.push(' ');
    }
    out.push('\n');
    for comment in &lexed.comments {
        let text = &source[comment.span.range()];
        out.push_str(&format!("{:?} before {}: {text:?}\n", comment.kind, comment.before_token));
    }
    for diagnostic in &lexed.diagnostics.finish() {
        out.push_str(&format!(
            "{} {:?}: {}\n",
            diagnostic.code,
            &source[diagnostic.primary.span.range()],
            diagnostic.message
        ));
        for help in &diagnostic.help {
            out.push_str(&format!("  help: {help}\n"));
        }
    }
    expected.assert_eq(&out);
}

#[test]
fn symbols_are_as_long_as_possible() {
    check(
        "a.*b .**= c..=d .. e .<= f |> g || h",
        expect![[r#"
        Ident(a) .* Ident(b) .**= Ident(c) ..= Ident(d) .. Ident(e) .<= Ident(f) |> Ident(g) || Ident(h) Eof() 
    "#]],
    );
    check(
        "+/ */ -/ // ** **= -> => != .!= <=",
        expect![[r#"
        +/ */ -/ // ** **= -> => != .!= <= Eof() 
    "#]],
    );
    check(
        "x .max= y x.max = y x .max== y",
        expect![[r#"
        Ident(x) .max= Ident(y) Ident(x) . Ident(max) = Ident(y) Ident(x) . Ident(max) == Ident(y) Eof() 
    "#]],
    );
    check(
        "./layers ../a/b",
        expect![[r#"
        ./ Ident(layers) .. / Ident(a) / Ident(b) Eof() 
    "#]],
    );
}

#[test]
fn points_belong_to_numbers_only_between_digits() {
    check(
        "1.0 1..2 2.*v 1.5.0 t.0.1 a.1",
        expect![[r#"
        Float(1.0) Int(1) .. Int(2) Int(2) .* Ident(v) Float(1.5) . Int(0) Ident(t) . Int(0) . Int(1) Ident(a) . Int(1) Eof() 
    "#]],
    );
    check(
        "1_000 1_000.5 1e5 2e-3 1.0_f32 7_i64 1_f64 0xff_u8 0xf_f32",
        expect![[r#"
        Int(1_000) Float(1_000.5) Float(1e5) Float(2e-3) Float(1.0_f32) Int(7_i64) Float(1_f64) Int(0xff_u8) Int(0xf_f32) Eof() 
    "#]],
    );
}

#[test]
fn malformed_numbers_say_how_to_write_them() {
    check(
        "1. + .5 + 1.e5",
        expect![[r#"
        Float(1.) + Float(.5) + Float(1.e5) Eof() 
        E0106 "1.": expected a digit after the point, found `1.`
          help: write `1.0`
        E0106 ".5": expected a digit before the point, found `.5`
          help: write `0.5`
        E0106 "1.e5": expected a digit after the point, found `1.e5`
          help: write `1.0e5`
    "#]],
    );
    check(
        "1e+ 1e 0x 0b11 0o7 0XF",
        expect![[r#"
        Float(1e+) Float(1e) Int(0x) Int(0b11) Int(0o7) Int(0XF) Eof() 
        E0106 "e+": expected digits in the exponent, found `e+`
          help: write an exponent as in `1e5` or `2.5e-3`
        E0106 "e": expected digits in the exponent, found `e`
          help: write an exponent as in `1e5` or `2.5e-3`
        E0106 "0x": expected hexadecimal digits after `0x`, found none
          help: write digits as in `0xff`
        E0106 "0b11": expected a decimal or `0x` number, found `0b11`
          help: write the number in decimal or as `0xff`
        E0106 "0o7": expected a decimal or `0x` number, found `0o7`
          help: write the number in decimal or as `0xff`
        E0106 "0XF": expected a decimal or `0x` number, found `0XF`
          help: write the number in decimal or as `0xff`
    "#]],
    );
    check(
        "2x 1.5f32 1_foo 1.5_i32 1__f32 0x1g",
        expect![[r#"
        Int(2x) Float(1.5f32) Int(1_foo) Float(1.5_i32) Float(1__f32) Int(0x1g) Eof() 
        E0107 "x": expected `_` and a numeric type after a number, found `x`
          help: the types are `i8` to `i64`, `u8` to `u64`, `f16`, `bf16`, `f32` and `f64`
          help: a product needs an operator: `2 * x`
        E0107 "f32": expected `_` and a numeric type after a number, found `f32`
          help: write `1.5_f32`
        E0107 "_foo": expected `_` and a numeric type after a number, found `_foo`
          help: the types are `i8` to `i64`, `u8` to `u64`, `f16`, `bf16`, `f32` and `f64`
          help: a product needs an operator: `1 * _foo`
        E0107 "1.5_i32": expected a float type after a float literal, found `i32`
          help: write `as` to cast: `1.5 as i64` cuts the fraction off
        E0107 "__f32": expected `_` and a numeric type after a number, found `__f32`
          help: write `1_f32`
        E0107 "g": expected `_` and a numeric type after a number, found `g`
          help: the types are `i8` to `i64`, `u8` to `u64`, `f16`, `bf16`, `f32` and `f64`
          help: a product needs an operator: `0x1 * g`
    "#]],
    );
}

#[test]
fn comments_are_kept_and_count_lines() {
    check(
        "## Doc.\na # line\nb /* x /* y */ z\n */ c #### rule",
        expect![[r#####"
        ⏎ Ident(a) ⏎ Ident(b) ⏎ Ident(c) Eof() 
        Doc before 0: "## Doc."
        Line before 1: "# line"
        Block before 2: "/* x /* y */ z\n */"
        Line before 3: "#### rule"
    "#####]],
    );
    check(
        "a /* b /* c */",
        expect![[r#"
        Ident(a) Eof() 
        Block before 1: "/* b /* c */"
        E0103 "/*": expected `*/` to end the comment, found the end of the file
          help: block comments nest: each `/*` inside needs a `*/` of its own
    "#]],
    );
}

#[test]
fn strings_end_on_their_line() {
    check(
        "\"a\\\"b\" 'c' '\\'' \"\\\\\" x",
        expect![[r#"
        Str("a\"b") Char('c') Char('\'') Str("\\") Ident(x) Eof() 
    "#]],
    );
    check(
        "\"abc\nd",
        expect![[r#"
        Str("abc) ⏎ Ident(d) Eof() 
        E0102 "\"": expected `"` to end the string, found the end of the line
          help: end the string on its line; `\n` stands for a line break
    "#]],
    );
    check(
        "don't\nx",
        expect![[r#"
            Ident(don) Unknown(') Ident(t) ⏎ Ident(x) Eof() 
            E0104 "'": expected a character and `'`, found the end of the line
              help: write a character as `'A'`, a string as `"text"`
        "#]],
    );
}

#[test]
fn foreign_characters_are_reported_with_a_replacement() {
    check(
        "a × b ≤ c ? d $ α β\u{1}",
        expect![[r#"
            Ident(a) Unknown(×) Ident(b) Unknown(≤) Ident(c) ? Ident(d) Unknown($) Unknown(α) Unknown(β) Unknown() Eof() 
            E0101 "×": expected a token, found the character `×`
              help: write `*` for a product of scalars and `.*` for an element-wise one
            E0101 "≤": expected a token, found the character `≤`
              help: write `<=`
            E0101 "$": expected a token, found the character `$`
            E0101 "α": expected a token, found the character `α`
              help: names consist of `A-Z`, `a-z`, `0-9` and `_`
            E0101 "β": expected a token, found the character `β`
              help: names consist of `A-Z`, `a-z`, `0-9` and `_`
            E0101 "\u{1}": expected a token, found the character `\u{1}`
        "#]],
    );
}

#[test]
fn bytes_that_are_no_text_are_reported_with_their_place() {
    assert_eq!(decode(FileId(0), b"fn".to_vec()).ok().as_deref(), Some("fn"));
    let error = decode(FileId(0), b"a\n\xc3\xa9\xff".to_vec()).expect_err("0xff is not UTF-8");
    assert_eq!(error.valid, "a\né");
    assert_eq!(error.diagnostic.code, codes::INVALID_UTF8);
    assert_eq!(error.diagnostic.message, "expected UTF-8 text, found the byte `0xff`");
    assert_eq!(error.diagnostic.primary.span, Span::new(FileId(0), 4, 4));
}
