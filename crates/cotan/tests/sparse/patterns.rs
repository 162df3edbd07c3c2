//! What counts as an entry.

use crate::sparse::{Subject, rows};

#[test]
fn all_operands_of_a_choice_count_and_zeros_by_nature_do_not() {
    let text = "fn f(x: f64[4]) -> f64[6] = [
      max(x[0], x[1]),
      clamp(x[0], x[1], x[2]),
      max/ x,
      floor(x[0]) * x[1],
      stop_gradient(x[2]) + x[3],
      0.0 - x[1],
    ]";
    let subject = Subject::new(text, "f", r#"{"x": [1, 2, 3, 4]}"#);
    let jacobian = subject.jacobian(&["x"]);
    let expected = [vec![0, 1], vec![0, 1, 2], vec![0, 1, 2, 3], vec![1], vec![3], vec![1]];
    assert_eq!(rows(&jacobian), expected);
    let matrix = subject.matrix(&jacobian);
    let clamped: Vec<_> = matrix.row(1).collect();
    assert_eq!(clamped, [(0, 0.0), (1, 1.0), (2, 0.0)], "an entry stays one where it is 0");
}

#[test]
fn a_branch_that_does_not_run_does_not_count() {
    let text = "fn f(x: f64[2], k: i64) -> f64[2] = tabulate(2, |i| if k > i { x[0] * x[0] } else { x[1] })";
    for (k, expected) in [(0, [1, 1]), (1, [0, 1]), (2, [0, 0])] {
        let subject = Subject::new(text, "f", &format!("{{\"x\": [3, 5], \"k\": {k}}}"));
        assert_eq!(rows(&subject.jacobian(&["x"])), expected.map(|column| vec![column]));
    }
}

#[test]
fn the_columns_of_a_struct_are_its_floats_field_by_field() {
    let text = "struct P { a: f64, n: i64, b: f64[2] }
    fn f(p: P, y: f64) -> f64[3] = [p.a * p.b[1], p.b[0] * y, y * y]";
    let subject = Subject::new(text, "f", r#"{"p": {"a": 2, "n": 7, "b": [3, 5]}, "y": 11}"#);
    let jacobian = subject.jacobian(&["p"]);
    assert_eq!(rows(&jacobian), [vec![0, 2], vec![1], vec![]]);
    assert_eq!(subject.matrix(&jacobian).dense(), [5.0, 0.0, 2.0, 0.0, 11.0, 0.0, 0.0, 0.0, 0.0]);
    // In the order of the request, which is not that of the parameters.
    let both = subject.jacobian(&["y", "p"]);
    assert_eq!(rows(&both), [vec![1, 3], vec![0, 2], vec![0]]);
    let expected = [0.0, 5.0, 0.0, 2.0, 3.0, 0.0, 11.0, 0.0, 22.0, 0.0, 0.0, 0.0];
    assert_eq!(subject.matrix(&both).dense(), expected);
}

#[test]
fn the_rows_of_a_tuple_are_its_floats_part_by_part() {
    let text = "fn f(x: f64[2]) -> (f64[2], i64, f64) = ([x[1], x[0] * x[0]], 3, x[0] * x[1])";
    let subject = Subject::new(text, "f", r#"{"x": [3, 5]}"#);
    assert_eq!(subject.matrix(&subject.jacobian(&["x"])).dense(), [0.0, 1.0, 6.0, 0.0, 5.0, 3.0]);
}

#[test]
fn a_rule_of_a_functions_own_counts_for_what_it_says() {
    let text = "fn step(x: f64) -> f64 = floor(x)
    @jvp_for(step) fn forward(x: f64, x_tan: f64) -> (f64, f64) = (floor(x), 2.0 * x_tan)
    @vjp_for(step) fn reverse(x: f64, y: f64, y_cot: f64) -> f64 = 2.0 * y_cot
    fn f[N](x: f64[N]) -> f64[N] = map(|a| step(a), x)";
    let subject = Subject::new(text, "f", r#"{"x": [1.5, 2.5, 3.5]}"#);
    let jacobian = subject.jacobian(&["x"]);
    assert_eq!(rows(&jacobian), [vec![0], vec![1], vec![2]]);
    assert_eq!(subject.matrix(&jacobian).data, [2.0, 2.0, 2.0]);
    subject.check(cotan::DerivativeForm::Jacobian, "x");
}

#[test]
fn so_does_a_rule_of_a_function_that_takes_functions() {
    let text = "fn step(g: (f64) -> f64, x: f64) -> f64 = floor(g(x))
    @jvp_for(step) fn forward(g: (f64) -> f64, x: f64, x_tan: f64) -> (f64, f64) = (floor(g(x)), 2.0 * x_tan)
    @vjp_for(step) fn reverse(g: (f64) -> f64, x: f64, y: f64, y_cot: f64) -> f64 = 2.0 * y_cot
    fn f[N](x: f64[N]) -> f64[N] = map(|a| step(|b| b + 1, a), x)";
    let subject = Subject::new(text, "f", r#"{"x": [1.5, 2.5, 3.5]}"#);
    let jacobian = subject.jacobian(&["x"]);
    assert_eq!(rows(&jacobian), [vec![0], vec![1], vec![2]]);
    assert_eq!(subject.matrix(&jacobian).data, [2.0, 2.0, 2.0]);
    subject.check(cotan::DerivativeForm::Jacobian, "x");
}

#[test]
fn a_length_that_only_the_run_knows_is_that_of_the_run() {
    let text = "fn f[N](v: f64[N], k: i64) -> f64[_] = v[k..] .* v[k..]";
    let subject = Subject::new(text, "f", r#"{"v": [1, 2, 3, 4], "k": 2}"#);
    for mode in [cotan::DerivativeMode::Forward, cotan::DerivativeMode::Reverse] {
        let jacobian = subject.jacobian_in(cotan::DerivativeForm::Jacobian, &["v"], Some(mode));
        assert_eq!(rows(&jacobian), [vec![2], vec![3]]);
        assert_eq!(subject.matrix(&jacobian).data, [6.0, 8.0]);
    }
}
