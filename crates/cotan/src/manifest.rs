//! The manifest of operations: the op table, the functions of the prelude and those of the library, as data.
//!
//! Of the library nothing is written down twice: names, types, defaults and docs are those of its source, and what is said
//! of derivatives is what the checker finds in the definitions. The form is described by `spec/operations.schema.json`.
//! This file must not know any operation by name.

use crate::{CompileError, Program};
use cotan_ir::Elem;
use cotan_ops::{Backends, BatchingEntry, KinkEntry, Modes, OperandEntry, StableHloEntry, manifest as of_registry};
use cotan_sema::modules::{Library, NoFiles};
use cotan_sema::types::GenericKind;
use cotan_sema::{DerivativeFacts, Flow, PreludeFunction, derivative_facts, prelude_functions, typed};
use cotan_syntax::ast::{self, Item, ItemKind};
use cotan_syntax::{SourceMap, Span, on_deep_stack};
use serde::Serialize;
use std::collections::BTreeMap;

pub use cotan_ops::{Kind, ManifestEntry, PROVED, UNPROVED, explain};

/// The manifest of operations.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Manifest {
    /// The version of Cotan.
    pub version: String,
    /// The modules of the library.
    pub modules: Vec<ModuleEntry>,
    /// Primitives, operations on tensors, functions of the prelude, functions of the library.
    pub operations: Vec<ManifestEntry>,
}

/// A module of the library.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ModuleEntry {
    /// The name behind `import`.
    pub name: String,
    /// What it is about.
    pub doc: String,
    /// The public types and constants.
    pub declarations: Vec<DeclarationEntry>,
}

/// A public type or constant of a module.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DeclarationEntry {
    /// The declaration.
    pub signature: String,
    /// What it is.
    pub doc: String,
}

/// The group of the functions of the prelude.
const PRELUDE: &str = "prelude";

/// The tests of each operation, which the test `coverage` of the testkit writes and compares.
const INDEX: &str = include_str!("../../../spec/operations/index.tsv");

/// The manifest of a library and of the operations that its modules may use. The error is what is wrong with the library.
pub fn manifest(library: &Library) -> Result<Manifest, CompileError> {
    on_deep_stack(|| manifest_on_this_stack(library))
}

fn manifest_on_this_stack(library: &Library) -> Result<Manifest, CompileError> {
    let imports: String = library.modules.iter().map(|module| format!("import {}\n", module.name)).collect();
    let program = Program::load("manifest", &imports, &NoFiles, library, &cotan_sema::Limits::default());
    if program.has_errors() {
        return Err(CompileError::Diagnostics(program.diagnostics));
    }
    let facts = derivative_facts(&program.checked.program);
    let mut operations = of_registry(library.registry);
    operations.extend(prelude_functions().iter().map(of_prelude));
    let mut modules = Vec::new();
    for module in library.modules.iter().filter_map(|m| program.modules.all.iter().find(|it| it.label == m.name)) {
        let public = module.syntax.items.iter().filter(|item| item.public.is_some());
        let mut declarations = Vec::new();
        for item in public {
            match &item.kind {
                ItemKind::Function(function) => {
                    let name = format!("{}.{}", module.label, function.signature.name.name);
                    let Some(id) = program.checked.program.function_named(&name) else { continue };
                    let source = Source { sources: &program.sources, item, signature: &function.signature };
                    let checked = program.checked.program.function(id);
                    operations.push(of_function(name, &module.label, &source, checked, &facts[id.0 as usize]));
                }
                ItemKind::Struct(_)
                | ItemKind::Enum(_)
                | ItemKind::TypeAlias(_)
                | ItemKind::Const(_)
                | ItemKind::Trait(_) => declarations
                    .push(DeclarationEntry { signature: declared(program.sources.slice(item.span)), doc: doc(item) }),
                ItemKind::Impl(_) | ItemKind::Import(_) | ItemKind::Error => {}
            }
        }
        let text = program.sources.get(module.syntax.file).map_or("", |file| file.text());
        modules.push(ModuleEntry { name: module.label.clone(), doc: heading(text), declarations });
    }
    let index = tests();
    for entry in &mut operations {
        if let Some(tests) = index.get(&(entry.kind.name(), entry.name.as_str())) {
            entry.tests.extend(tests.iter().map(|test| (*test).to_owned()));
        }
    }
    Ok(Manifest { version: env!("CARGO_PKG_VERSION").to_owned(), modules, operations })
}

/// The tests of an operation, by its kind and name.
fn tests() -> BTreeMap<(&'static str, &'static str), Vec<&'static str>> {
    let lines = INDEX.lines().filter(|line| !line.starts_with('#'));
    let row = |line: &'static str| {
        let mut columns = line.split('\t');
        let key = (columns.next()?, columns.next()?);
        Some((key, columns.next()?.split(' ').collect()))
    };
    lines.filter_map(row).collect()
}

fn of_prelude(function: &PreludeFunction) -> ManifestEntry {
    let operands: Vec<OperandEntry> = function.params.iter().map(OperandEntry::from).collect();
    let kinks = operands.iter().filter(|operand| operand.differentiability == "piecewise");
    let kinks = kinks.filter_map(|operand| operand.note.clone());
    ManifestEntry {
        name: function.name.to_owned(),
        kind: Kind::Prelude,
        group: PRELUDE.to_owned(),
        signature: function.signature(),
        doc: function.doc.clone(),
        rule: if function.result == "()" { "zero" } else { rule(&operands) }.to_owned(),
        modes: Modes::EVERY,
        dtypes: if function.generics.starts_with('T') {
            let bound = function.generics.split(',').next().and_then(|first| first.strip_prefix("T: "));
            let bound = bound.and_then(cotan_sema::types::Bound::from_name);
            dtypes(|elem| bound.is_none_or(|bound| bound.admits(elem)))
        } else {
            Vec::new()
        },
        kinks: kinks.map(|convention| KinkEntry { operation: function.name.to_owned(), convention }).collect(),
        operands,
        batching: BatchingEntry::form("definition"),
        stablehlo: Some(by_definition()),
        backends: Backends::all("expanded"),
        tests: Vec::new(),
        proof: "definition".to_owned(),
    }
}

/// The source of a function.
struct Source<'s> {
    sources: &'s SourceMap,
    item: &'s Item,
    signature: &'s ast::Signature,
}

impl Source<'_> {
    fn text(&self, span: Span) -> String {
        one_line(self.sources.slice(span))
    }

    /// The declaration on one line, without attributes and body.
    fn declaration(&self) -> String {
        let list = |spans: Vec<Span>| spans.into_iter().map(|span| self.text(span)).collect::<Vec<_>>().join(", ");
        let generics = list(self.signature.generics.iter().map(|generic| generic.span).collect());
        let generics = if generics.is_empty() { generics } else { format!("[{generics}]") };
        let params = list(self.signature.params.iter().map(|param| param.span).collect());
        let result = self.signature.result.as_ref().map(|ty| format!(" -> {}", self.text(ty.span))).unwrap_or_default();
        format!("{}{generics}({params}){result}", self.signature.name.name)
    }
}

fn of_function(
    name: String,
    module: &str,
    source: &Source<'_>,
    function: &typed::Function,
    facts: &DerivativeFacts,
) -> ManifestEntry {
    // What a rule says stands in place of the conventions of the definition.
    let has_rule = function.rules.any();
    let kinks = facts.conventions.at.iter().filter(|_| !has_rule);
    let kinks = kinks
        .map(|(name, (convention, _))| KinkEntry { operation: (*name).to_owned(), convention: convention.clone() });
    let params = source.signature.params.iter().zip(&facts.flows);
    let operand = |(param, flow): (&ast::Param, &Flow)| operand(source, param, *flow, facts, has_rule);
    let operands: Vec<OperandEntry> = params.map(operand).collect();
    let scalar = function.generics.iter().find_map(|generic| match generic.kind {
        GenericKind::Scalar(bound) => Some(dtypes(|elem| bound.admits(elem))),
        GenericKind::Type { is_differentiable } => Some(dtypes(|elem| elem.is_float() || !is_differentiable)),
        GenericKind::Size | GenericKind::Pack => None,
    });
    ManifestEntry {
        name,
        kind: Kind::Library,
        group: module.to_owned(),
        signature: source.declaration(),
        doc: doc(source.item),
        rule: if has_rule { "rule" } else { rule(&operands) }.to_owned(),
        operands,
        modes: Modes::EVERY,
        dtypes: scalar.unwrap_or_default(),
        kinks: kinks.collect(),
        batching: BatchingEntry::form("definition"),
        stablehlo: Some(by_definition()),
        backends: Backends::all("library"),
        tests: Vec::new(),
        proof: "definition".to_owned(),
    }
}

fn operand(
    source: &Source<'_>,
    param: &ast::Param,
    flow: Flow,
    facts: &DerivativeFacts,
    has_rule: bool,
) -> OperandEntry {
    let conventions = &facts.conventions.at;
    let (differentiability, note) = match flow {
        Flow::Flows if has_rule => ("smooth", "by a rule of its own".to_owned()),
        Flow::Flows => {
            let inside: Vec<String> =
                conventions.iter().filter(|(_, (_, inside))| *inside).map(|(name, _)| format!("`{name}`")).collect();
            if inside.is_empty() {
                ("smooth", "derived from the definition".to_owned())
            } else {
                ("piecewise", format!("derived from the definition, with the conventions of {}", inside.join(", ")))
            }
        }
        Flow::Stopped => ("zero", "no derivative flows from it to the result".to_owned()),
        Flow::Declared => ("zero", "it is marked `@nodiff`".to_owned()),
        Flow::NoFloatInResult => ("zero", "there are no floats in the result".to_owned()),
        Flow::NoFloat => ("zero", "there are no floats in it".to_owned()),
        Flow::Function if has_rule => ("none", "a function is no number; what it reads has no derivative".to_owned()),
        Flow::Function => ("none", "a function is no number; derivatives flow into what it reads".to_owned()),
    };
    OperandEntry {
        name: param.name.name.clone(),
        ty: source.text(param.ty.span),
        repeated: false,
        default: param.default.as_ref().map(|value| source.text(value.span)),
        differentiability: differentiability.to_owned(),
        note: Some(note),
        partial: None,
    }
}

/// Where the derivative of something that is made of other operations comes from.
fn rule(operands: &[OperandEntry]) -> &'static str {
    // Through a function a derivative flows from what it reads.
    let is_function = |operand: &OperandEntry| operand.ty.contains("->");
    let flows = |operand: &OperandEntry| {
        matches!(operand.differentiability.as_str(), "smooth" | "piecewise") || is_function(operand)
    };
    if operands.iter().any(flows) { "definition" } else { "zero" }
}

fn by_definition() -> StableHloEntry {
    StableHloEntry { form: "definition".to_owned(), name: None, reason: None }
}

fn dtypes(admits: impl Fn(Elem) -> bool) -> Vec<String> {
    Elem::ALL.into_iter().filter(|elem| admits(*elem)).map(|elem| elem.to_string()).collect()
}

fn doc(item: &Item) -> String {
    item.doc.as_ref().map(|doc| one_line(&doc.text)).unwrap_or_default()
}

/// A type or constant without its doc comment and `pub`, on one line.
fn declared(text: &str) -> String {
    let lines = text.lines().filter(|line| !line.trim_start().starts_with('#'));
    let text = one_line(&lines.collect::<Vec<_>>().join("\n"));
    text.strip_prefix("pub ").unwrap_or(&text).to_owned()
}

/// The comment that a module begins with.
fn heading(text: &str) -> String {
    let lines = text.lines().map_while(|line| line.strip_prefix('#'));
    lines.take_while(|line| !line.starts_with('#')).map(str::trim).collect::<Vec<_>>().join(" ")
}

/// A text with each run of spaces and line breaks as one space, and without a comma before a bracket.
fn one_line(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    text.replace("( ", "(").replace(", )", ")")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::library::standard;

    fn entry(name: &str) -> ManifestEntry {
        let manifest = manifest(&standard()).expect("the library has no errors");
        manifest.operations.into_iter().find(|entry| entry.name == name).expect("it is there")
    }

    #[test]
    fn a_function_of_the_library_is_described_by_its_source() {
        let entry = entry("std.linalg.pinv");
        assert_eq!((entry.kind, entry.group.as_str()), (Kind::Library, "std.linalg"));
        assert_eq!(entry.signature, "pinv[T: Float, M, N](a: T[M, N], rcond: T = 1e-12) -> T[N, M]");
        assert_eq!(entry.dtypes, ["f32", "f64"]);
        assert_eq!(entry.operands[1].default.as_deref(), Some("1e-12"));
        assert!(entry.doc.ends_with('.'), "{}", entry.doc);
        assert!(entry.kinks.iter().any(|kink| kink.operation == "svd"), "{:?}", entry.kinks);
    }

    #[test]
    fn differentiability_is_found_in_the_definition() {
        let of = |name: &str| -> Vec<String> {
            entry(name).operands.into_iter().map(|operand| operand.differentiability).collect()
        };
        assert_eq!(of("std.linalg.solve"), ["smooth", "smooth"]);
        // A row that is masked as a whole is a case of its own.
        assert_eq!(of("std.nn.softmax"), ["piecewise"]);
        assert_eq!(of("std.nn.leaky_relu"), ["piecewise", "piecewise"]);
        assert_eq!(of("std.nn.cross_entropy"), ["piecewise", "zero"]);
        assert_eq!(of("argmax"), ["zero"]);
        assert_eq!((entry("tabulate").rule.as_str(), entry("each").rule.as_str()), ("definition", "zero"));
    }

    #[test]
    fn names_are_unique_within_a_kind_and_every_entry_is_documented() {
        let manifest = manifest(&standard()).expect("the library has no errors");
        let mut seen = std::collections::BTreeSet::new();
        for entry in &manifest.operations {
            assert!(seen.insert((entry.kind, entry.name.clone())), "{} stands twice", entry.name);
            assert!(entry.doc.len() > 3, "{}: {}", entry.name, entry.doc);
            for operand in &entry.operands {
                let has_reason = operand.differentiability == "smooth" || operand.note.is_some();
                assert!(has_reason, "{}: {} says not why", entry.name, operand.name);
            }
        }
        assert!(manifest.modules.iter().all(|module| module.doc.ends_with('.')), "{:?}", manifest.modules);
    }
}
