//! Backends of one's own, and what a device lacks.

use cotan::backend::{Backend, CallContext, Capabilities, Construct, Executable, Lack};
use cotan::host::{Arguments, Elem, HostValue, Value};
use cotan::{
    CallError, CompileError, Compiler, Config, DerivativeForm, Engine, ReadyModule, Request, codes, derivative,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const DEVICE: Engine = Engine::new("device");

/// A device that lacks things, and gives one number for every function.
#[derive(Debug)]
struct Device {
    capabilities: Capabilities,
    compiled: Arc<AtomicUsize>,
}

#[derive(Debug)]
struct Seven;

impl Backend for Device {
    fn name(&self) -> &'static str {
        DEVICE.name()
    }

    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn compile(&self, _ready: &ReadyModule) -> Result<Arc<dyn Executable>, CompileError> {
        self.compiled.fetch_add(1, Ordering::Relaxed);
        Ok(Arc::new(Seven))
    }
}

impl Executable for Seven {
    fn call(&self, _: &[Value], _: CallContext<'_>, _: &mut dyn FnMut(&str)) -> Result<Vec<Value>, CallError> {
        Ok(vec![Value::f64s(&[], &[7.0])])
    }
}

/// A compiler with such a device, and how often that was asked for code.
fn compiler() -> (Compiler, Arc<AtomicUsize>) {
    let lack = |construct| Lack { construct, nearest: "--backend cpu" };
    let lacks = [Construct::Output, Construct::Routines, Construct::WhileLoops, Construct::Elements(Elem::F16)];
    let compiled = Arc::new(AtomicUsize::new(0));
    let capabilities = Capabilities { lacks: lacks.map(lack).to_vec() };
    let device = Device { capabilities, compiled: compiled.clone() };
    let config = Config { backends: vec![Arc::new(device)], ..Config::default() };
    (Compiler::new(config).expect("a compiler"), compiled)
}

#[test]
fn a_backend_of_ones_own_runs_what_it_has() {
    let (compiler, compiled) = compiler();
    let program = compiler.check("f.cot", "fn f(x: f64) -> f64 = 2.0 * x");
    let function = compiler.function(&program, &Request::function("f"), DEVICE).expect("a function");
    let args = Arguments::from([("x".to_owned(), HostValue::f64(1.0))]);
    assert_eq!(function.call(&args), Ok(HostValue::f64(7.0)));
    assert_eq!(compiled.load(Ordering::Relaxed), 1);
}

#[test]
fn what_a_device_lacks_is_told_with_its_place_before_code_is_made() {
    let (compiler, compiled) = compiler();
    let cases = [
        ("@io fn f(x: f64) -> f64 {\n  print(\"x\")\n  x\n}", "output", Some(2)),
        (
            "fn f(x: f64) -> f64 {\n  let mut y = x\n  while y < 9.0 {\n    y += 1.0\n  }\n  y\n}",
            "loops whose length only the run knows",
            Some(3),
        ),
        ("fn f(x: f16) -> f32 = x as f32", "numbers of type f16", Some(1)),
        // Its place is in the library.
        (
            "import std.linalg\nfn f(x: f64[2, 2]) -> f64[2, 2] = linalg.cholesky(x)",
            "routines of numerical libraries",
            None,
        ),
    ];
    for (text, lacking, line) in cases {
        let program = compiler.check("f.cot", text);
        assert!(!program.has_errors(), "{:?}", program.diagnostics);
        let error = compiler.function(&program, &Request::function("f"), DEVICE).expect_err(lacking);
        let [told] = <[_; 1]>::try_from(error.diagnostics(&program, "f")).expect("one diagnostic");
        assert_eq!(told.code, codes::UNSUPPORTED_CONSTRUCT);
        assert_eq!(told.message, format!("the device `device` has no {lacking}"));
        assert_eq!(told.help, ["the nearest that works: --backend cpu"]);
        let span = told.primary.span;
        let at = program.sources.get(span.file).expect("a file").line_column(span.start);
        assert!(line.is_none_or(|line| at.line == line), "{lacking}: line {}", at.line);
        assert!(compiler.function(&program, &Request::function("f"), Engine::INTERPRETER).is_ok(), "{lacking}");
    }
    assert_eq!(compiled.load(Ordering::Relaxed), 0, "no code was made");
}

#[test]
fn a_derivative_is_held_against_what_the_function_asks_for() {
    let (compiler, compiled) = compiler();
    let text = "fn f(x: f64) -> f64 {\n  let mut y = x\n  while y < 9.0 {\n    y *= 2.0\n  }\n  y\n}";
    let program = compiler.check("f.cot", text);
    let request = derivative("f", DerivativeForm::Grad, &["x"]);
    let error = compiler.function(&program, &request, DEVICE).expect_err("a loop whose length only the run knows");
    assert!(matches!(error, CompileError::Unsupported(_)), "{error}");
    let [told] = <[_; 1]>::try_from(error.diagnostics(&program, "f")).expect("one diagnostic");
    let span = told.primary.span;
    let at = program.sources.get(span.file).expect("a file").line_column(span.start);
    assert_eq!((told.code, at.line), (codes::UNSUPPORTED_CONSTRUCT, 3));
    assert_eq!(told.help, ["the nearest that works: --backend cpu"]);
    assert_eq!(compiled.load(Ordering::Relaxed), 0);
}

#[test]
fn a_device_that_is_in_no_list_is_told() {
    let (compiler, _) = compiler();
    let program = compiler.check("f.cot", "fn f(x: f64) -> f64 = x");
    let error = compiler.function(&program, &Request::function("f"), Engine::new("cuda")).expect_err("no device");
    assert_eq!(error.to_string(), "the device `cuda` is not supported in this version");
    assert_eq!(Engine::named("cuda").expect_err("no device").to_string(), error.to_string());
    assert_eq!(Engine::named("cpu"), Ok(Engine::CPU));
}
