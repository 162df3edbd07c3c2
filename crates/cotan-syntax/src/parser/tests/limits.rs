use super::*;
use crate::codes;

/// The stack of the main thread of a program, which test threads do not have.
const MAIN_STACK: usize = 8 << 20;

fn on_main_stack(test: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(MAIN_STACK);
    let outcome = thread.spawn(test).map(std::thread::JoinHandle::join);
    assert!(matches!(outcome, Ok(Ok(()))));
}

fn codes_of(source: &str) -> Vec<&'static str> {
    let (_, diagnostics) = parse(FileId(0), source);
    diagnostics.iter().map(|d| d.code.as_str()).collect()
}

/// Forms that nest: how many levels they open, how they start, what is inside, and their end.
const NESTS: &[(usize, &str, &str, &str)] = &[
    (1, "(", "1", ")"),
    (1, "[", "1", "]"),
    (1, "f(", "1", ")"),
    (1, "a[", "1", "]"),
    (1, "-", "1", ""),
    (1, "!", "1", ""),
    (1, "+/ ", "1", ""),
    (1, "a ** ", "1", ""),
    (1, "{", "1", "}"),
    (1, "|x| ", "1", ""),
    (1, "if a {", "1", "}"),
    (1, "if ", "a", " {}"),
    (1, "let x = 1 in ", "1", ""),
    (1, "return ", "1", ""),
    (1, "match a { b => ", "1", "}"),
    (1, "for i in v { ", "1", "}"),
    (1, "P { x: ", "1", "}"),
    (4, "a || b && c == d .. e + f * g @ -h ** (", "1", ")"),
    (1, "a || b && c == d + f * g @ (", "1", ")"),
    (2, "if a { 1 } else { a || b && c == d + f * g @ (", "1", ")}"),
    (1, "while ", "a", "{}"),
    (1, "@a(", "1", ") {}"),
    (3, "{ fn f() -> f64 { ", "1", "}}"),
];

#[test]
fn a_declaration_with_too_many_parts_is_reported_once_and_the_next_one_read() {
    let limits = Limits { nodes: 100, ..Limits::default() };
    let source = format!("fn f(x: f64) -> f64 = x{}\nfn g(x: f64) -> f64 = x\n", " + x".repeat(1000));
    let (module, diagnostics) = parse_with(FileId(0), &source, &limits);
    let codes: Vec<_> = diagnostics.iter().map(|d| d.code.as_str()).collect();
    assert_eq!((module.items.len(), codes), (2, vec!["E0133"]));
}

#[test]
fn nesting_is_limited_everywhere() {
    on_main_stack(|| {
        for &(levels, open, inner, close) in NESTS {
            for depth in [1000 / levels, 1001, 20_000] {
                let body = open.repeat(depth) + inner + &close.repeat(depth);
                let source = format!("fn f() -> f64 = {body}\nfn g(x) -> f64 = 1.0");
                let all = Limits { diagnostics: usize::MAX, ..Limits::default() };
                let (_, diagnostics) = parse_with(FileId(0), &source, &all);
                let is_too_deep = diagnostics.iter().any(|d| d.code == codes::NESTING_TOO_DEEP);
                assert_eq!(is_too_deep, depth * levels > 1000, "{open} {depth}");
                let last = diagnostics.last().map(|d| d.code);
                assert_eq!(last, Some(codes::MISSING_PARAM_TYPE), "{open} {depth}");
            }
        }
    });
}

#[test]
fn brackets_without_partners_take_linear_time() {
    let source = format!("fn f() -> f64 {{ x y {}\n}}", "( [ { ) ".repeat(300_000));
    assert_eq!(codes_of(&source)[0], "E0144");
    let source = format!("fn f() -> f64 {{ x y {}\n}}", "( ".repeat(300_000));
    assert_eq!(codes_of(&source)[0], "E0144");
}

#[test]
fn the_last_level_that_fits_is_the_limit() {
    on_main_stack(|| {
        let parens = |n: usize| "(".repeat(n) + "1.0" + &")".repeat(n);
        for body in ["= X", "{ X }", "{\n  let y = X\n  y\n}"] {
            let at = |n: usize| codes_of(&format!("fn f() -> f64 {}", body.replace('X', &parens(n))));
            assert_eq!(at(999), [""; 0]);
            assert_eq!(at(1000), [""; 0]);
            assert_eq!(at(1001), ["E0130"]);
            assert_eq!(at(100_000), ["E0130"]);
        }
    });
}

#[test]
fn types_and_patterns_are_limited_too() {
    on_main_stack(|| {
        for depth in [1001, 20_000] {
            let parens = "(".repeat(depth) + "a" + &")".repeat(depth);
            let brackets = "f64".to_owned() + &"[1]".repeat(depth);
            let arrows = "(f64) -> ".repeat(depth) + "f64";
            for source in [
                format!("fn f(x: {parens}) -> f64 = 1.0"),
                format!("fn f(x: {brackets}) -> f64 = 1.0"),
                format!("fn f(x: {arrows}) -> f64 = 1.0"),
                format!("fn f() -> f64 {{ let {parens} = 1.0 }}"),
            ] {
                assert_eq!(codes_of(&source), ["E0130"], "{}", &source[..20]);
            }
        }
    });
}

#[test]
fn what_follows_a_declaration_that_is_too_deep_is_still_checked() {
    on_main_stack(|| {
        let deep = "(".repeat(2000);
        let source = format!("fn f() -> f64 = {deep}\nfn g(x) -> f64 = x");
        assert_eq!(codes_of(&source), ["E0130", "E0165"]);
    });
}

#[test]
fn long_runs_are_no_nesting() {
    let n = 20_000;
    for (first, step) in [
        ("x", " + x"),
        ("x", " - x * x"),
        ("x", " && x"),
        ("x", " @ x"),
        ("x", " |> f"),
        ("x", "(1)"),
        ("x", ".y"),
        ("x", " as f64"),
        ("x", "[0]"),
        ("if a { b }", " else if a { b }"),
    ] {
        let source = format!("fn f() -> f64 = {first}{}", step.repeat(n));
        let (module, diagnostics) = parse(FileId(0), &source);
        assert_eq!(diagnostics, [], "{step}");
        assert_eq!(&source[module.items[0].span.range()], source);
    }
}

#[test]
fn a_limit_on_the_size_of_files_is_kept() {
    let limits = Limits { source_bytes: 10, ..Limits::default() };
    let (module, diagnostics) = parse_with(FileId(0), "fn f() -> f64 = 1.0", &limits);
    assert_eq!(module.items, []);
    assert_eq!(diagnostics[0].message, "expected a file of at most 10 bytes, found 19");
    assert_eq!(diagnostics[0].code, codes::FILE_TOO_LARGE);
}
