//! The example of an operation of one's own, before the same tests as every other one.

#[path = "../../cotan/examples/own_operation.rs"]
#[expect(dead_code, unreachable_pub, reason = "the example is a program of its own")]
mod example;

use cotan_ops::{Registry, TensorRow};
use cotan_testkit::battery::mutants::{Fate, judge};
use cotan_testkit::battery::{Operation, check_all};
use cotan_testkit::compile::use_registry;

#[test]
fn an_operation_of_ones_own_is_used_from_the_language_and_differentiated() {
    let gradient = example::gradient().expect("the example runs");
    let expected = [3.0, 3.0, 8.0, 8.0];
    assert!(gradient.floats().iter().zip(expected).all(|(x, y)| (x - y).abs() < 1e-12), "{gradient:?}");
}

#[test]
fn an_operation_of_ones_own_holds_before_the_battery_and_its_broken_rules_are_noticed() {
    static HAAR: &TensorRow = &example::HAAR;
    let alone: &Registry = Box::leak(Box::new(Registry::default().with_tensor_op(HAAR)));
    use_registry(alone);
    let report = check_all(alone);
    assert_eq!(report.failures, Vec::<String>::new());
    assert_eq!((report.operations, report.points), (1, 32));
    let mutants = judge(Operation::Tensor(HAAR)).expect("derivatives");
    assert!(!mutants.is_empty() && mutants.iter().all(|mutant| mutant.fate == Fate::Noticed), "{mutants:#?}");
}
