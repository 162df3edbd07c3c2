//! Degenerate points of the library, `spec/degenerate/points.cot`: values and derivatives up to the third order against
//! closed forms, by each mode and by compositions of both.

use crate::files::workspace_file;
use cotan::host::{Arguments, HostValue};
use cotan::{CallError, Compiler, Engine, Program, Request};
use std::collections::BTreeSet;
use std::fs;

/// Ways to a derivative: a suffix of names, and what differentiates last, applied to the way before it. The number is
/// the order. Reverse mode is `r`, forward mode `f`, the last one applied first.
const WAYS: &[(&str, &str)] = &[
    ("r1", ""),
    ("f1", ""),
    ("r2", "r1"),
    ("f2", "f1"),
    ("fr2", "r1"),
    ("rf2", "f1"),
    ("r3", "r2"),
    ("f3", "f2"),
    ("frr3", "r2"),
    ("rff3", "f2"),
    ("ffr3", "fr2"),
    ("rrf3", "rf2"),
];

/// Errors relative to the largest number of a point.
const TOLERANCE: f64 = 1e-9;

/// What is expected of a value or derivative.
#[derive(Clone, Debug, PartialEq)]
enum Expected {
    Number(f64),
    /// The code of a run-time error.
    Fails(String),
    /// A convention leaves it open.
    Open,
}

/// A function of one number, and a point of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// The function.
    pub name: String,
    /// The functions of the library that it is about.
    pub of: Vec<String>,
    at: f64,
    /// The value, then the derivatives by order.
    expected: Vec<Expected>,
}

/// The points, with the program that they are points of.
pub fn points() -> Result<(Vec<Point>, String), String> {
    let path = workspace_file("spec/degenerate/points.cot");
    let text = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    let (mut points, mut of, mut at) = (Vec::new(), Vec::new(), None);
    for line in text.lines() {
        if let Some(names) = line.strip_prefix("#: of ") {
            of = names.split(' ').map(str::to_owned).collect();
        } else if let Some(numbers) = line.strip_prefix("#: at ") {
            at = Some(numbers.split(' ').map(expected).collect::<Result<Vec<_>, _>>()?);
        } else if let Some(rest) = line.strip_prefix("fn ") {
            let name = rest.split('(').next().unwrap_or(rest).to_owned();
            let (Some(numbers), false) = (at.take(), of.is_empty()) else {
                return Err(format!("`{name}` does not say where it is looked at, or what it is about"));
            };
            let [Expected::Number(at), _, _, _, _] = numbers[..] else {
                return Err(format!("`{name}` needs a point, a value and three derivatives"));
            };
            points.push(Point { name, of: std::mem::take(&mut of), at, expected: numbers[1..].to_vec() });
        }
    }
    let derivatives: String = points.iter().map(derivatives).collect();
    Ok((points, text + &derivatives))
}

fn expected(word: &str) -> Result<Expected, String> {
    match word {
        "-" => Ok(Expected::Open),
        code if code.starts_with('R') => Ok(Expected::Fails(code.to_owned())),
        number => number.parse().map(Expected::Number).map_err(|e| format!("`{number}`: {e}")),
    }
}

/// The text of all derivatives of a function.
fn derivatives(point: &Point) -> String {
    let Point { name, .. } = point;
    let value = format!("\nfn {name}_v0(t: f64) -> f64 = {name}(t)\n");
    let of = |(way, before): &(&str, &str)| {
        let base = if before.is_empty() { name.clone() } else { format!("{name}_{before}") };
        let value = if way.starts_with('r') { format!("grad({base})(t)") } else { format!("jvp({base})(t, 1.0).1") };
        format!("fn {name}_{way}(t: f64) -> f64 = {value}\n")
    };
    WAYS.iter().map(of).fold(value, |text, line| text + &line)
}

/// What of a point is not as expected.
pub fn judge(compiler: &Compiler, program: &Program, point: &Point, engine: Engine) -> Vec<String> {
    let numbers = point.expected.iter().filter_map(|expected| match expected {
        Expected::Number(x) if x.is_finite() => Some(x.abs()),
        Expected::Number(_) | Expected::Fails(_) | Expected::Open => None,
    });
    let largest = numbers.fold(0.0, f64::max);
    let error = TOLERANCE * if largest > 0.0 { largest } else { 1.0 };
    let ways = std::iter::once("v0").chain(WAYS.iter().map(|(way, _)| *way));
    let failure = |way: &str| {
        let order = way.chars().last()?.to_digit(10)? as usize;
        let expected = &point.expected[order];
        let found = called(compiler, program, &format!("{}_{way}", point.name), point.at, engine);
        let holds = match (expected, &found) {
            (Expected::Open, _) => true,
            (Expected::Number(x), Ok(y)) => x == y || (x - y).abs() <= error || x.is_nan() && y.is_nan(),
            (Expected::Fails(code), Err(found)) => code == found,
            // A tangent alone does not ask for the value, whose check is gone with it.
            (Expected::Fails(_), Ok(y)) => order > 0 && y.is_nan(),
            (Expected::Number(_), Err(_)) => false,
        };
        (!holds).then(|| format!("{} by {way} on {engine:?}: expected {expected:?}, found {found:?}", point.name))
    };
    ways.filter_map(failure).collect()
}

/// What a function gives, or the code of the error.
fn called(compiler: &Compiler, program: &Program, name: &str, at: f64, engine: Engine) -> Result<f64, String> {
    let function = compiler.function(program, &Request::function(name), engine).map_err(|e| e.to_string())?;
    match function.call(&Arguments::from([("t".to_owned(), HostValue::f64(at))])) {
        Ok(HostValue::Scalar(x)) => x.as_float().ok_or_else(|| "no float".to_owned()),
        Ok(other) => Err(format!("{other:?}")),
        Err(CallError::Check(failure)) => Err(failure.kind.code().to_owned()),
        Err(other) => Err(other.to_string()),
    }
}

/// The functions of the library with a derivative that no point is about, as far as they branch on floats, factorise, or
/// fold.
pub fn without_points(points: &[Point]) -> Result<Vec<String>, String> {
    const MODULES: [&str; 5] = ["std.complex", "std.linalg", "std.nn", "std.reduce", "std.sort"];
    let named: BTreeSet<&str> = points.iter().flat_map(|point| &point.of).map(String::as_str).collect();
    let manifest = cotan::manifest::manifest(&cotan::library::standard()).map_err(|e| e.to_string())?;
    let missing = manifest.operations.into_iter().filter(|entry| {
        let flows = |of: &str| matches!(of, "smooth" | "piecewise");
        let has_derivative = entry.operands.iter().any(|operand| flows(&operand.differentiability));
        let last = entry.name.rsplit('.').next().unwrap_or_default();
        MODULES.contains(&entry.group.as_str()) && has_derivative && !named.contains(last)
    });
    Ok(missing.map(|entry| entry.name).collect())
}
