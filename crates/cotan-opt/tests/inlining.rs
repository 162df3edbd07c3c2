//! Which calls stay calls.

use cotan_ir::{Block, Module, parse_module};
use cotan_ops::Registry;
use cotan_opt::InlineLimit;
use cotan_opt::passes::inline::inline;
use std::fmt::Write;

/// Functions that each call the one before several times, each time on what the last call gave; the first has some
/// statements.
fn chain(length: usize, n_calls: usize, n_stmts: usize) -> Module {
    let mut text = String::from("fn f0(x0: f64) {\n");
    for k in 0..n_stmts {
        let _ = writeln!(text, "  x{}: f64 = sin x{k}", k + 1);
    }
    let _ = writeln!(text, "  return x{n_stmts}\n}}");
    for k in 1..=length {
        let _ = writeln!(text, "fn f{k}(y0: f64) {{");
        for at in 0..n_calls {
            let _ = writeln!(text, "  y{}: f64 = call f{}(y{at})", at + 1, k - 1);
        }
        let _ = writeln!(text, "  return y{n_calls}\n}}");
    }
    parse_module(&text, Registry::standard()).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

fn n_calls(block: &Block) -> usize {
    block.callees().count()
}

/// The calls and the statements that are left in the last function, with the limit for the program that begins there.
fn left(module: &Module, last: &str, limit: InlineLimit) -> (usize, usize) {
    let f = inline(module, module.function(last).expect("it is there"), limit.for_entry(module, last));
    (n_calls(&f.body), f.n_stmts())
}

#[test]
fn a_small_program_is_inlined_to_the_end() {
    assert_eq!(left(&chain(1, 3, 150), "f1", InlineLimit::DEFAULT), (0, 450));
    assert_eq!(left(&chain(6, 2, 10), "f6", InlineLimit::DEFAULT), (0, 640));
}

#[test]
fn d8_what_is_called_twice_at_every_level_stays_a_call() {
    for length in [14, 18, 60] {
        let module = chain(length, 2, 3);
        let all: usize = (0..=length)
            .map(|k| inline(&module, module.function(&format!("f{k}")).expect("it is there"), InlineLimit::DEFAULT))
            .map(|f| f.n_stmts())
            .sum();
        let (n_calls, _) = left(&module, &format!("f{length}"), InlineLimit::DEFAULT);
        assert!(n_calls > 0, "{length}");
        assert!(all < 200 * (length + 1), "{length}: {all}");
    }
}

#[test]
fn what_is_called_from_one_place_is_inlined_in_a_large_program_as_well() {
    assert_eq!(left(&chain(40, 1, 5_000), "f40", InlineLimit::DEFAULT), (0, 5_000));
}

#[test]
fn the_program_decides_and_not_the_function() {
    let module = chain(14, 2, 3);
    let limit = InlineLimit::DEFAULT.for_entry(&module, "f14");
    let of = |limit| n_calls(&inline(&module, module.function("f8").expect("it is there"), limit).body);
    assert!(of(limit) > 0);
    assert_eq!(of(InlineLimit::DEFAULT.for_entry(&module, "f8")), 0);
}

#[test]
fn without_inlining_every_call_stays() {
    assert_eq!(left(&chain(2, 3, 1), "f2", InlineLimit::NONE), (3, 3));
}
