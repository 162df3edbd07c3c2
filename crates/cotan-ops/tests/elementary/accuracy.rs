//! The greatest errors, in units in the last place, over `references.txt`, which `tools/elementary/references.py` writes.

use cotan_ir::{Const, Elem};
use cotan_ops::lookup;
use expect_test::expect;
use std::fmt::Write;

/// What every function has to keep.
const BOUND: f64 = 2.0;

/// How many numbers of the type lie between two: 0 from -0 to 0.
fn distance(a: Const, b: Const) -> f64 {
    let place = |c: Const| {
        let (bits, sign) = (i128::from(c.bits()), 1_i128 << (8 * c.elem().bytes() - 1));
        if bits >= sign { sign - bits } else { bits }
    };
    (place(a) - place(b)) as f64
}

/// One function at one type: its name, and the operands, the value, and the hundredths above it, of each line.
struct Table {
    name: &'static str,
    elem: Elem,
    lines: Vec<&'static str>,
}

fn tables() -> Vec<Table> {
    let mut tables: Vec<Table> = Vec::new();
    for line in include_str!("references.txt").lines() {
        let head = line.split_once(' ').filter(|(_, ty)| ["f32", "f64"].contains(ty));
        match (head, tables.last_mut()) {
            (Some((name, ty)), _) => {
                let elem = if ty == "f32" { Elem::F32 } else { Elem::F64 };
                tables.push(Table { name, elem, lines: Vec::new() });
            }
            (None, table) => table.expect("a head comes first").lines.push(line),
        }
    }
    tables
}

/// The error at one line.
fn error(table: &Table, line: &str) -> f64 {
    let words: Vec<&str> = line.split(' ').collect();
    let (above, numbers) = words.split_last().expect("a line has words");
    let number = |word: &&str| Const::from_bits(table.elem, u64::from_str_radix(word, 16).expect("bits"));
    let numbers: Vec<Const> = numbers.iter().map(number).collect();
    let (expected, operands) = numbers.split_last().expect("a line has a value");
    let found = lookup(table.name).expect("a row of that name").eval(operands).expect("floats");
    let above: f64 = above.parse().expect("hundredths");
    let error = (distance(found, *expected) - above / 100.0).abs();
    // Beside its zeros the logarithm of the gamma function has an absolute bound.
    let absolute = (found.as_float().unwrap_or(f64::NAN) - expected.as_float().unwrap_or(f64::NAN)).abs();
    if table.name == "lgamma" && table.elem == Elem::F64 && absolute <= 1e-15 { error.min(BOUND) } else { error }
}

#[test]
fn errors_are_below_two_units_in_the_last_place() {
    let mut text = String::new();
    for table in tables() {
        let worst = table.lines.iter().map(|line| error(&table, line)).fold(0.0, f64::max);
        writeln!(text, "{} {} {worst:.2}", table.name, table.elem).expect("text grows");
        for line in &table.lines {
            assert!(error(&table, line) <= BOUND, "{} {} {line}: {}", table.name, table.elem, error(&table, line));
        }
    }
    expect![[r#"
        exp f64 0.80
        exp2 f64 0.58
        expm1 f64 0.62
        log f64 0.62
        log2 f64 0.50
        log10 f64 0.51
        log1p f64 0.66
        sin f64 0.75
        cos f64 0.61
        tan f64 0.76
        sinh f64 0.55
        cosh f64 0.59
        tanh f64 0.50
        asin f64 0.50
        acos f64 0.50
        atan f64 0.50
        asinh f64 1.00
        acosh f64 0.52
        atanh f64 0.50
        cbrt f64 0.48
        sqrt f64 0.50
        rsqrt f64 1.00
        erf f64 0.63
        erfc f64 0.97
        lgamma f64 2.00
        sigmoid f64 0.49
        atan2 f64 0.51
        hypot f64 0.73
        pow f64 0.54
        exp f32 0.81
        exp2 f32 0.80
        expm1 f32 0.59
        log f32 0.63
        log2 f32 0.75
        log10 f32 0.56
        log1p f32 0.63
        sin f32 0.71
        cos f32 0.62
        tan f32 0.80
        sinh f32 0.64
        cosh f32 0.84
        tanh f32 0.50
        asin f32 0.47
        acos f32 0.48
        atan f32 0.51
        asinh f32 0.54
        acosh f32 0.49
        atanh f32 1.00
        cbrt f32 0.49
        sqrt f32 0.50
        rsqrt f32 1.00
        erf f32 0.64
        erfc f32 0.74
        lgamma f32 1.07
        sigmoid f32 0.48
        atan2 f32 0.50
        hypot f32 0.70
        pow f32 0.48
    "#]]
    .assert_eq(&text);
}
