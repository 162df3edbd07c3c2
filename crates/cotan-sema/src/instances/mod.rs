//! Functions at the types and ranks that a program uses them with.
//!
//! A generic function is lowered once for each choice of its types, and once for each rank of its shape packs; sizes
//! stay run-time values. [`specialise`] makes a program of that: every function in it has sizes as its only generics,
//! every pack is the list of its sizes, and a call of a function of a trait is one of the function of an impl. What
//! comes after knows nothing of type parameters, packs and traits.
//!
//! An instance is a function with arguments in which sizes are numbered as they come: `f64[N]` and `f64[M + 1]` are
//! one type parameter `f64[#0]`, whose caller gives the size. Sizes that are equal get one number and constants stay,
//! so that the types of an impl's target fit exactly.

mod body;
pub(crate) mod impls;

use std::collections::HashMap;

use cotan_syntax::{Diagnostic, Span};

use crate::dims::{Atom, Dim, GenericId};
use crate::leaf_counts::LeafCounts;
use crate::limits::Limits;
use crate::order;
use crate::typed::{FnId, Function, FunctionBody, Param, Program, TraitMethod};
use crate::types::{Generic, GenericArg, GenericKind, Scalar, Substitution, TraitRef, Type};

/// A function that is wanted, with one argument for each of its generics.
pub type Wanted = (FnId, Vec<GenericArg>);

/// A program without generics but sizes.
pub struct Specialised {
    /// The functions, none of them generic but over sizes.
    pub program: Program,
    /// The instances that were wanted, in order.
    pub roots: Vec<FnId>,
}

/// The functions that `wanted` needs, at the types that it needs them at. An error is a program that needs too many, or
/// functions that call themselves through a trait.
pub fn specialise(program: &Program, wanted: &[Wanted], limits: &Limits) -> Result<Specialised, Box<Diagnostic>> {
    let mut instances = Instances::new(program, limits);
    let mut roots = Vec::new();
    for (function, args) in wanted {
        let span = program.function(*function).name_span;
        roots.push(instances.instance(*function, args.clone(), None, span)?.0);
    }
    let mut functions = Vec::new();
    let mut at = 0;
    while at < instances.made.len() {
        functions.push(instances.lower(at)?);
        at += 1;
    }
    let callees: Vec<Vec<order::Callee>> = instances.made.iter().map(|made| made.callees.clone()).collect();
    let sorted = order::sort(&callees);
    let name = |at: usize| program.function(instances.made[at].source).name.clone();
    if let Some(cycle) = sorted.cycles.first() {
        return Err(Box::new(order::cycle_error(cycle, &name)));
    }
    let order = sorted.order.into_iter().map(|at| FnId(at as u32)).collect();
    let (structs, enums) = (program.structs.clone(), program.enums.clone());
    let program = Program { structs, enums, functions, order, ..Program::default() };
    Ok(Specialised { program, roots })
}

/// The names and types of a function at these arguments; of what it calls nothing is made.
pub fn specialise_header(
    program: &Program,
    function: FnId,
    args: Vec<GenericArg>,
    limits: &Limits,
) -> Result<Specialisation, Box<Diagnostic>> {
    let mut instances = Instances::new(program, limits);
    instances.instance(function, args, None, program.function(function).name_span)?;
    Ok(instances.header(0))
}

/// The names and types of an instance.
pub struct Specialisation {
    /// Its size parameters.
    pub generics: Vec<Generic>,
    /// Its parameters at these arguments.
    pub params: Vec<Param>,
    /// The type of its result.
    pub result: Type,
}

/// A function at certain types.
struct Made {
    source: FnId,
    /// What the generics of the source stand for, over the sizes of the instance.
    args: Vec<GenericArg>,
    generics: Vec<Generic>,
    /// The instance that needed it first, and where.
    parent: Option<usize>,
    span: Span,
    /// The number of instances with types or packs that led to it.
    depth: usize,
    callees: Vec<order::Callee>,
}

struct Instances<'p> {
    program: &'p Program,
    limits: &'p Limits,
    leaf_counts: LeafCounts,
    known: HashMap<(FnId, Vec<GenericArg>), usize>,
    made: Vec<Made>,
    n_special: usize,
}

impl<'p> Instances<'p> {
    fn new(program: &'p Program, limits: &'p Limits) -> Instances<'p> {
        let leaf_counts = LeafCounts::of(&program.structs, &program.enums);
        Instances { program, limits, leaf_counts, known: HashMap::new(), made: Vec::new(), n_special: 0 }
    }

    /// The instance of a function with these arguments, and the sizes that a caller gives it.
    fn instance(
        &mut self,
        function: FnId,
        args: Vec<GenericArg>,
        parent: Option<usize>,
        span: Span,
    ) -> Result<(FnId, Vec<GenericArg>), Box<Diagnostic>> {
        let (function, args) = self.resolve(function, args);
        let source = self.program.function(function);
        for arg in &args {
            if let GenericArg::Type(ty) = arg
                && self.leaf_counts.leaves(ty) > self.limits.leaves
            {
                let what = format!("a type that `{}` is called with", source.name);
                return Err(Box::new(self.limits.too_many_leaves(&what, self.leaf_counts.leaves(ty), span)));
            }
        }
        let named = Named::new(&source.generics, args);
        let key = (function, named.args);
        if let Some(at) = self.known.get(&key) {
            return Ok((FnId(*at as u32), named.given));
        }
        let at = self.made.len();
        let is_special = source.generics.iter().any(|generic| generic.kind != GenericKind::Size);
        let above = parent.map_or(0, |parent| self.made[parent].depth);
        let depth = if is_special { above + 1 } else { 0 };
        self.n_special += usize::from(is_special);
        self.made.push(Made {
            source: function,
            args: key.1.clone(),
            generics: named.generics,
            parent,
            span,
            depth,
            callees: Vec::new(),
        });
        self.known.insert(key, at);
        if depth > self.limits.instance_depth || self.n_special > self.limits.instances {
            return Err(Box::new(self.too_many(at)));
        }
        Ok((FnId(at as u32), named.given))
    }

    /// The function of an impl in place of one that a trait asks for.
    fn resolve(&self, function: FnId, args: Vec<GenericArg>) -> (FnId, Vec<GenericArg>) {
        let FunctionBody::Required(TraitMethod { of, index }) = self.program.function(function).body else {
            return (function, args);
        };
        let n_of_trait = self.program.traits[of.0 as usize].generics.len();
        let target = args[0].as_type().unwrap_or(Type::Error);
        let wanted = TraitRef { def: of, args: args[1..=n_of_trait].to_vec() };
        let (at, known) = impls::select(&self.program.impls, &wanted, &target)
            .expect("invariant: the checker finds the impl of every bound");
        let found = &self.program.impls[at];
        let generics = known.into_iter().enumerate().map(|(k, arg)| arg.unwrap_or_else(|| found.generics[k].as_arg(k)));
        let own = args[1 + n_of_trait..].iter().cloned();
        (found.methods[index], generics.chain(own).collect())
    }

    /// The names and types of instance number `at`.
    fn header(&self, at: usize) -> Specialisation {
        let made = &self.made[at];
        let source = self.program.function(made.source);
        let types = Substitution::new(made.args.clone());
        let params = source.params.iter().cloned().map(|mut param| {
            param.ty = types.ty(&param.ty);
            param
        });
        Specialisation { generics: made.generics.clone(), params: params.collect(), result: types.ty(&source.result) }
    }

    /// The function of instance number `at`. What it calls becomes an instance too.
    fn lower(&mut self, at: usize) -> Result<Function, Box<Diagnostic>> {
        let made = &self.made[at];
        let source = self.program.function(made.source);
        let types = Substitution::new(made.args.clone());
        let suffix: String = source.generics.iter().zip(&made.args).map(|(g, arg)| self.suffix(g, arg)).collect();
        let body = body::specialise(self, at, &source.body, &types)?;
        let rules = body::rules(self, at, &source.rules, &types)?;
        let Specialisation { generics, params, result } = self.header(at);
        Ok(Function {
            name: format!("{}{suffix}", source.name),
            n_written_generics: generics.len(),
            generics,
            params,
            result,
            body,
            rules,
            ..source.clone()
        })
    }

    /// What a generic argument adds to the name of an instance.
    fn suffix(&self, generic: &Generic, arg: &GenericArg) -> String {
        match (generic.kind, arg) {
            (GenericKind::Size, _) | (_, GenericArg::Size(_)) => String::new(),
            (_, GenericArg::Pack(dims)) => format!(".r{}", dims.len()),
            (_, GenericArg::Scalar(scalar)) => format!(".{}", self.type_name(&Type::Scalar(*scalar))),
            (_, GenericArg::Type(ty)) => format!(".{}", self.type_name(ty)),
        }
    }

    fn type_name(&self, ty: &Type) -> String {
        match ty {
            Type::Scalar(Scalar::Of(elem)) => elem.name().to_owned(),
            Type::Tensor { elem, dims } => format!("{}_r{}", self.type_name(elem), dims.len()),
            Type::Tuple(parts) => {
                let parts: String = parts.iter().map(|part| format!("_{}", self.type_name(part))).collect();
                format!("t{parts}")
            }
            Type::Struct(of) => self.program.struct_def(of.def).name.clone(),
            Type::Enum(of) => self.program.enum_def(of.def).name.clone(),
            Type::Error
            | Type::Never
            | Type::Function(_)
            | Type::Param(_)
            | Type::Scalar(Scalar::Param(_) | Scalar::Var(_)) => "x".to_owned(),
        }
    }

    fn too_many(&self, last: usize) -> Diagnostic {
        let mut chain = Vec::new();
        let mut next = Some(last);
        while let Some(at) = next {
            chain.push(at);
            next = self.made[at].parent;
        }
        chain.reverse();
        let names: Vec<String> =
            chain.iter().map(|at| format!("`{}`", self.program.function(self.made[*at].source).name)).collect();
        self.limits.exceeded(&names, self.made[last].depth > self.limits.instance_depth, self.made[last].span)
    }
}

/// Generic arguments with their sizes numbered.
struct Named {
    args: Vec<GenericArg>,
    /// The sizes of the instance.
    generics: Vec<Generic>,
    /// What the caller gives for them.
    given: Vec<GenericArg>,
}

impl Named {
    fn new(generics: &[Generic], mut args: Vec<GenericArg>) -> Self {
        // A trait with sizes among its parameters may tie a size of the function to one in a type.
        let ties_sizes = generics.iter().any(|generic| generic.traits.iter().any(|of| !of.args.is_empty()));
        let mut own: Vec<Generic> = Vec::new();
        let mut given: Vec<Dim> = Vec::new();
        // Sizes that later ones may be equal to.
        let mut shared: Vec<(Dim, u32)> = Vec::new();
        for (generic, arg) in generics.iter().zip(&mut args) {
            let is_size = generic.kind == GenericKind::Size;
            let mut n = 0;
            arg.each_dim_mut(&mut |dim| {
                let is_shared = !is_size || ties_sizes;
                if !is_size && dim.as_constant().is_some() {
                    return;
                }
                let known = shared.iter().find(|(other, _)| is_shared && other == dim).map(|(_, at)| *at);
                let at = known.unwrap_or_else(|| {
                    let name = if is_size { generic.name.clone() } else { format!("{}_{n}", generic.name) };
                    own.push(Generic::size(name));
                    given.push(dim.clone());
                    own.len() as u32 - 1
                });
                if is_shared {
                    shared.push((dim.clone(), at));
                }
                n += 1;
                *dim = Dim::atom(Atom::Size(GenericId(at)));
            });
        }
        Self { args, generics: own, given: given.into_iter().map(GenericArg::Size).collect() }
    }
}
