//! From the core IR to functions that can be called.
//!
//! A [`Backend`] owns an LLVM and the threads; [`Backend::compile`] lowers a function of a module, with every function
//! that it calls, to loop nests, prints them, and has them compiled. A [`CompiledFunction`] serves every size and may be
//! called from several threads at once.

mod function_cache;

use crate::cache::Key;
use crate::emit::{emit, symbol};
use crate::jit::{CompiledModule, Engine, JitError, OptLevel};
use cotan_cpu::bind_sizes;
use cotan_cpu::pipeline::{OF_VERSIONS, OPTIMIZED, PLAIN, WATCHED};
use cotan_ir::{Function, Symbol, VerifiedModule};
use cotan_loops::pipeline::run;
use cotan_loops::{
    CPU, LoopFunction, NestContext, NestPass, Probe, TaskSizes, VerifiedNests, Width, lower_only, unwatched_results,
};
use cotan_ops::Registry;
use cotan_runtime::abi::{Entry, HostSymbols};
use cotan_runtime::{CodeOrigin, CompiledFunction, MachineCode, Pool, Reports, host_symbols};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// The CPU backend.
pub struct Backend {
    engine: Engine,
    symbols: HostSymbols,
    pool: Arc<Pool>,
    registry: &'static Registry,
}

/// Machine code of functions, and what the host knows of it.
struct Code {
    module: Arc<CompiledModule>,
    origin: CodeOrigin,
    reports: Arc<Reports>,
    /// Whether floats may differ from the interpreter's in the last digits.
    regroups_sums: bool,
    /// The results of functions with plain products that are looked through for NaN.
    unwatched: BTreeMap<Symbol, Vec<usize>>,
}

/// How to compile.
#[derive(Clone, Debug, Default)]
pub struct CompileOptions {
    /// How hard the compiler works.
    pub level: OptLevel,
    /// Whether LLVM is to be done soon: loops are those of the level, and bits, but the code for them is slower.
    pub is_quick: bool,
    /// Whether products of derivatives are plain: calls then say whether a result is NaN, and floats may differ from the
    /// interpreter's in the last digits.
    pub has_plain_products: bool,
    /// Whether the code is of a version for known sizes, whose products are contracted.
    pub is_version: bool,
    /// Integer operands that all calls pass the same for, by their positions: the passes on the nest do not know of it. No bit
    /// depends on it.
    pub known_sizes: Vec<(usize, i64)>,
    /// How many lanes of a loop an operation works on, at most; `None` for all of them, which LLVM puts into registers.
    /// No bit depends on it.
    pub width: Option<Width>,
    /// Probes around the loop nests of what is compiled, not of what it calls: its output tells of them.
    pub probe: Option<Probe>,
    /// How large the pieces of wavefronts are; `None` for what pays. No bit depends on it.
    pub tasks: Option<TaskSizes>,
}

impl CompileOptions {
    /// How hard LLVM works.
    fn llvm_level(&self) -> OptLevel {
        if self.is_quick { OptLevel::O0 } else { self.level }
    }

    /// The loop nest of a function.
    pub fn nest(&self, f: &Function) -> LoopFunction {
        self.probed_nest(f, None)
    }

    fn probed_nest(&self, f: &Function, probe: Option<Probe>) -> LoopFunction {
        self.nest_of(f, probe, &self.nest_passes(probe))
    }

    /// The passes that the nest of a function goes through, with probes or without, in order.
    pub fn nest_passes(&self, probe: Option<Probe>) -> Vec<&'static NestPass> {
        // What is counted is what the nest says, whatever the machine makes of it.
        let way = match self.level {
            _ if probe == Some(Probe::Counts) => PLAIN,
            OptLevel::O0 => PLAIN,
            OptLevel::O2 if self.is_version => OF_VERSIONS,
            OptLevel::O2 => OPTIMIZED,
        };
        [CPU.after_lowering, way].concat()
    }

    /// The loop nest of a function after the pass of a name; `None` if that does not run.
    pub fn nest_after(&self, f: &Function, pass: &str) -> Option<LoopFunction> {
        let passes = self.nest_passes(None);
        let at = passes.iter().position(|p| p.name == pass)?;
        Some(self.nest_of(f, None, &passes[..=at]))
    }

    fn nest_of(&self, f: &Function, probe: Option<Probe>, passes: &[&NestPass]) -> LoopFunction {
        let context = NestContext { probe, tasks: self.tasks.unwrap_or_default(), width: self.width };
        let mut nest = lower_only(f, &CPU);
        run(passes, &mut nest, &context);
        nest
    }
}

/// Why a function was not compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CompileError {
    /// The module has no function of this name with a body.
    UnknownFunction(String),
    /// LLVM failed: a bug of this crate, or a broken machine.
    Jit(JitError),
}

impl fmt::Display for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CompileError::UnknownFunction(name) => write!(f, "there is no function `{name}`"),
            CompileError::Jit(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for CompileError {}

impl From<JitError> for CompileError {
    fn from(error: JitError) -> CompileError {
        CompileError::Jit(error)
    }
}

impl Backend {
    /// A backend that runs parallel loops on `pool`.
    pub fn new(engine: Engine, pool: Arc<Pool>) -> Backend {
        Backend { engine, symbols: host_symbols(), pool, registry: Registry::standard() }
    }

    /// The backend with other operations, whose routines its code calls.
    #[must_use]
    pub fn with_registry(self, registry: &'static Registry) -> Backend {
        Backend { registry, ..self }
    }

    /// The LLVM in use.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Compiles a function of a module in which no derivative is left to be written.
    pub fn compile(
        &self,
        module: &VerifiedModule,
        name: &str,
        options: &CompileOptions,
    ) -> Result<CompiledFunction, CompileError> {
        let mut functions = self.compile_all(module, &[name], options)?;
        functions.pop().ok_or_else(|| CompileError::UnknownFunction(name.to_owned()))
    }

    /// Compiles several functions together, which costs less than one after the other where they share code.
    pub fn compile_all(
        &self,
        module: &VerifiedModule,
        names: &[&str],
        options: &CompileOptions,
    ) -> Result<Vec<CompiledFunction>, CompileError> {
        let (code, _) = self.make(module, names, options)?;
        let function = |name: &&str| {
            let f = module.function(name).ok_or_else(|| CompileError::UnknownFunction((*name).to_owned()))?;
            self.function(f, &code)
        };
        names.iter().map(function).collect()
    }

    /// The code of functions and of all that they call, and what the cache has it under.
    fn make(
        &self,
        module: &VerifiedModule,
        names: &[&str],
        options: &CompileOptions,
    ) -> Result<(Code, Key), CompileError> {
        let functions = closure(module, names)?;
        let probe = |f: &Function| options.probe.filter(|_| names.contains(&&*f.name));
        let mut nests: Vec<LoopFunction> = functions.values().map(|f| options.probed_nest(f, probe(f))).collect();
        let entries = nests.iter_mut().filter(|nest| names.contains(&&*nest.name));
        entries.for_each(|nest| bind_sizes(nest, &options.known_sizes));
        if options.has_plain_products {
            let called = nests.iter_mut().filter(|nest| names.contains(&&*nest.name));
            called.for_each(|nest| run(WATCHED, nest, &NestContext::default()));
        }
        let nests = verified(nests);
        let emitted = emit(&nests, options.llvm_level());
        let compiled = self.engine.compile(&emitted.parts(), &self.symbols)?;
        let watching = nests.iter().filter(|_| options.has_plain_products);
        let code = Code {
            module: Arc::new(compiled.module),
            origin: compiled.origin,
            reports: Arc::new(emitted.reports),
            regroups_sums: options.has_plain_products || nests.iter().any(|nest| nest.regroups_sums),
            unwatched: watching.map(|nest| (nest.name.clone(), unwatched_results(nest))).collect(),
        };
        Ok((code, compiled.key))
    }

    /// The text of LLVM IR that a function becomes, with every function that it calls.
    pub fn llvm_ir(
        &self,
        module: &VerifiedModule,
        name: &str,
        options: &CompileOptions,
    ) -> Result<String, CompileError> {
        let nests = verified(closure(module, &[name])?.values().map(|f| options.nest(f)).collect());
        Ok(emit(&nests, options.llvm_level()).whole().parts.concat())
    }

    /// The assembly text of a function, with every function that it calls.
    pub fn assembly(
        &self,
        module: &VerifiedModule,
        name: &str,
        options: &CompileOptions,
    ) -> Result<String, CompileError> {
        let nests = verified(closure(module, &[name])?.values().map(|f| options.nest(f)).collect());
        Ok(self.engine.emit_assembly(&emit(&nests, options.llvm_level()).whole())?)
    }

    fn function(&self, f: &Function, code: &Code) -> Result<CompiledFunction, CompileError> {
        let missing = || JitError::Link(format!("`{}` is not exported", f.name));
        let address = code.module.address(&symbol(&f.name)).ok_or_else(missing)?;
        let machine_code = MachineCode {
            // SAFETY: the emitter gives every exported function this signature.
            entry: unsafe { std::mem::transmute::<*const (), Entry>(address) },
            memory: code.module.clone(),
            origin: code.origin,
            reports: code.reports.clone(),
            instructions: self.engine.instructions(),
            regroups_sums: code.regroups_sums,
            unwatched: code.unwatched.get(&f.name).cloned(),
        };
        // SAFETY: the code was made of this function, or of one with its signature.
        Ok(unsafe { CompiledFunction::new(f, machine_code, self.pool.clone(), self.registry) })
    }
}

impl fmt::Debug for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Backend").field("library", &self.engine.library()).finish_non_exhaustive()
    }
}

/// What the passes have made, as the emitter takes it.
fn verified(nests: Vec<LoopFunction>) -> VerifiedNests {
    VerifiedNests::new(nests)
        .unwrap_or_else(|error| panic!("bug: a broken rule of loop nests reached the emitter: {error}"))
}

/// Functions and all that they call, by name.
fn closure(module: &VerifiedModule, names: &[&str]) -> Result<BTreeMap<Symbol, Arc<Function>>, CompileError> {
    let mut found = BTreeMap::new();
    let mut wanted: Vec<Symbol> = names.iter().map(|name| (*name).into()).collect();
    while let Some(name) = wanted.pop() {
        if found.contains_key(&name) {
            continue;
        }
        let f = module.function(&name).ok_or_else(|| CompileError::UnknownFunction(name.to_string()))?;
        wanted.extend(f.body.callees().cloned());
        found.insert(name, f.clone());
    }
    Ok(found)
}
