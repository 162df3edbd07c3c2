//! Which sums are taken before a map, and that they stay the same sums.

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

/// Whole numbers, so that every order of adding up gives the same, and now and then a negative zero.
fn numbers(dims: &[i64], seed: i64) -> Value {
    let number = |k: i64| if (k + seed) % 5 == 0 { -0.0 } else { ((k * 7 + seed * 3) % 11 - 4) as f64 };
    Value::f64s(dims, &(0..cotan_ops::count(dims) as i64).map(number).collect::<Vec<f64>>())
}

/// What the pass makes of a function of two sizes and two matrices, cleared of dead code. It computes the same, and a
/// second run changes nothing.
fn made(text: &str) -> String {
    let f = parse_function(text, Registry::standard()).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let raw = sum_before_map(f.clone());
    let name = f.name.clone();
    module_of(raw.clone());
    let made = crate::simplify(raw);
    assert_eq!(sum_before_map(made.clone()).to_string(), made.to_string(), "once more");
    let (before, after) = (module_of(crate::simplify(f)), module_of(made.clone()));
    for [n, m] in [[0, 2], [2, 0], [1, 1], [4, 5], [5, 4]] {
        let args = [Value::i64s(&[], &[n]), Value::i64s(&[], &[m]), numbers(&[n, m], 1), numbers(&[m, m], 2)];
        let results = [&before, &after].map(|module| run(module, &name, &args, &Options::default()));
        let [before, after] = results.map(|r| r.unwrap_or_else(|e| panic!("{e:?}\n{text}")));
        for (x, y) in before.iter().zip(&after) {
            let is_same = |(x, y): (&u64, &u64)| f64::from_bits(*x) == f64::from_bits(*y);
            assert!(x.dims == y.dims && x.bits.iter().zip(&y.bits).all(is_same), "{x:?} {y:?}\n{text}");
        }
    }
    made.to_string()
}

fn function(body: &str) -> String {
    format!("fn f(n: i64, m: i64, x: f64[n, m], a: f64[m, m]) {{\n  zero: f64[m] = fill 0.0\n{body}}}\n")
}

/// For every point, the cotangents of a row of `x` through the transposed matrix `a`, given what goes in and a product.
fn transposed(source: &str, product: &str) -> String {
    function(&format!(
        "  total: f64[m] = par p < n acc (to: f64[m] add from zero) {{
    row: f64[m] = x[p]
    out: f64[m] = par i < m acc (o: f64[m] add from zero) {{
      e: f64 = row[i]
{source}
      loop j < m {{
        c: f64 = a[i, j]
{product}
        acc_add o[j] = q
        yield
      }}
      yield
    }}
    acc_add to[] = out
    yield
  }}
  return total
"
    ))
}

const SQUARED: &str = "      s: f64 = mul e, e";
const PRODUCT: &str = "        q: f64 = mulz s, c";

/// Whether the loop over points has no product with the matrix left, and there is a loop behind it.
fn is_pulled(text: &str) -> bool {
    let Some((before, behind)) = text.split_once("once") else { return false };
    !before.contains("mulz") && behind.contains("mulz") && before.contains("acc_add s")
}

#[test]
fn the_sum_of_what_goes_through_a_matrix_is_taken_before_it() {
    let text = made(&transposed(SQUARED, PRODUCT));
    assert!(is_pulled(&text), "{text}");
    assert!(text.contains("acc_add s.1[i] = s.2") || text.contains("acc_add s.1[i] = s"), "{text}");
}

#[test]
fn signs_sums_and_constants_on_the_way_are_done_once() {
    let text = transposed(SQUARED, "        r: f64 = mulz c, s\n        t: f64 = neg r\n        q: f64 = mul t, 0.5")
        .replace(
            "acc_add to[] = out",
            "twice: f64[m] = add out, out\n    less: f64[m] = neg twice\n    acc_add to[] = less",
        );
    let text = made(&text);
    assert!(is_pulled(&text) && !text.split("once").next().is_some_and(|before| before.contains("neg")), "{text}");
}

#[test]
fn a_map_per_component_keeps_its_loop_over_components() {
    let text = made(&function(
        "  zeros: f64[m, m] = fill 0.0
  total: f64[m, m] = par p < n acc (to: f64[m, m] add from zeros) {
    par k < m {
      w: f64 = x[p, k]
      out: f64[m] = par i < m acc (o: f64[m] add from zero) {
        e: f64 = x[p, i]
        s: f64 = mul w, e
        par j < i {
          c: f64 = a[k, j]
          q: f64 = mulz s, c
          acc_add o[j] = q
          yield
        }
        yield
      }
      acc_add to[k] = out
      yield
    }
    yield
  }
  return total
",
    ));
    assert!(is_pulled(&text) && text.contains("[k, i] = s"), "{text}");
}

#[test]
fn an_index_of_the_nest_that_the_sum_keeps_is_none_of_the_points() {
    let text = made(&function(
        "  zeros: f64[m, m] = fill 0.0
  total: f64[m, m] = par p < n, k < m acc (to: f64[m, m] add from zeros) {
    w: f64 = x[p, k]
    out: f64[m] = par i < m acc (o: f64[m] add from zero) {
      e: f64 = x[p, i]
      s: f64 = mul w, e
      par j < m {
        c: f64 = a[k, j]
        q: f64 = mulz s, c
        acc_add o[j] = q
        yield
      }
      yield
    }
    acc_add to[k] = out
    yield
  }
  return total
",
    ));
    assert!(is_pulled(&text) && text.contains("par p.1 < once, k.1 < m"), "{text}");
}

#[test]
fn whole_rows_go_into_a_map_as_well() {
    let text = made(&function(
        "  total: f64[m] = par p < n acc (to: f64[m] add from zero) {
    row: f64[m] = x[p]
    s: f64[m] = mul row, row
    par k < m {
      c: f64[m] = a[k]
      q: f64[m] = mulz s, c
      acc_add to[] = q
      yield
    }
    yield
  }
  return total
",
    ));
    assert!(is_pulled(&text) && text.contains("acc_add s.1[] = s"), "{text}");
}

#[test]
fn other_results_of_the_nest_stay() {
    let text = made(
        &transposed(SQUARED, PRODUCT)
            .replace("total: f64[m] = par p < n acc", "u: f64[n], total: f64[m] = par p < n (stack) acc")
            .replace("acc_add to[] = out\n    yield", "acc_add to[] = out\n    g: f64 = par h < m (add from 0.0) {\n      y: f64 = row[h]\n      yield y\n    }\n    yield g")
            .replace("return total", "return total, u"),
    );
    assert!(is_pulled(&text) && text.contains("u: f64[n]"), "{text}");
}

#[test]
fn nests_inside_of_loops_are_found() {
    let text = transposed(SQUARED, PRODUCT);
    let (head, rest) = text.split_once("  total").expect("there is one");
    let (nest, end) = rest.split_once("  return").expect("there is one");
    let looped = format!(
        "{head}  sum: f64[m] = loop t < 3 (s.9: f64[m] = zero) {{\n  total{nest}  more: f64[m] = add s.9, total\n  yield more\n  }}\n  return sum\n"
    );
    let text = made(&format!("{looped}{}", end.split_once('\n').map_or("", |(_, end)| end)));
    assert!(is_pulled(&text), "{text}");
}

#[test]
fn sums_that_gain_nothing_or_are_none_stay() {
    let kept = [
        // A product of values is rounded by itself.
        transposed(SQUARED, "        q: f64 = mul s, c"),
        // A map that differs from point to point.
        transposed(SQUARED, "        y: f64 = row[j]\n        z: f64 = mul y, c\n        q: f64 = mulz s, z"),
        // What goes in is as much as what comes out.
        transposed("", "        y: f64 = row[j]\n        s: f64 = mul e, y\n        q: f64 = mulz s, c"),
        // No map at all.
        transposed(SQUARED, "        q: f64 = sin s"),
        // A constant is added for every point.
        transposed(SQUARED, "        r: f64 = mulz s, c\n        q: f64 = add r, 1.0")
            .replace("mulz s, c", "mulz s, e"),
        // Where it is added depends on the point.
        transposed(SQUARED, PRODUCT).replace("loop j < m {", "h: i64 = sub m, 1\n      g: i64 = min p, h\n      loop j < m {").replace("o[j]", "o[g]"),
        // As long as the point says.
        transposed(SQUARED, PRODUCT).replace("loop j < m {", "h: i64 = min p, m\n      loop j < h {"),
        // In a branch.
        transposed(SQUARED, PRODUCT).replace(
            "        acc_add o[j] = q\n",
            "        go: bool = lt s, c\n        switch go {\n          acc_add o[j] = q\n          yield\n        } {\n          yield\n        }\n",
        ),
        // The largest of all is no sum.
        transposed(SQUARED, PRODUCT).replace("(to: f64[m] add from", "(to: f64[m] max from"),
        // Written twice.
        transposed(SQUARED, PRODUCT).replace("acc_add to[] = out", "acc_add to[] = out\n    acc_add to[] = row"),
    ];
    for text in kept {
        let found = made(&text);
        assert!(!found.contains("once"), "{found}");
    }
}
