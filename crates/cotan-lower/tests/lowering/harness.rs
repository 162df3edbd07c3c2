//! Runs a function of a program on leaves given in order.

use cotan_interp::{CheckFailure, Options, RuntimeError};
use cotan_ir::{CheckKind, Const, print_module, verify_module};
use cotan_lower::entry::{DerivativeRequest, Entry, EntryExtent, LoweredProgram, Request};
use cotan_lower::lower;
use cotan_ops::Value;
use cotan_sema::dims::{Atom, Dim};
use cotan_sema::{Limits, check};
use cotan_syntax::span::FileId;

/// Lowers one root of a program without errors, and verifies the module.
pub(crate) fn lowered(source: &str, root: &Request) -> LoweredProgram {
    let (module, diagnostics) = cotan_syntax::parser::parse(FileId(0), source);
    assert!(diagnostics.is_empty(), "{diagnostics:#?}");
    let checked = check(&module.into(), &Limits::default());
    let errors: Vec<_> = checked.diagnostics.iter().filter(|d| d.is_error()).collect();
    assert!(errors.is_empty(), "{errors:#?}");
    let lowered = lower(&checked.program, std::slice::from_ref(root), &Limits::default());
    let lowered = lowered.unwrap_or_else(|errors| panic!("{errors:#?}"));
    if let Err(errors) = verify_module(&lowered.module) {
        let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
        panic!("{}\n{}", errors.join("\n"), print_module(&lowered.module, Default::default()));
    }
    lowered
}

/// The codes of the errors of lowering one root of a program.
pub(crate) fn errors(source: &str, root: &Request) -> Vec<&'static str> {
    let (module, _) = cotan_syntax::parser::parse(FileId(0), source);
    let checked = check(&module.into(), &Limits::default());
    assert!(checked.is_valid(), "{:#?}", checked.diagnostics);
    let lowered = lower(&checked.program, std::slice::from_ref(root), &Limits::default());
    lowered.err().unwrap_or_default().iter().map(|error| error.code.as_str()).collect()
}

/// The text of the IR of a function.
pub(crate) fn text(source: &str, name: &str) -> String {
    print_module(&lowered(source, &Request::function(name)).module, Default::default())
}

/// The leaves of the result of a function, as floats.
#[track_caller]
pub(crate) fn floats(source: &str, name: &str, args: &[Value]) -> Vec<Vec<f64>> {
    let floats = |value: &Value| (0..value.bits.len()).map(|k| as_f64(value.get(k))).collect();
    succeed(source, &Request::function(name), args).iter().map(floats).collect()
}

/// The one leaf of the result of a function, a scalar.
#[track_caller]
pub(crate) fn float(source: &str, name: &str, args: &[Value]) -> f64 {
    let leaves = floats(source, name, args);
    assert_eq!(leaves.len(), 1, "{leaves:?}");
    assert_eq!(leaves[0].len(), 1, "{leaves:?}");
    leaves[0][0]
}

/// The leaves of the result of a derivative of a function.
#[track_caller]
pub(crate) fn derivative(source: &str, name: &str, request: DerivativeRequest, args: &[Value]) -> Vec<Vec<f64>> {
    let leaves = succeed(source, &Request::derivative(name, request), args);
    leaves.iter().map(|value| value.floats().unwrap_or_default()).collect()
}

/// The leaves of the result.
#[track_caller]
pub(crate) fn succeed(source: &str, root: &Request, args: &[Value]) -> Vec<Value> {
    run(source, root, args).unwrap_or_else(|(error, text)| panic!("{error:?}\n{text}"))
}

/// The failed check of a run: its kind and the source text that it is about.
#[track_caller]
pub(crate) fn failure(source: &str, name: &str, args: &[Value]) -> (CheckKind, String, Vec<i128>) {
    match run(source, &Request::function(name), args) {
        Err((RuntimeError::Check(CheckFailure { kind, args, span }), _)) => {
            (kind, source[span.start as usize..span.end as usize].to_owned(), args)
        }
        other => panic!("expected a failed check, found {other:?}"),
    }
}

fn run(source: &str, root: &Request, args: &[Value]) -> Result<Vec<Value>, (RuntimeError, String)> {
    let LoweredProgram { mut module, entries } = lowered(source, root);
    cotan_ad::expand(&mut module, &Default::default()).expect("derivatives can be written");
    let entry = &entries[0];
    let all = [leading(entry, args), args.to_vec()].concat();
    let results = cotan_interp::run(&module, &entry.symbol, &all, &Options::default());
    let results = results.map_err(|error| (error, print_module(&module, Default::default())))?;
    Ok(entry.leaf_results.iter().map(|k| results[*k].clone()).collect())
}

/// Sizes and extents, read off the leaves.
fn leading(entry: &Entry, args: &[Value]) -> Vec<Value> {
    let leaves: Vec<_> = entry.signature.params.iter().flat_map(|p| p.ty.leaves()).collect();
    assert_eq!(leaves.len(), args.len(), "arguments of `{}`", entry.symbol);
    let find = |dim: &Dim| {
        let places = leaves.iter().zip(args).flat_map(|(leaf, arg)| leaf.dims.iter().zip(&arg.dims));
        let found = places.clone().find(|(other, _)| *other == dim).map(|(_, n)| *n);
        Value::from(Const::i64(found.unwrap_or_else(|| panic!("no extent is {dim:?}"))))
    };
    let size = |k: usize| find(&Dim::atom(Atom::Size(cotan_sema::dims::GenericId(k as u32))));
    let extent = |extent: &EntryExtent| match extent {
        EntryExtent::Size(dim) => find(dim),
        EntryExtent::Payload { leaf, axis } => Const::i64(args[*leaf].dims[*axis]).into(),
    };
    (0..entry.signature.sizes.len()).map(size).chain(entry.extents.iter().map(extent)).collect()
}

fn as_f64(c: Const) -> f64 {
    let number = c.as_float().or_else(|| c.as_integer().map(|i| i as f64));
    number.unwrap_or_else(|| f64::from(u8::from(c.as_bool() == Some(true))))
}

/// An f64.
pub(crate) fn f(x: f64) -> Value {
    Const::f64(x).into()
}

/// An i64.
pub(crate) fn i(x: i64) -> Value {
    Const::i64(x).into()
}

/// A bool.
pub(crate) fn b(x: bool) -> Value {
    Const::bool(x).into()
}

/// A vector of f64.
pub(crate) fn v(x: &[f64]) -> Value {
    Value::f64s(&[x.len() as i64], x)
}

/// A vector of i64.
pub(crate) fn iv(x: &[i64]) -> Value {
    Value::i64s(&[x.len() as i64], x)
}

/// A matrix of f64.
pub(crate) fn m(rows: i64, x: &[f64]) -> Value {
    Value::f64s(&[rows, x.len() as i64 / rows.max(1)], x)
}
