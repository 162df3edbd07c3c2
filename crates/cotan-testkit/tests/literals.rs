//! The rule of integer literals, a row each under `tests/literals`: what is a float, on every engine, and what is refused.

use crate::run::check;
use cotan::Program;
use cotan_sema::Limits;
use cotan_syntax::{FileId, fix};
use cotan_testkit::files::{report, tests_folder};
use cotan_testkit::tier;

/// What every row may speak of. `0.5` and the like stand here alone, so that a row's floats are its own.
const DECLARATIONS: &str = "\
struct P { a: f64, b: f64[2], n: i64 }
enum E { A(f64), B }
fn payload(e: E) -> f64 = match e { A(a) => a, B => 0.0 }
const H: f64 = 1 / 2
const K = 2.0
const N_STEPS = 2
fn half(a: f64) -> f64 = a / 2.0
fn scaled(a: f64, by: f64 = 1 / 2) -> f64 = a * by
fn wide[T: Float](a: T) -> T = 2 * a + 1
fn poly[T: Float](a: T) -> T = (a + 1) ** 2
";

/// The parameters of every row, and their values.
const PARAMETERS: &str = "x: f64, y: f32, n: i64, v: f64[3], m: f64[2, 2], k: i64[3]";
const NAMES: &str = "x, y, n, v, m, k";
const VALUES: &str = r#"{"x": 3.0, "y": 2.0, "n": 7, "v": [1.5, -2.0, 4.0], "m": [[1, 2], [3, 4]], "k": [2, 0, 1]}"#;

/// How many rows go into one program.
const ROWS: usize = 12;

/// The rows of a table without its headings, split into cells. A line break in a program is written `\n`.
fn rows<const N: usize>(name: &str) -> Vec<[String; N]> {
    let path = tests_folder().join("literals").join(name);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("reading {name}: {e}"));
    let cells = |line: &str| line.split('\t').map(|cell| cell.replace("\\n", "\n")).collect::<Vec<_>>();
    let row = |line| cells(line).try_into().unwrap_or_else(|_| panic!("{name}: expected {N} cells: {line}"));
    text.lines().skip(1).map(row).collect()
}

/// A program of some rows: a function for each, and one of all.
fn program(rows: &[[String; 4]]) -> String {
    let of = |(k, [_, ty, expression, _]): (usize, &[String; 4])| {
        format!("fn row_{k}({PARAMETERS}) -> {ty} = {expression}\n")
    };
    let functions: String = rows.iter().enumerate().map(of).collect();
    let each = |cell: usize| rows.iter().map(|row| row[cell].as_str()).collect::<Vec<_>>().join(", ");
    let calls: Vec<String> = (0..rows.len()).map(|k| format!("row_{k}({NAMES})")).collect();
    format!(
        "#: fn all\n#: args {VALUES}\n#: value [{}]\n{DECLARATIONS}{functions}fn all({PARAMETERS}) -> ({}) = ({})\n",
        each(3),
        each(1),
        calls.join(", ")
    )
}

#[test]
fn accepted_literals_are_the_same_floats_on_every_engine() {
    let rows = rows::<4>("accepted.tsv");
    let programs: Vec<(String, String)> =
        rows.chunks(ROWS).enumerate().map(|(k, rows)| (format!("literals {k}"), program(rows))).collect();
    let chosen: Vec<_> = programs.iter().filter(|(name, _)| tier::takes(name, 4)).collect();
    let failures = cotan_testkit::parallel::map(&chosen, |(name, text)| check::check(name, text).of_values);
    report(failures.concat(), chosen.len());
}

#[test]
fn refused_literals_are_one_error_each_with_its_place_and_its_fix() {
    let rows = rows::<5>("refused.tsv");
    let judge = |[ty, expression, code, pointed, mended]: &[String; 5]| -> Option<String> {
        let text = format!("{DECLARATIONS}fn row[N](w: f64[N], {PARAMETERS}) -> {ty} = {expression}\n");
        let program = Program::check("row.cot", &text, &Limits::default());
        let found: Vec<String> = program
            .diagnostics
            .iter()
            .map(|d| {
                let at = text.get(d.primary.span.range()).unwrap_or_default();
                let fixed = fix::apply(FileId(0), &text, std::slice::from_ref(d));
                let fixed = fixed.text.trim_end().rsplit_once(&format!("-> {ty} = ")).map_or("", |(_, e)| e).to_owned();
                format!("{}\t{at}\t{}", d.code, if d.fix.is_empty() { "-" } else { &fixed })
            })
            .collect();
        let expected = format!("{code}\t{pointed}\t{mended}");
        (found != [expected.clone()])
            .then(|| format!("{ty}\t{expression}: expected {expected}, found {}", found.join(" | ")))
    };
    report(rows.iter().filter_map(judge).collect(), rows.len());
}

#[test]
fn there_are_200_programs_of_the_rule() {
    let n = rows::<4>("accepted.tsv").len() + rows::<5>("refused.tsv").len();
    assert!(n >= 200, "{n}");
}
