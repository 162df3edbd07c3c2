//! Functions of f32 in compiled code: their errors at 65,536 inputs of all exponents, in the campaign at all inputs.

use cotan_testkit::single::worst_errors;
use cotan_testkit::tier;

#[test]
fn functions_of_f32_are_right_to_two_units_in_the_last_place() {
    let worst = worst_errors(if tier::is_campaign() { 1 } else { 1 << 16 }).expect("all functions are compiled");
    for one in &worst {
        eprintln!("{one}");
    }
    assert!(worst.len() >= 25, "only {} functions", worst.len());
    let wrong: Vec<String> = worst.iter().filter(|one| one.ulps > 2.0).map(ToString::to_string).collect();
    assert!(wrong.is_empty(), "{}", wrong.join(", "));
}
