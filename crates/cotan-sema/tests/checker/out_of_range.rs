//! Positions and ranges that are out of range in every run.

use super::{report, run};

/// The errors of a program: their codes, places and help.
fn errors(source: &str) -> Vec<(String, String, String)> {
    let (_, diagnostics) = run(source);
    let found = diagnostics.iter().filter(|d| d.is_error()).map(|d| {
        let text = source.get(d.primary.span.range()).unwrap_or("<outside>").to_owned();
        (d.code.as_str().to_owned(), text, d.help.join(" "))
    });
    found.collect()
}

/// An expression of `x: f64[N]`, `y: f64[3]` and `n: i64` that is refused at this text, with this in the help.
fn refused(expr: &str, place: &str, help: &str) {
    let source = format!("fn f[N](x: f64[N], y: f64[3], n: i64) -> f64 {{ let v = {expr}\n 0.0 }}");
    let found = errors(&source);
    let (code, at, proposal) = found.first().cloned().unwrap_or_default();
    assert_eq!((found.len(), code.as_str(), at.as_str()), (1, "E0415", place), "{expr}\n{}", report(&source));
    assert!(proposal.contains(help), "{expr}\n{}", report(&source));
}

fn accepted(expr: &str) {
    let source = format!("fn f[N](x: f64[N], y: f64[3], n: i64) -> f64 {{ let v = {expr}\n 0.0 }}");
    assert!(errors(&source).is_empty(), "{expr}\n{}", report(&source));
}

#[test]
fn d2_indices_do_not_count_from_the_end() {
    refused("x[-1]", "-1", "indices do not count from the end: write `x[N - 1]`");
    refused("y[-1]", "-1", "write `y[2]`");
    refused("x[..-1]", "-1", "indices do not count from the end: write `x[..N - 1]`");
    refused("x[-2..]", "-2", "write `x[N - 2..]`");
    refused("x[-3..-1]", "-3", "write `x[N - 3..N - 1]`");
    refused("x[n..-1]", "-1", "indices do not count from the end");
    refused("(x .+ 1.0)[-1]", "-1", "write `N - 1`");
    refused("x[[0, -1]]", "-1", "write `N - 1`");
}

#[test]
fn d2_indices_past_the_end_are_known_for_all_sizes() {
    refused("y[3]", "3", "the last index is `2`");
    refused("x[N]", "N", "the last index is `N - 1`");
    refused("x[N + 2]", "N + 2", "the last index is `N - 1`");
    refused("y[[0, 7]]", "7", "the last index is `2`");
    refused("zeros[f64](0)[0]", "0", "there are no elements");
}

#[test]
fn d2_slices_end_where_they_start_or_later_and_within_the_axis() {
    for (expr, place) in [("y[31..=1][0]", "31..=1"), ("y[4..1]", "4..1"), ("x[5..1]", "5..1"), ("x[N..0]", "N..0")] {
        if expr == "x[N..0]" {
            accepted(expr);
        } else {
            refused(expr, place, "write the smaller end first");
        }
    }
    refused("x[N + 1..N]", "N + 1..N", "smaller end first");
    refused("x[n + 1..n]", "n + 1..n", "smaller end first");
    refused("y[1..4]", "1..4", "leave the end out");
    refused("y[..=3]", "..=3", "leave the end out");
    refused("x[0..N + 1]", "0..N + 1", "leave the end out");
    refused("y[4..]", "4..", "there are `3` elements along this axis");
    refused("x[N + 1..]", "N + 1..", "there are `N` elements");
}

#[test]
fn d2_places_are_checked_as_values_are() {
    let write = "fn f(x: f64[3]) -> f64[3] { let mut y = x\n y[3] = 1.0\n y }";
    assert_eq!(errors(write)[0].0, "E0415");
    let kernel =
        "kernel k[N](x: f64[N, 4]) -> f64[N, 4] {\n let mut w = x\n for i in 0..N { w[i, 65536..2] .-= 1.0 }\n w\n}";
    assert_eq!((errors(kernel)[0].0.as_str(), errors(kernel)[0].1.as_str()), ("E0415", "65536..2"));
}

#[test]
fn d2_what_may_be_right_for_some_sizes_is_left_to_the_run() {
    for expr in [
        "x[0]",
        "x[5]",
        "x[n]",
        "x[N - 1]",
        "x[n..N]",
        "x[3..]",
        "x[..3]",
        "x[N - 4..n]",
        "x[0..0]",
        "x[N..N]",
        "x[..=-1]",
        "x[1..=0]",
        "x[..]",
        "y[3..3]",
        "y[3..]",
        "x[[0, 1]]",
        "x[0 - n]",
        "iota(N)[n]",
        "x[n..2 * n]",
        "x[2 * n + 1..n]",
        // What goes through a variable with a known value is checked where it runs.
        "{ let k = 5\n y[k] }",
        "{ let k = 2\n y[k..1] }",
    ] {
        accepted(expr);
    }
}

#[test]
fn d2_a_range_has_no_more_values_than_are_counted() {
    for range in ["-9223372036854775808..9223372036854775807", "-1..=9223372036854775807"] {
        let source = format!("fn f() -> i64 {{ let mut s = 0\n for i in {range} {{ s += i }}\n s }}");
        assert_eq!(errors(&source)[0].0, "E0415", "{}", report(&source));
    }
    for range in ["0..9223372036854775807", "5..1", "0..=0"] {
        let source = format!("fn f() -> i64 {{ let mut s = 0\n for i in {range} {{ s += 1 }}\n s }}");
        assert!(errors(&source).is_empty(), "{}", report(&source));
    }
}

#[test]
fn d6_a_range_with_an_open_end_is_a_whole_index_or_an_error_at_its_place() {
    for (expr, place) in [
        ("x[0 + ..=1]", "..="),
        ("x[1 + ..2]", ".."),
        ("x[-..2]", ".."),
        ("x[..2 == 1]", ".."),
        ("[..2]", ".."),
        ("x[if n > 0 { ..2 } else { ..1 }]", ".."),
    ] {
        let source = format!("fn f[N](x: f64[N], n: i64) -> f64 {{ let v = {expr}\n 0.0 }}");
        let found = errors(&source);
        assert!(found.iter().any(|(code, at, _)| code == "E0126" && at == place), "{}", report(&source));
    }
    for expr in ["x[0 + (0..=1)]", "x[(0..1) == 1]", "x[sin(0..2)]"] {
        let source = format!("fn f[N](x: f64[N], n: i64) -> f64 {{ let v = {expr}\n 0.0 }}");
        assert!(!errors(&source).is_empty(), "{source}");
    }
}
