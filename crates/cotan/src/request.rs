//! Requests: which function or derivative of a program a host asks for, and the resolution of what it leaves open.
//!
//! A host that names a function, perhaps parameters, and has arguments of certain element types asks for a
//! [`Compiler::resolve`]d request: it has element types for generics and the parameters to differentiate with respect to,
//! and it fits the program.

use crate::{CompileError, Compiler, Program, UnfitRequest};
use cotan_ir::Elem;
use cotan_lower::entry::{EntryParam, HostType};
use cotan_sema::typed::{Function as Declaration, GenericKind};
use cotan_sema::types::Scalar;

pub use cotan_lower::entry::{DerivativeRequest, Request, Signature};
pub use cotan_sema::typed::{DerivativeForm, DerivativeMode};

/// The request for a derivative of a function with respect to parameters by name, in whatever mode suits.
pub fn derivative(function: &str, form: DerivativeForm, wrt: &[&str]) -> Request {
    let wrt = wrt.iter().map(|name| (*name).to_owned()).collect();
    Request::derivative(function, DerivativeRequest { form, wrt, mode: None })
}

/// A request that fits a program, with defaults filled in.
#[derive(Clone, Debug)]
pub struct ResolvedRequest {
    /// The request; a derivative names its parameters.
    pub request: Request,
    /// Names and types of the function itself, whatever derivative of it is asked for.
    pub function: Signature,
}

impl ResolvedRequest {
    /// The parameters to differentiate with respect to; none of a function itself.
    pub fn wrt(&self) -> &[String] {
        self.request.form.as_ref().map_or(&[], |form| &form.wrt)
    }

    /// The request for the function itself.
    pub fn primal(&self) -> Request {
        Request { form: None, more: Vec::new(), ..self.request.clone() }
    }

    /// The request for another derivative at the same element types.
    pub fn derivative(&self, derivative: DerivativeRequest) -> Request {
        Request { form: Some(derivative), more: Vec::new(), ..self.request.clone() }
    }

    /// The names of what a derivative takes beside the arguments of the function, in order: the tangents of `wrt`, or the
    /// cotangent.
    pub fn directions<'s>(&self, derivative: &'s Signature) -> Vec<&'s str> {
        derivative.params.iter().skip(self.function.params.len()).map(|param| param.name.as_str()).collect()
    }
}

impl Program {
    /// The declaration of a function.
    pub(crate) fn declaration(&self, name: &str) -> Option<&Declaration> {
        self.checked.program.functions.iter().find(|f| f.name == name)
    }

    /// An error unless the program has a function of this name.
    pub fn expect_function(&self, name: &str) -> Result<(), UnfitRequest> {
        if self.declaration(name).is_some() {
            return Ok(());
        }
        let mut known: Vec<&str> = self.checked.program.functions.iter().map(|f| f.name.as_str()).collect();
        // The bodies under attributes have names that nobody can write.
        known.retain(|name| !name.ends_with(".primal"));
        let help = match known.as_slice() {
            [] => "the program has no functions".to_owned(),
            some => format!("the functions are `{}`", some.join("`, `")),
        };
        Err(UnfitRequest::new(format!("there is no function `{name}`")).help(help))
    }

    /// The request at the element types of the arguments, which `elem_of` tells by name where they have one. Type
    /// parameters of which no argument tells anything get their defaults.
    pub fn at_elems(&self, mut request: Request, elem_of: &dyn Fn(&str) -> Option<Elem>) -> Request {
        let Some(declaration) = self.declaration(&request.function) else { return request };
        for (at, generic) in declaration.generics.iter().enumerate() {
            let GenericKind::Scalar(bound) = generic.kind else { continue };
            let is_of_it = |scalar| matches!(scalar, Some(Scalar::Param(id)) if id.0 as usize == at);
            let params = declaration.params.iter().filter(|param| is_of_it(param.ty.scalar()));
            let elem = params.filter_map(|param| elem_of(&param.name)).find(|elem| bound.admits(*elem));
            request.elems.push(elem.unwrap_or_else(|| bound.default_elem()));
        }
        request
    }
}

impl Compiler {
    /// Resolves a request against a program without errors: element types as [`Program::at_elems`] says; of a derivative
    /// without parameters, the first parameter that has one.
    pub fn resolve(
        &self,
        program: &Program,
        request: Request,
        elem_of: &dyn Fn(&str) -> Option<Elem>,
    ) -> Result<ResolvedRequest, CompileError> {
        program.expect_function(&request.function)?;
        let mut request = program.at_elems(request, elem_of);
        let function = self.signature(program, &Request { form: None, more: Vec::new(), ..request.clone() })?;
        if let Some(form) = &mut request.form {
            let nodiff = program.declaration(&request.function).into_iter().flat_map(|f| &f.params).map(|p| p.nodiff);
            form.wrt = parameters(&request.function, &function, nodiff, &form.wrt)?;
            if form.form.is_of_a_number() {
                expect_number(&request.function, &function)?;
            }
        }
        Ok(ResolvedRequest { request, function })
    }
}

/// The parameters that are wanted, or the first one that has a derivative.
fn parameters(
    name: &str,
    function: &Signature,
    nodiff: impl Iterator<Item = bool>,
    wanted: &[String],
) -> Result<Vec<String>, UnfitRequest> {
    let has_floats = |param: &EntryParam| param.ty.leaves().iter().any(|leaf| leaf.elem.is_float());
    let known = function.params.iter().zip(nodiff).filter(|(param, nodiff)| has_floats(param) && !nodiff);
    let known: Vec<&str> = known.map(|(param, _)| param.name.as_str()).collect();
    if let Some(wrong) = wanted.iter().find(|name| !known.contains(&name.as_str())) {
        let message = if function.params.iter().any(|param| param.name == *wrong) {
            format!("parameter `{wrong}` of `{name}` has no derivative")
        } else {
            format!("`{name}` has no parameter `{wrong}`")
        };
        let help = format!("the parameters with a derivative are `{}`", known.join("`, `"));
        return Err(UnfitRequest::new(message).help(help));
    }
    match (wanted, known.first()) {
        ([], Some(first)) => Ok(vec![(*first).to_owned()]),
        ([], None) => Err(UnfitRequest::new(format!("no parameter of `{name}` has a derivative"))),
        (wanted, _) => Ok(wanted.to_vec()),
    }
}

/// Fails unless the function has a float as its result, or a tuple that starts with one.
fn expect_number(name: &str, function: &Signature) -> Result<(), UnfitRequest> {
    let result = &function.result;
    let first = match result {
        HostType::Tuple(parts) => parts.first().unwrap_or(result),
        HostType::Scalar(_) | HostType::Tensor { .. } | HostType::Struct { .. } | HostType::Enum { .. } => result,
    };
    match first {
        HostType::Scalar(elem) if elem.is_float() => Ok(()),
        HostType::Scalar(_)
        | HostType::Tensor { .. }
        | HostType::Struct { .. }
        | HostType::Enum { .. }
        | HostType::Tuple(_) => {
            let found = function.show(result);
            Err(UnfitRequest::new(format!("`{name}`: expected a float result to differentiate, found {found}")))
        }
    }
}
