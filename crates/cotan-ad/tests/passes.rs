//! Pass records of the preparation: names, idempotence, and what an observer sees.

use crate::oracle;

use cotan_ad::{Expansion, Limits, PASSES, after_pass, expand_with};
use cotan_ir::{Derived, Item, Mode, parse_function};
use cotan_ops::Registry;
use oracle::module;
use std::cell::RefCell;

const SINES: &str = "fn f(n: i64, x: f64) {
  r: f64 = loop i < n (p: f64 = x) {
    y: f64 = sin p
    yield y
  }
  return r
}
";

/// The names of the passes that an observer of the derivative in a mode sees, with the loops' counts after each.
fn observed(mode: Mode) -> Vec<(&'static str, bool)> {
    let mut module = module(SINES);
    let d = Derived { of: "f".into(), mode, wrt: vec![1], outs: vec![0] };
    module.items.insert("df".into(), Item::Derived(d));
    let seen = RefCell::new(Vec::new());
    let observer = |pass, f: &cotan_ir::Function| seen.borrow_mut().push((pass, f.to_string().contains(" max ")));
    expand_with(&mut module, &Limits::DEFAULT, Expansion { observer: Some(&observer), ..Expansion::default() })
        .expect("expands");
    seen.into_inner()
}

#[test]
fn an_observer_sees_the_source_after_each_pass_of_its_mode() {
    assert_eq!(observed(Mode::Jvp), [("products", false)]);
    let after_clamping = PASSES[1..].iter().map(|pass| (pass.name, true));
    let expected: Vec<(&str, bool)> = [("products", false)].into_iter().chain(after_clamping).collect();
    assert_eq!(observed(Mode::Vjp), expected);
}

#[test]
fn passes_have_names_and_docs() {
    for (k, pass) in PASSES.iter().enumerate() {
        assert!(PASSES[..k].iter().all(|before| before.name != pass.name), "{pass:?}");
        assert!(pass.doc.ends_with('.'), "{pass:?}");
    }
}

#[test]
fn a_second_run_of_an_idempotent_pass_changes_nothing() {
    for pass in PASSES.iter().filter(|pass| pass.is_idempotent) {
        let mut module = module(SINES);
        let f = parse_function(SINES, Registry::standard()).expect("parses");
        let once = after_pass(&mut module, pass, f);
        assert_eq!(after_pass(&mut module, pass, once.clone()), once, "{pass:?}");
    }
}
