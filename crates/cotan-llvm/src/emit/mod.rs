//! Textual LLVM IR of loop nests.
//!
//! Every function of the module becomes one function of the [ABI](cotan_runtime::abi), every parallel loop and every segment of
//! a long block one more, with what it shares with its surroundings in a small environment. There are no fast-math flags:
//! the text means bit for bit what the nest means.

mod bounds;
mod flush;
mod function;
mod gather;
mod host;
mod idle;
mod instruction;
mod lanes;
mod memory;
mod nodes;
mod outline;
mod output;
mod partial_sums;
mod pieces;
mod poll;
mod product;
mod routine;
mod storage;
mod strides;
mod text;
mod uses;
mod writer;

use crate::jit::{ModuleText, OptLevel};
use cotan_ir::Symbol;
use cotan_loops::VerifiedNests;
use cotan_runtime::Reports;
use function::FunctionEmitter;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use text::quoted;

/// Functions as text, and what their error reports mean.
#[derive(Clone, Debug)]
pub struct Emitted {
    /// What they call of the host and of LLVM.
    declarations: BTreeSet<String>,
    functions: Vec<FunctionText>,
    /// The functions of the module, exported under [`symbol`].
    exports: Vec<String>,
    level: OptLevel,
    /// What the error reports mean.
    pub reports: Reports,
}

/// One LLVM function.
#[derive(Clone, Debug)]
struct FunctionText {
    /// For the parts of a module that call it and do not define it.
    declaration: String,
    definition: String,
}

impl FunctionText {
    fn n_lines(&self) -> usize {
        self.definition.lines().count()
    }
}

/// Lines of a part of a module, about: so many that a part takes much longer to compile than to begin with.
const PART: usize = 2500;

impl Emitted {
    /// Everything as one module.
    pub fn whole(&self) -> ModuleText {
        let all: Vec<&FunctionText> = self.functions.iter().collect();
        self.module(vec![self.part(&all)])
    }

    /// The same in parts that may be compiled side by side, the longest first. The functions decide what is in them, and
    /// no machine.
    pub fn parts(&self) -> ModuleText {
        let mut functions: Vec<&FunctionText> = self.functions.iter().collect();
        functions.sort_by_key(|f| Reverse(f.n_lines()));
        let mut parts = Vec::new();
        let mut part: Vec<&FunctionText> = Vec::new();
        for f in functions {
            part.push(f);
            if part.iter().map(|f| f.n_lines()).sum::<usize>() >= PART {
                parts.push(self.part(&std::mem::take(&mut part)));
            }
        }
        if !part.is_empty() {
            parts.push(self.part(&part));
        }
        self.module(parts)
    }

    fn module(&self, parts: Vec<String>) -> ModuleText {
        ModuleText { parts, exports: self.exports.clone(), level: self.level }
    }

    fn part(&self, functions: &[&FunctionText]) -> String {
        let is_here = |f: &FunctionText| functions.iter().any(|here| std::ptr::eq(*here, f));
        let elsewhere = self.functions.iter().filter(|f| !is_here(f)).map(|f| &f.declaration);
        let mut text = String::new();
        for declaration in self.declarations.iter().chain(elsewhere) {
            text += declaration;
            text.push('\n');
        }
        functions.iter().for_each(|f| text += &f.definition);
        text
    }
}

/// The name in LLVM of a function of the module.
pub fn symbol(name: &str) -> String {
    format!("cotan:{name}")
}

/// Prints functions of one module, in which they may call each other.
pub fn emit(functions: &VerifiedNests, level: OptLevel) -> Emitted {
    let mut module = ModuleEmitter::default();
    for f in functions.iter() {
        FunctionEmitter::emit(&mut module, f);
    }
    let exports = functions.iter().map(|f| symbol(&f.name)).collect();
    let ModuleEmitter { declarations, functions, reports, n_outlined: _ } = module;
    Emitted { declarations, functions, exports, level, reports }
}

/// What the functions of a module share.
#[derive(Debug, Default)]
struct ModuleEmitter {
    declarations: BTreeSet<String>,
    functions: Vec<FunctionText>,
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

#[cfg(test)]
mod tests {
    use super::*;

    fn function(name: &str, n_lines: usize) -> FunctionText {
        FunctionText {
            declaration: format!("declare void @{name}()"),
            definition: format!("define void @{name}() {{\n{}}}\n", "\n".repeat(n_lines - 2)),
        }
    }

    #[test]
    fn the_longest_function_comes_first_and_every_part_declares_those_of_the_others() {
        let emitted = Emitted {
            declarations: BTreeSet::from(["declare void @host()".to_owned()]),
            functions: vec![function("short", 10), function("long", PART + 1), function("middle", PART / 2)],
            exports: vec!["short".to_owned()],
            level: OptLevel::O2,
            reports: Reports::default(),
        };
        let parts = emitted.parts();
        let heads = |text: &String| -> Vec<String> {
            text.lines().filter(|line| line.starts_with("de")).map(str::to_owned).collect()
        };
        let expected = [
            ["declare void @host()", "declare void @short()", "declare void @middle()", "define void @long() {"],
            ["declare void @host()", "declare void @long()", "define void @middle() {", "define void @short() {"],
        ];
        assert_eq!(parts.parts.iter().map(heads).collect::<Vec<_>>(), expected);
        assert_eq!((parts.exports, parts.level), (vec!["short".to_owned()], OptLevel::O2));
        let whole = emitted.whole().parts;
        assert_eq!(whole.len(), 1);
        let expected =
            ["declare void @host()", "define void @short() {", "define void @long() {", "define void @middle() {"];
        assert_eq!(heads(&whole[0]), expected);
    }
}
