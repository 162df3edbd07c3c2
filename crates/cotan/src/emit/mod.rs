//! Steps of the compiler as text: the syntax tree, the core IR, its graph, loop nests, plans for devices, LLVM IR, assembly.

mod checks;
mod dot;
mod passes;

use crate::backend::vulkan::NoDevice;
use crate::device_plan::{device_nest, device_plan};
use crate::{Compiler, Program, ReadyModule};
use cotan_ir::{Function, Module};
use cotan_loops::print_for_device;
use cotan_sema::typed;
use cotan_sema::types::Type;
use cotan_spirv::runner::assembly;
use cotan_syntax::ast::ItemKind;
use cotan_syntax::{FileId, dump, parse};
use std::fmt;
use std::sync::Arc;

pub use passes::{PassDoc, PassLog, UnknownPass, pass_named, passes};

/// A step after the lowering.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The core IR as it runs.
    Ir,
    /// The same as a graph for Graphviz.
    Dot,
    /// Loop nests, and the checks that stay in their loops.
    Loops,
    /// Loop nests for a device, and the same checks.
    DeviceLoops,
    /// The plan for a device: steps of the host, and kernels.
    Plan,
    /// The kernels of the plan as SPIR-V, for the device that is open.
    Spirv,
    /// LLVM IR.
    Llvm,
    /// Assembly.
    Assembly,
}

/// Why a step has no text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EmitError {
    /// The step needs an LLVM, and there is none.
    NoLlvm(String),
    /// The step needs a device, and there is none.
    NoDevice(NoDevice),
    /// LLVM failed: a bug.
    Backend(String),
}

impl fmt::Display for EmitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EmitError::NoLlvm(message) | EmitError::Backend(message) => f.write_str(message),
            EmitError::NoDevice(none) => none.fmt(f),
        }
    }
}

impl std::error::Error for EmitError {}

/// The syntax tree of a program, or of one function of it; `None` if there is no such function.
pub fn syntax_tree(text: &str, function: Option<&str>) -> Option<String> {
    let (mut module, _) = parse(FileId(0), text);
    if let Some(name) = function {
        module.items.retain(|item| matches!(&item.kind, ItemKind::Function(f) if f.signature.name.name == *name));
        if module.items.is_empty() {
            return None;
        }
    }
    Some(dump::module(&module))
}

impl Program {
    /// The functions of the file itself that a host can call: those that take functions, or are for any type or rank, exist
    /// only where they are called.
    pub fn callable_functions(&self) -> impl Iterator<Item = &str> {
        let is_callable = |f: &&typed::Function| {
            let takes_functions = f.params.iter().any(|p| matches!(p.ty, Type::Function(_)));
            f.name_span.file == FileId(0) && !f.is_shapeless() && !takes_functions
        };
        self.checked.program.functions.iter().filter(is_callable).map(|f| f.name.as_str())
    }
}

impl Compiler {
    /// The text of a step for a function and all that it needs.
    pub fn emit(&self, program: &Program, lowered: &ReadyModule, stage: Stage) -> Result<String, EmitError> {
        let options = self.compile_options();
        let symbol = &lowered.entry.symbol;
        let plain = self.plain(&lowered.module, &lowered.entry);
        let run = plain.as_ref().unwrap_or(&lowered.module);
        let backend = || self.backend().map_err(|none| EmitError::NoLlvm(none.to_string()));
        let failed = |e: cotan_llvm::CompileError| EmitError::Backend(format!("`{symbol}`: {e}"));
        match stage {
            Stage::Llvm => backend()?.llvm_ir(run, symbol, &options).map_err(failed),
            Stage::Assembly => backend()?.assembly(run, symbol, &options).map_err(failed),
            Stage::Loops => Ok(self.nests(program, run)),
            Stage::DeviceLoops => Ok(device_nests(program, &lowered.module)),
            Stage::Plan => Ok(device_plan(&lowered.module, symbol).map_err(EmitError::Backend)?.to_string()),
            Stage::Spirv => self.spirv(lowered),
            Stage::Dot => Ok(dot::module(&lowered.module)),
            Stage::Ir => Ok(lowered.module.to_string()),
        }
    }

    /// The text of a step for several functions: up to loop nests one module, in which what several need stands once.
    pub fn emit_all(&self, program: &Program, all: &[ReadyModule], stage: Stage) -> Result<String, EmitError> {
        let whole = || {
            let mut module = Module::default();
            for lowered in all {
                module.items.extend(lowered.module.items.iter().map(|(name, item)| (name.clone(), item.clone())));
            }
            module
        };
        match stage {
            Stage::Ir => Ok(whole().to_string()),
            Stage::Dot => Ok(dot::module(&whole())),
            Stage::Loops => Ok(self.nests(program, &whole())),
            Stage::DeviceLoops => Ok(device_nests(program, &whole())),
            Stage::Llvm | Stage::Assembly | Stage::Plan | Stage::Spirv => {
                all.iter().map(|lowered| self.emit(program, lowered, stage)).collect()
            }
        }
    }

    /// The kernels of a plan, each behind a line with its number; or why one has none.
    fn spirv(&self, lowered: &ReadyModule) -> Result<String, EmitError> {
        let opened = self.device().map_err(EmitError::NoDevice)?;
        let plan = device_plan(&lowered.module, &lowered.entry.symbol).map_err(EmitError::Backend)?;
        let kernels = assembly(&opened.device, &opened.numbers, &plan).into_iter().enumerate();
        let text = |(number, kernel): (usize, Result<String, String>)| match kernel {
            Ok(text) => format!("; kernel {number}\n{text}\n"),
            Err(why) => format!("; kernel {number} runs on the host: {why}\n"),
        };
        Ok(kernels.map(text).collect())
    }

    fn nests(&self, program: &Program, module: &Module) -> String {
        let options = self.compile_options();
        nest_texts(program, module, |f| options.nest(f).to_string())
    }
}

/// Nests on their way to any device.
fn device_nests(program: &Program, module: &Module) -> String {
    nest_texts(program, module, |f| print_for_device(&device_nest(f)))
}

/// The nest of each function, and the checks that stay in its loops.
fn nest_texts(program: &Program, module: &Module, nest: impl Fn(&Function) -> String) -> String {
    let text = |f: &Arc<Function>| format!("{}{}", nest(f), checks::text(&program.sources, f));
    module.functions().map(text).collect::<Vec<_>>().join("\n")
}
