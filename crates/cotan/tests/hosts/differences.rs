//! Where two values differ, in words.

use cotan::host::{Const, HostValue, write_json};

/// What is different in `found`, if anything: each bit counts, or only what is more than `tolerance` of the largest
/// expected entry. Shapes, variants and integers must be equal in any case.
pub(super) fn of(found: &HostValue, expected: &HostValue, tolerance: Option<f64>) -> Option<String> {
    if found == expected {
        return None;
    }
    let without_floats = |value: &HostValue| value.map_floats(&mut |_| 0.0);
    if without_floats(found) != without_floats(expected) {
        return Some(format!("expected {}, found {}", json(expected), json(found)));
    }
    let (found, expected) = (floats(found), floats(expected));
    let largest = expected.iter().fold(0.0f64, |most, x| most.max(size_of(x.as_float())));
    let distance = |f: Const, e: Const| size_of(f.as_float().zip(e.as_float()).map(|(f, e)| f - e));
    let allowed = tolerance.map(|tolerance| tolerance * largest);
    let differs = |(f, e): (&Const, &Const)| f != e && !allowed.is_some_and(|allowed| distance(*f, *e) <= allowed);
    let pairs = || found.iter().zip(&expected);
    let first = pairs().position(differs)?;
    let n_wrong = pairs().filter(|pair| differs(*pair)).count();
    let (f, e) = (found[first], expected[first]);
    Some(format!(
        "{n_wrong} of {} numbers differ, the first is number {first}: expected {}, found {}, which is {:.1e} away; \
         the largest is {largest:.1e}",
        found.len(),
        e.digits(),
        f.digits(),
        distance(f, e),
    ))
}

/// The floats of a value, in order.
fn floats(value: &HostValue) -> Vec<Const> {
    let mut all = Vec::new();
    value.each_scalar(&mut |c| all.extend(c.elem().is_float().then_some(c)));
    all
}

fn size_of(x: Option<f64>) -> f64 {
    x.map_or(f64::NAN, f64::abs)
}

fn json(value: &HostValue) -> String {
    let mut text = String::new();
    write_json(value, &mut text);
    text
}
