//! What the typed tree says, and what is kept for a language server.

use super::{accept, run};
use cotan_sema::modules::{Library, Loader, load};
use cotan_sema::typed::{Body, Builtin, ExprKind, Function, FunctionBody, Literal, Program, StmtKind, Type};

fn function<'p>(program: &'p Program, name: &str) -> &'p Function {
    program.function(program.function_named(name).expect("the test declares it"))
}

fn body<'p>(program: &'p Program, name: &str) -> &'p Body {
    match &function(program, name).body {
        FunctionBody::Source(body) => body,
        FunctionBody::Derivative(_) | FunctionBody::Required(_) => panic!("`{name}` has no body"),
    }
}

#[test]
fn literals_take_the_type_of_their_context() {
    let checked = accept("fn f(x: f32) -> f32 {\n let y = 2.0\n y * x }");
    let body = body(&checked.program, "f");
    let y = body.locals.iter().find(|local| local.name == "y").unwrap();
    assert_eq!(y.ty.concrete().map(|elem| elem.name()), Some("f32"));
}

#[test]
fn a_minus_sign_belongs_to_the_literal() {
    let checked = accept("fn f() -> i8 = -128");
    let value = &body(&checked.program, "f").value;
    assert_eq!(value.kind, ExprKind::Literal(Literal::Int(-128)));
}

#[test]
fn shape_checks_stand_exactly_where_shapes_may_differ() {
    let is_check = |source: &str| {
        let checked = accept(source);
        matches!(body(&checked.program, "f").value.kind, ExprKind::ShapeCheck(_))
    };
    assert!(is_check("fn f[N](v: f64[_]) -> f64[N] = (v : f64[N])"));
    assert!(is_check("fn f[N](v: f64[N], n: i64) -> f64[N] = v[0..n]"));
    assert!(is_check("fn f[N](n: i64) -> f64[N] = zeros(n)"));
    assert!(!is_check("fn f[N](v: f64[N]) -> f64[N] = (v : f64[N])"));
    assert!(!is_check("fn f(n: i64) -> f64[n + 1] = zeros(1 + n)"));
    assert!(!is_check("fn f[N](v: f64[N]) -> f64[_] = v[1..]"));
}

#[test]
fn a_derivative_declaration_has_a_primal_of_its_own() {
    let checked = accept("@grad(w, b) fn d(w: f64, n: i64, b: f64) -> (f64, f64) = w * b");
    let FunctionBody::Derivative(derivative) = &function(&checked.program, "d").body else {
        panic!("`d` is a derivative");
    };
    assert_eq!(derivative.wrt, [0, 2]);
    assert_eq!(function(&checked.program, "d.primal").result, derivative.base.result);
    let order = &checked.program.order;
    let place = |name| order.iter().position(|id| Some(*id) == checked.program.function_named(name));
    assert!(place("d.primal") < place("d"));
}

#[test]
fn lambdas_know_what_they_capture() {
    let checked = accept("fn f[N](v: f64[N], a: f64, b: f64) -> f64[N] {\n let c = a + 1.0\n map(|x| x * c + b, v) }");
    let body = body(&checked.program, "f");
    let ExprKind::Block(block) = &body.value.kind else { panic!("a block") };
    let Some(ExprKind::Builtin { builtin: Builtin::Map, args }) = block.value.as_ref().map(|value| &value.kind) else {
        panic!("a map");
    };
    let cotan_sema::typed::Arg::Function(callable) = &args[0] else { panic!("a function") };
    let cotan_sema::typed::CallableKind::Lambda(lambda) = &callable.kind else { panic!("a lambda") };
    let names: Vec<&str> = lambda.captures.iter().map(|local| body.locals[local.0 as usize].name.as_str()).collect();
    assert_eq!(names, ["b", "c"]);
}

#[test]
fn a_fold_by_name_binds_tighter_than_the_run() {
    let checked = accept("fn add(a: f64, b: f64) -> f64 = a + b\nfn f[N](v: f64[N]) -> f64 = 2.0 * -add/0.0/v / 3.0");
    let ExprKind::Chain(chain) = &body(&checked.program, "f").value.kind else { panic!("a run") };
    assert_eq!(chain.rest.len(), 2);
    assert!(matches!(&chain.rest[0].operand.kind, ExprKind::Unary { operand, .. }
        if matches!(&operand.kind, ExprKind::FoldBy { init: Some(_), .. })));
}

#[test]
fn uses_lead_to_definitions_and_nodes_to_types() {
    let source = "fn g(x: f64) -> f64 = x\nfn f(weight: f64) -> f64 = g(weight)";
    let (checked, _) = run(source);
    let text = |span: cotan_syntax::Span| (span.start, &source[span.range()]);
    let uses: Vec<_> =
        checked.facts.definitions.iter().map(|found| (text(found.span), text(found.definition).0)).collect();
    assert_eq!(uses, [((22, "x"), 5), ((51, "g"), 3), ((53, "weight"), 29)]);
    let n_known = checked.facts.types[0].iter().flatten().filter(|ty| ty.is_scalar()).count();
    assert!(n_known >= 4, "{:?}", checked.facts.types);
}

#[test]
fn a_program_with_errors_keeps_what_is_right() {
    let (checked, diagnostics) = run("fn f(x: f64) -> f64 {\n let y = x + unknown\n let z = x * 2.0\n z }");
    assert_eq!(diagnostics.len(), 1);
    assert!(!checked.is_valid());
    let body = body(&checked.program, "f");
    let ty = |name: &str| body.locals.iter().find(|local| local.name == name).map(|local| local.ty.clone());
    assert_eq!(ty("y"), Some(Type::Error));
    assert_eq!(ty("z").and_then(|ty| ty.concrete()).map(|elem| elem.name()), Some("f64"));
}

#[test]
fn an_integer_argument_that_a_shape_is_made_of_is_bound_first() {
    let checked = accept(
        "fn take[N](v: f64[N], n: i64, w: f64[n]) -> f64[n] = v[0..n] .+ w\n\
         fn f[N](v: f64[N], k: i64[2]) -> f64[_] = take(v, k[1], v)",
    );
    let ExprKind::Call { args, .. } = &body(&checked.program, "f").value.kind else { panic!("a call") };
    let [_, cotan_sema::typed::Arg::Value(count), cotan_sema::typed::Arg::Value(w)] = args.as_slice() else {
        panic!("three values");
    };
    assert!(matches!(&count.kind, ExprKind::Block(block) if block.statements.len() == 1));
    assert!(matches!(w.kind, ExprKind::ShapeCheck(_)));
}

#[test]
fn pipes_are_flat_blocks() {
    let checked = accept("fn f(x: f64) -> f64 = x |> exp |> max(1.0)");
    let ExprKind::Block(block) = &body(&checked.program, "f").value.kind else { panic!("a block") };
    assert_eq!(block.statements.len(), 2);
    assert!(block.statements.iter().all(|statement| matches!(statement.kind, StmtKind::Let { .. })));
    assert!(
        matches!(block.value.as_ref().map(|value| &value.kind), Some(ExprKind::Primitive { row, .. }) if **row == cotan_ops::MAX)
    );
}

#[test]
fn uses_lead_into_imported_files() {
    struct Layers;
    impl Loader for Layers {
        fn read(&self, path: &str) -> Result<Option<Vec<u8>>, String> {
            Ok((path == "net/layers.cot").then(|| b"pub struct P { w: f64 }\npub fn loss(p: P) -> f64 = p.w".to_vec()))
        }
    }
    let source = "import ./layers\nfn f(w: f64) -> f64 = layers.loss(layers.P { w })";
    let loaded = load("net/main.cot", source, &Layers, &Library::new(&[]));
    let checked = cotan_sema::check(&loaded.modules, &cotan_sema::Limits::default());
    assert!(checked.is_valid(), "{:?}", checked.diagnostics);
    let in_main = checked.facts.definitions.iter().filter(|found| found.span.file.0 == 0);
    let found = in_main.map(|found| {
        let text = |span: cotan_syntax::Span| loaded.modules.sources.slice(span).to_owned();
        (text(found.span), found.definition.file.0, text(found.definition))
    });
    let found: Vec<(String, u32, String)> = found.collect();
    let of = |name: &str, file: u32, definition: &str| (name.to_owned(), file, definition.to_owned());
    assert_eq!(
        found,
        [
            of("layers", 0, "layers"),
            of("loss", 1, "loss"),
            of("layers", 0, "layers"),
            of("P", 1, "P"),
            of("w", 1, "w: f64"),
            of("w", 0, "w"),
        ]
    );
    let name = |at: usize| checked.program.functions[at].name.as_str();
    assert_eq!((name(0), name(1)), ("f", "layers.loss"));
}
