//! Costs of derivatives: runs of bodies, recorded elements, growth of code. All counted, nothing timed.
#![allow(clippy::print_stdout, reason = "the counts are the point")]

use crate::oracle;

use cotan_ir::{Block, Function, Mode, Module, Op};
use cotan_ops::Value;
use oracle::{derive, gradient, int, ints, module, scalar, vector};

const SHAPES: [&str; 5] = [
    include_str!("shapes/recurrences.cir"),
    include_str!("shapes/in_place.cir"),
    include_str!("shapes/whiles.cir"),
    include_str!("shapes/accumulation.cir"),
    include_str!("shapes/models.cir"),
];

fn with(name: &str) -> Module {
    let text = SHAPES.iter().find(|text| text.contains(&format!("fn {name}("))).expect("a file with that function");
    module(text)
}

/// Elements recorded by one gradient at each of these arguments.
fn recorded(name: &str, args: impl Fn(i64) -> Vec<Value>) -> Vec<u64> {
    let mut module = with(name);
    let count = |n: i64| gradient(&mut module, name, &args(n)).1.recorded_elements;
    let counts = [4, 8, 16].map(count).to_vec();
    println!("{name}: {counts:?}");
    counts
}

/// Distinct numbers between 0.1 and 0.9.
fn ramp(n: i64) -> Value {
    vector(&(0..n).map(|i| 0.1 + 0.8 * ((i * 5) % n) as f64 / n as f64).collect::<Vec<_>>())
}

/// A matrix with a dominant diagonal.
fn dominant(n: i64) -> Value {
    let element = |k: i64| if k / n == k % n { n as f64 } else { 0.1 * ((k / n + k % n) % 3) as f64 };
    Value::f64s(&[n, n], &(0..n * n).map(element).collect::<Vec<_>>())
}

#[test]
fn linear_loops_record_nothing() {
    let x4 = || vector(&[0.3, 0.5, 0.7, 0.4]);
    let ones = || vector(&[1.0; 3]);
    assert_eq!(recorded("linear_recurrence", |n| vec![int(4), x4(), int(n)]), [0, 0, 0]);
    assert_eq!(recorded("fibonacci", |n| vec![int(3), ones(), ones(), ints(&[n; 3])]), [0, 0, 0]);
    assert_eq!(recorded("prefix_sums_in_place", |n| vec![int(n), ramp(n)]), [0, 0, 0]);
    let bins = |n: i64| ints(&(0..n).map(|i| i % 3).collect::<Vec<_>>());
    assert_eq!(recorded("histogram_add", |n| vec![int(n), ramp(n), bins(n), ramp(n)]), [0, 0, 0]);
}

#[test]
fn a_loop_records_the_scalars_that_its_reverse_reads() {
    assert_eq!(recorded("out_i_f_out_i_1_x", |n| vec![int(n), ramp(n), ramp(n)]), [3, 7, 15]);
    assert_eq!(recorded("mass_spring", |n| vec![int(n), ramp(n), ramp(n)]), [20, 40, 80]);
    assert_eq!(recorded("forward_substitution", |n| vec![int(n), dominant(n), ramp(n)]), [12, 24, 48]);
}

#[test]
fn a_while_records_exactly_what_ran() {
    let points = |n: i64| (0..n).map(|i| 0.5 + i as f64).collect::<Vec<_>>();
    let trips = |n: i64| -> u64 {
        let newton = |x: &f64| {
            let (mut y, mut k) = (x + 1.0, 0);
            while ((y * y) / x - 1.0).abs() > 1e-13 {
                y = 0.5 * (y + x / y);
                k += 1;
            }
            k
        };
        points(n).iter().map(newton).sum()
    };
    let found = recorded("while_newton_in_a_par", |n| vec![int(n), vector(&points(n))]);
    assert_eq!(found, [4, 8, 16].map(trips));
}

#[test]
fn nested_in_place_loops_log_updates_and_not_arrays() {
    let name = "cholesky_right_looking_three_nested_in_place_loops";
    assert_eq!(recorded(name, |n| vec![int(n), dominant(n)]), [132, 872, 6224]);
}

/// Programs that change an array in place, in one way each.
const IN_PLACE: &str = "
fn table(n: i64, x: f64[n, n]) {
  r: f64[n, n] = loop i < n (a: f64[n, n] = x) {
    r.1: f64[n, n] = loop j < n (a.1: f64[n, n] = a) {
      before: i64 = sub j, 1
      k: i64 = max before, 0
      up: f64 = a.1[k, j]
      left: f64 = a.1[i, k]
      b: f64 = mul up, left
      a.2: f64[n, n] = update a.1[i, j] = b
      yield a.2
    }
    yield r.1
  }
  return r
}

fn rows(n: i64, x: f64[n, n]) {
  r: f64[n, n] = loop i < n (a: f64[n, n] = x) {
    before: i64 = sub i, 1
    k: i64 = max before, 0
    row: f64[n] = a[k]
    b: f64[n] = mul row, row
    a.1: f64[n, n] = update a[i] = b
    yield a.1
  }
  return r
}

fn whole(n: i64, x: f64[n]) {
  r: f64[n] = loop i < n (a: f64[n] = x) {
    b: f64[n] = mul a, a
    yield b
  }
  return r
}

fn branches(n: i64, x: f64[n]) {
  r: f64[n] = loop i < n (a: f64[n] = x) {
    late: bool = gt i, 1
    b: f64[n] = switch late {
      c: f64[n] = loop j < 2 (d: f64[n] = a) {
        e: f64 = d[j]
        g: f64 = d[i]
        h: f64 = mul e, g
        k: f64[n] = update d[i] = h
        yield k
      }
      yield c
    } {
      yield a
    }
    yield b
  }
  return r
}

fn whiles(n: i64, x: f64[n]) {
  r: f64[n] = loop i < n (a: f64[n] = x) {
    k: i64, go: bool, b: f64[n] = while j (on: bool = true, c: f64[n] = a) {
      e: f64 = c[j]
      g: f64 = c[i]
      h: f64 = mul e, g
      d: f64[n] = update c[i] = h
      more: bool = lt j, 1
      yield more, d
    }
    yield b
  }
  return r
}
";

#[test]
fn what_is_changed_in_place_is_recorded_as_often_as_it_is_written() {
    let square = |n: i64| {
        let elements: Vec<f64> = (0..n * n).map(|k| 0.5 + 0.4 * ((k * 7) % 11) as f64 / 11.0).collect();
        Value::f64s(&[n, n], &elements)
    };
    let recorded = |name: &str, args: &dyn Fn(i64) -> Vec<Value>| {
        oracle::check(&mut module(IN_PLACE), name, &args(4), 13, 2, true);
        let count = |n: i64| gradient(&mut module(IN_PLACE), name, &args(n)).1.recorded_elements;
        let counts = [4, 8, 16].map(count);
        println!("{name}: {counts:?}");
        counts
    };
    let matrix = |n: i64| vec![int(n), square(n)];
    let vector = |n: i64| vec![int(n), ramp(n)];
    // Two reads for each of n * n elements.
    assert_eq!(recorded("table", &matrix), [2 * 16, 2 * 64, 2 * 256]);
    // A row and its index for each of n rows.
    assert_eq!(recorded("rows", &matrix), [4 * 5, 8 * 9, 16 * 17]);
    assert_eq!(recorded("whole", &vector), [16, 64, 256]);
    // Two updates in the iterations that make any, each with its index, and where the part of each iteration begins; the
    // inner loop then reads two elements.
    let late = |n: u64| (n - 2) * 2;
    assert_eq!(recorded("branches", &vector), [4, 8, 16].map(|n| 2 * late(n) + n + 2 * late(n)));
    assert_eq!(recorded("whiles", &vector), [4, 8, 16].map(|n| 2 * 2 * n + n + 2 * 2 * n));
}

#[test]
fn thousands_of_steps_give_the_gradient_of_forward_mode() {
    let text = "
fn f(x: f64, n: i64) {
  y: f64 = mul x, 2.0
  a: f64, b: f64 = loop i < n (p: f64 = x, q: f64 = y) {
    r: f64 = mul 0.1, q
    s: f64 = add p, r
    t: f64 = sin s
    u: f64 = cos p
    yield t, u
  }
  return a
}
";
    let mut module = module(text);
    let args = [scalar(0.3), int(4096)];
    let (found, stats) = gradient(&mut module, "f", &args);
    let jvp = derive(&mut module, "f", Mode::Jvp);
    let forward = oracle::run(&module, &jvp.name, &[scalar(0.3), int(4096), scalar(1.0)]);
    oracle::close(oracle::floats(&found[0])[0], oracle::floats(&forward[1])[0], 0.0, 1e-12, "4096 steps");
    assert_eq!(stats.recorded_elements, 2 * 4096);
}

/// Nested loops (`l`) and parallel loops (`p`) around `sin(v * v)`.
fn nest(kinds: &str) -> String {
    fn level(kinds: &str, depth: usize, out: &mut String) {
        let pad = "  ".repeat(depth + 1);
        let inner = depth + 1;
        match kinds.chars().next() {
            None => {
                out.push_str(&format!(
                    "{pad}w{inner}: f64 = mul v{depth}, v{depth}\n{pad}r{depth}: f64 = sin w{inner}\n"
                ));
            }
            Some('l') => {
                out.push_str(&format!("{pad}q{depth}: f64 = loop i{depth} < n (v{inner}: f64 = v{depth}) {{\n"));
                level(&kinds[1..], inner, out);
                out.push_str(&format!("{pad}  yield r{inner}\n{pad}}}\n"));
                // A nest with nothing between its loops would become one loop.
                out.push_str(&format!("{pad}r{depth}: f64 = mul q{depth}, 0.9\n"));
            }
            Some(_) => {
                out.push_str(&format!("{pad}r{depth}: f64 = par i{depth} < n (add from 0.0) {{\n"));
                out.push_str(&format!("{pad}  x{depth}: f64 = to_f64 i{depth}\n"));
                out.push_str(&format!("{pad}  v{inner}: f64 = mul v{depth}, x{depth}\n"));
                level(&kinds[1..], inner, out);
                out.push_str(&format!("{pad}  yield r{inner}\n{pad}}}\n"));
            }
        }
    }
    let mut out = "fn f(n: i64, v0: f64) {\n".to_owned();
    level(kinds, 0, &mut out);
    out.push_str("  return r0\n}\n");
    out
}

/// How many loops or parallel loops stand `depth` levels deep.
fn at_depth(block: &Block, depth: usize) -> usize {
    let inner = |op: &Op| op.blocks().iter().map(|b| at_depth(b, depth - 1)).sum::<usize>();
    let regions = block.stmts.iter().filter(|s| !s.op.blocks().is_empty());
    if depth == 1 { regions.count() } else { regions.map(|s| inner(&s.op)).sum() }
}

/// The gradient with respect to the float parameters of the source, the value sweep dropped where it is not needed.
fn gradient_alone(module: &mut Module, of: &str, n_values: usize) -> Function {
    let vjp = derive(module, of, Mode::Vjp);
    let mut f = Function::clone(&vjp);
    f.name = format!("{of}.grad").into();
    f.body.results.drain(..n_values);
    f.body.results.truncate(1);
    let f = cotan_opt::simplify(f);
    module.insert(f.clone());
    f
}

#[test]
fn the_innermost_body_runs_once_more_per_enclosing_loop_and_order() {
    for (kinds, loops, orders) in [
        ("l", 1, 3),
        ("ll", 2, 3),
        ("lll", 3, 2),
        ("p", 0, 3),
        ("pp", 0, 2),
        ("lp", 1, 2),
        ("pl", 1, 2),
        ("plp", 1, 2),
        ("lpl", 2, 2),
    ] {
        let mut module = module(&nest(kinds));
        let mut of = "f".to_owned();
        for order in 1..=orders {
            let f = gradient_alone(&mut module, &of, 1);
            let runs = at_depth(&f.body, kinds.len());
            println!("{kinds} order {order}: {runs} copies of the innermost body, {} statements", f.n_stmts());
            assert_eq!(runs, (loops + 1usize).pow(order), "{kinds}, order {order}");
            of = f.name.to_string();
        }
    }
}

/// Statements of the source, simplified, and of its reverse derivatives of order 1, 2 and 3.
fn sizes(source: &Module, f: &Function) -> [usize; 4] {
    let mut module = source.clone();
    let mut of = f.name.to_string();
    let mut sizes = [cotan_opt::simplify(f.clone()).n_stmts(), 0, 0, 0];
    for size in &mut sizes[1..] {
        let vjp = derive(&mut module, &of, Mode::Vjp);
        *size = vjp.n_stmts();
        of = vjp.name.to_string();
    }
    println!("{}: {sizes:?}", f.name);
    sizes
}

#[test]
fn statements_grow_by_about_3_9_and_30_and_never_explode() {
    let mut totals = [0; 4];
    for text in SHAPES {
        let source = module(text);
        for f in source.functions() {
            let sizes = sizes(&source, f);
            assert!(sizes[1] <= 8 * sizes[0] + 4, "{}: {sizes:?}", f.name);
            assert!(sizes[2] <= 6 * sizes[1] && sizes[3] <= 6 * sizes[2], "{}: {sizes:?}", f.name);
            if !f.name.contains("cholesky") {
                totals.iter_mut().zip(sizes).for_each(|(total, n)| *total += n);
            }
        }
    }
    println!("all but Cholesky: {totals:?}");
    assert!(totals[1] <= 4 * totals[0] && totals[2] <= 12 * totals[0] && totals[3] <= 40 * totals[0], "{totals:?}");
}

#[test]
fn nests_of_loops_grow_polynomially_with_depth() {
    for depth in 1..=6 {
        let module = module(&nest(&"l".repeat(depth)));
        let sizes = sizes(&module, module.function("f").expect("a function"));
        // The body at depth d is copied (d + 1)^k times at order k, and so are the statements of the loops around it.
        for (order, size) in sizes.iter().enumerate().skip(1) {
            let bound = 8 * sizes[0] * (depth + 1).pow(order as u32);
            println!("depth {depth} order {order}: {size} of at most {bound} statements");
            assert!(*size <= bound, "depth {depth}, order {order}: {size} > {bound}");
        }
    }
}
