//! Textual LLVM IR of loop nests.
//!
//! Every function of the module becomes one function of the [ABI](crate::abi), every parallel loop and every segment of
//! a long block one more, with what it shares with its surroundings in a small environment. The text has no fast-math
//! flags: it means bit for bit what the nest means.

mod flush;
mod function;
mod host;
mod instruction;
mod lanes;
mod memory;
mod outline;
mod output;
mod storage;
mod text;

use crate::jit::{ModuleText, OptLevel};
use cotan_ir::{AllocationSite, CheckKind, Elem, Span, Symbol};
use cotan_loops::LoopFunction;
use function::FunctionEmitter;
pub use host::host_symbols;
use std::collections::{BTreeMap, BTreeSet};
use text::quoted;

/// A check of emitted code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmittedCheck {
    /// What a failure means.
    pub kind: CheckKind,
    /// The types of the numbers that are reported, i64 or u64.
    pub args: Vec<Elem>,
    /// The source text that it stands for.
    pub span: Span,
}

/// A module as text, and what its error reports mean.
#[derive(Clone, Debug)]
pub struct Emitted {
    /// The text. Every function is exported under [`symbol`].
    pub module: ModuleText,
    /// What its error reports mean.
    pub reports: Reports,
}

/// What the numbers in error reports stand for: positions in these lists, from 1 on.
#[derive(Clone, Debug, Default)]
pub struct Reports {
    /// Every check.
    pub checks: Vec<EmittedCheck>,
    /// Every place that asks for memory.
    pub sites: Vec<AllocationSite>,
}

/// The name in LLVM of a function of the module.
pub fn symbol(name: &str) -> String {
    format!("cotan:{name}")
}

/// Prints functions as one module, in which they may call each other.
pub fn emit(functions: &[LoopFunction], level: OptLevel) -> Emitted {
    let mut module = ModuleEmitter::default();
    for f in functions {
        FunctionEmitter::emit(&mut module, f);
    }
    let mut ir = String::new();
    for declaration in &module.declarations {
        ir += declaration;
        ir.push('\n');
    }
    module.functions.iter().for_each(|text| ir += text);
    let exports = functions.iter().map(|f| symbol(&f.name)).collect();
    Emitted { module: ModuleText { ir, exports, level }, reports: module.reports }
}

/// What the functions of a module share.
#[derive(Debug, Default)]
struct ModuleEmitter {
    declarations: BTreeSet<String>,
    functions: Vec<String>,
    reports: Reports,
    /// How many functions were split off each function.
    n_outlined: BTreeMap<Symbol, usize>,
}

impl ModuleEmitter {
    fn declare(&mut self, declaration: &str) {
        if !self.declarations.contains(declaration) {
            self.declarations.insert(declaration.to_owned());
        }
    }

    /// A name for a function split off another one.
    fn outlined_name(&mut self, of: &Symbol) -> String {
        let n = self.n_outlined.entry(of.clone()).or_default();
        *n += 1;
        quoted(&format!("{}:{n}", symbol(of)))
    }
}
