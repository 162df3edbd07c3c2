//! From programs to functions.

use crate::function::{Executor, Function};
use crate::{CompileError, Program, Request, pipeline};
use cotan_ir::Module;
use cotan_llvm::load::{NoLlvm, SearchConfig};
use cotan_llvm::{Backend, Cache};
use cotan_sema::entry::Entry;
use std::sync::Arc;

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
    /// Threads; `None` takes all cores.
    pub threads: Option<usize>,
    /// Bounds on programs.
    pub program: cotan_sema::Limits,
    /// Bounds on derivatives.
    pub derivatives: cotan_ad::Limits,
    /// Bytes that a call may use; `None` for no bound but the machine's.
    pub memory: Option<u64>,
}

/// Makes functions of programs. Shared by any number of threads.
#[derive(Debug)]
pub struct Compiler {
    backend: Result<Backend, NoLlvm>,
    program: cotan_sema::Limits,
    derivatives: cotan_ad::Limits,
    memory: Option<u64>,
}

/// The IR of a request, before it is bound to an engine.
#[derive(Clone, Debug)]
pub struct Lowered {
    /// How to call it.
    pub entry: Entry,
    /// Every function that it needs; derivatives are written.
    pub module: Arc<Module>,
}

impl Compiler {
    /// A compiler. LLVM is looked for once, here.
    pub fn new(config: Config) -> Compiler {
        let Config { llvm, cache, threads, program, derivatives, memory } = config;
        Compiler { backend: Backend::new(&llvm, cache, threads), program, derivatives, memory }
    }

    /// The CPU backend, or why there is none.
    pub fn backend(&self) -> Result<&Backend, &NoLlvm> {
        self.backend.as_ref()
    }

    /// Parses and checks a file within the compiler's limits.
    pub fn check(&self, name: &str, text: &str) -> Program {
        Program::check(name, text, &self.program)
    }

    /// The IR of a function or derivative of a program without errors.
    pub fn lower(&self, program: &Program, request: &Request) -> Result<Lowered, CompileError> {
        if program.has_errors() {
            return Err(CompileError::Diagnostics(program.diagnostics.clone()));
        }
        let lowered = cotan_sema::lower(&program.checked.program, request, &self.program)
            .map_err(CompileError::Diagnostics)?;
        let module = pipeline::finish(&lowered.module, &self.derivatives)?;
        let module = pipeline::link(&module, &lowered.entry.symbol);
        Ok(Lowered { entry: lowered.entry, module: Arc::new(module) })
    }

    /// A function or derivative of a program, ready to be called.
    pub fn function(&self, program: &Program, request: &Request, engine: Engine) -> Result<Function, CompileError> {
        let lowered = self.lower(program, request)?;
        self.bind(lowered, engine)
    }

    /// Lowered IR, ready to be called.
    pub fn bind(&self, lowered: Lowered, engine: Engine) -> Result<Function, CompileError> {
        let Lowered { entry, module } = lowered;
        let executor = match (engine, &self.backend) {
            (Engine::Cpu, Ok(backend)) => {
                let compiled = backend.compile(&module, &entry.symbol, self.memory);
                Executor::Compiled(Arc::new(compiled.map_err(|e| CompileError::Backend(e.to_string()))?))
            }
            (Engine::Cpu, Err(_)) | (Engine::Interpreter, _) => Executor::Interpreter(self.interpreter_options()),
        };
        Ok(Function { entry, module, executor })
    }

    fn interpreter_options(&self) -> cotan_interp::Options {
        let mut options = cotan_interp::Options::default();
        if let Some(bytes) = self.memory {
            options.limits.bytes = bytes;
        }
        options
    }
}
