//! From the typed tree to the core IR.
//!
//! A value is a list of leaves, scalars and dense tensors: structs, tuples and the unit type vanish, and an enum becomes
//! the number of its variant and the payloads of all variants. Mutable locals
//! become new IR values at every assignment; loops carry exactly the leaves that their bodies assign. A function is
//! lowered once for each choice of its types and ranks ([`cotan_sema::instances`]); sizes stay run-time values. Functions
//! that take functions are specialised into the call; one with rules of its own becomes a function that the call has to
//! itself. A derivative form becomes a request for a derivative and ordinary IR that calls it.
//!
//! An IR function takes the sizes of the source function in order, then the extents of its parameters that are neither
//! a size nor a number (such as `D*(D+1)/2`), then the leaves of the parameters. This crate must not know the rule of
//! any derivative.

mod accumulation;
mod body;
mod builtins;
mod calls;
mod checks;
mod closures;
mod code;
mod control;
mod defaults;
mod demand;
mod derivatives;
mod dims;
mod entries;
pub mod entry;
mod escapes;
mod expressions;
mod folds;
mod function;
mod indexing;
mod kernels;
mod last_axis;
mod leaves;
mod loops;
mod merge;
mod operations;
mod operators;
mod output;
mod patterns;
mod payloads;
mod places;
mod returns;
mod rules;
mod statements;
mod steps;
mod tabulate;
mod tangents;
mod unchecked;
mod values;
mod vectors;
mod vmaps;
mod walk;

use std::borrow::Cow;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use cotan_ir::{Derived, Item, Module, ReversePolicy, Symbol};
use cotan_syntax::Diagnostic;
use cotan_syntax::Span;

use crate::entry::{Entry, LoweredProgram, Request};
use cotan_sema::Limits;
use cotan_sema::codes;
use cotan_sema::instances::{self, Specialisation};
use cotan_sema::typed::{FnId, Program};

/// What lowering gives: a value, or the one error that ends it.
type Result<T> = std::result::Result<T, Box<Diagnostic>>;

/// Lowers the functions that `roots` ask for, and all that they call. The program has no errors; recursion goes as deep
/// as its expressions nest, so a caller with programs of strangers gives the thread a large stack.
///
/// Errors are those of the roots (a function or parameter that is not there, a derivative that makes no sense) and
/// programs that need more specialisations than `limits` allow.
///
/// ```
/// use cotan_lower::entry::Request;
/// use cotan_lower::lower;
/// use cotan_sema::{Limits, check};
///
/// let (module, _) = cotan_syntax::parse(cotan_syntax::FileId(0), "fn twice(x: f64) -> f64 = 2.0 * x");
/// let program = check(&module.into(), &Limits::default()).program;
/// let lowered = lower(&program, &[Request::function("twice")], &Limits::default());
/// let text = lowered.map(|lowered| lowered.module.to_string());
/// assert_eq!(text, Ok("fn twice(x: f64) {\n  mul: f64 = mul 2.0, x\n  return mul\n}\n".to_owned()));
/// ```
pub fn lower(
    program: &Program,
    roots: &[Request],
    limits: &Limits,
) -> std::result::Result<LoweredProgram, Vec<Diagnostic>> {
    let mut program = Cow::Borrowed(program);
    let mut resolved = Vec::new();
    let mut errors = Vec::new();
    for root in roots {
        match entries::resolve(&mut program, root) {
            Ok(root) => resolved.push(root),
            Err(error) => errors.push(*error),
        }
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    let specialised = instances::specialise(&program, &resolved, limits).map_err(|error| vec![*error])?;
    let mut program = output::with_tokens(&specialised.program);
    let targets: Vec<FnId> =
        specialised.roots.into_iter().map(|root| entries::called_by_host(&mut program, root)).collect();
    let program = escapes::to_statements(&program);
    let mut lowering = Lowering {
        program: &program,
        limits,
        module: Module::default(),
        instances: HashMap::new(),
        chain: Vec::new(),
        n_specialisations: 0,
        n_operations: 0,
        ruled: HashMap::new(),
    };
    let mut entries: Vec<Entry> = Vec::new();
    for target in targets {
        entries.push(entries::lower_root(&mut lowering, target).map_err(|error| vec![*error])?);
    }
    let wanted = entries.iter().zip(roots).map(|(entry, root)| (entry.symbol.clone(), root.is_differentiated));
    lowering.lower_demanded_rules(wanted).map_err(|error| vec![*error])?;
    Ok(LoweredProgram { module: lowering.module, entries })
}

/// The names and types of the function that `root` asks for, without a lowering. Errors are those of the root.
pub fn signature(
    program: &Program,
    root: &Request,
    limits: &Limits,
) -> std::result::Result<entry::Signature, Vec<Diagnostic>> {
    let mut program = Cow::Borrowed(program);
    let (function, args) = entries::resolve(&mut program, root).map_err(|error| vec![*error])?;
    let Specialisation { generics, params, result } =
        instances::specialise_header(&program, function, args, limits).map_err(|error| vec![*error])?;
    let body = &program.function(function).body;
    Ok(entries::Header { generics: &generics, params: &params, result: &result, body }.signature(&program))
}

/// A function in the IR.
#[derive(Debug)]
struct Instance {
    function: Arc<cotan_ir::Function>,
    signature: Signature,
}

/// How the flat parameters and results of an IR function are made of those of the source.
#[derive(Clone, Debug)]
struct Signature {
    /// Where the parameters after the sizes come from: an axis of a leaf of the arguments.
    extents: Vec<Extent>,
    /// Where the leaves of the result stand among the results.
    results: Vec<usize>,
}

/// An axis of a leaf of the arguments.
#[derive(Clone, Copy, Debug)]
struct Extent {
    leaf: usize,
    axis: usize,
}

/// The module that is being built.
struct Lowering<'p> {
    program: &'p Program,
    limits: &'p Limits,
    module: Module,
    /// By function, and how its caller wants a reverse sweep to treat loops.
    instances: HashMap<(FnId, ReversePolicy), Rc<Instance>>,
    /// The functions that are being specialised, outermost first.
    chain: Vec<(String, Span)>,
    n_specialisations: usize,
    /// The variables of the functions that are finished: as many as there are operations, or a few more.
    n_operations: usize,
    /// The calls of functions that take functions and have rules, by the names of their IR functions.
    ruled: HashMap<Symbol, Rc<demand::RuledCall<'p>>>,
}

impl<'p> Lowering<'p> {
    /// A name for a function that is not taken yet.
    fn free_symbol(&self, base: &str) -> Symbol {
        let mut name: Symbol = base.into();
        let mut n = 1;
        while self.module.items.contains_key(&name) {
            n += 1;
            name = format!("{base}_{n}").into();
        }
        name
    }

    /// Asks for a derivative; gives the name under which the module holds it.
    fn request(&mut self, derived: Derived) -> Symbol {
        let name = derived.canonical_name();
        self.module.items.entry(name.clone()).or_insert(Item::Derived(derived));
        name
    }

    /// Counts one more specialisation, which lasts until [`Self::leave`].
    fn enter(&mut self, name: &str, span: Span) -> Result<()> {
        self.chain.push((name.to_owned(), span));
        self.n_specialisations += 1;
        let (what, limit) = if self.chain.len() > self.limits.instance_depth {
            ("a chain of more than", self.limits.instance_depth)
        } else if self.n_specialisations > self.limits.instances {
            ("more than", self.limits.instances)
        } else {
            return Ok(());
        };
        let message = format!("the program needs {what} {limit} specialised functions");
        let mut error = Diagnostic::error(codes::TOO_MANY_INSTANCES, span, message);
        for (name, span) in self.chain.iter().rev().skip(1).take(8) {
            error = error.label(*span, format!("needed by `{name}` here"));
        }
        Err(Box::new(error.help("specialise fewer functions: pass values in place of functions")))
    }

    fn leave(&mut self) {
        self.chain.pop();
    }
}
