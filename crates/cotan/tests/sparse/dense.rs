//! Sparse Jacobians are the dense ones, and take few colours.

use crate::sparse::Subject;
use cotan::DerivativeForm::Jacobian;

/// `n` numbers, written as JSON.
fn numbers(n: usize) -> String {
    let numbers: Vec<String> = (0..n).map(|k| format!("{}", (k as f64 * 0.7).sin() + 1.25)).collect();
    format!("[{}]", numbers.join(", "))
}

/// The dense matrix in both modes, and at most two colours more than the largest line.
fn check(subject: &Subject, wrt: &str) {
    subject.check(Jacobian, wrt);
    let jacobian = subject.jacobian(&[wrt]);
    let largest = match jacobian.colouring().mode() {
        cotan::DerivativeMode::Forward => jacobian.pattern().largest_row(),
        cotan::DerivativeMode::Reverse => jacobian.pattern().transposed().largest_row(),
    };
    assert!(jacobian.colouring().count() <= largest + 2, "{} colours for {largest}", jacobian.colouring().count());
}

#[test]
fn of_a_band() {
    let text = "fn f[N](x: f64[N]) -> f64[N] = tabulate(N, |i| {
      let mut s = x[i] * x[i]
      for j in 0..N { if j >= i - 2 && j <= i + 2 { s += x[i] * sin(x[j]) } }
      s
    })";
    check(&Subject::new(text, "f", &format!("{{\"x\": {}}}", numbers(17))), "x");
}

#[test]
fn of_an_arrow() {
    let text = "fn f[N](x: f64[N]) -> f64[N] = tabulate(N, |i| if i == 0 { x @ x } else { x[0] * x[i] })";
    check(&Subject::new(text, "f", &format!("{{\"x\": {}}}", numbers(12))), "x");
}

#[test]
fn of_a_stencil_in_two_dimensions() {
    let text = "fn at[N, M](u: f64[N, M], i: i64, j: i64) -> f64 =
      if i >= 0 && i < N && j >= 0 && j < M { u[i, j] } else { 0.0 }
    fn f[N, M](u: f64[N, M]) -> f64[N, M] = tabulate([N, M], |i, j| {
      let c = u[i, j]
      4.0 * c - at(u, i - 1, j) - at(u, i + 1, j) - at(u, i, j - 1) - at(u, i, j + 1) + 0.1 * exp(c)
    })";
    let rows: Vec<String> = (0..9).map(|_| numbers(7)).collect();
    check(&Subject::new(text, "f", &format!("{{\"u\": [{}]}}", rows.join(", "))), "u");
}

/// Each residual has one camera and one point.
const BUNDLES: &str = "
fn project(camera: f64[4], point: f64[3]) -> f64[2] {
  let z = point[2] + camera[2] + 3.0
  [camera[3] * (point[0] + camera[0]) / z, camera[3] * (point[1] + camera[1]) / z]
}
fn f[N, M, P](cameras: f64[N, 4], points: f64[M, 3], seen: i64[P, 2]) -> f64[P, 2] =
  tabulate(P, |k| project(cameras[seen[k, 0]], points[seen[k, 1]]))";

#[test]
fn of_bundle_adjustment() {
    let args = r#"{"cameras": [[1, 2, 3, 4], [0.5, 0.25, 1, 2], [1, 1, 2, 3]],
        "points": [[1, 2, 3], [4, 5, 6], [2, 1, 0], [0.5, 0.5, 0.5]],
        "seen": [[0, 0], [0, 1], [1, 1], [1, 2], [2, 0], [2, 3], [0, 3]]}"#;
    let subject = Subject::new(BUNDLES, "f", args);
    check(&subject, "cameras");
    check(&subject, "points");
    let both = subject.jacobian(&["cameras", "points"]);
    assert_eq!(both.pattern().shape(), (14, 24));
    // A residual has the position and the zoom of its camera in it, and its point, but for one coordinate of each.
    assert_eq!((both.pattern().largest_row(), both.colouring().count()), (5, 5));
    let matrix = subject.matrix(&both);
    let [cameras, points] = ["cameras", "points"].map(|wrt| subject.matrix(&subject.jacobian(&[wrt])).dense());
    assert_eq!(matrix.block(0..14, 0..12).dense(), cameras);
    assert_eq!(matrix.block(0..14, 12..24).dense(), points);
}

#[test]
fn through_a_while_whose_trips_depend_on_data() {
    let text = "fn f[N](x: f64[N]) -> f64[N] = tabulate(N, |i| {
      let mut a = x[i]
      let mut k = i
      while a < 5.0 {
        a = a * 1.5 + 0.1 * x[k]
        k = (k + 1) % N
      }
      a
    })";
    check(&Subject::new(text, "f", r#"{"x": [1, 6, 2, 4, 0.5, 3]}"#), "x");
}

#[test]
fn through_an_indirect_index_and_through_a_scatter() {
    let gather = "fn f[N, M](x: f64[N], at: i64[M]) -> f64[M] = tabulate(M, |k| x[at[k]] * x[at[k]] + x[k])";
    check(&Subject::new(gather, "f", r#"{"x": [1, 2, 3, 4, 5], "at": [4, 0, 4, 2]}"#), "x");
    let scatter = "kernel f[N](w: f64[N], bin: i64[N], bins: i64) -> f64[bins] {
      let mut h = zeros[f64](bins)
      for i in 0..N { h[bin[i]] += w[i] * w[i] }
      h
    }";
    check(&Subject::new(scatter, "f", r#"{"w": [1, 2, 3, 4], "bin": [0, 2, 0, 2], "bins": 4}"#), "w");
}

#[test]
fn through_operations_on_whole_tensors() {
    let text = "fn f[N](x: f64[N, N], a: f64[N, N]) -> f64[N, N] = (a @ x) .* transpose(x) .+ reverse(x)";
    let args = r#"{"x": [[1, 2, 3], [4, 5, 6], [7, 8, 9]], "a": [[1, 0, 0], [0, 2, 0], [0.5, 0, 3]]}"#;
    check(&Subject::new(text, "f", args), "x");
}

#[test]
fn of_singles() {
    let text = "fn f[N](x: f32[N]) -> f32[N] = tabulate(N, |i| if i == 0 { x[0] } else { x[i] * x[i - 1] })";
    let subject = Subject::new(text, "f", r#"{"x": [1.5, 0.1, 3]}"#);
    let matrix = subject.matrix(&subject.jacobian(&["x"]));
    assert_eq!(matrix.elem, cotan_ir::Elem::F32);
    assert_eq!(matrix.data, [1.0, f64::from(0.1f32), 1.5, 3.0, f64::from(0.1f32)]);
    subject.check(Jacobian, "x");
}

#[test]
fn of_nothing() {
    let text = "fn f[N](x: f64[N]) -> f64[N] = x .* x
    fn constant[N](x: f64[N]) -> f64[2] = [floor(+/ x), 1.0]";
    let subject = Subject::new(text, "f", r#"{"x": {"shape": [0], "data": []}}"#);
    let jacobian = subject.jacobian(&["x"]);
    assert_eq!((jacobian.pattern().shape(), jacobian.colouring().count()), ((0, 0), 0));
    assert!(subject.matrix(&jacobian).data.is_empty());
    let subject = Subject::new(text, "constant", r#"{"x": [1, 2, 3]}"#);
    let jacobian = subject.jacobian(&["x"]);
    assert_eq!((jacobian.pattern().shape(), jacobian.pattern().entries()), ((2, 3), 0));
    assert_eq!(subject.matrix(&jacobian).dense(), [0.0; 6]);
}

#[test]
fn of_many_colours_that_take_several_calls() {
    let text = "fn f[N](x: f64[N], m: i64) -> f64[m] = tabulate(m, |i| (x @ x) * x[i % N])";
    let subject = Subject::new(text, "f", &format!("{{\"x\": {}, \"m\": 70000}}", numbers(130)));
    let jacobian = subject.jacobian(&["x"]);
    assert_eq!(jacobian.colouring().count(), 130, "more than fit into one call");
    let matrix = jacobian.evaluate(&subject.args).unwrap();
    let x = subject.args["x"].floats();
    let square: f64 = x.iter().map(|x| x * x).sum();
    for row in [0, 1, 69_999] {
        for (column, found) in matrix.row(row) {
            let own = if column == row % 130 { square } else { 0.0 };
            let expected = 2.0 * x[column] * x[row % 130] + own;
            assert!((found - expected).abs() < 1e-10, "{row}, {column}: {found} against {expected}");
        }
    }
}
