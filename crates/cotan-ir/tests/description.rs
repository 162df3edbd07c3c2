//! The description of statements: parts, effects and walks of every kind of operation.

use crate::table::{function, module};
use cotan_ir::{Effects, Function, Op, OperandRole, Stmt};

/// One statement of each kind, and variants that differ in their parts.
fn kinds() -> Function {
    function(
        "fn f(n: i64, x: f64, a: f64[n, n], v: f64[n], c: bool) {
  prim: f64 = add x, 1.0
  tensor: f64[n] = fill x
  row: f64[n] = a[2]
  update: f64[n, n] = update a[3] = v
  s: f64[n], sum: f64, h: f64[n] = par i < n (stack, add from 4.0) acc (h.1: f64[n] add from v) {
    acc_add h.1[i] = x
    yield x, x
  }
  y: f64, g: f64 = loop k < n (y.1: f64 = x) acc (g.1: f64 add from 5.0) {
    acc_add g.1[] = y.1
    yield y.1
  }
  trips: i64, go: bool = while w (go.1: bool = c) {
    yield go.1
  }
  chosen: f64 = switch c {
    yield x
  } {
    yield 6.0
  }
  called: f64 = call g(x, 7.0)
  checked: f64 = check c R0001(n, 8) x
  renamed: f64 = check true R0001(n, 9) x
  return x
}",
    )
}

fn names(f: &Function, atoms: &[cotan_ir::Atom]) -> Vec<String> {
    atoms.iter().map(|a| a.var().map_or_else(|| format!("{a:?}"), |v| f.name_of(v).to_owned())).collect()
}

/// The operation of the statement with a result of that base name.
fn op<'a>(f: &'a Function, name: &str) -> &'a Op {
    let is_it = |s: &&Stmt| s.results.iter().any(|r| f.name_of(*r) == name);
    &f.body.walk().find(is_it).expect("a statement of the text").op
}

#[test]
fn every_operand_is_found_once_with_its_role() {
    use OperandRole as R;
    let f = kinds();
    let check = |name: &str, expected: &[(R, &str)]| {
        let mut found = Vec::new();
        op(&f, name).each_role(&mut |role, a| found.push((role, names(&f, &[a]).remove(0))));
        let found: Vec<(R, &str)> = found.iter().map(|(role, a)| (*role, a.as_str())).collect();
        assert_eq!(
            found.iter().map(|(r, _)| *r).collect::<Vec<_>>(),
            expected.iter().map(|(r, _)| *r).collect::<Vec<_>>()
        );
        for ((_, found), (_, expected)) in found.iter().zip(expected) {
            assert!(*expected == "_" || found == expected, "{name}: {found} for {expected}");
        }
        assert_eq!(op(&f, name).operands().len(), expected.len());
    };
    check("prim", &[(R::Argument, "x"), (R::Argument, "_")]);
    check("tensor", &[(R::Argument, "x")]);
    check("row", &[(R::Array, "a"), (R::Index, "_")]);
    check("update", &[(R::Updated, "a"), (R::Index, "_"), (R::Value, "v")]);
    check("s", &[(R::Extent, "n"), (R::ReductionInit, "_"), (R::AccInit, "v")]);
    check("y", &[(R::Count, "n"), (R::CarriedInit, "x"), (R::AccInit, "_")]);
    check("trips", &[(R::CarriedInit, "c")]);
    check("chosen", &[(R::Selector, "c")]);
    check("called", &[(R::Passed, "x"), (R::Passed, "_")]);
    check("checked", &[(R::Condition, "c"), (R::Shown, "n"), (R::Shown, "_"), (R::Value, "x")]);
    let write = f.body.walk().find(|s| s.results.is_empty()).expect("a write");
    assert_eq!(names(&f, &write.op.operands_as(OperandRole::is_control)), ["i"]);
    assert_eq!(names(&f, &write.op.operands()), ["i", "x"]);
}

#[test]
fn binders_accumulators_indices_and_blocks_are_those_of_regions() {
    let f = kinds();
    let bound = |name: &str| op(&f, name).binders().iter().map(|v| f.name_of(*v).to_owned()).collect::<Vec<_>>();
    assert_eq!(bound("s"), ["i", "h"]);
    assert_eq!(bound("y"), ["k", "y", "g"]);
    assert_eq!(bound("trips"), ["w", "go"]);
    for s in &f.body.stmts {
        let n_blocks = if matches!(s.op, Op::Switch { .. }) { 2 } else { usize::from(s.op.is_loop_nest()) };
        assert_eq!(s.op.blocks().len(), n_blocks);
        assert_eq!(s.op.indices().len(), usize::from(s.op.is_loop_nest()));
        let accs: Vec<&str> = s.op.accs().iter().map(|acc| f.name_of(acc.var)).collect();
        let results: Vec<&str> = s.op.acc_results(&s.results).iter().map(|r| f.name_of(*r)).collect();
        assert_eq!(results, accs);
    }
    assert_eq!(op(&f, "trips").indices()[0].1, None);
}

#[test]
fn mapping_operands_and_names_to_themselves_changes_nothing() {
    let m = module(include_str!("text/every_construct.cir"));
    for f in m.functions() {
        let mut copy = f.as_ref().clone();
        let mut n = 0;
        copy.body.walk_mut(&mut |s| {
            n += 1;
            s.op.map_operands(&mut |a| a);
            s.op.map_names(&mut |v| v);
            s.op.map_blocks(|b| b);
        });
        assert_eq!((&copy, n), (f.as_ref(), f.n_stmts()));
    }
}

#[test]
fn mapping_reaches_every_operand_in_the_order_in_which_it_is_listed() {
    for s in &kinds().body.stmts {
        let (mut op, mut met) = (s.op.clone(), Vec::new());
        op.map_operands(&mut |a| {
            met.push(a);
            cotan_ir::Atom::i64(0)
        });
        assert_eq!(met, s.op.operands());
        assert_eq!(op.operands(), vec![cotan_ir::Atom::i64(0); met.len()]);
    }
}

#[test]
fn effects_are_those_of_the_statement_and_are_found_inside_regions() {
    let f = kinds();
    assert_eq!(op(&f, "prim").effects(), Effects::default());
    assert_eq!(op(&f, "checked").effects(), Effects { checks: true, fails: true, ..Effects::default() });
    assert_eq!(op(&f, "renamed").effects(), Effects { checks: true, ..Effects::default() });
    assert_eq!(op(&f, "trips").effects(), Effects { may_not_end: true, ..Effects::default() });
    assert_eq!(op(&f, "called").effects(), Effects { calls: Some(&"g".into()), ..Effects::default() });
    assert_eq!(op(&f, "y").effects(), Effects::default());
    let writes = |s: &Stmt| s.has_effect(|e| e.writes.is_some());
    let with_writes: Vec<usize> = (0..f.body.stmts.len()).filter(|k| writes(&f.body.stmts[*k])).collect();
    assert_eq!(with_writes, [4, 5]);
}

#[test]
fn a_walk_meets_each_statement_before_those_inside_it() {
    let f = kinds();
    let firsts: Vec<&str> = f.body.walk().map(|s| s.results.first().map_or("write", |r| f.name_of(*r))).collect();
    let expected = [
        "prim", "tensor", "row", "update", "s", "write", "y", "write", "trips", "chosen", "called", "checked",
        "renamed",
    ];
    assert_eq!(firsts, expected);
}

#[test]
fn without_its_blocks_an_operation_has_the_same_operands_and_names() {
    for s in &kinds().body.stmts {
        let head = s.op.without_blocks();
        assert_eq!((head.operands(), head.binders()), (s.op.operands(), s.op.binders()));
        assert!(head.blocks().iter().all(|b| b.stmts.is_empty() && b.results.is_empty()));
        assert_eq!(head.blocks().len(), s.op.blocks().len());
    }
}
