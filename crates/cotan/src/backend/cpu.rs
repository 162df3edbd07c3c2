//! The CPU as a backend: machine code by LLVM, quick code first, and functions kept between processes.

use super::executable::{Code, CpuFunction, NanFallback};
use super::tiering::{Tiered, prints, time_to_make};
use super::versions::{Maker, VersionPolicy, Versions};
use super::{Backend, Capabilities, Engine, Executable, Kept, Source};
use crate::compiler::known_extents as entry_extents;
use crate::{CompileError, ReadyModule, pipeline};
use cotan_ir::{Module, PrintOptions, VerifiedModule, print_module};
use cotan_llvm::cache::Key;
use cotan_llvm::jit::OptLevel;
use cotan_llvm::{CompileOptions, Probe, Width};
use cotan_lower::entry::Entry;
use cotan_runtime::CompiledFunction;
use cotan_syntax::on_deep_stack;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// Machine code for this CPU, which lacks nothing.
#[derive(Debug)]
pub(crate) struct Cpu {
    pub(crate) capabilities: Capabilities,
    pub(crate) llvm: Arc<cotan_llvm::Backend>,
    /// What tells this build of the compiler from any other one; without it no function is kept under its source.
    pub(crate) build: Option<String>,
    pub(crate) code: CodeOptions,
    /// Whether code is made quickly, and made well once its calls take long.
    pub(crate) quick_start: bool,
    /// When versions for small sizes are made.
    pub(crate) versions: VersionPolicy,
    /// Bytes that a call may use.
    pub(crate) memory: Option<u64>,
}

/// How code is made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CodeOptions {
    pub(crate) level: OptLevel,
    pub(crate) width: Option<Width>,
}

impl CodeOptions {
    /// The options of the compiler.
    pub(crate) fn options(self) -> CompileOptions {
        CompileOptions { level: self.level, width: self.width, ..CompileOptions::default() }
    }

    /// The code that a call of machine code runs first: products of derivatives are plain, where that is allowed. `None`
    /// where nothing is to be replaced, or the code is not optimised.
    pub(crate) fn plain(self, module: &Module, symbol: &str) -> Option<VerifiedModule> {
        match self.level {
            OptLevel::O0 => None,
            OptLevel::O2 => pipeline::plain_products(module, symbol, None),
        }
    }
}

impl Backend for Cpu {
    fn name(&self) -> &'static str {
        Engine::CPU.name()
    }

    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn compile(&self, ready: &ReadyModule) -> Result<Arc<dyn Executable>, CompileError> {
        let ReadyModule { entry, module, traps } = ready;
        let plain = if traps.is_some() { None } else { self.code.plain(module, &entry.symbol) };
        let options = CompileOptions { has_plain_products: plain.is_some(), ..self.code.options() };
        let first = plain.as_ref().unwrap_or(module);
        let code = on_deep_stack(|| self.llvm.compile(first, &entry.symbol, &options))?;
        let policy = if traps.is_some() { VersionPolicy::Never } else { self.versions };
        Ok(self.executable(module, entry, Code::Optimized(code), policy))
    }

    fn kept(&self, source: &Source<'_>) -> Result<Option<Kept>, CompileError> {
        let Some(build) = &self.build else { return Ok(None) };
        on_deep_stack(|| self.kept_under(source, build))
    }
}

impl Cpu {
    fn kept_under(&self, source: &Source<'_>, build: &str) -> Result<Option<Kept>, CompileError> {
        let Source { entry, module, derivatives, known, finish } = source;
        let symbol = &entry.symbol;
        let text = print_module(module, PrintOptions { spans: true });
        let limits = format!("{derivatives:?}");
        // The text does not tell what extents are made of.
        let known = format!("{known:?}");
        let made_of = [build, &limits, &known, symbol, &text];
        let good = self.code.options();
        let Some(key) = self.llvm.key(&made_of, &good) else { return Ok(None) };
        if let Some((module, code)) = self.llvm.kept(&key, symbol) {
            let executable = self.executable(&module, entry, Code::Optimized(code), self.versions);
            return Ok(Some((module, executable)));
        }
        let is_quick = self.quick_start && !prints(module);
        let wanted = if is_quick { CompileOptions { is_quick, ..good.clone() } } else { good.clone() };
        let Some(wanted_key) = self.llvm.key(&made_of, &wanted) else { return Ok(None) };
        let kept = if is_quick { self.llvm.kept(&wanted_key, symbol) } else { None };
        let (module, code) = match kept {
            Some(kept) => kept,
            None => {
                self.llvm.engine().open_ahead();
                let module = finish()?.module;
                let code = kept_code(&self.llvm, self.code, &wanted_key, &module, symbol, &wanted)?;
                (module, code)
            }
        };
        let code = if is_quick {
            let (llvm, code_options, module, symbol) = (self.llvm.clone(), self.code, module.clone(), symbol.clone());
            let make = move || kept_code(&llvm, code_options, &key, &module, &symbol, &good).ok();
            Code::Tiered(Box::new(Tiered::new(code, make)))
        } else {
            Code::Optimized(code)
        };
        let executable = self.executable(&module, entry, code, self.versions);
        Ok(Some((module, executable)))
    }

    /// What calls of general code take before a version is made; `None` if none is made.
    fn patience(&self, code: &Code, policy: VersionPolicy) -> Option<Duration> {
        match (self.code.level, policy) {
            (OptLevel::O0, _) | (OptLevel::O2, VersionPolicy::Never) => None,
            (OptLevel::O2, VersionPolicy::AtOnce) => Some(Duration::ZERO),
            (OptLevel::O2, VersionPolicy::WhenTheyPay) => Some(time_to_make(code.best())),
        }
    }

    /// Code that watches for NaN is of a variant of the module, whose own code then is to run.
    fn executable(
        &self,
        module: &VerifiedModule,
        entry: &Entry,
        code: Code,
        policy: VersionPolicy,
    ) -> Arc<dyn Executable> {
        let (symbol, watches_nan) = (&entry.symbol, code.best().watches_nan());
        let versions = self.patience(&code, policy).and_then(|patience| {
            let maker = Maker {
                llvm: self.llvm.clone(),
                code: self.code,
                module: module.clone(),
                symbol: symbol.clone(),
                known: entry_extents(entry),
                is_plain: watches_nan,
            };
            Versions::new(maker, patience)
        });
        let exact = watches_nan.then(|| NanFallback {
            backend: self.llvm.clone(),
            module: module.clone(),
            symbol: symbol.clone(),
            options: self.code.options(),
            code: OnceLock::new(),
        });
        let max_bytes = self.memory.map_or(usize::MAX, |bytes| usize::try_from(bytes).unwrap_or(usize::MAX));
        Arc::new(CpuFunction::new(code, exact, versions, max_bytes))
    }

    /// Machine code with probes around the loop nests of a function.
    pub(crate) fn probed(
        &self,
        module: &VerifiedModule,
        symbol: &str,
        probe: Probe,
    ) -> Result<CompiledFunction, cotan_llvm::CompileError> {
        let plain = self.code.plain(module, symbol);
        let options = CompileOptions { has_plain_products: plain.is_some(), probe: Some(probe), ..self.code.options() };
        let module = plain.as_ref().unwrap_or(module);
        on_deep_stack(|| self.llvm.compile(module, symbol, &options))
    }
}

/// Machine code of a function of a module that is kept between processes: of a variant that runs first, where there is
/// one.
fn kept_code(
    llvm: &cotan_llvm::Backend,
    code: CodeOptions,
    key: &Key,
    module: &VerifiedModule,
    symbol: &str,
    options: &CompileOptions,
) -> Result<CompiledFunction, cotan_llvm::CompileError> {
    let plain = code.plain(module, symbol);
    let options = CompileOptions { has_plain_products: plain.is_some(), ..options.clone() };
    let first = plain.as_ref().unwrap_or(module);
    on_deep_stack(|| llvm.compile_and_keep(key, module, first, symbol, &options))
}
