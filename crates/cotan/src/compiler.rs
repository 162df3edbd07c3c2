//! From programs to functions.

use crate::executable::{Code, Executable, NanFallback};
use crate::function::{Executor, Function, interpreter_options};
use crate::pipeline::{self, MiddleEnd, Stage};
use crate::stopping::CallLimits;
use crate::tiering::{Tiered, prints};
use crate::{CompileError, Program, Request, Signature, library};
use cotan_ir::{Module, PrintOptions, print_module};
use cotan_llvm::cache::{Cache, Key};
use cotan_llvm::jit::{Engine as Llvm, OptLevel};
use cotan_llvm::load::{NoLlvm, SearchConfig};
use cotan_llvm::runtime::{Pool, check_threads};
use cotan_llvm::{Backend, CompileOptions, CompiledFunction, Probe, Width};
use cotan_lower::entry::{Entry, EntryExtent};
use cotan_opt::passes::trap_nan::Site;
use cotan_opt::{KnownExtents, Observer};
use cotan_sema::dims::{Atom, Dim};
use cotan_sema::modules::{Library, Loader, NoFiles};
use cotan_syntax::on_deep_stack;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

/// What executes functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// The reference interpreter: the definition of what is right.
    Interpreter,
    /// Machine code for this CPU; the interpreter where no LLVM is found.
    Cpu,
}

/// What a compiler is made with. A library reads no environment: shells fill this in.
#[derive(Debug, Default)]
pub struct Config {
    /// Where to look for libLLVM.
    pub llvm: SearchConfig,
    /// Where compiled code is kept between runs; `None` keeps none.
    pub cache: Option<Cache>,
    /// What tells this build of the compiler from any other one. With it, functions are found in the cache by their source;
    /// without it only by the code that they become.
    pub build: Option<String>,
    /// Threads, of calls and of the compiler; `None` takes as many as this process may use. At most
    /// [`MOST_THREADS_PER_CORE`](cotan_llvm::runtime::MOST_THREADS_PER_CORE) for each core are accepted.
    pub threads: Option<NonZeroUsize>,
    /// How hard LLVM works.
    pub level: OptLevel,
    /// How many lanes of a loop an operation works on, at most; `None` for as many as the loop has. No bit depends on it.
    pub width: Option<Width>,
    /// Whether code is wanted soon: it is made quickly, and made well once its calls take long. Of functions that are kept
    /// between processes, see `build`.
    pub quick_start: bool,
    /// Bounds on programs.
    pub program: cotan_sema::Limits,
    /// Bounds on derivatives.
    pub derivatives: cotan_ad::Limits,
    /// Bytes that a call may use; `None` for no bound but the machine's.
    pub memory: Option<u64>,
    /// What may stop calls.
    pub call: CallLimits,
    /// Whether a call stops where a NaN is made, in a value or a derivative, and says where.
    pub trap_nan: bool,
    /// What programs may import, and the operations of its modules; `None` for the standard library.
    pub library: Option<Library>,
}

/// Makes functions of programs. Shared by any number of threads.
#[derive(Debug)]
pub struct Compiler {
    backend: Result<Arc<Backend>, NoLlvm>,
    build: Option<String>,
    level: OptLevel,
    width: Option<Width>,
    quick_start: bool,
    program: cotan_sema::Limits,
    derivatives: cotan_ad::Limits,
    memory: Option<u64>,
    call: CallLimits,
    threads: NonZeroUsize,
    trap_nan: bool,
    library: Library,
    lowerings: AtomicUsize,
}

/// The IR of a request, before it is bound to an engine. Extents among its operands are those that `entry` says for its
/// sizes: code relies on it, and calls of a [`Function`] check it.
#[derive(Clone, Debug)]
pub struct ReadyModule {
    /// How to call it.
    pub entry: Entry,
    /// Every function that it needs; derivatives are written.
    pub module: Arc<Module>,
    /// The places where it may make a NaN, if it traps those.
    pub traps: Option<Arc<[Site]>>,
}

impl Compiler {
    /// A compiler. LLVM is looked for once, here. The error says that there are to be too many threads, or is the system's
    /// refusal to start them.
    pub fn new(config: Config) -> Result<Compiler, String> {
        let Config {
            llvm,
            cache,
            build,
            threads,
            level,
            width,
            quick_start,
            program,
            derivatives,
            memory,
            call,
            trap_nan,
            library,
        } = config;
        let library = library.unwrap_or_else(library::standard);
        let threads = threads.or(std::thread::available_parallelism().ok()).unwrap_or(NonZeroUsize::MIN);
        check_threads(threads)?;
        let backend = match Llvm::new(&llvm, cache) {
            Ok(engine) => {
                let pool = Arc::new(Pool::new(threads)?);
                Ok(Arc::new(Backend::new(engine.with_threads(threads), pool).with_registry(library.registry)))
            }
            Err(none) => Err(none),
        };
        let quick_start = quick_start && level == OptLevel::O2;
        Ok(Compiler {
            backend,
            build,
            level,
            width,
            quick_start,
            program,
            derivatives,
            memory,
            call,
            threads,
            trap_nan,
            library,
            lowerings: AtomicUsize::new(0),
        })
    }

    /// The CPU backend, or why there is none.
    pub fn backend(&self) -> Result<&Backend, &NoLlvm> {
        self.backend.as_deref()
    }

    /// How many threads share a parallel loop, as a number of the IR.
    pub(crate) fn threads(&self) -> i64 {
        i64::try_from(self.threads.get()).unwrap_or(i64::MAX)
    }

    /// Bytes that a call may use.
    pub fn memory(&self) -> Option<u64> {
        self.memory
    }

    /// What may stop calls.
    pub fn call_limits(&self) -> &CallLimits {
        &self.call
    }

    /// Parses and checks a file within the compiler's limits.
    pub fn check(&self, name: &str, text: &str) -> Program {
        Program::load(name, text, &NoFiles, &self.library, &self.program)
    }

    /// Parses and checks a file and what it imports within the compiler's limits.
    pub fn load(&self, name: &str, text: &str, loader: &dyn Loader) -> Program {
        Program::load(name, text, loader, &self.library, &self.program)
    }

    /// The IR of a function or derivative of a program without errors, as it is run.
    pub fn lower(&self, program: &Program, request: &Request) -> Result<ReadyModule, CompileError> {
        on_deep_stack(|| self.lower_on_this_stack(program, request, self.last()))
    }

    /// The IR of a function of a module in which derivatives are requests, as it is run. The entry tells its first operands.
    pub(crate) fn lower_module(&self, entry: Entry, source: &Module) -> Result<ReadyModule, CompileError> {
        on_deep_stack(|| self.ready(entry, source, self.last(), None))
    }

    /// How far code that is run goes.
    fn last(&self) -> Stage {
        // A trap tells the iteration in which a NaN was made, so it wants to see the loops.
        if self.trap_nan { Stage::Simplified } else { Stage::Ready }
    }

    /// The same before it is optimised for running: of this IR derivatives may be taken. Of the other they may not: how a
    /// maximum shares among ties, and what a zero makes needless, is decided in it already.
    pub fn lower_to_derive(&self, program: &Program, request: &Request) -> Result<ReadyModule, CompileError> {
        on_deep_stack(|| self.lower_on_this_stack(program, request, Stage::Simplified))
    }

    /// The names and types of a function or derivative of a program without errors. Nothing is lowered for it.
    pub fn signature(&self, program: &Program, request: &Request) -> Result<Signature, CompileError> {
        expect_no_errors(program)?;
        let signature = || cotan_lower::signature(&program.checked.program, request, &self.program);
        on_deep_stack(signature).map_err(CompileError::Diagnostics)
    }

    /// How many times this compiler has lowered a program.
    pub fn lowerings(&self) -> usize {
        self.lowerings.load(Ordering::Relaxed)
    }

    /// The IR of the source, in which derivatives are requests.
    pub(crate) fn lower_source(&self, program: &Program, request: &Request) -> Result<(Entry, Module), CompileError> {
        expect_no_errors(program)?;
        self.lowerings.fetch_add(1, Ordering::Relaxed);
        let roots = std::slice::from_ref(request);
        let lowered =
            cotan_lower::lower(&program.checked.program, roots, &self.program).map_err(CompileError::Diagnostics)?;
        let entry = lowered.entries.into_iter().next().expect("invariant: there is an entry for each root");
        Ok((entry, lowered.module))
    }

    /// What a module goes through up to a stage, if nothing is known of the arguments of its entry. Under traps for NaN a
    /// reverse sweep starts after the value, as it does where there are checks.
    pub(crate) fn middle_end(&self, stage: Stage) -> MiddleEnd<'_> {
        MiddleEnd { limits: &self.derivatives, values_first: self.trap_nan, stage, known_extents: &[], observer: None }
    }

    fn lower_on_this_stack(
        &self,
        program: &Program,
        request: &Request,
        stage: Stage,
    ) -> Result<ReadyModule, CompileError> {
        let (entry, source) = self.lower_source(program, request)?;
        self.ready(entry, &source, stage, None)
    }

    /// Shows an observer each function of a request after each of the [`passes`](crate::emit::passes) on its way to code, with
    /// the name of the pass. What is simplified while a derivative is written is not shown.
    pub(crate) fn observe(
        &self,
        program: &Program,
        request: &Request,
        observer: &(dyn Fn(&'static str, &cotan_ir::Function) + Sync),
    ) -> Result<(), CompileError> {
        on_deep_stack(|| {
            let (entry, source) = self.lower_source(program, request)?;
            let ready = self.ready(entry, &source, self.last(), Some(observer))?;
            if ready.traps.is_none() {
                pipeline::relax_products(&ready.module, &ready.entry.symbol, Some(observer));
            }
            Ok(())
        })
    }

    /// The IR of a source at a stage.
    fn ready(
        &self,
        entry: Entry,
        source: &Module,
        stage: Stage,
        observer: Option<&Observer<'_>>,
    ) -> Result<ReadyModule, CompileError> {
        let known_extents = known_extents(&entry);
        let middle_end = MiddleEnd { known_extents: &known_extents, observer, ..self.middle_end(stage) };
        let (mut module, _) = middle_end.run(source, &entry.symbol)?;
        let traps = self.trap_nan.then(|| pipeline::trap_nan(&mut module, observer));
        Ok(ReadyModule { entry, module: Arc::new(module), traps })
    }

    /// A function or derivative of a program, ready to be called.
    pub fn function(&self, program: &Program, request: &Request, engine: Engine) -> Result<Function, CompileError> {
        let (entry, source) = on_deep_stack(|| self.lower_source(program, request))?;
        let kept = match (engine, &self.backend, &self.build) {
            // Traps are known by their number among those of the process that made them.
            (Engine::Cpu, Ok(backend), Some(build)) if !self.trap_nan => {
                on_deep_stack(|| self.kept_function(&entry, &source, backend, build))?
            }
            (Engine::Cpu | Engine::Interpreter, _, _) => None,
        };
        match kept {
            Some(function) => Ok(function),
            None => self.bind(self.lower_module(entry, &source)?, engine),
        }
    }

    /// A function that is kept between processes under its source, made if need be. `None` if nothing is kept.
    fn kept_function(
        &self,
        entry: &Entry,
        source: &Module,
        backend: &Arc<Backend>,
        build: &str,
    ) -> Result<Option<Function>, CompileError> {
        let text = print_module(source, PrintOptions { spans: true });
        let limits = format!("{:?}", self.derivatives);
        // The text does not tell what extents are made of.
        let known_extents = format!("{:?}", known_extents(entry));
        let made_of = [build, &limits, &known_extents, &entry.symbol, &text];
        let good = self.compile_options();
        let Some(key) = backend.key(&made_of, &good) else { return Ok(None) };
        if let Some((module, code)) = backend.kept(&key, &entry.symbol) {
            let module = Arc::new(module);
            let executor = self.executor(backend, &module, entry, code.watches_nan(), Code::Optimized(code));
            return Ok(Some(Function {
                entry: entry.clone(),
                module,
                traps: None,
                executor,
                threads: None,
                limits: self.call.clone(),
            }));
        }
        let wanted = if self.quick_start && !prints(source) {
            CompileOptions { is_quick: true, ..good.clone() }
        } else {
            good.clone()
        };
        let Some(wanted_key) = backend.key(&made_of, &wanted) else { return Ok(None) };
        let kept = if wanted.is_quick { backend.kept(&wanted_key, &entry.symbol) } else { None };
        let (module, code) = match kept {
            Some((module, code)) => (Arc::new(module), code),
            None => {
                backend.engine().open_ahead();
                let ReadyModule { module, .. } = self.ready(entry.clone(), source, Stage::Ready, None)?;
                let code = kept_code(backend, &wanted_key, &module, &entry.symbol, &wanted)?;
                (module, code)
            }
        };
        let watches_nan = code.watches_nan();
        let code = if wanted.is_quick {
            let (backend, module, symbol) = (backend.clone(), module.clone(), entry.symbol.clone());
            let make = move || kept_code(&backend, &key, &module, &symbol, &good).ok();
            Code::Tiered(Box::new(Tiered::new(code, make)))
        } else {
            Code::Optimized(code)
        };
        let executor = self.executor(backend, &module, entry, watches_nan, code);
        Ok(Some(Function {
            entry: entry.clone(),
            module,
            traps: None,
            executor,
            threads: None,
            limits: self.call.clone(),
        }))
    }

    /// Code that watches for NaN is of a variant of the module, whose own code then is to run.
    fn executor(
        &self,
        backend: &Arc<Backend>,
        module: &Arc<Module>,
        entry: &Entry,
        watches_nan: bool,
        code: Code,
    ) -> Executor {
        let exact = watches_nan.then(|| NanFallback {
            backend: backend.clone(),
            module: module.clone(),
            symbol: entry.symbol.clone(),
            options: self.compile_options(),
            code: OnceLock::new(),
        });
        let max_bytes = self.memory.map_or(usize::MAX, |bytes| usize::try_from(bytes).unwrap_or(usize::MAX));
        Executor::Executable(Arc::new(Executable::new(code, exact, max_bytes)))
    }

    /// Lowered IR, ready to be called.
    pub fn bind(&self, lowered: ReadyModule, engine: Engine) -> Result<Function, CompileError> {
        let ReadyModule { entry, module, traps } = lowered;
        let executor = match (engine, &self.backend) {
            (Engine::Cpu, Ok(backend)) => {
                let plain = if traps.is_some() { None } else { self.plain(&module, &entry) };
                let options = CompileOptions { has_plain_products: plain.is_some(), ..self.compile_options() };
                let first = plain.as_ref().unwrap_or(&module);
                let code = on_deep_stack(|| backend.compile(first, &entry.symbol, &options))?;
                self.executor(backend, &module, &entry, code.watches_nan(), Code::Optimized(code))
            }
            (Engine::Cpu, Err(_)) | (Engine::Interpreter, _) => Executor::Interpreter(interpreter_options(self.memory)),
        };
        Ok(Function { entry, module, traps, executor, threads: None, limits: self.call.clone() })
    }

    /// The code that a call of machine code runs first: products of derivatives are plain, where that is allowed. `None`
    /// where nothing is to be replaced, or the code is not optimised.
    pub fn plain(&self, module: &Module, entry: &Entry) -> Option<Arc<Module>> {
        plain(module, &entry.symbol, self.level)
    }

    /// How the CPU backend compiles.
    pub fn compile_options(&self) -> CompileOptions {
        CompileOptions { level: self.level, width: self.width, ..CompileOptions::default() }
    }

    /// Machine code of a function with probes around its loop nests: the output of a call tells of them, in pieces that
    /// [`ProbeEvent::read`](cotan_llvm::ProbeEvent::read) takes. It is the code that runs first, also where that gives a NaN.
    pub fn probed(&self, function: &Function, probe: Probe) -> Result<CompiledFunction, CompileError> {
        let backend = self.backend().map_err(|e| CompileError::Backend(e.to_string()))?;
        let plain = self.plain(&function.module, &function.entry);
        let options =
            CompileOptions { has_plain_products: plain.is_some(), probe: Some(probe), ..self.compile_options() };
        let module = plain.as_ref().unwrap_or(&function.module);
        Ok(on_deep_stack(|| backend.compile(module, &function.entry.symbol, &options))?)
    }
}

/// Nothing is made of a program with errors.
fn expect_no_errors(program: &Program) -> Result<(), CompileError> {
    if program.has_errors() { Err(CompileError::Diagnostics(program.diagnostics.clone())) } else { Ok(()) }
}

fn plain(module: &Module, symbol: &str, level: OptLevel) -> Option<Arc<Module>> {
    match level {
        OptLevel::O0 => None,
        OptLevel::O2 => pipeline::relax_products(module, symbol, None).map(Arc::new),
    }
}

/// Machine code of a function of a module that is kept between processes: of a variant that runs first, where there is
/// one.
fn kept_code(
    backend: &Backend,
    key: &Key,
    module: &Arc<Module>,
    symbol: &str,
    options: &CompileOptions,
) -> Result<CompiledFunction, cotan_llvm::CompileError> {
    let plain = plain(module, symbol, options.level);
    let options = CompileOptions { has_plain_products: plain.is_some(), ..options.clone() };
    let first = plain.as_ref().unwrap_or(module);
    on_deep_stack(|| backend.compile_and_keep(key, module, first, symbol, &options))
}

/// The extents of arguments that follow from its sizes, as every call of an entry makes sure of.
fn known_extents(entry: &Entry) -> Vec<KnownExtents> {
    let n_sizes = entry.signature.sizes.len();
    let extents = entry.extents.iter().enumerate();
    extents
        .filter_map(|(k, extent)| match extent {
            EntryExtent::Size(dim) => Some(KnownExtents { param: n_sizes + k, terms: polynomial(dim)? }),
            EntryExtent::Payload { .. } => None,
        })
        .collect()
}

/// Coefficients and factors of a dim that is made of sizes alone.
fn polynomial(dim: &Dim) -> Option<Vec<(i64, Vec<usize>)>> {
    let factors = |monomial: &[(Atom, u32)]| {
        let mut factors = Vec::new();
        for (atom, power) in monomial {
            match atom {
                Atom::Size(id) => factors.extend((0..*power).map(|_| id.0 as usize)),
                Atom::Value(_) | Atom::Runtime(_) | Atom::Pack(_) | Atom::Floor(..) => return None,
            }
        }
        Some(factors)
    };
    dim.terms().map(|(monomial, coefficient)| Some((coefficient, factors(monomial)?))).collect()
}
