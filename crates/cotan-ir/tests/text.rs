//! The text form: what is printed reads back, and no text brings the parser down.

use crate::table;

use cotan_ir::{
    Atom, Block, Builder, Elem, Function, Item, Module, Op, ParseError, PrintOptions, Span, Ty, Var, parse_function,
    parse_module, print_function, print_module, verify_module,
};
use table::{Table, function, module};

const EVERY_CONSTRUCT: &str = include_str!("text/every_construct.cir");

const WITH_SPANS: PrintOptions = PrintOptions { spans: true };
const WITHOUT_SPANS: PrintOptions = PrintOptions { spans: false };

/// Gives every statement a span of its own.
fn with_spans(f: &Function) -> Function {
    fn walk(block: &mut Block, next: &mut u32) {
        for s in &mut block.stmts {
            s.span = Span::new(*next % 3, 10 * *next, 10 * *next + 7);
            s.span = match *next % 4 {
                0 => s.span,
                1 => s.span.tangent().cotangent(),
                2 => s.span.cotangent().partial(),
                _ => s.span.segments(),
            };
            *next += 1;
            s.op.blocks_mut().iter_mut().for_each(|b| walk(b, next));
        }
    }
    let mut f = f.clone();
    walk(&mut f.body, &mut 0);
    f
}

fn error(text: &str) -> ParseError {
    parse_module(text, &Table).expect_err(text)
}

#[test]
fn every_construct_prints_as_it_was_read() {
    assert_eq!(print_module(&module(EVERY_CONSTRUCT), WITHOUT_SPANS), EVERY_CONSTRUCT);
}

#[test]
fn reading_what_was_printed_gives_the_same_functions() {
    let m = module(EVERY_CONSTRUCT);
    assert_eq!(parse_module(&print_module(&m, WITHOUT_SPANS), &Table), Ok(m));
}

#[test]
fn what_a_reverse_sweep_is_told_of_a_loop_reads_back() {
    let text = include_str!("text/kept.cir");
    assert_eq!(print_module(&module(text), WITHOUT_SPANS), text);
    let unknown = text.replace("checkpoint sqrt", "checkpoint root");
    assert_eq!(error(&unknown).message, "expected `every`, `sqrt`, `levels`, `budget` or `all`, found `root`");
}

#[test]
fn spans_read_back_on_every_statement() {
    let mut m = Module::default();
    for f in module(EVERY_CONSTRUCT).functions() {
        m.insert(with_spans(f));
    }
    let text = print_module(&m, WITH_SPANS);
    assert!(text.contains("elem: f64 = a[0, 1] @0:0..7\n"), "{text}");
    assert!(text.contains("  par i.1 < n @1:130..137:tc {\n"), "{text}");
    assert_eq!(parse_module(&text, &Table).as_ref(), Ok(&m));
    assert_eq!(parse_module(&print_module(&m, WITHOUT_SPANS), &Table).map(|m| print_module(&m, WITH_SPANS)), {
        Ok(print_module(&m, WITHOUT_SPANS))
    });
}

#[test]
fn layout_and_comments_do_not_matter() {
    let f = function(
        "// Twice the first element.\nfn f(n: i64,\n     x: f64[n]) { // body\n\n  first: f64 = x[\n    0]\n  twice: f64 = mul \
         first, 2.0 // doubled\n return twice }\n\n",
    );
    let expected = "fn f(n: i64, x: f64[n]) {\n  first: f64 = x[0]\n  twice: f64 = mul first, 2.0\n  return twice\n}\n";
    assert_eq!(f.to_string(), expected);
}

#[test]
fn numbers_behind_names_are_made_anew_in_order_of_binding() {
    let f = function("fn f(x.7: f64) {\n  x: f64 = exp x.7\n  x.2: f64 = exp x\n  return x.2\n}\n");
    assert_eq!(f.to_string(), "fn f(x: f64) {\n  x.1: f64 = exp x\n  x.2: f64 = exp x.1\n  return x.2\n}\n");
}

#[test]
fn names_that_would_not_read_back_are_changed_and_never_collide() {
    let mut b = Builder::new();
    let names = ["x", "x.1", "x_1", "x", "true", "_true", "return", "nan_0x1", "", "3", "ä ö"];
    for name in names {
        b.param(name, Ty::scalar(Elem::F64));
    }
    let text = b.finish("a.b", vec![]).to_string();
    assert_eq!(
        text,
        "fn a.b(x: f64, x_1: f64, x_1.1: f64, x.1: f64, _true: f64, _true.1: f64, _return: f64, _nan_0x1: f64, \
         _: f64, _3: f64, ä_ö: f64) {\n  return\n}\n"
    );
    assert_eq!(function(&text).to_string(), text);
}

#[test]
fn names_of_functions_read_back_whatever_they_are() {
    for name in ["f", "f.vjp_0_of_1", "a b", "\"", "\\", "\\n", "\n", "f.", ".f", "", "é", "3", "// f"] {
        let mut m = Module::default();
        m.insert(Builder::new().finish(name, vec![]));
        assert_eq!(parse_module(&m.to_string(), &Table), Ok(m), "{name:?}");
    }
}

#[test]
fn a_broken_function_prints_and_reads_back() {
    let mut b = Builder::new();
    let x = b.param("x", Ty::scalar(Elem::F64));
    let unbound = b.var("x", Ty::scalar(Elem::I64));
    b.push(vec![], Op::Switch { selector: x.into(), arms: vec![] });
    b.push(vec![unbound], Op::AccAdd { acc: x, indices: vec![Atom::i64(1)], value: x.into() });
    b.push(vec![], Op::Call { callee: "missing".into(), args: vec![] });
    let text = b.finish("broken", vec![]).to_string();
    let expected = "fn broken(x: f64) {\n  switch x\n  x.1: i64 = acc_add x[1] = x\n  call missing()\n  return\n}\n";
    assert_eq!(text, expected);
    assert_eq!(function(&text).to_string(), text);
}

#[test]
fn variables_that_nothing_binds_or_that_do_not_exist_print_under_names_of_their_own() {
    let mut b = Builder::new();
    let unbound = b.var("x", Ty::scalar(Elem::F64));
    b.param("x", Ty::scalar(Elem::F64));
    let text = b.finish("broken", vec![unbound.into(), Var(7).into()]).to_string();
    assert_eq!(text, "fn broken(x: f64) {\n  return x.1, _unknown_7\n}\n");
}

#[test]
fn each_span_option_stands_alone() {
    let f = with_spans(&function("fn f(x: f64) {\n  y: f64 = exp x\n  return y\n}\n"));
    assert_eq!(print_function(&f, WITH_SPANS), "fn f(x: f64) {\n  y: f64 = exp x @0:0..7\n  return y\n}\n");
    assert_eq!(f.to_string(), "fn f(x: f64) {\n  y: f64 = exp x\n  return y\n}\n");
}

#[test]
fn errors_say_where_and_what() {
    let check = |text: &str, expected: &str| assert_eq!(error(text).to_string(), expected, "{text}");
    check("fn f(x: f64) {\n  y: f64 = exp z\n  return y\n}", "2:16: `z` is not bound");
    check("fn f(x: f64, x: f64) {\n  return\n}", "1:14: `x` is bound twice");
    check("fn f(x: f65) {\n  return\n}", "1:9: expected a type, found `f65`");
    check("fn f(x: f64[x, 1.5]) {\n  return\n}", "1:13: `x` is not bound");
    check("fn f(x: f64[1.5]) {\n  return\n}", "1:13: expected a dim, found `1.5`");
    check("fn f(x: f64[true]) {\n  return\n}", "1:13: expected a dim, found `true`");
    check("fn f(true: bool) {\n  return\n}", "1:6: `true` cannot be the name of a variable");
    check("fn f(x.y: bool) {\n  return\n}", "1:6: `x.y` cannot be the name of a variable");
    check("fn f() {\n  y: f64 = exq 1.0\n  return y\n}", "2:12: no operation is called `exq`");
    check("fn f() {\n  y: f64 = exp 1.0 {1}\n  return y\n}", "2:20: expected the end of the line, found `{`");
    check("fn f() {\n  y: f64 = exp 1.0 2.0\n  return y\n}", "2:20: expected the end of the line, found `2.0`");
    check("fn f() {\n  y: f64 =\n  return y\n}", "2:11: expected an operation, found the end of the line");
    check("fn f() {\n  y: i64 = check true R0099() 1\n  return y\n}", "2:23: no check has this code");
    check("fn f() {\n  acc_add 1[] = 1\n  return\n}", "2:11: expected an accumulator, found a constant");
    check("fn f() {\n  y: i8 = add 128_i8, 0_i8\n  return y\n}", "2:15: `128_i8` is no constant");
    check("fn f() {\n  return 1e999\n}", "2:10: `1e999` is no constant");
    check("fn f() {\n  return -infinity\n}", "2:10: `-infinity` is no constant");
    check("fn f() {\n  return nan_0x3ff0000000000000\n}", "2:10: `nan_0x3ff0000000000000` is not bound");
    check("fn f() {\n  return\n", "3:1: expected `}`, found the end of the text");
    check("fn f() {\n  return\n} fn \"g", "3:6: a quoted name without end");
    check("fn f() {\n  return\n}\nfn f() {\n  return\n}", "4:1: `f` is defined twice");
    check("fn ä() {\n  y: f64 = äö + 1\n}", "2:15: unexpected character `+`");
    check("derive g = hvp f wrt (0) of (0)", "1:12: expected `jvp`, found `hvp`");
    check("derive g = jvp f wrt (-1) of (0)", "1:23: expected a position, found `-1`");
    assert_eq!(
        parse_function("fn f() {\n  return\n}\nfn g() {\n  return\n}", &Table).map_err(|e| e.to_string()),
        Err("4:1: expected the end of the text, found `fn`".to_owned())
    );
}

#[test]
fn deep_nesting_is_an_error_not_an_overflow() {
    let nest = |depth: usize| {
        let heads: String = (0..depth).map(|k| format!("par i.{k} < 2 {{\n")).collect();
        format!("fn f() {{\n{heads}{}  return\n}}", "yield\n}\n".repeat(depth))
    };
    let deepest = module(&nest(199));
    assert_eq!(verify_module(&deepest), Ok(()));
    assert_eq!(module(&deepest.to_string()), deepest);
    assert_eq!(error(&nest(200)).message, "blocks nest deeper than 200");
    assert_eq!(error(&nest(100_000)).message, "blocks nest deeper than 200");
}

#[test]
fn truncated_texts_are_errors() {
    let text = function_text("every_construct");
    for end in (0..text.len() - 2).filter(|end| text.is_char_boundary(*end)) {
        assert!(parse_function(&text[..end], &Table).is_err(), "{}", &text[..end]);
    }
}

#[test]
fn mutated_texts_never_bring_parser_or_verifier_down_and_print_stably() {
    let text: Vec<char> = EVERY_CONSTRUCT.chars().collect();
    let alphabet: Vec<char> = "{}()[]<>=:,.@\"\\ \n-+/0123456789ex_ifnaαäß\u{0}".chars().collect();
    let mut state = 0x9e3779b97f4a7c15u64;
    let mut below = move |n: usize| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as usize % n
    };
    let mut accepted = 0;
    for _ in 0..400 {
        let mut mutated = text.clone();
        for _ in 0..=below(3) {
            let at = below(mutated.len());
            match below(4) {
                0 => mutated[at] = alphabet[below(alphabet.len())],
                1 => mutated.insert(at, alphabet[below(alphabet.len())]),
                2 => drop(mutated.remove(at)),
                _ => mutated.swap(at, at.saturating_sub(1)),
            }
        }
        let mutated: String = mutated.into_iter().collect();
        if let Ok(m) = parse_module(&mutated, &Table) {
            accepted += 1;
            let printed = m.to_string();
            let reread = parse_module(&printed, &Table).unwrap_or_else(|e| panic!("{e}\n{printed}"));
            assert_eq!(reread.to_string(), printed);
            assert_eq!(verify_module(&reread).is_ok(), verify_module(&m).is_ok(), "{printed}");
        }
    }
    assert!((10..390).contains(&accepted), "the mutations should leave some texts whole: {accepted}");
}

fn function_text(name: &str) -> String {
    let m = module(EVERY_CONSTRUCT);
    m.function(name).expect("in the file").to_string()
}

#[test]
fn a_module_lists_its_members_by_name() {
    let m = module("fn b() {\n  return\n}\nderive a = vjp b wrt () of ()\n");
    assert_eq!(m.to_string(), "derive a = vjp b wrt () of ()\n\nfn b() {\n  return\n}\n");
    assert!(matches!(m.items.get("a"), Some(Item::Derived(d)) if &*d.of == "b"));
}
