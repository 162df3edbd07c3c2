//! The checker: syntax trees in, a typed tree and everything that is wrong out.
//!
//! [`ModuleChecker`] knows the declarations of all modules of a program, [`BodyChecker`] checks one body. A rule of the
//! language is a function over one of them, in the file of its subject; only what the rules need of each other, such as
//! an expression in an argument, is a method. What a rule needs alone it gets alone: the [`Locals`], or what is found
//! out about types ([`infer::Infer`]).
//!
//! Bodies are checked from the leaves up and types flow one way: when an expression has been checked its type is known,
//! up to the scalar types of literals, which unification decides within the body. A mistake is reported where it is
//! found; its type is then [`Type::Error`], which fits everything.

mod activity;
mod along_axis;
mod arguments;
mod attributes;
mod axes;
mod axis_arguments;
mod bodies;
mod bounds;
mod builtin_arguments;
mod builtins;
mod callee;
mod callee_schemes;
mod callees;
mod calls;
mod captured_floats;
mod combinators;
mod constants;
mod control;
mod conversions;
mod cycles;
mod declarations;
mod declared;
mod derivatives;
mod effect_maps;
mod effects;
mod einsum;
mod enums;
mod evaluate;
mod exhaustive;
mod expressions;
mod finish;
mod fit;
mod flows;
mod folds;
mod foreign_members;
mod foreign_ranges;
mod formats;
mod generics;
mod indexing;
mod infer;
mod instances;
mod instantiate;
mod items;
mod kernels;
mod lambdas;
mod large_types;
mod last_axis;
mod leaves;
mod literal_fields;
mod literals;
mod locals;
mod loop_attributes;
mod loss_results;
mod matches;
mod meant;
mod methods;
mod moves;
mod names;
mod new_variables;
mod operations;
mod operator_table;
mod operators;
mod out_of_range;
mod overlap;
mod patterns;
mod pipes;
mod places;
mod postfix;
mod quotients;
mod ranges;
mod ranks;
mod rule_cycles;
mod rules;
mod runtime_sizes;
mod scalar_calls;
mod schemes;
mod scope;
mod shape_help;
mod size_exprs;
mod size_lists;
mod sizes;
mod statements;
mod storage;
mod structs;
mod testing;
mod tile_shapes;
mod traits;
mod type_exprs;
mod type_scope;
mod unbound_derivatives;
mod unknown_names;
mod unknown_types;
mod usefulness;
mod vectors;
mod vmap_axes;
mod vmaps;
mod warnings;
mod written;

pub use flows::{Conventions, DerivativeFacts, Flow, derivative_facts};
pub use warnings::derivative_warnings;

use constants::Constant;
use locals::Locals;
use std::collections::{BTreeMap, BTreeSet};

use cotan_syntax::ast::{self, NodeId};
use cotan_syntax::{Diagnostic, SourceMap, Span, on_deep_stack};

use crate::codes;
use crate::leaf_counts::LeafCounts;
use crate::library_names::LibraryNames;
use crate::limits::Limits;
use cotan_ops::Registry;

use crate::modules::{Module, ModuleId, Modules};
use crate::typed::{self, FnId, SourceFacts, Type, Use};
use crate::types::{EnumId, Generic, GenericKind, Scalar, StructId, TraitId};
use crate::unify::ScalarVars;

/// What the checker found out about a program.
#[derive(Clone, Debug, PartialEq)]
pub struct Checked {
    /// The typed program. With errors among the diagnostics it is partial.
    pub program: typed::Program,
    /// Errors and warnings, in the order of the source.
    pub diagnostics: Vec<Diagnostic>,
    /// What the language server shows, also for programs with errors.
    pub facts: SourceFacts,
    /// The types of bodies whose functions have no result type, with the places of their signatures.
    pub found_results: Vec<(Span, String)>,
}

impl Checked {
    /// Whether the program may be lowered.
    pub fn is_valid(&self) -> bool {
        !self.diagnostics.iter().any(Diagnostic::is_error)
    }
}

/// Checks a program: the modules that [`crate::modules::load`] found, or one module.
///
/// Never fails and never panics, whatever the tree: what is wrong is among the diagnostics.
///
/// ```
/// use cotan_syntax::{FileId, parse};
///
/// let (module, _) = parse(FileId(0), "fn twice(x: f64) -> f64 = 2.0 * x");
/// let checked = cotan_sema::check(&module.into(), &cotan_sema::Limits::default());
/// assert!(checked.is_valid());
/// assert_eq!(checked.program.functions[0].name, "twice");
/// ```
pub fn check(modules: &Modules, limits: &Limits) -> Checked {
    on_deep_stack(|| check_on_this_stack(modules, limits))
}

fn check_on_this_stack(modules: &Modules, limits: &Limits) -> Checked {
    let mut checker = ModuleChecker::new(modules, *limits);
    items::collect(&mut checker);
    bodies::check(&mut checker);
    bounds::check_wanted_traits(&mut checker);
    effects::mark(&mut checker);
    checker.finish()
}

/// What a name at the top of a module stands for.
#[derive(Clone, Copy, Debug)]
enum Def {
    Function(FnId),
    /// A function whose signature has not been read yet.
    Pending,
    /// An imported module.
    Module(ModuleId),
    /// A declaration with several `@grad`: the functions are called by the names of parameters.
    Gradients(usize),
    Struct(StructId),
    Enum(EnumId),
    Alias(usize),
    Constant(usize),
    Trait(TraitId),
    /// Reported: not supported, or wrong in its signature.
    Unusable,
}

/// A declaration by name.
#[derive(Clone, Copy, Debug)]
struct Definition {
    def: Def,
    span: Span,
    /// Whether other modules may use it.
    is_public: bool,
}

/// A `type` declaration.
struct Alias<'a> {
    module: ModuleId,
    item: &'a ast::TypeAlias,
    /// Its generics and what it stands for, once it has been resolved.
    resolved: Option<(Vec<Generic>, Type)>,
    is_open: bool,
}

/// The signature of a function, known before any body is checked.
#[derive(Clone, Debug)]
struct Signature {
    name: String,
    span: Span,
    name_span: Span,
    doc: Option<String>,
    generics: Vec<Generic>,
    n_written_generics: usize,
    /// What `Self` is in it.
    self_type: Option<Type>,
    params: Vec<typed::Param>,
    result: Type,
    /// How many run-time sizes the result leaves open; they are the first of the body.
    n_open_sizes: u32,
    /// The functions that replace its derived rules.
    rules: typed::Rules,
    /// How its derivatives are computed.
    hints: loop_attributes::Hints,
    /// Whether it is marked `@io`.
    prints: bool,
}

/// A call that stands in a body.
#[derive(Clone, Copy, Debug)]
struct CallEdge {
    caller: FnId,
    callee: FnId,
    span: Span,
}

/// The state of checking the modules of a program.
struct ModuleChecker<'a> {
    limits: Limits,
    registry: &'static Registry,
    library: LibraryNames<'a>,
    modules: &'a [Module],
    sources: &'a SourceMap,
    /// The module whose names are meant.
    current: ModuleId,
    diagnostics: Vec<Diagnostic>,
    /// How many of them are errors.
    n_errors: usize,
    facts: SourceFacts,
    /// The declarations of each module.
    definitions: Vec<BTreeMap<String, Definition>>,
    traits: Vec<typed::Trait>,
    trait_items: Vec<(ModuleId, &'a ast::Trait)>,
    impls: Vec<typed::Impl>,
    /// Uses of generic types whose arguments must have traits.
    wanted_traits: Vec<type_exprs::WantedTraits>,
    structs: Vec<typed::Struct>,
    struct_items: Vec<(ModuleId, &'a ast::Struct)>,
    enums: Vec<typed::Enum>,
    enum_items: Vec<(ModuleId, &'a ast::Enum)>,
    aliases: Vec<Alias<'a>>,
    constants: Vec<Constant<'a>>,
    /// The names under each declaration with several `@grad`.
    gradients: Vec<BTreeMap<String, FnId>>,
    signatures: Vec<Signature>,
    bodies: Vec<Option<typed::FunctionBody>>,
    plans: Vec<bodies::Plan<'a>>,
    /// Declared results of gradients that don't fit, with the function that is differentiated.
    result_errors: Vec<(FnId, Diagnostic)>,
    edges: Vec<CallEdge>,
    /// The types of bodies of functions without a result type.
    found_results: Vec<(Span, String)>,
    /// Functions that are differentiated, or passed on to others: they must not print.
    pure: BTreeSet<FnId>,
    /// Where functions print that are not marked `@io`.
    unmarked: Vec<(Span, FnId)>,
    /// Functions that are rules, with what they are rules for.
    rules: Vec<(ModuleId, FnId, attributes::RuleAttr)>,
    /// How many leaves declared types have.
    leaf_counts: LeafCounts,
    /// How many parts the types of the expressions so far are written with.
    n_type_parts: usize,
    /// How many constants and aliases are being resolved, each for the one before.
    declaration_depth: usize,
}

impl<'a> ModuleChecker<'a> {
    fn new(Modules { all: modules, registry, sources, library }: &'a Modules, limits: Limits) -> Self {
        let types = modules.iter().map(|module| vec![None; module.syntax.n_nodes as usize]).collect();
        Self {
            limits,
            registry,
            library: LibraryNames::new(library),
            modules,
            sources,
            current: ModuleId::default(),
            diagnostics: Vec::new(),
            n_errors: 0,
            facts: SourceFacts { types, definitions: Vec::new() },
            definitions: vec![BTreeMap::new(); modules.len()],
            traits: Vec::new(),
            trait_items: Vec::new(),
            impls: Vec::new(),
            wanted_traits: Vec::new(),
            structs: Vec::new(),
            struct_items: Vec::new(),
            enums: Vec::new(),
            enum_items: Vec::new(),
            aliases: Vec::new(),
            constants: Vec::new(),
            gradients: Vec::new(),
            signatures: Vec::new(),
            bodies: Vec::new(),
            plans: Vec::new(),
            result_errors: Vec::new(),
            edges: Vec::new(),
            found_results: Vec::new(),
            pure: BTreeSet::new(),
            unmarked: Vec::new(),
            rules: Vec::new(),
            leaf_counts: LeafCounts::default(),
            n_type_parts: 0,
            declaration_depth: 0,
        }
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        self.n_errors += usize::from(diagnostic.is_error());
        self.diagnostics.push(diagnostic);
    }

    /// Takes back what was reported after the first `n` diagnostics.
    fn take_back(&mut self, n: usize) {
        let taken = self.diagnostics.drain(n..);
        self.n_errors -= taken.filter(Diagnostic::is_error).count();
    }

    /// Whether so many errors were found that looking for others is for nobody.
    fn is_full(&self) -> bool {
        self.n_errors > self.limits.errors_found()
    }

    /// Goes into a constant or alias that another one needs, unless it is one of too many. A success is matched by
    /// taking one off [`Self::declaration_depth`].
    fn enter_declaration(&mut self, span: Span) -> bool {
        let limit = self.limits.nesting;
        if self.declaration_depth >= limit {
            let message = format!("expected at most {limit} declarations that each need the next one, found more");
            self.report(Diagnostic::error(codes::TOO_DEEP, span, message).help("declare what is needed further up"));
            return false;
        }
        self.declaration_depth += 1;
        true
    }

    /// Records a use of a name for the language server.
    fn note_use(&mut self, span: Span, definition: Span) {
        self.facts.definitions.push(Use { span, definition });
    }

    fn signature(&self, id: FnId) -> &Signature {
        &self.signatures[id.0 as usize]
    }

    fn declarations(&self) -> typed::Declarations<'_> {
        self.declarations_in(&[])
    }

    /// What is declared, where types are made of these parameters.
    fn declarations_in<'s>(&'s self, generics: &'s [Generic]) -> typed::Declarations<'s> {
        typed::Declarations { structs: &self.structs, enums: &self.enums, generics }
    }

    fn enum_name(&self, at: u32) -> String {
        self.enums.get(at as usize).map_or_else(|| "?".to_owned(), |def| def.name.clone())
    }

    fn struct_name(&self, at: u32) -> String {
        self.structs.get(at as usize).map_or_else(|| "?".to_owned(), |def| def.name.clone())
    }
}

/// The state of checking one body.
struct BodyChecker<'m, 'a> {
    module: &'m mut ModuleChecker<'a>,
    /// The function whose body it is; `None` for a constant expression.
    owner: Option<FnId>,
    n_params: usize,
    /// How many sizes the declared result leaves open.
    n_open_sizes: u32,
    generics: Vec<Generic>,
    /// What `Self` is here.
    self_type: Option<Type>,
    /// Its scalar types and run-time sizes.
    infer: infer::Infer,
    locals: Locals,
    /// Patterns that might not match, to be looked at when all scalar types are decided.
    pattern_checks: Vec<exhaustive::PatternCheck>,
    /// Types of nodes, to be recorded when the scalar types are decided.
    node_types: Vec<(NodeId, Type)>,
    /// Element types that nothing but other parts of the body can decide: where they came from,
    /// and the name that a message gives them.
    undecided: Vec<(Scalar, Span, String)>,
    /// Uses of generics whose arguments must have traits.
    wanted_traits: Vec<type_exprs::WantedTraits>,
    depth: usize,
    /// Whether the outermost `for` loops run in parallel.
    is_kernel: bool,
    /// Whether a `for` loop of the function stands around the current place.
    in_for_loop: bool,
    /// Whether the next lambda may print if its surroundings may.
    lends_output: bool,
}

impl<'m, 'a> BodyChecker<'m, 'a> {
    /// The state before the body of `owner`.
    fn new(module: &'m mut ModuleChecker<'a>, owner: FnId) -> Self {
        let signature = module.signature(owner);
        let (n_params, n_open_sizes) = (signature.params.len(), signature.n_open_sizes);
        let (generics, self_type) = (signature.generics.clone(), signature.self_type.clone());
        Self { owner: Some(owner), n_params, n_open_sizes, self_type, ..Self::outside(module, generics) }
    }

    /// The state before an expression that stands in no body.
    fn outside(module: &'m mut ModuleChecker<'a>, generics: Vec<Generic>) -> Self {
        let bounds = generics.iter().map(|generic| match generic.kind {
            GenericKind::Scalar(bound) => Some(bound),
            GenericKind::Size | GenericKind::Type { .. } | GenericKind::Pack => None,
        });
        let vars = ScalarVars::new(bounds.collect());
        Self {
            module,
            owner: None,
            n_params: 0,
            n_open_sizes: 0,
            generics,
            self_type: None,
            infer: infer::Infer::new(vars),
            locals: Locals::new(),
            pattern_checks: Vec::new(),
            node_types: Vec::new(),
            undecided: Vec::new(),
            wanted_traits: Vec::new(),
            depth: 0,
            is_kernel: false,
            in_for_loop: false,
            lends_output: false,
        }
    }
}
