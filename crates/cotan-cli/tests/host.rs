//! A host of its own: over the library alone it gives what the command gives, and it lends its arrays without a copy.

use cotan::diagnostics::{Diagnostic, to_json};
use cotan::host::{Arguments, Elem, HostValue, TensorMut, TensorRef, from_json, write_json};
use cotan::{Compiler, Config, DerivativeForm, DerivativeRequest, Engine, Loader, Program, Request};
use cotan_testkit::files::{programs, tests_folder, workspace_file};
use cotan_testkit::header::{Case, cases};
use serde_json::{Value as Json, json};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A host that knows Cotan by its library.
struct Host {
    compiler: Compiler,
}

/// Modules beside a program.
struct Files;

impl Loader for Files {
    fn read(&self, path: &str) -> Result<Option<Vec<u8>>, String> {
        match std::fs::read(path) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error.to_string()),
        }
    }
}

impl Host {
    fn new() -> Host {
        let config = Config { threads: NonZeroUsize::new(1), ..Config::default() };
        Host { compiler: Compiler::new(config).expect("a compiler") }
    }

    /// What a call of a function, or of its gradient, gives: the object that the command prints.
    fn answer(&self, path: &Path, case: &Case) -> Json {
        let text = std::fs::read_to_string(path).expect("a program");
        let program = self.compiler.load(&path.display().to_string(), &text, &Files);
        match self.called(&program, case) {
            Ok(result) => shown(&result),
            Err(failures) => {
                let all: Vec<_> = failures.iter().map(|failure| to_json(failure, &program.sources)).collect();
                json!({ "diagnostics": all })
            }
        }
    }

    fn called(&self, program: &Program, case: &Case) -> Result<HostValue, Vec<Diagnostic>> {
        let name = case.function.as_str();
        let form = DerivativeRequest { form: DerivativeForm::ValueAndGrad, wrt: case.wrt.clone(), mode: None };
        let request = if case.wrt.is_empty() { Request::function(name) } else { Request::derivative(name, form) };
        let of_compilation = |error: cotan::CompileError| error.diagnostics(program, name);
        let resolved = self.compiler.resolve(program, request, &|_| None).map_err(of_compilation)?;
        let argument = |(given, json): (&String, &Json)| {
            let param = resolved.function.params.iter().find(|param| param.name == *given);
            let value = match param {
                Some(param) => from_json(json, &param.ty).expect("a value of the type"),
                // A size, or something that nobody asks for.
                None => HostValue::i64(json.as_i64()?),
            };
            Some((given.clone(), value))
        };
        let args: Arguments = case.args.iter().filter_map(argument).collect();
        let function = self.compiler.function(program, &resolved.request, Engine::CPU).map_err(of_compilation)?;
        let result = function.call(&args).map_err(|error| vec![error.diagnostic(program, name)])?;
        if case.wrt.is_empty() {
            return Ok(HostValue::Struct(vec![("result".to_owned(), result)]));
        }
        let mut parts = result.into_parts().into_iter();
        let value = parts.next().expect("a value");
        let gradient = case.wrt.iter().cloned().zip(parts.by_ref()).collect();
        let mut object = vec![("value".to_owned(), value), ("grad".to_owned(), HostValue::Struct(gradient))];
        let aux: Vec<HostValue> = parts.collect();
        if !aux.is_empty() {
            object.push(("aux".to_owned(), HostValue::Tuple(aux)));
        }
        Ok(HostValue::Struct(object))
    }
}

fn shown(value: &HostValue) -> Json {
    let mut text = String::new();
    write_json(value, &mut text);
    serde_json::from_str(&text).expect("what is written can be read")
}

/// The object that the command prints of the same call.
fn command(path: &Path, case: &Case, folder: &Path) -> Json {
    let args = folder.join("args.json");
    std::fs::write(&args, json!(case.args).to_string()).expect("a file");
    let mut command = Command::new(env!("CARGO_BIN_EXE_cotan"));
    if case.wrt.is_empty() {
        command.arg("run").arg(path).args(["--fn", &case.function]);
    } else {
        command.arg("grad").arg(path).args(["--fn", &case.function]);
        command.args(case.wrt.iter().flat_map(|name| ["--wrt", name]));
    }
    command.arg("--args").arg(&args).args(["--json", "--threads", "1"]).env("XDG_CACHE_HOME", folder.join("cache"));
    let output = command.output().expect("the command runs");
    let text = String::from_utf8_lossy(&output.stdout);
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e}: {text}{}", String::from_utf8_lossy(&output.stderr)))
}

/// Programs of every folder of `tests/run`, and of the examples, with one of their cases each.
fn chosen() -> Vec<(PathBuf, Case)> {
    let mut all = Vec::new();
    for (folder, step) in [(tests_folder().join("run"), 13), (tests_folder().join("run/errors"), 9)] {
        for path in programs(&folder).into_iter().step_by(step) {
            let text = std::fs::read_to_string(&path).expect("a program");
            let cases = cases(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
            let case = cases.into_iter().next_back().expect("a case");
            all.push((path, case));
        }
    }
    all
}

#[test]
fn a_host_over_the_library_gives_what_the_command_gives() {
    let (host, folder) = (Host::new(), tempfile::tempdir().expect("a folder"));
    let chosen = chosen();
    assert!(chosen.len() >= 30, "{} programs", chosen.len());
    assert!(chosen.iter().any(|(_, case)| !case.wrt.is_empty()));
    let mut failures = 0;
    for (path, case) in &chosen {
        let expected = command(path, case, folder.path());
        failures += usize::from(expected.get("diagnostics").is_some());
        assert_eq!(host.answer(path, case), expected, "{}: {}", path.display(), case.function);
    }
    assert!(failures > 0, "a program fails, so that messages and places are compared");
}

#[test]
fn a_request_that_does_not_fit_is_told_as_the_command_tells_it() {
    let (host, folder) = (Host::new(), tempfile::tempdir().expect("a folder"));
    let path = workspace_file("tests/run/arguments/defaults_and_names.cot");
    let text = std::fs::read_to_string(&path).expect("a program");
    let first = cases(&text).expect("cases").remove(0);
    for (function, wrt) in [("nowhere", &[][..]), ("digits", &["nothing"]), ("all", &["a"]), ("blank", &["n"])] {
        let wrt = wrt.iter().map(|&name| name.to_owned()).collect();
        let case = Case { function: function.to_owned(), wrt, args: serde_json::Map::new(), ..first.clone() };
        assert_eq!(host.answer(&path, &case), command(&path, &case, folder.path()), "{function}");
    }
}

#[test]
fn an_array_of_64_mib_is_lent_and_not_copied() {
    const N: usize = 16 << 20;
    const SMALL: u64 = 64 << 10;
    let host = Host::new();
    let text = "fn total[N](x: f32[N]) -> f32 = +/ x\nfn twice[N](x: f32[N]) -> f32[N] = x .+ x";
    let program = host.compiler.check("lent.cot", text);
    let [total, twice] = ["total", "twice"].map(|name| {
        let function = host.compiler.function(&program, &Request::function(name), Engine::CPU).expect("a function");
        assert!(function.is_compiled());
        function
    });
    let (x, mut y, mut sum) = (vec![0.5f32; N], vec![0.0f32; N], [0.0f32]);
    let dims = [N as i64];
    let lent = TensorRef::new(Elem::F32, &dims, &x[..]).expect("a tensor");
    let counts = allocation_counter::measure(|| {
        let result = TensorMut::new(Elem::F32, &[], &mut sum[..]).expect("a scalar");
        total.call_into(&[("x", lent)], &mut [result]).expect("a sum");
        let result = TensorMut::new(Elem::F32, &dims, &mut y[..]).expect("a tensor");
        twice.call_into(&[("x", lent)], &mut [result]).expect("a tensor");
    });
    assert!(counts.bytes_max < SMALL, "{} bytes", counts.bytes_max);
    for function in [&total, &twice] {
        let held = function.statistics().expect("a call").peak_bytes;
        assert!((held as u64) < SMALL, "{held} bytes");
    }
    assert_eq!(sum, [0.5 * N as f32]);
    assert!(y.iter().all(|y| *y == 1.0));
}
