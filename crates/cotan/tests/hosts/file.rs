//! A program of `tests/hosts` with the file beside it: what is called, with what, and what comes out.

use cotan::host::{Arguments, HostType, HostValue, from_json, write_json};
use cotan::{Compiler, DerivativeForm, Engine, Function, Program, Request, Signature, derivative};
use serde_json::{Map, Value as Json};
use std::path::{Path, PathBuf};

/// What a call gives.
pub(super) type Outcome = Result<Results, Failure>;

/// The results of a call.
pub(super) struct Results {
    pub(super) value: HostValue,
    /// The gradient, or what the cotangent pulls back to: one for each parameter of `wrt`.
    pub(super) slopes: Vec<HostValue>,
}

/// Why a call has none.
#[derive(PartialEq)]
pub(super) struct Failure {
    pub(super) code: String,
    pub(super) message: String,
}

/// A call, as its file says.
pub(super) struct HostCall {
    pub(super) args: Arguments,
    pub(super) cotangent: Option<HostValue>,
    fields: Map<String, Json>,
}

/// A program, and what hosts call in it.
pub(super) struct HostProgram {
    pub(super) name: String,
    pub(super) text: String,
    pub(super) json: String,
    pub(super) program: Program,
    pub(super) function: String,
    pub(super) wrt: Vec<String>,
    pub(super) signature: Signature,
    slopes_signature: Signature,
    pub(super) calls: Vec<HostCall>,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/hosts")
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// The page that says what is there.
pub(super) fn readme() -> String {
    read(&folder().join("README.md"))
}

/// All programs, by their names.
pub(super) fn all(compiler: &Compiler) -> Vec<HostProgram> {
    let entries = std::fs::read_dir(folder()).expect("the folder").map(|entry| entry.expect("an entry").path());
    let mut programs: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|e| e == "cot")).collect();
    programs.sort();
    programs.iter().map(|path| HostProgram::read(compiler, path)).collect()
}

/// Whether all floats of a value are f32.
pub(super) fn is_single(value: &HostValue) -> bool {
    let (mut n_floats, mut n_single) = (0, 0);
    value.each_scalar(&mut |c| {
        n_floats += usize::from(c.elem().is_float());
        n_single += usize::from(c.elem() == cotan::host::Elem::F32);
    });
    n_floats > 0 && n_floats == n_single
}

impl HostProgram {
    fn read(compiler: &Compiler, path: &Path) -> HostProgram {
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let (text, json) = (read(path), read(&path.with_extension("json")));
        let program = compiler.check(&format!("{name}.cot"), &text);
        assert!(program.diagnostics.is_empty(), "{name}: {:?}", program.diagnostics);
        let file: Json = serde_json::from_str(&json).unwrap_or_else(|e| panic!("{name}.json: {e}"));
        let function = file["fn"].as_str().unwrap_or_else(|| panic!("{name}.json: a function as `fn`")).to_owned();
        let wrt: Vec<String> = serde_json::from_value(file["wrt"].clone()).expect("names of parameters as `wrt`");
        let signature = compiler.signature(&program, &Request::function(&function));
        let signature = signature.unwrap_or_else(|e| panic!("{name}: {e}"));
        let slopes = derivative(&function, form(&signature), &refs(&wrt));
        let slopes_signature = compiler.signature(&program, &slopes).unwrap_or_else(|e| panic!("{name}: {e}"));
        let calls = file["calls"].as_array().unwrap_or_else(|| panic!("{name}.json: a list as `calls`"));
        let fields = calls.iter().map(|call| call.as_object().expect("an object for each call").clone());
        let calls = fields.map(|fields| HostCall::new(&name, &signature, &slopes_signature, fields)).collect();
        HostProgram { name, text, json, program, function, wrt, signature, slopes_signature, calls }
    }

    pub(super) fn has_gradient(&self) -> bool {
        form(&self.signature) == DerivativeForm::ValueAndGrad
    }

    /// What derivatives are called in the file.
    pub(super) fn slopes_key(&self) -> &'static str {
        if self.has_gradient() { "gradient" } else { "pullback" }
    }

    /// A derivative in `wrt`.
    pub(super) fn derivative(&self, form: DerivativeForm) -> Request {
        derivative(&self.function, form, &refs(&self.wrt))
    }

    pub(super) fn bind(&self, compiler: &Compiler, request: &Request, engine: Engine) -> Function {
        let function = compiler.function(&self.program, request, engine);
        function.unwrap_or_else(|e| panic!("{} on {}: {e}", self.name, engine.name()))
    }

    /// What each call gives on an engine. The derivative must give the same value, or fail in the same way.
    pub(super) fn outcomes(&self, compiler: &Compiler, engine: Engine) -> Vec<Outcome> {
        let primal = self.bind(compiler, &Request::function(&self.function), engine);
        assert_eq!(primal.is_compiled(), engine == Engine::CPU, "{} on {}", self.name, engine.name());
        let slopes = self.bind(compiler, &self.derivative(form(&self.signature)), engine);
        let outcome = |(k, call): (usize, &HostCall)| {
            let place = format!("{}, call {k}, {}", self.name, engine.name());
            let value = self.called(&primal, call.args.clone());
            let with_slopes = self.called(&slopes, call.with_cotangent()).map(HostValue::into_parts);
            match (value, with_slopes) {
                (Ok(value), Ok(mut parts)) => {
                    let again = parts.remove(0);
                    let differs = super::differences::of(&again, &value, None);
                    assert!(differs.is_none(), "{place}: the derivative has another value: {differs:?}");
                    Ok(Results { value, slopes: parts })
                }
                (Err(value), Err(slopes)) if value == slopes => Err(value),
                (value, slopes) => panic!(
                    "{place}: the function gives {:?}, its derivative {:?}",
                    value.map_err(|e| e.message),
                    slopes.map_err(|e| e.message)
                ),
            }
        };
        self.calls.iter().enumerate().map(outcome).collect()
    }

    fn called(&self, function: &Function, args: Arguments) -> Result<HostValue, Failure> {
        function.call(&args).map_err(|error| {
            let diagnostic = error.diagnostic(&self.program, &self.function);
            Failure { code: diagnostic.code.as_str().to_owned(), message: diagnostic.message }
        })
    }

    /// What the file says that each call gives.
    pub(super) fn expected(&self) -> Vec<Outcome> {
        self.calls.iter().enumerate().map(|(k, call)| self.expected_of(k, call)).collect()
    }

    fn expected_of(&self, k: usize, call: &HostCall) -> Outcome {
        let place = format!("{}.json, call {k}", self.name);
        if let Some(error) = call.fields.get("error") {
            let part =
                |key: &str| error[key].as_str().unwrap_or_else(|| panic!("{place}: a text as `{key}`")).to_owned();
            return Err(Failure { code: part("code"), message: part("message") });
        }
        let typed = |json: &Json, ty: &HostType| from_json(json, ty).unwrap_or_else(|e| panic!("{place}: {e:?}"));
        let value = call.fields.get("value").unwrap_or_else(|| panic!("{place}: neither `value` nor `error`"));
        let HostType::Tuple(types) = &self.slopes_signature.result else { panic!("{place}: a derivative is a tuple") };
        let slopes = &call.fields.get(self.slopes_key()).unwrap_or_else(|| panic!("{place}: no {}", self.slopes_key()));
        let slopes = self.wrt.iter().zip(&types[1..]).map(|(name, ty)| typed(&slopes[name.as_str()], ty)).collect();
        Ok(Results { value: typed(value, &self.signature.result), slopes })
    }

    /// Writes the file with these results.
    pub(super) fn write(&self, outcomes: &[Outcome]) {
        let text = self.rendered(outcomes);
        if text == self.json {
            return;
        }
        // Other tests read the folder at the same time, so the new text comes in whole.
        let path = folder().join(&self.name).with_extension("json");
        let fresh = path.with_extension("json.new");
        let written = std::fs::write(&fresh, text).and_then(|()| std::fs::rename(&fresh, &path));
        written.unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    }

    /// The text of the file with these results: numbers in their shortest form, a line for each argument and result.
    pub(super) fn rendered(&self, outcomes: &[Outcome]) -> String {
        let calls: Vec<String> =
            self.calls.iter().zip(outcomes).map(|(call, outcome)| self.rendered_call(call, outcome)).collect();
        let quoted = |text: &String| Json::from(text.as_str()).to_string();
        let wrt: Vec<String> = self.wrt.iter().map(quoted).collect();
        format!(
            "{{\n  \"fn\": {},\n  \"wrt\": [{}],\n  \"calls\": [\n{}\n  ]\n}}\n",
            quoted(&self.function),
            wrt.join(", "),
            calls.join(",\n")
        )
    }

    fn rendered_call(&self, call: &HostCall, outcome: &Outcome) -> String {
        let params = self.signature.params.iter();
        let args = params.filter_map(|param| Some((param.name.as_str(), call.args.get(&param.name)?)));
        let mut fields = vec![format!("\"args\": {}", object(args))];
        if let Some(cotangent) = &call.cotangent {
            fields.push(format!("\"cotangent\": {}", text(cotangent)));
        }
        match outcome {
            Ok(results) => {
                let slopes = self.wrt.iter().map(String::as_str).zip(&results.slopes);
                fields.push(format!("\"value\": {}", text(&results.value)));
                fields.push(format!("\"{}\": {}", self.slopes_key(), object(slopes)));
            }
            Err(Failure { code, message }) => {
                let message = Json::from(message.as_str());
                fields.push(format!("\"error\": {{ \"code\": \"{code}\", \"message\": {message} }}"));
            }
        }
        format!("    {{\n      {}\n    }}", fields.join(",\n      "))
    }
}

impl HostCall {
    fn new(program: &str, signature: &Signature, slopes: &Signature, fields: Map<String, Json>) -> HostCall {
        let typed = |name: &str, json: &Json, ty: &HostType| {
            from_json(json, ty).unwrap_or_else(|e| panic!("{program}.json, `{name}`: {e:?}"))
        };
        let type_in = |signature: &Signature, name: &str| {
            let param = signature.params.iter().find(|param| param.name == name);
            param.unwrap_or_else(|| panic!("{program}.json: there is no parameter `{name}`")).ty.clone()
        };
        let args = fields["args"].as_object().expect("arguments by name");
        let args =
            args.iter().map(|(name, json)| (name.clone(), typed(name, json, &type_in(signature, name)))).collect();
        let cotangent = fields.get("cotangent").map(|json| typed("cotangent", json, &type_in(slopes, "cotangent")));
        HostCall { args, cotangent, fields }
    }

    fn with_cotangent(&self) -> Arguments {
        let mut args = self.args.clone();
        args.extend(self.cotangent.iter().map(|cotangent| ("cotangent".to_owned(), cotangent.clone())));
        args
    }
}

/// Gradients of numbers, pullbacks of everything else.
fn form(signature: &Signature) -> DerivativeForm {
    match &signature.result {
        HostType::Scalar(elem) if elem.is_float() => DerivativeForm::ValueAndGrad,
        HostType::Scalar(_)
        | HostType::Tensor { .. }
        | HostType::Tuple(_)
        | HostType::Struct { .. }
        | HostType::Enum { .. } => DerivativeForm::Vjp,
    }
}

fn refs(names: &[String]) -> Vec<&str> {
    names.iter().map(String::as_str).collect()
}

fn text(value: &HostValue) -> String {
    let mut out = String::new();
    write_json(value, &mut out);
    out
}

/// An object with a line for each entry.
fn object<'v>(entries: impl Iterator<Item = (&'v str, &'v HostValue)>) -> String {
    let lines: Vec<String> = entries.map(|(name, value)| format!("        \"{name}\": {}", text(value))).collect();
    if lines.is_empty() { "{}".to_owned() } else { format!("{{\n{}\n      }}", lines.join(",\n")) }
}
