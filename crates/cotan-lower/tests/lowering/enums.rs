//! Enums: what a value of one becomes, and how arms of different variants meet.

use cotan_ir::CheckKind;
use cotan_lower::entry::{EntryExtent, Request};

use super::harness::{f, failure, float, i, lowered, v};

const SHAPE: &str = "enum Shape[N] { Dot, Circle(f64), Line(f64[N]) }
fn area[N](s: Shape[N]) -> f64 = match s {
  Dot => 0.0,
  Circle(r) => r * r,
  Line(x) => +/ x
}
fn pick[N](k: i64, x: f64[N]) -> Shape[N] =
  if k == 0 { Shape.Dot } else if k == 1 { Shape.Circle(2.0) } else { Shape.Line(x) }
fn both[N](k: i64, x: f64[N]) -> f64 = area(pick(k, x))
";

#[test]
fn a_parameter_has_a_number_and_the_payloads_of_all_variants() {
    let entry = lowered(SHAPE, &Request::function("area")).entries.remove(0);
    assert_eq!(entry.signature.params[0].ty.leaves().len(), 3);
    assert_eq!(entry.extents, [EntryExtent::Payload { leaf: 2, axis: 0 }]);
}

#[test]
fn the_arm_of_the_variant_that_is_there_runs() {
    assert_eq!(float(SHAPE, "both", &[i(0), v(&[1.0, 2.0])]), 0.0);
    assert_eq!(float(SHAPE, "both", &[i(1), v(&[1.0, 2.0])]), 4.0);
    assert_eq!(float(SHAPE, "both", &[i(2), v(&[1.0, 2.0])]), 3.0);
}

#[test]
fn a_check_in_an_arm_that_does_not_run_does_not_fail() {
    let source = "enum S { Index(i64), Value(f64) }
fn read[N](s: S, x: f64[N]) -> f64 = match s {
  Index(k) => x[k],
  Value(y) if y > 0.0 => y,
  Value(y) => x[(-y) as i64]
}
fn by_index[N](k: i64, x: f64[N]) -> f64 = read(S.Index(k), x)
fn by_value[N](y: f64, x: f64[N]) -> f64 = read(S.Value(y), x)";
    assert_eq!(float(source, "by_value", &[f(9.0), v(&[1.0])]), 9.0);
    assert_eq!(float(source, "by_value", &[f(-1.0), v(&[1.0, 5.0])]), 5.0);
    let (kind, place, args) = failure(source, "by_index", &[i(3), v(&[1.0])]);
    assert_eq!((kind, place.as_str(), args.as_slice()), (CheckKind::IndexRange, "k", &[3, 1][..]));
}

#[test]
fn control_leaves_from_guards_and_arms() {
    let source = "fn f(n: i64) -> i64 {
  let mut sum = 0
  for i in 0..10 {
    match i {
      k if (if k > n { return sum } else { k % 2 == 0 }) => { sum += k }
      7 => break,
      _ => continue
    }
  }
  -sum
}";
    assert_eq!(float(source, "f", &[i(4)]), 6.0);
    assert_eq!(float(source, "f", &[i(20)]), -12.0);
}

#[test]
fn a_size_that_differs_from_the_payload_fails_only_where_the_payload_is() {
    let source = "enum Row[N] { Empty, Full(f64[N]) }
fn row[N](k: i64, x: f64[N]) -> Row[_] = if k == 0 { Row.Empty } else { Row.Full(x[k..N]) }
fn read[N](k: i64, x: f64[N]) -> f64 {
  let r: Row[N] = row(k, x)
  match r {
    Empty => 0.0,
    Full(y) => +/(x .* y)
  }
}";
    assert_eq!(float(source, "read", &[i(0), v(&[1.0, 2.0])]), 0.0);
    let (kind, _, args) = failure(source, "read", &[i(1), v(&[1.0, 2.0])]);
    assert_eq!((kind, args.as_slice()), (CheckKind::ShapeMismatch, &[2, 1][..]));
}
