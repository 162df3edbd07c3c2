//! Random recurrences over two counters: in lanes along their diagonals they have the bits and the errors that they have
//! in order.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use cotan_cpu::pipeline::OPTIMIZED;
use cotan_ir::{CheckKind, Module, Span, parse_module, verify_module};
use cotan_loops::pipeline::run as run_passes;
use cotan_loops::{CPU, LoopFunction, NestContext, TaskSizes, VerifiedNests, Width, lower};
use cotan_ops::{Registry, Value};
use std::fmt::Write as _;

const PROGRAMS: u64 = 100;
/// How far away the neighbours of an element are at most.
const FAR: i64 = 2;

struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % n
    }

    fn chance(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }
}

/// An element of a table from some of its neighbours, in rows and columns that are gone through in any direction.
fn program(random: &mut Random) -> String {
    let mut body = String::new();
    for (counter, own, count) in [("i", "i0", "n"), ("j", "j0", "m")] {
        if random.chance(4) {
            let _ =
                writeln!(body, "last_{own}: i64 = sub {count}, {}\n{own}: i64 = sub last_{own}, {counter}", FAR + 1);
        } else {
            let _ = writeln!(body, "{own}: i64 = add {counter}, {FAR}");
        }
    }
    let _ = writeln!(body, "v0: f64 = z[i0, j0]");
    let n = 1 + random.below(4);
    for k in 1..=n {
        // Mostly what comes earlier.
        let [di, dj] = match random.below(8) {
            0 => [0, -1],
            1 | 2 => [-1, 0],
            3 => [-1, -1],
            4 => [-1, 1],
            _ => [0; 2].map(|_: i64| random.below(2 * FAR as u64 + 1) as i64 - FAR),
        };
        let before = k - 1;
        let _ = writeln!(
            body,
            "r{k}: i64 = add i0, {di}\nc{k}: i64 = add j0, {dj}\ne{k}: f64 = z[r{k}, c{k}]
             p{k}: f64 = mul e{k}, 0.75\nv{k}: f64 = sub p{k}, v{before}"
        );
    }
    let mut result = format!("v{n}");
    if random.chance(2) {
        body.push_str(
            "p: i64 = a[i0]\nis_p: bool = in_range p, k\nq: i64 = check is_p R0001(p, k) p\nx: f64 = price[q]
             s: i64 = b[j0]\nis_s: bool = in_range s, k\nt: i64 = check is_s R0001(s, k) s\ny: f64 = price[t]
             xy: f64 = mul x, y\n",
        );
        let _ = writeln!(body, "w: f64 = add {result}, xy");
        result = "w".into();
    }
    let head = format!(
        "fn f(n: i64, m: i64, k: i64, start: f64[n, m], price: f64[k], a: i64[n], b: i64[m]) {{
         rows0: i64 = sub n, {edge}\nrows: i64 = max rows0, 0
         columns0: i64 = sub m, {edge}\ncolumns: i64 = max columns0, 0\n",
        edge = 2 * FAR
    );
    let update = format!("new: f64[n, m] = update z[i0, j0] = {result}\n");
    if random.chance(3) {
        return format!(
            "{head}length: i64 = max columns, 1\nmost: i64 = div 9223372036854775807, length
             few: i64 = min rows, most\ncells: i64 = mul few, columns\ncount: i64 = max cells, 0
             d: f64[n, m], record: f64[count] = loop number < count (z: f64[n, m] = start) {{
             i: i64 = div number, length\nj: i64 = rem number, length\n{body}{update}yield new, v1\n}}
             return d, count, record\n}}"
        );
    }
    format!(
        "{head}d: f64[n, m] = loop i < rows (z0: f64[n, m] = start) {{
         d.1: f64[n, m] = loop j < columns (z: f64[n, m] = z0) {{\n{body}{update}yield new\n}}\nyield d.1\n}}
         return d\n}}"
    )
}

fn arguments(random: &mut Random) -> Vec<Value> {
    let [n, m] = [0; 2].map(|_| random.below(20) as i64);
    let k = 3;
    let mut floats = |dims: &[i64]| {
        let count = dims.iter().product::<i64>();
        Value::f64s(dims, &(0..count).map(|_| random.below(1000) as f64 / 300.0 - 1.5).collect::<Vec<f64>>())
    };
    let (start, price) = (floats(&[n, m]), floats(&[k]));
    let mut letters = |n: i64| {
        let bad = random.below(2 * n as u64 + 1) as i64;
        Value::i64s(&[n], &(0..n).map(|at| if at == bad { 7 } else { random.below(3) as i64 }).collect::<Vec<i64>>())
    };
    let (a, b) = (letters(n), letters(m));
    let sizes = [n, m, k].map(|n| Value::i64s(&[], &[n]));
    [&sizes[..], &[start, price, a, b]].concat()
}

type Outcome = Result<Vec<Value>, (CheckKind, Vec<i128>, Span)>;

fn in_core(module: &Module, args: &[Value]) -> Outcome {
    match cotan_interp::run(module, "f", args, &cotan_interp::Options::default()) {
        Err(cotan_interp::RuntimeError::Check(e)) => Err((e.kind, e.args, e.span)),
        other => Ok(other.unwrap()),
    }
}

fn on_nests(nests: &VerifiedNests, args: &[Value]) -> Outcome {
    match cotan_nest::run(nests, "f", args, &cotan_nest::Options::default()) {
        Err(cotan_nest::RuntimeError::Check(e)) => Err((e.kind, e.args, e.span)),
        other => Ok(other.unwrap()),
    }
}

#[test]
fn recurrences_in_lanes_have_the_bits_and_errors_of_those_in_order() {
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let tasks = TaskSizes::SMALLEST;
    let skew = OPTIMIZED.iter().position(|pass| pass.name == "skew").unwrap();
    let mut n_skewed = 0;
    for _ in 0..PROGRAMS {
        let text = program(&mut random);
        let module = parse_module(&text, Registry::standard()).unwrap_or_else(|e| panic!("{e}\n{text}"));
        verify_module(&module).unwrap();
        let after = |n: usize, width: u32| -> Vec<LoopFunction> {
            let mut nests: Vec<LoopFunction> = module.functions().map(|f| lower(f, &CPU)).collect();
            let context = NestContext { tasks, width: Width::new(width), probe: None };
            nests.iter_mut().for_each(|nest| run_passes(&OPTIMIZED[..n], nest, &context));
            nests
        };
        n_skewed += usize::from(after(skew, 4) != after(skew + 1, 4));
        let places = [(skew + 1, 4), (OPTIMIZED.len(), 4), (OPTIMIZED.len(), 1)];
        let nests = places.map(|(n, width)| VerifiedNests::new(after(n, width)).unwrap());
        for _ in 0..4 {
            let args = arguments(&mut random);
            let expected = in_core(&module, &args);
            for (place, nests) in places.iter().zip(&nests) {
                assert_eq!(on_nests(nests, &args), expected, "{place:?} of\n{text}\n{args:?}");
            }
        }
    }
    assert!(n_skewed > PROGRAMS as usize / 4, "{n_skewed} are skewed");
}
