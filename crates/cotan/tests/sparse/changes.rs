//! A pattern that was found elsewhere: used again where it fits, and told where it does not.

use crate::sparse::{SparseError, SparseJacobian, Subject};
use cotan::{DerivativeForm, Engine, Request};

const COUPLED: &str = "fn f[N](x: f64[N], with_next: bool, at: i64[N]) -> f64[N] = tabulate(N, |i| {
  let own = x[at[i]] * x[i]
  if with_next { own * x[(i + 1) % N] } else { own }
})";

#[test]
fn a_pattern_serves_at_other_floats() {
    let subject = Subject::new(COUPLED, "f", r#"{"x": [1, 2, 3, 4], "with_next": false, "at": [0, 0, 2, 2]}"#);
    let jacobian = subject.jacobian(&["x"]);
    let other = subject.arguments(r#"{"x": [5, 7, 0, -1], "with_next": false, "at": [0, 0, 2, 2]}"#);
    let matrix = jacobian.evaluate(&other).unwrap();
    assert_eq!(matrix.data, [10.0, 7.0, 5.0, 0.0, -1.0, 0.0]);
    assert!(jacobian.check(&other, &matrix).unwrap().is_ok);
}

#[test]
fn a_pattern_that_does_not_fit_is_found_out() {
    let subject = Subject::new(COUPLED, "f", r#"{"x": [1, 2, 3, 4], "with_next": false, "at": [0, 0, 2, 2]}"#);
    let jacobian = subject.jacobian(&["x"]);
    for args in [
        r#"{"x": [1, 2, 3, 4], "with_next": true, "at": [0, 0, 2, 2]}"#,
        r#"{"x": [1, 2, 3, 4], "with_next": false, "at": [0, 0, 2, 1]}"#,
    ] {
        let args = subject.arguments(args);
        let matrix = jacobian.evaluate(&args).unwrap();
        let check = jacobian.check(&args, &matrix).unwrap();
        assert!(!check.is_ok && check.max_rel_err > 0.01, "{check:?}");
    }
}

#[test]
fn arguments_of_another_shape_are_refused() {
    let subject = Subject::new(COUPLED, "f", r#"{"x": [1, 2, 3, 4], "with_next": false, "at": [0, 0, 2, 2]}"#);
    let jacobian = subject.jacobian(&["x"]);
    let other = subject.arguments(r#"{"x": [1, 2], "with_next": false, "at": [0, 0]}"#);
    let error = jacobian.evaluate(&other).unwrap_err();
    assert!(matches!(error, SparseError::Shape { expected: (4, 4), found: (2, 2) }), "{error}");
    assert_eq!(error.to_string(), "the pattern has 4 rows and 4 columns, at these arguments there are 2 and 2");
}

#[test]
fn a_request_for_something_else_is_refused() {
    let subject = Subject::new(COUPLED, "f", r#"{"x": [1], "with_next": false, "at": [0]}"#);
    let error = |request: &Request| {
        SparseJacobian::new(&subject.compiler, &subject.program, request, Engine::CPU, &subject.args)
            .unwrap_err()
            .to_string()
    };
    let expected = "a sparse matrix: expected a request for a jacobian or a hessian, found ";
    assert_eq!(error(&Request::function("f")), format!("{expected}a function"));
    assert_eq!(error(&subject.request(DerivativeForm::Jvp, &["x"], None)), format!("{expected}jvp"));
    assert!(error(&subject.request(DerivativeForm::Jacobian, &["at"], None)).contains("has no derivative"));
}

#[test]
fn a_run_that_fails_says_where() {
    let subject = Subject::new(COUPLED, "f", r#"{"x": [1, 2], "with_next": false, "at": [0, 7]}"#);
    let request = subject.request(DerivativeForm::Jacobian, &["x"], None);
    let error =
        SparseJacobian::new(&subject.compiler, &subject.program, &request, Engine::CPU, &subject.args).unwrap_err();
    assert_eq!(error.to_string(), "index out of range: expected 0 <= index < 2, found 7");
}
