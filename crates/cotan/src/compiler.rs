//! From programs to functions.

use crate::backend::vulkan::{DeviceOptions, NoDevice, OpenedDevice};
use crate::backend::{
    Backend, Capabilities, CodeOptions, Cpu, Engine, Interpreter, Keep, Source, UnknownDevice, VersionPolicy,
    VulkanBackend,
};
use crate::function::Function;
use crate::pipeline::{self, MiddleEnd, Stage};
use crate::stopping::CallLimits;
use crate::{CallError, CompileError, Program, ReadyModule, Request, Signature, library};
use cotan_ir::{Module, VerifiedModule};
use cotan_llvm::cache::Cache;
use cotan_llvm::jit::{Engine as Llvm, OptLevel};
use cotan_llvm::load::{NoLlvm, SearchConfig};
use cotan_llvm::{Backend as LlvmBackend, CompileOptions, Probe, Width};
use cotan_lower::entry::{Entry, EntryExtent};
use cotan_ops::Value;
use cotan_opt::{KnownExtents, Observer};
use cotan_runtime::{CompiledFunction, InstructionSet, Pool, check_threads};
use cotan_sema::dims::{Atom, Dim};
use cotan_sema::modules::{Library, Loader, NoFiles};
use cotan_spirv::runner::Array;
use cotan_syntax::on_deep_stack;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

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
    /// [`MOST_THREADS_PER_CORE`](cotan_runtime::MOST_THREADS_PER_CORE) for each core are accepted.
    pub threads: Option<NonZeroUsize>,
    /// How hard LLVM works.
    pub level: OptLevel,
    /// How many lanes of a loop an operation works on, at most; `None` for as many as the loop has. No bit depends on it.
    pub width: Option<Width>,
    /// The instruction set that code keeps to, less than the machine's own; `None` for all of it. No bit of a value depends
    /// on it.
    pub instructions: Option<InstructionSet>,
    /// Whether code is wanted soon: it is made quickly, and made well once its calls take long. Of functions that are kept
    /// between processes, see `build`.
    pub quick_start: bool,
    /// When functions get versions for small sizes. No result depends on it.
    pub versions: VersionPolicy,
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
    /// The device of Vulkan, which is opened when a function is asked for with [`Engine::VULKAN`].
    pub device: DeviceOptions,
    /// Backends beside those that every compiler has, each with a name of its own.
    pub backends: Vec<Arc<dyn Backend>>,
}

/// Makes functions of programs. Shared by any number of threads.
#[derive(Debug)]
pub struct Compiler {
    cpu: Result<Arc<Cpu>, NoLlvm>,
    vulkan: Arc<VulkanBackend>,
    /// All of them, the CPU if there is one.
    backends: Vec<Arc<dyn Backend>>,
    code: CodeOptions,
    program: cotan_sema::Limits,
    derivatives: cotan_ad::Limits,
    memory: Option<u64>,
    call: CallLimits,
    threads: NonZeroUsize,
    trap_nan: bool,
    library: Library,
    lowerings: AtomicUsize,
}

impl Compiler {
    /// A compiler. LLVM is looked for once, here. The error says that there are to be too many threads, or that the machine has
    /// not all of an instruction set, or is the system's refusal to start threads.
    pub fn new(config: Config) -> Result<Compiler, String> {
        let Config {
            llvm,
            cache,
            build,
            threads,
            level,
            width,
            instructions,
            quick_start,
            versions,
            program,
            derivatives,
            memory,
            call,
            trap_nan,
            library,
            device,
            backends,
        } = config;
        let library = library.unwrap_or_else(library::standard);
        let threads = threads.or(std::thread::available_parallelism().ok()).unwrap_or(NonZeroUsize::MIN);
        check_threads(threads)?;
        let code = CodeOptions { level, width };
        let keep = build.clone();
        let cpu = match Llvm::new(&llvm, cache) {
            Ok(engine) => {
                let engine = match instructions {
                    Some(set) => engine.limited_to(set)?,
                    None => engine,
                };
                let pool = Pool::new(threads).map_err(|e| format!("threads can't be started: {e}"))?;
                let pool = Arc::new(pool);
                let llvm = LlvmBackend::new(engine.with_threads(threads), pool).with_registry(library.registry);
                let (llvm, quick_start) =
                    (Arc::new(llvm), quick_start && level == OptLevel::O2 && versions != VersionPolicy::AtOnce);
                let capabilities = Capabilities::default();
                Ok(Arc::new(Cpu { capabilities, llvm, build, code, quick_start, versions, memory }))
            }
            Err(none) => Err(none),
        };
        let interpreter: Arc<dyn Backend> = Arc::new(Interpreter::new(memory));
        let mut host = Arc::clone(&interpreter);
        let mut all = vec![interpreter];
        if let Ok(cpu) = &cpu {
            host = Arc::clone(cpu) as Arc<dyn Backend>;
            all.push(Arc::clone(&host));
        }
        let keep = Keep { llvm: cpu.as_ref().ok().map(|cpu| Arc::clone(&cpu.llvm)), build: keep };
        let vulkan = Arc::new(VulkanBackend::new(device, host, memory, keep));
        all.push(vulkan.clone());
        all.extend(backends);
        Ok(Compiler {
            cpu,
            vulkan,
            backends: all,
            code,
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
    pub fn backend(&self) -> Result<&LlvmBackend, &NoLlvm> {
        self.cpu.as_ref().map(|cpu| cpu.llvm.as_ref())
    }

    /// The device of Vulkan, opened, or why there is none.
    pub fn device(&self) -> Result<Arc<OpenedDevice>, NoDevice> {
        self.vulkan.device()
    }

    /// An array with the elements of a value, on the device.
    pub(crate) fn upload_array(&self, value: &Value) -> Result<Array, CallError> {
        self.vulkan.upload(value)
    }

    /// The backend of a name. Where no LLVM is found, the interpreter is the one of the CPU.
    fn backend_of(&self, engine: Engine) -> Result<&Arc<dyn Backend>, CompileError> {
        let find = |name: &str| self.backends.iter().find(|backend| backend.name() == name);
        let missing = || (engine == Engine::CPU).then(|| find(Engine::INTERPRETER.name()))?;
        let unknown = || CompileError::Device(UnknownDevice { name: engine.name().to_owned() });
        find(engine.name()).or_else(missing).ok_or_else(unknown)
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
    /// the name of the pass. What is simplified while a derivative is written is not shown. Gives the module that becomes
    /// machine code.
    pub(crate) fn observe(
        &self,
        program: &Program,
        request: &Request,
        observer: &(dyn Fn(&'static str, &cotan_ir::Function) + Sync),
    ) -> Result<VerifiedModule, CompileError> {
        on_deep_stack(|| {
            let (entry, source) = self.lower_source(program, request)?;
            let ready = self.ready(entry, &source, self.last(), Some(observer))?;
            let relax = || pipeline::plain_products(&ready.module, &ready.entry.symbol, Some(observer));
            let relaxed = if ready.traps.is_none() { relax() } else { None };
            Ok(match self.compile_options().level {
                OptLevel::O0 => ready.module,
                OptLevel::O2 => relaxed.unwrap_or(ready.module),
            })
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
        Ok(ReadyModule { entry, module: pipeline::verified(module), traps })
    }

    /// A function or derivative of a program, ready to be called.
    pub fn function(&self, program: &Program, request: &Request, engine: Engine) -> Result<Function, CompileError> {
        let (entry, source) = on_deep_stack(|| self.lower_source(program, request))?;
        let backend = self.backend_of(engine)?;
        backend.capabilities().check(backend.name(), &source)?;
        // Traps are known by their number among those of the process that made them.
        if !self.trap_nan {
            let kept = backend.kept(&Source {
                entry: &entry,
                module: &source,
                derivatives: &self.derivatives,
                known: &known_extents(&entry),
                finish: &|| self.ready(entry.clone(), &source, Stage::Ready, None),
            })?;
            if let Some((module, executable)) = kept {
                return Ok(Function::new(ReadyModule { entry, module, traps: None }, executable, self.call.clone()));
            }
        }
        self.bind(self.lower_module(entry, &source)?, engine)
    }

    /// Lowered IR, ready to be called.
    pub fn bind(&self, lowered: ReadyModule, engine: Engine) -> Result<Function, CompileError> {
        let backend = self.backend_of(engine)?;
        backend.capabilities().check(backend.name(), &lowered.module)?;
        let executable = backend.compile(&lowered)?;
        Ok(Function::new(lowered, executable, self.call.clone()))
    }

    /// The code that a call of machine code runs first: products of derivatives are plain, where that is allowed. `None`
    /// where nothing is to be replaced, or the code is not optimised.
    pub fn plain(&self, module: &Module, entry: &Entry) -> Option<VerifiedModule> {
        self.code.plain(module, &entry.symbol)
    }

    /// How the CPU backend compiles.
    pub fn compile_options(&self) -> CompileOptions {
        self.code.options()
    }

    /// Machine code of a function with probes around its loop nests: the output of a call tells of them, in pieces that
    /// [`ProbeEvent::read`](cotan_llvm::ProbeEvent::read) takes. It is the code that runs first, also where that gives a NaN.
    pub fn probed(&self, function: &Function, probe: Probe) -> Result<CompiledFunction, CompileError> {
        let cpu = self.cpu.as_ref().map_err(|none| CompileError::Backend(none.to_string()))?;
        Ok(cpu.probed(&function.module, &function.entry.symbol, probe)?)
    }
}

/// Nothing is made of a program with errors.
fn expect_no_errors(program: &Program) -> Result<(), CompileError> {
    if program.has_errors() { Err(CompileError::Diagnostics(program.diagnostics.clone())) } else { Ok(()) }
}

/// The extents of arguments that follow from its sizes, as every call of an entry makes sure of.
pub(crate) fn known_extents(entry: &Entry) -> Vec<KnownExtents> {
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
