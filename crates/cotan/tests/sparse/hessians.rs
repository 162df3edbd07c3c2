//! Sparse Hessians: the Jacobian of the gradient.

use crate::sparse::{Subject, rows};
use cotan::DerivativeForm::Hessian;
use cotan::DerivativeMode;

#[test]
fn of_a_separable_function_is_diagonal_and_takes_one_colour() {
    let text = "fn f[N](x: f64[N]) -> f64 = +/ map(|a| a ** 4 + exp(a), x)";
    let subject = Subject::new(text, "f", r#"{"x": [1, -2, 0.5, 3]}"#);
    let hessian = subject.hessian(&["x"]);
    assert_eq!(rows(&hessian), [[0], [1], [2], [3]].map(Vec::from));
    assert_eq!((hessian.colouring().count(), hessian.colouring().mode()), (1, DerivativeMode::Forward));
    subject.check(Hessian, "x");
}

#[test]
fn of_a_chain_has_three_diagonals_and_takes_three_colours() {
    let text = "fn f[N](x: f64[N]) -> f64 {
      let mut s = 0.0
      for i in 0..N - 1 { s += 100.0 * (x[i + 1] - x[i] ** 2) ** 2 + (1.0 - x[i]) ** 2 }
      s
    }";
    let subject = Subject::new(text, "f", r#"{"x": [1, -2, 0.5, 3, 1.5, 0.25]}"#);
    let hessian = subject.hessian(&["x"]);
    let expected = [vec![0, 1], vec![0, 1, 2], vec![1, 2, 3], vec![2, 3, 4], vec![3, 4, 5], vec![4, 5]];
    assert_eq!((rows(&hessian), hessian.colouring().count()), (expected.to_vec(), 3));
    let matrix = subject.matrix(&hessian);
    let row: Vec<_> = matrix.row(0).collect();
    // 1200 x0² - 400 x1 + 2, and -400 x0.
    assert_eq!(row, [(0, 2002.0), (1, -400.0)]);
    subject.check(Hessian, "x");
}

#[test]
fn of_several_parameters_is_one_symmetric_matrix() {
    let text = "fn f(x: f64[2], y: f64) -> f64 = x[0] * x[0] * x[1] + y * x[1]";
    let subject = Subject::new(text, "f", r#"{"x": [3, 5], "y": 2}"#);
    let hessian = subject.hessian(&["x", "y"]);
    assert_eq!(rows(&hessian), [vec![0, 1], vec![0, 2], vec![1]]);
    assert_eq!(subject.matrix(&hessian).dense(), [10.0, 6.0, 0.0, 6.0, 0.0, 1.0, 0.0, 1.0, 0.0]);
    let turned = subject.hessian(&["y", "x"]);
    assert_eq!(subject.matrix(&turned).dense(), [0.0, 0.0, 1.0, 0.0, 10.0, 6.0, 1.0, 6.0, 0.0]);
}

#[test]
fn through_a_while_and_through_indices() {
    let text = "fn f[N](x: f64[N], at: i64[N]) -> f64 {
      let mut s = 0.0
      let mut k = 0
      while k < N && s < 1000.0 {
        s += x[at[k]] * x[k] * x[k]
        k += 1
      }
      s
    }";
    let subject = Subject::new(text, "f", r#"{"x": [1, 2, 3, 4, 5], "at": [2, 2, 0, 3, 1]}"#);
    subject.check(Hessian, "x");
    let hessian = subject.hessian(&["x"]);
    assert_eq!(rows(&hessian), [vec![0, 2], vec![1, 2, 4], vec![0, 1, 2], vec![3], vec![1, 4]]);
}
