//! Which sums become matrix products, and that they are the same sums.

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

/// What the pass makes of a function of two sizes and three matrices, cleared of dead code. It computes the same, and
/// a second run changes nothing.
fn made(text: &str) -> String {
    let f = parse_function(text, Registry::standard()).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let made = crate::simplify(recognize_matmul(f.clone()));
    assert_eq!(recognize_matmul(made.clone()).to_string(), made.to_string(), "once more");
    let (name, before, after) = (f.name.clone(), module_of(f), module_of(made.clone()));
    for [n, m] in [[0, 2], [2, 0], [1, 1], [4, 5], [5, 4]] {
        let matrix = |dims: [i64; 2], seed: i64| {
            let number = |k: i64| match (k + seed) % 9 {
                0 => -0.0,
                4 => f64::INFINITY,
                k => 0.1 * k as f64 - 0.35,
            };
            Value::f64s(&dims, &(0..dims[0] * dims[1]).map(number).collect::<Vec<f64>>())
        };
        let args =
            [Value::i64s(&[], &[n]), Value::i64s(&[], &[m]), matrix([n, m], 1), matrix([m, n], 2), matrix([n, n], 3)];
        let results = [&before, &after].map(|module| run(module, &name, &args, &Options::default()));
        let [before, after] = results.map(|r| r.unwrap_or_else(|e| panic!("{e:?}\n{text}")));
        for (x, y) in before.iter().zip(&after) {
            let is_close = |(x, y): (&u64, &u64)| {
                let (x, y) = (f64::from_bits(*x), f64::from_bits(*y));
                x == y || x.is_nan() && y.is_nan() || (x - y).abs() < 1e-12
            };
            assert!(x.dims == y.dims && x.bits.iter().zip(&y.bits).all(is_close), "{x:?} {y:?}\n{text}");
        }
    }
    made.to_string()
}

/// Functions of `a: f64[n, m]`, `b: f64[m, n]` and `c: f64[n, n]`.
fn function(body: &str) -> String {
    format!(
        "fn f(n: i64, m: i64, a: f64[n, m], b: f64[m, n], c: f64[n, n]) {{\n  zero: f64[n, n] = fill 0.0\n{body}}}\n"
    )
}

/// A sum over `k` into an element of a matrix, given what else an iteration does.
fn nest(iteration: &str) -> String {
    function(&format!(
        "  d: f64[n, n] = par i < n, j < n, k < m acc (to: f64[n, n] add from zero) {{
    x: f64 = a[i, k]
    y: f64 = b[k, j]
{iteration}
    yield
  }}
  return d
"
    ))
}

const PLAIN: &str = "    p: f64 = mulz x, y\n    acc_add to[i, j] = p";

#[test]
fn a_sum_of_products_of_elements_is_a_product_of_the_arrays() {
    let text = made(&nest(PLAIN));
    assert!(text.contains("d: f64[n, n] = matmul a, b {1}") && !text.contains("par"), "{text}");
    let turned = made(&nest("    p: f64 = mulz y, x\n    acc_add to[j, i] = p"));
    assert!(turned.contains("transpose a {1, 0}") && turned.contains("transpose b {1, 0}"), "{turned}");
    assert!(turned.contains("matmul transposed, transposed.1 {1}") && !turned.contains("par"), "{turned}");
}

#[test]
fn both_sums_of_a_reverse_sweep_are_products() {
    let text = made(&function(
            "  zeros: f64[n, m] = fill 0.0
  zeros.1: f64[m, n] = fill 0.0
  a_cot: f64[n, m], b_cot: f64[m, n] = par i < n acc (to_a: f64[n, m] add from zeros, to_b: f64[m, n] add from zeros.1) {
    row: f64[n] = c[i]
    par j < n {
      elem: f64 = row[j]
      cot: f64 = add 0.0, elem
      par k < m {
        x: f64 = a[i, k]
        y: f64 = b[k, j]
        p: f64 = mulz cot, y
        q: f64 = mulz x, cot
        acc_add to_a[i, k] = p
        acc_add to_b[k, j] = q
        yield
      }
      yield
    }
    yield
  }
  return a_cot, b_cot
",
        ));
    assert!(text.contains("b_cot: f64[m, n] = matmul transposed") && text.contains(", c {1}"), "{text}");
    assert!(text.contains("a_cot: f64[n, m] = matmul c, transposed"), "{text}");
    assert!(!text.contains("par"), "{text}");
}

#[test]
fn a_factor_that_is_computed_is_made_first_and_other_results_stay() {
    let text = made(&function(
        "  s: f64[n], d: f64[n, n] = par i < n (stack) acc (to: f64[n, n] add from zero) {
    row: f64[m] = a[i]
    par k < m {
      x: f64 = row[k]
      u: f64 = sin x
      par j < n {
        y: f64 = b[k, j]
        p: f64 = mulz y, u
        acc_add to[i, j] = p
        yield
      }
      yield
    }
    e: f64 = c[i, i]
    yield e
  }
  return s, d
",
    ));
    assert!(text.contains("d: f64[n, n] = matmul factor, b {1}"), "{text}");
    assert_eq!((text.matches("sin").count(), text.matches("mulz").count()), (1, 0), "{text}");
}

#[test]
fn a_sum_that_does_not_start_from_zero_is_added_to() {
    let text = made(&nest(PLAIN).replace("from zero", "from c"));
    assert!(text.contains("product: f64[n, n] = matmul a, b {1}") && text.contains("add c, product"), "{text}");
}

#[test]
fn sums_that_are_no_products_stay() {
    let kept = [
        // Both factors depend on the column.
        nest("    w: f64 = mul x, y\n    p: f64 = mulz w, y\n    acc_add to[i, j] = p"),
        // A product of values is rounded by itself.
        nest("    p: f64 = mul x, y\n    acc_add to[i, j] = p"),
        // Written twice, elsewhere, and in a branch.
        nest(&format!("{PLAIN}\n    acc_add to[j, i] = p")),
        nest("    p: f64 = mulz x, y\n    h: i64 = sub n, 1\n    g: i64 = sub h, j\n    acc_add to[i, g] = p"),
        nest(
            "    p: f64 = mulz x, y\n    go: bool = lt x, y\n    switch go {\n      acc_add to[i, j] = p\n      yield\n    } {\n      yield\n    }",
        ),
        // An element that is there only if the loop over rows runs.
        nest("    z: f64 = c[i, 0]\n    w: f64 = mul z, x\n    p: f64 = mulz w, y\n    acc_add to[i, j] = p"),
        // The order of `+/` is documented.
        function(
            "  d: f64[n, n] = par i < n, j < n (stack) {
    s: f64 = par k < m (add from 0.0) {
      x: f64 = a[i, k]
      y: f64 = b[k, j]
      p: f64 = mulz x, y
      yield p
    }
    yield s
  }
  return d
",
        ),
        // In a loop.
        function(
            "  d: f64[n, n] = loop t < 2 (s: f64[n, n] = zero) {
    e: f64[n, n] = par i < n, j < n, k < m acc (to: f64[n, n] add from s) {
      x: f64 = a[i, k]
      y: f64 = b[k, j]
      p: f64 = mulz x, y
      acc_add to[i, j] = p
      yield
    }
    yield e
  }
  return d
",
        ),
    ];
    for text in kept {
        let found = made(&text);
        assert!(!found.contains("matmul"), "{found}");
    }
}

#[test]
fn what_is_known_to_be_small_stays() {
    let of = |n: i64, m: i64| {
        let text = format!(
            "fn f(a: f64[{n}, {m}], b: f64[{m}, {n}]) {{
  zero: f64[{n}, {n}] = fill 0.0
  d: f64[{n}, {n}] = par i < {n}, j < {n}, k < {m} acc (to: f64[{n}, {n}] add from zero) {{
    x: f64 = a[i, k]
    y: f64 = b[k, j]
{PLAIN}
    yield
  }}
  return d
}}"
        );
        let f = parse_function(&text, Registry::standard()).unwrap_or_else(|e| panic!("{e}\n{text}"));
        recognize_matmul(f).to_string().contains("matmul")
    };
    assert_eq!([of(100, 3), of(3, 10_000), of(25, 26), of(100, 4), of(26, 26)], [false, false, false, true, true]);
}
