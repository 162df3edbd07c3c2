//! A program that was read and checked, with a compiler for it.

use crate::args::EngineArgs;
use crate::diagnostics::{self, Failure, Report, eprint};
use crate::environment;
use crate::exit;
use crate::files::{self, MAX_PROGRAM};
use crate::input;
use crate::output;
use cotan::cpu::explicit_failure;
use cotan::diagnostics::{Diagnostic, FileId, SourceMap, decode};
use cotan::emit::PassLog;
use cotan::explain::Explanation;
use cotan::host::{ArgumentMisfit, Bound, HostValue, Inputs, Unbound};
use cotan::sparse::{SparseError, SparseJacobian, SparseMatrix};
use cotan::{
    CallError, CompileError, Compiler, Engine, Function, Loader, Program, ReadyModule, Request, ResolvedRequest,
    Signature, UnfitRequest, Written, codes,
};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::Path;

/// A program without errors, and what compiles and runs it.
pub(crate) struct Session {
    pub(crate) compiler: Compiler,
    pub(crate) engine: Engine,
    pub(crate) program: Program,
    /// Notes about arguments that were told. A command may bind them several times.
    told: RefCell<BTreeSet<String>>,
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

    /// Checks the text of a program as if it were read from the file `name`. Warnings go to stderr.
    pub(crate) fn check(name: &str, text: &str, options: &EngineArgs) -> Result<Session, Failure> {
        let session = Session::check_quietly(name, text, options)?;
        let Program { diagnostics, sources, .. } = &session.program;
        let warnings: Vec<Report> = diagnostics.iter().map(|d| Report::new(d, sources)).collect();
        diagnostics::print_text(&warnings);
        if matches!(session.engine, Engine::CPU | Engine::VULKAN) {
            note_llvm(&session.compiler);
        }
        Ok(session)
    }

    /// The same without a word of warnings.
    pub(crate) fn check_quietly(name: &str, text: &str, options: &EngineArgs) -> Result<Session, Failure> {
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
        let compiler = compiler
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            .map_err(|e| Failure::plain(exit::USAGE, codes::LIMIT, e))?;
        Ok(Session { compiler, engine, program, told: RefCell::default() })
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
    pub(crate) fn at_types_of(&self, raw: &Inputs, request: Request) -> Request {
        self.program.at_elems(request, &|name| raw.elem(name))
    }

    /// The same with all its defaults, if it fits the program.
    pub(crate) fn resolve(&self, raw: &Inputs, request: Request) -> Result<ResolvedRequest, Failure> {
        let name = request.function.clone();
        let resolved = self.compiler.resolve(&self.program, request, &|name| raw.elem(name));
        resolved.map_err(|e| self.compile_failure(&name, e))
    }

    /// The IR of a function or derivative.
    pub(crate) fn lower(&self, request: &Request) -> Result<ReadyModule, Failure> {
        self.made(request, |request| self.compiler.lower(&self.program, request))
    }

    /// The same, to take derivatives of.
    pub(crate) fn lower_to_derive(&self, request: &Request) -> Result<ReadyModule, Failure> {
        self.made(request, |request| self.compiler.lower_to_derive(&self.program, request))
    }

    /// Notes what passes do on the way of a request.
    pub(crate) fn log_passes(&self, request: &Request, log: &PassLog) -> Result<(), Failure> {
        self.made(request, |request| self.compiler.log_passes(&self.program, request, log))
    }

    /// What the reverse sweep of a derivative records.
    pub(crate) fn explain(&self, request: &Request) -> Result<Explanation, Failure> {
        self.made(request, |request| self.compiler.explain(&self.program, request))
    }

    /// A function or derivative, ready to be called.
    pub(crate) fn function(&self, request: &Request) -> Result<Function, Failure> {
        self.made(request, |request| self.compiler.function(&self.program, request, self.engine))
    }

    /// Lowered IR, ready to be called.
    pub(crate) fn bind(&self, name: &str, lowered: ReadyModule) -> Result<Function, Failure> {
        self.compiler.bind(lowered, self.engine).map_err(|e| self.compile_failure(name, e))
    }

    /// What is made of a function that the program has.
    fn made<T>(&self, request: &Request, make: impl FnOnce(&Request) -> Result<T, CompileError>) -> Result<T, Failure> {
        let found = self.program.expect_function(&request.function).map_err(CompileError::from);
        found.and_then(|()| make(request)).map_err(|e| self.compile_failure(&request.function, e))
    }

    /// Arguments in the types of a function's signature.
    pub(crate) fn arguments(
        &self,
        name: &str,
        signature: &Signature,
        raw: &Inputs,
    ) -> Result<cotan::host::Arguments, Failure> {
        let Bound { args, notes } = raw.bind(signature, &mut input::budget()).map_err(|unbound| match unbound {
            Unbound::Misfit { misfit, help } => self.misfit_failure(name, *misfit, help),
            Unbound::Malformed(malformed) => malformed.into(),
        })?;
        for note in notes {
            if self.told.borrow_mut().insert(note.clone()) {
                eprint(&format!("note: {note}"));
            }
        }
        Ok(args)
    }

    /// Calls a function of the source, or a derivative of one.
    pub(crate) fn call(&self, name: &str, function: &Function, raw: &Inputs) -> Result<HostValue, Failure> {
        self.run(name, function, raw, &mut |_| {})
    }

    /// Calls a function whose output goes to `output`, and what `debug` writes to stderr.
    pub(crate) fn run(
        &self,
        name: &str,
        function: &Function,
        raw: &Inputs,
        output: &mut dyn FnMut(&str),
    ) -> Result<HostValue, Failure> {
        let args = self.arguments(name, function.signature(), raw)?;
        let mut written = |written: Written<'_>| match written {
            Written::Output(text) => output(text),
            Written::Debug(text) => output::debugged(text),
        };
        function.call_written(&args, &mut written).map_err(|e| self.call_failure(name, &e))
    }

    /// A sparse Jacobian or Hessian at a point, with its matrix there, which is held against a product with it.
    pub(crate) fn sparse(&self, request: &Request, raw: &Inputs) -> Result<(SparseJacobian, SparseMatrix), Failure> {
        let name = &request.function;
        let primal = Request { form: None, more: Vec::new(), ..request.clone() };
        let signature = self.compiler.signature(&self.program, &primal).map_err(|e| self.compile_failure(name, e))?;
        let args = self.arguments(name, &signature, raw)?;
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
        let diagnostic = Diagnostic::error(codes::BUG, self.program.name_span(name), message)
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
        let status = match error {
            CompileError::Request(UnfitRequest { message, help }) => {
                let failure = self.request_failure(message);
                return help.iter().fold(failure, |failure, help| failure.help(help));
            }
            CompileError::Device(_) | CompileError::NoDevice(_) | CompileError::Unsupported(_) => exit::USAGE,
            CompileError::Diagnostics(_) | CompileError::Derivative(_) => exit::PROGRAM,
            CompileError::Backend(_) => exit::BUG,
        };
        Failure::program(status, &error.diagnostics(&self.program, name), &self.program.sources)
    }

    /// Why a call has no result, with the place in the source.
    pub(crate) fn call_failure(&self, name: &str, error: &CallError) -> Failure {
        let (diagnostic, sources) = (error.diagnostic(&self.program, name), &self.program.sources);
        match error {
            CallError::Arguments(_) => Failure::program(exit::USAGE, &[diagnostic], sources),
            CallError::TimedOut => {
                Failure::run_time(exit::RUN_TIME, &diagnostic.help("`--timeout SECONDS` allows more"), sources)
            }
            CallError::Check(_)
            | CallError::OutOfMemory(_)
            | CallError::Nan(_)
            | CallError::NanArgument(_)
            | CallError::Limit(_)
            | CallError::Device(_)
            | CallError::Cancelled => Failure::run_time(exit::RUN_TIME, &diagnostic, sources),
            CallError::Unsupported(_) | CallError::Bug(_) => Failure::run_time(exit::BUG, &diagnostic, sources),
        }
    }

    /// Arguments that do not fit, shown at the parameter.
    fn misfit_failure(&self, name: &str, misfit: ArgumentMisfit, help: Option<String>) -> Failure {
        let diagnostic = CallError::Arguments(misfit).diagnostic(&self.program, name);
        let diagnostic = help.into_iter().fold(diagnostic, |diagnostic, help| diagnostic.help(help));
        Failure::program(exit::USAGE, &[diagnostic], &self.program.sources)
    }
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
