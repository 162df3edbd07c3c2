//! Which products lose a side of 1 or a transpose, and that every sum keeps its bits.

use super::*;
use cotan_interp::{Options, run};
use cotan_ir::{Module, parse_function, verify_module};
use cotan_ops::{Registry, Value};

fn module_of(f: Function) -> Module {
    let mut module = Module::default();
    module.insert(f);
    assert_eq!(verify_module(&module), Ok(()), "{module}");
    module
}

/// What the pass makes of a function of `a: f64[n, m]`, `x: f64[m]`, `y: f64[n]` and `s: f64`, simplified. Results keep
/// their bits, and a second run changes nothing.
fn made(body: &str) -> String {
    let text = format!("fn f(n: i64, m: i64, a: f64[n, m], x: f64[m], y: f64[n], s: f64) {{\n{body}}}\n");
    let f = parse_function(&text, Registry::standard()).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let made = crate::simplify(vector_products(f.clone()));
    assert_eq!(vector_products(made.clone()).to_string(), made.to_string(), "once more");
    let (name, before, after) = (f.name.clone(), module_of(f), module_of(made.clone()));
    for [n, m] in [[0, 2], [2, 0], [1, 1], [3, 5], [2, 700]] {
        let numbers = |dims: &[i64], seed: i64| {
            let number = |k: i64| match (k + seed) % 9 {
                0 => -0.0,
                k => 0.1 * k as f64 - 0.35,
            };
            Value::f64s(dims, &(0..dims.iter().product()).map(number).collect::<Vec<f64>>())
        };
        let sizes = [n, m].map(|size| Value::i64s(&[], &[size]));
        let [n_value, m_value] = sizes;
        let args = [n_value, m_value, numbers(&[n, m], 1), numbers(&[m], 2), numbers(&[n], 3), numbers(&[], 4)];
        let results = [&before, &after].map(|module| run(module, &name, &args, &Options::default()));
        let [before, after] = results.map(|r| r.unwrap_or_else(|e| panic!("{e:?}\n{text}")));
        assert_eq!(before, after, "{text}");
    }
    made.to_string()
}

fn has_transpose_or_unit_side(made: &str) -> bool {
    made.contains("transpose") || made.contains(", 1]") || made.contains("[1, ")
}

#[test]
fn the_adjoints_of_a_matrix_times_a_vector_are_an_outer_product_and_a_vector_times_the_matrix() {
    let made = made(
        "  cot: f64[n, 1] = reshape y
  column: f64[m, 1] = reshape x
  row: f64[1, m] = transpose column {1, 0}
  a_cot: f64[n, m] = matmul cot, row {1}
  turned: f64[m, n] = transpose a {1, 0}
  product: f64[m, 1] = matmul turned, cot {1}
  x_cot: f64[m] = reshape product
  return a_cot, x_cot
",
    );
    assert!(!has_transpose_or_unit_side(&made), "{made}");
    assert!(made.contains("matmul y, a {1}") && made.contains("par "), "{made}");
}

#[test]
fn the_adjoints_of_a_vector_times_a_matrix_lose_their_transposes() {
    let made = made(
        "  cot: f64[1, m] = reshape x
  row: f64[1, n] = reshape y
  column: f64[n, 1] = transpose row {1, 0}
  a_cot: f64[n, m] = matmul column, cot {0}
  turned: f64[m, n] = transpose a {1, 0}
  product: f64[1, n] = matmul cot, turned {0}
  y_cot: f64[n] = reshape product
  return a_cot, y_cot
",
    );
    assert!(!has_transpose_or_unit_side(&made), "{made}");
    assert!(made.contains("matmul a, x {0}") && made.contains("fma"), "{made}");
}

#[test]
fn the_adjoint_of_two_vectors_is_a_scaled_vector() {
    let made = made(
        "  cot: f64[1, 1] = reshape s
  column: f64[m, 1] = reshape x
  row: f64[1, m] = transpose column {1, 0}
  product: f64[1, m] = matmul cot, row {1}
  x_cot: f64[m] = reshape product
  other: f64[m, 1] = matmul column, cot {1}
  y_cot: f64[m] = reshape other
  return x_cot, y_cot
",
    );
    assert!(!made.contains("matmul") && !has_transpose_or_unit_side(&made), "{made}");
}

#[test]
fn two_vectors_and_two_numbers_as_matrices_are_what_they_are() {
    let made = made(
        "  row: f64[1, m] = reshape x
  column: f64[m, 1] = reshape x
  product: f64[1, 1] = matmul row, column {0}
  cot: f64[1, 1] = reshape s
  square: f64[1, 1] = matmul cot, cot {0}
  return product, square
",
    );
    assert!(made.contains("matmul x, x {0}") && made.contains("fma s, s, 0.0"), "{made}");
}

#[test]
fn a_transposed_factor_of_a_product_with_a_vector_is_read_as_it_lies() {
    let made = made(
        "  turned: f64[m, n] = transpose a {1, 0}
  left: f64[m] = matmul turned, y {0}
  right: f64[n] = matmul x, turned {0}
  return left, right
",
    );
    assert!(made.contains("matmul y, a {0}") && made.contains("matmul a, x {0}"), "{made}");
}

#[test]
fn a_matrix_that_is_transposed_outside_of_a_loop_is_read_in_it() {
    let made = made(
        "  turned: f64[m, n] = transpose a {1, 0}
  all: f64[n, m] = par i < n (stack) {
    product: f64[m] = matmul turned, y {0}
    yield product
  }
  return all
",
    );
    assert!(made.contains("matmul y, a {0}"), "{made}");
}

#[test]
fn products_of_matrices_stay() {
    let body = "  turned: f64[m, n] = transpose a {1, 0}
  product: f64[n, n] = matmul a, turned {0}
  return product
";
    assert!(made(body).contains("matmul a, turned"));
}
