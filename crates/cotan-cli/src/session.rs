//! A program that was read and checked, with a compiler for it.

use crate::args::EngineArgs;
use crate::diagnostics::{self, Failure, HOW_TO_REPORT, Report, eprint};
use crate::environment;
use crate::exit;
use crate::files::{self, MAX_PROGRAM};
use crate::input::{RawArguments, Unbound};
use cotan::explain::Explanation;
use cotan::host::{ArgumentMisfit, HostValue};
use cotan::llvm::load::explicit_failure;
use cotan::lower::entry::Entry;
use cotan::sema::modules::Loader;
use cotan::sema::typed::{self, GenericKind};
use cotan::sema::types::Scalar;
use cotan::sparse::{SparseError, SparseJacobian, SparseMatrix};
use cotan::syntax::{Code, Diagnostic, FileId, SourceMap, Span, decode};
use cotan::{CallError, CompileError, Compiler, Engine, Function, Program, ReadyModule, Request, codes};
use std::io::ErrorKind;
use std::path::Path;

/// A program without errors, and what compiles and runs it.
pub(crate) struct Session {
    pub(crate) compiler: Compiler,
    pub(crate) engine: Engine,
    pub(crate) program: Program,
}

/// Imported modules are files.
pub(crate) struct FileLoader;

impl Loader for FileLoader {
    fn read(&self, path: &str) -> Result<Option<Vec<u8>>, String> {
        match files::bytes(Path::new(path), MAX_PROGRAM) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error.to_string()),
        }
    }
}

/// The text of a program.
pub(crate) fn read_program(path: &Path) -> Result<(String, String), Failure> {
    let name = path.display().to_string();
    let bytes = files::read(path, MAX_PROGRAM)?;
    let text = decode_program(&name, bytes)?;
    Ok((name, text))
}

/// Bytes that should be the text of a program.
pub(crate) fn decode_program(name: &str, bytes: Vec<u8>) -> Result<String, Failure> {
    decode(FileId(0), bytes).map_err(|invalid| {
        let mut sources = SourceMap::new();
        sources.add(name, invalid.valid);
        Failure::program(exit::PROGRAM, &[*invalid.diagnostic], &sources)
    })
}

impl Session {
    /// Reads and checks a program. Warnings go to stderr; errors end the command.
    pub(crate) fn open(path: &Path, options: &EngineArgs) -> Result<Session, Failure> {
        let (name, text) = read_program(path)?;
        Session::check(&name, &text, options)
    }

    /// Checks the text of a program as if it were read from the file `name`.
    pub(crate) fn check(name: &str, text: &str, options: &EngineArgs) -> Result<Session, Failure> {
        let engine = environment::engine(options)?;
        let config = environment::config(options)?;
        let limits = config.program;
        let (program, compiler) = std::thread::scope(|scope| {
            // To load an LLVM takes longer than to check a program, and neither needs the other.
            let compiler = scope.spawn(|| Compiler::new(config));
            (Program::load(name, text, &FileLoader, &cotan::library::standard(), &limits), compiler.join())
        });
        // Errors of the program are told before anything of LLVM.
        if program.has_errors() {
            return Err(Failure::program(exit::PROGRAM, &program.diagnostics, &program.sources));
        }
        let warnings: Vec<Report> = program.diagnostics.iter().map(|d| Report::new(d, &program.sources)).collect();
        diagnostics::print_text(&warnings);
        let compiler = compiler
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            .map_err(|e| Failure::plain(exit::USAGE, codes::LIMIT, format!("threads can't be started: {e}")))?;
        if engine == Engine::Cpu {
            note_llvm(&compiler);
        }
        Ok(Session { compiler, engine, program })
    }

    /// The declaration of a function.
    pub(crate) fn declaration(&self, name: &str) -> Result<&typed::Function, Failure> {
        let functions = &self.program.checked.program.functions;
        functions.iter().find(|f| f.name == name).ok_or_else(|| {
            let mut known: Vec<&str> = functions.iter().map(|f| f.name.as_str()).collect();
            // The bodies under attributes have names that nobody can write.
            known.retain(|name| !name.ends_with(".primal"));
            let help = match known.as_slice() {
                [] => "the program has no functions".to_owned(),
                some => format!("the functions are `{}`", some.join("`, `")),
            };
            self.request_failure(format!("there is no function `{name}`")).help(&help)
        })
    }

    /// Warns of what a derivative of a function with respect to parameters leaves out.
    pub(crate) fn warn_of_derivative(&self, name: &str, wrt: &[String]) {
        let reports: Vec<Report> = self
            .program
            .derivative_warnings(name, wrt)
            .iter()
            .map(|warning| Report::new(warning, &self.program.sources))
            .collect();
        diagnostics::print_text(&reports);
    }

    /// The request does not fit the program.
    pub(crate) fn request_failure(&self, message: impl Into<String>) -> Failure {
        let name = self.program.sources.get(FileId(0)).map_or("<unknown>", |file| file.name());
        Failure::about(name, exit::USAGE, codes::UNFIT_REQUEST, message)
    }

    /// The request at the element types of the arrays among the arguments. JSON has no types: it takes the defaults of
    /// the parameters in brackets.
    pub(crate) fn at_types_of(&self, raw: &RawArguments, mut request: Request) -> Request {
        let Ok(declaration) = self.declaration(&request.function) else { return request };
        for (at, generic) in declaration.generics.iter().enumerate() {
            let GenericKind::Scalar(bound) = generic.kind else { continue };
            let is_of_it = |scalar| matches!(scalar, Some(Scalar::Param(id)) if id.0 as usize == at);
            let params = declaration.params.iter().filter(|param| is_of_it(param.ty.scalar()));
            let elem = params.filter_map(|param| raw.elem(&param.name)).find(|elem| bound.admits(*elem));
            request.elems.push(elem.unwrap_or_else(|| bound.default_elem()));
        }
        request
    }

    /// How a function or derivative is called.
    pub(crate) fn entry(&self, request: &Request) -> Result<Entry, Failure> {
        self.declaration(&request.function)?;
        self.compiler.entry(&self.program, request).map_err(|e| self.compile_failure(&request.function, e))
    }

    /// The IR of a function or derivative.
    pub(crate) fn lower(&self, request: &Request) -> Result<ReadyModule, Failure> {
        self.declaration(&request.function)?;
        self.compiler.lower(&self.program, request).map_err(|e| self.compile_failure(&request.function, e))
    }

    /// The same, to take derivatives of.
    pub(crate) fn lower_to_derive(&self, request: &Request) -> Result<ReadyModule, Failure> {
        self.declaration(&request.function)?;
        self.compiler.lower_to_derive(&self.program, request).map_err(|e| self.compile_failure(&request.function, e))
    }

    /// What the reverse sweep of a derivative records.
    pub(crate) fn explain(&self, request: &Request) -> Result<Explanation, Failure> {
        self.declaration(&request.function)?;
        self.compiler.explain(&self.program, request).map_err(|e| self.compile_failure(&request.function, e))
    }

    /// Lowered IR, ready to be called.
    pub(crate) fn bind(&self, name: &str, lowered: ReadyModule) -> Result<Function, Failure> {
        self.compiler.bind(lowered, self.engine).map_err(|e| self.compile_failure(name, e))
    }

    /// A function or derivative, ready to be called.
    pub(crate) fn function(&self, request: &Request) -> Result<Function, Failure> {
        self.declaration(&request.function)?;
        let function = self.compiler.function(&self.program, request, self.engine);
        function.map_err(|e| self.compile_failure(&request.function, e))
    }

    /// Arguments in the types of a function's signature.
    pub(crate) fn arguments(
        &self,
        name: &str,
        entry: &Entry,
        raw: &RawArguments,
    ) -> Result<cotan::host::Arguments, Failure> {
        raw.bind(entry).map_err(|unbound| match unbound {
            Unbound::Misfit(misfit) => self.misfit_failure(name, &misfit),
            Unbound::File(failure) => failure,
        })
    }

    /// Calls a function of the source, or a derivative of one.
    pub(crate) fn call(&self, name: &str, function: &Function, raw: &RawArguments) -> Result<HostValue, Failure> {
        let args = self.arguments(name, function.entry(), raw)?;
        function.call(&args).map_err(|e| self.call_failure(name, &e))
    }

    /// Calls a function whose output goes to `output`.
    pub(crate) fn run(
        &self,
        name: &str,
        function: &Function,
        raw: &RawArguments,
        output: &mut dyn FnMut(&str),
    ) -> Result<HostValue, Failure> {
        let args = self.arguments(name, function.entry(), raw)?;
        function.call_with_output(&args, output).map_err(|e| self.call_failure(name, &e))
    }

    /// A sparse Jacobian or Hessian at a point, with its matrix there, which is held against a product with it.
    pub(crate) fn sparse(
        &self,
        request: &Request,
        raw: &RawArguments,
    ) -> Result<(SparseJacobian, SparseMatrix), Failure> {
        let name = &request.function;
        let entry = self.entry(&Request { form: None, ..request.clone() })?;
        let args = self.arguments(name, &entry, raw)?;
        let fail = |e| self.sparse_failure(name, e);
        let jacobian = SparseJacobian::new(&self.compiler, &self.program, request, self.engine, &args).map_err(fail)?;
        let matrix = jacobian.evaluate(&args).map_err(fail)?;
        let check = jacobian.check(&args, &matrix).map_err(fail)?;
        if check.is_ok {
            return Ok((jacobian, matrix));
        }
        let message = format!(
            "a bug of Cotan: the sparse matrix of `{name}` differs from a product with the derivative: expected a relative \
             error of at most {:e}, found {:e}",
            check.tolerance, check.max_rel_err
        );
        let diagnostic = Diagnostic::error(codes::BUG, self.name_span(name), message)
            .help("leave --sparse out, and report the program");
        Err(Failure::program(exit::BUG, &[diagnostic], &self.program.sources))
    }

    fn sparse_failure(&self, name: &str, error: SparseError) -> Failure {
        match error {
            SparseError::Compile(e) => self.compile_failure(name, e),
            SparseError::Call(e) => self.call_failure(name, &e),
            e @ (SparseError::Form(_) | SparseError::Shape { .. }) => self.request_failure(e.to_string()),
        }
    }

    fn compile_failure(&self, name: &str, error: CompileError) -> Failure {
        let (status, diagnostics) = match error {
            CompileError::Diagnostics(all) => (exit::PROGRAM, all),
            CompileError::Derivative(e) => {
                let limit = Diagnostic::error(codes::DERIVATIVE_LIMIT, self.name_span(name), e.to_string());
                (exit::PROGRAM, vec![limit])
            }
            CompileError::Backend(message) => (exit::BUG, vec![self.bug(name, &message)]),
        };
        Failure::program(status, &diagnostics, &self.program.sources)
    }

    /// Why a call has no result, with the place in the source.
    pub(crate) fn call_failure(&self, name: &str, error: &CallError) -> Failure {
        let sources = &self.program.sources;
        match error {
            CallError::Arguments(misfit) => self.misfit_failure(name, misfit),
            CallError::Check(failure) => {
                let span = source_span(failure.span);
                let mut diagnostic = Diagnostic::error(codes::of_check(failure.kind), span, failure.to_string());
                if let Some(f) = self.surroundings(span) {
                    diagnostic = diagnostic.note(format!("{}in `{}`", self.quoted(span), f.name));
                }
                Failure::run_time(exit::RUN_TIME, &diagnostic, sources)
            }
            CallError::OutOfMemory(error) => {
                let site = error.site.as_ref().filter(|site| site.span.is_some());
                let span = site.map_or_else(|| self.name_span(name), |site| self.first_line(source_span(site.span)));
                let mut diagnostic = Diagnostic::error(codes::LIMIT, span, error.to_string()).help(error.remedy());
                if let Some(f) = self.surroundings(span) {
                    diagnostic = diagnostic.note(format!("in `{}`, while `{name}` was running", f.name));
                }
                Failure::run_time(exit::RUN_TIME, &diagnostic, sources)
            }
            CallError::Nan(origin) => {
                let span = source_span(origin.span());
                let mut diagnostic = Diagnostic::error(of_nan(), span, origin.message(sources)).help(origin.help());
                if let Some(f) = self.surroundings(span) {
                    diagnostic = diagnostic.note(format!("while `{name}` was running, in `{}`", f.name));
                }
                Failure::run_time(exit::RUN_TIME, &diagnostic, sources)
            }
            CallError::NanArgument(argument) => {
                let help = "no operation made it; give numbers, or leave out what has none";
                let span = self.parameter_span(name, &argument.name);
                let diagnostic = Diagnostic::error(of_nan(), span, argument.to_string()).help(help);
                Failure::run_time(exit::RUN_TIME, &diagnostic, sources)
            }
            CallError::Limit(_) => self.stopped(name, codes::LIMIT, error, "see that the loops end, or allow more"),
            CallError::TimedOut => self.stopped(name, codes::TIMED_OUT, error, "`--timeout SECONDS` allows more"),
            CallError::Cancelled => self.stopped(name, codes::CANCELLED, error, "call it again"),
            CallError::Unsupported(message) | CallError::Bug(message) => {
                Failure::run_time(exit::BUG, &self.bug(name, message), sources)
            }
        }
    }

    /// Cotan itself failed at a function.
    fn bug(&self, name: &str, message: &str) -> Diagnostic {
        let message = format!("this is a bug of Cotan: {message}");
        Diagnostic::error(codes::BUG, self.name_span(name), message).help(HOW_TO_REPORT)
    }

    /// A call that was stopped, shown at the name of the function.
    fn stopped(&self, name: &str, code: Code, error: &CallError, help: &str) -> Failure {
        let diagnostic = Diagnostic::error(code, self.name_span(name), error.to_string())
            .note(format!("while `{name}` was running"))
            .help(help);
        Failure::run_time(exit::RUN_TIME, &diagnostic, &self.program.sources)
    }

    /// Arguments that do not fit, shown at the parameter.
    fn misfit_failure(&self, name: &str, misfit: &ArgumentMisfit) -> Failure {
        let span = self.parameter_span(name, misfit.name());
        let diagnostic = Diagnostic::error(misfit.code(), span, misfit.to_string());
        Failure::program(exit::USAGE, &[diagnostic], &self.program.sources)
    }

    /// Where a parameter of a function stands; the name of the function if it has no such parameter.
    fn parameter_span(&self, function: &str, parameter: &str) -> Span {
        let declaration = self.program.checked.program.functions.iter().find(|f| f.name == function);
        let param = declaration.and_then(|f| f.params.iter().find(|p| p.name == parameter));
        param.map_or_else(|| self.name_span(function), |p| p.span)
    }

    /// Where the name of a function stands.
    fn name_span(&self, name: &str) -> Span {
        let functions = &self.program.checked.program.functions;
        functions.iter().find(|f| f.name == name).map(|f| f.name_span).unwrap_or_default()
    }

    /// The part of a place on its first line: of a loop, its head.
    fn first_line(&self, span: Span) -> Span {
        let length = self.program.sources.slice(span).find('\n').unwrap_or((span.end - span.start) as usize);
        Span { end: span.start + length as u32, ..span }
    }

    /// The source text of a place, where it fits into a message.
    fn quoted(&self, span: Span) -> String {
        let text = self.program.sources.slice(span);
        if text.is_empty() || text.len() > 40 || text.contains('\n') { String::new() } else { format!("`{text}` ") }
    }

    /// The function that a place lies in: the last one that starts before it.
    fn surroundings(&self, span: Span) -> Option<&typed::Function> {
        let functions = self.program.checked.program.functions.iter();
        functions.filter(|f| f.span.file == span.file && f.span.start <= span.start).max_by_key(|f| f.span.start)
    }
}

/// A place that the IR carries along.
fn source_span(span: cotan::ir::Span) -> Span {
    Span::new(FileId(span.file), span.start, span.end)
}

/// The code of a NaN that was trapped.
fn of_nan() -> cotan::syntax::Code {
    codes::of_check(cotan::ir::CheckKind::Nan)
}

/// One line where there is no LLVM, or where the one that the user named is not the one in use.
pub(crate) fn note_llvm(compiler: &Compiler) {
    match compiler.backend() {
        Err(none) => eprint(&format!("note: {none}")),
        Ok(backend) => {
            if let Some(message) = explicit_failure(backend.engine().attempts()) {
                eprint(&format!("note: COTAN_LLVM is not used: {message}"));
            }
        }
    }
}
