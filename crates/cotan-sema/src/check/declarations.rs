//! Functions: their signatures, what `@grad` and its like make of them, and the bodies to check.

use cotan_syntax::ast::{self, FunctionForm, Ident, Item};
use cotan_syntax::{Diagnostic, Span};
use std::collections::BTreeMap;

use cotan_ir::Elem;

use super::attributes::DerivativeAttr;
use super::type_exprs::{Holes, TypeScope};
use super::{BodyChecker, Def, ModuleChecker, Signature};
use crate::codes;
use crate::dims::{Atom, Dim, GenericId, LocalId};
use crate::typed::{self, Callable, CallableKind, Derivative, DerivativeForm, FnId, FunctionBody};
use crate::types::{Bound, Generic, GenericArg, GenericKind, Scalar, Type};

/// A body to check.
#[derive(Clone, Copy)]
pub(super) struct Plan<'a> {
    /// Whose body it is.
    pub(super) function: FnId,
    /// The declaration.
    pub(super) item: &'a ast::Function,
    /// Whether the body decides the type of the result: it is the scalar under `@grad`, at this
    /// place.
    pub(super) inferred_for: Option<Span>,
}

impl<'a> ModuleChecker<'a> {
    /// Takes in a function: its signature, and those of the derivatives that it declares.
    pub(super) fn declare_function(&mut self, item: &'a Item, function: &'a ast::Function) {
        let attrs = self.function_attributes(&item.attrs);
        if function.form == FunctionForm::Kernel {
            let name = &function.signature.name;
            self.define(name, Def::Unusable);
            self.report_later(
                name.span,
                &format!("the kernel `{}`", name.name),
                "declare it with `fn`: its loops then run one after the other",
            );
            return;
        }
        let signature = self.read_signature(item, &function.signature);
        let name = &function.signature.name;
        match attrs.as_slice() {
            [] => {
                let id = FnId(self.signatures.len() as u32);
                self.define(name, Def::Function(id));
                self.add_function(signature, None);
                self.plans.push(Plan { function: id, item: function, inferred_for: None });
            }
            [attr] => {
                let id = FnId(self.signatures.len() as u32 + 1);
                self.define(name, Def::Function(id));
                let function_name = signature.name.clone();
                self.declare_derivatives(signature, function, vec![(attr, function_name)], None);
            }
            several => {
                let at = self.gradients.len();
                self.gradients.push(BTreeMap::new());
                self.define(name, Def::Gradients(at));
                let named = self.name_gradients(several, &signature.name);
                self.declare_derivatives(signature, function, named, Some(at));
            }
        }
    }

    /// Several `@grad` on one declaration make one function each, called after the parameter.
    fn name_gradients<'d>(&mut self, attrs: &'d [DerivativeAttr], base: &str) -> Vec<(&'d DerivativeAttr, String)> {
        let mut named: Vec<(&DerivativeAttr, String)> = Vec::new();
        for attr in attrs {
            let [wrt] = attr.wrt.as_slice() else {
                if !attr.wrt.is_empty() {
                    let message = "expected one parameter in each of several `@grad`, found more";
                    self.report(
                        Diagnostic::error(codes::DERIVATIVE_ATTRIBUTE, attr.span, message)
                            .help("write a single `@grad(w, b)`, whose function gives a tuple"),
                    );
                }
                continue;
            };
            if attr.form != DerivativeForm::Grad {
                let message =
                    format!("expected one derivative on a declaration, found `@{}` beside another", attr.form.as_str());
                self.report(
                    Diagnostic::error(codes::DERIVATIVE_ATTRIBUTE, attr.span, message)
                        .help("declare one function for each"),
                );
                continue;
            }
            let name = format!("{base}.{}", wrt.name);
            if named.iter().any(|(_, other)| *other == name) {
                self.report_repeated_parameter(wrt);
                continue;
            }
            named.push((attr, name));
        }
        named
    }

    fn add_function(&mut self, signature: Signature, body: Option<FunctionBody>) -> FnId {
        self.signatures.push(signature);
        self.bodies.push(body);
        FnId(self.signatures.len() as u32 - 1)
    }

    /// Adds the function under the attributes, and one function for each of them.
    fn declare_derivatives(
        &mut self,
        declared: Signature,
        function: &'a ast::Function,
        attrs: Vec<(&DerivativeAttr, String)>,
        group: Option<usize>,
    ) {
        let form = attrs.first().map_or(DerivativeForm::Grad, |(attr, _)| attr.form);
        let n_named = attrs.first().map_or(0, |(attr, _)| attr.wrt.len());
        let n_tangents = if form == DerivativeForm::Jvp { n_named } else { 0 };
        let n_primal = declared.params.len().saturating_sub(n_tangents);
        let mut primal = declared.clone();
        primal.name = format!("{}.primal", declared.name);
        let lacks_tangents = form == DerivativeForm::Jvp && self.report_missing_tangents(&declared, n_primal, &attrs);
        if !lacks_tangents {
            primal.params.truncate(n_primal);
        }
        primal.result = match declared.result.parts() {
            [value, ..] if form != DerivativeForm::Grad => value.clone(),
            _ => Type::Error,
        };
        let attr_span = attrs.first().map_or(declared.name_span, |(attr, _)| attr.span);
        let inferred_for = (form == DerivativeForm::Grad).then_some(attr_span);
        let base = self.add_function(primal.clone(), None);
        self.plans.push(Plan { function: base, item: function, inferred_for });
        for (attr, name) in attrs {
            let id = self.declare_derivative(&declared, &primal, base, attr, name);
            if let (Some(at), [wrt]) = (group, attr.wrt.as_slice()) {
                self.gradients[at].insert(wrt.name.clone(), id);
            }
        }
    }

    /// Whether the named parameters of a `@jvp` are the last ones, so that none are there for the tangents; reports it.
    fn report_missing_tangents(
        &mut self,
        declared: &Signature,
        n_primal: usize,
        attrs: &[(&DerivativeAttr, String)],
    ) -> bool {
        let tangents = &declared.params[n_primal..];
        let named = attrs.iter().flat_map(|(attr, _)| &attr.wrt);
        let Some(ident) = named.into_iter().find(|ident| tangents.iter().any(|param| param.name == ident.name)) else {
            return false;
        };
        let message =
            format!("expected one more parameter for the tangent of `{0}`, found `{0}` as the last one", ident.name);
        self.report(
            Diagnostic::error(codes::DERIVATIVE_ATTRIBUTE, declared.span, message)
                .label(ident.span, "named here")
                .help(format!("add the parameter `d{}`, with the same type, at the end", ident.name)),
        );
        true
    }

    fn declare_derivative(
        &mut self,
        declared: &Signature,
        primal: &Signature,
        base: FnId,
        attr: &DerivativeAttr,
        name: String,
    ) -> FnId {
        let names: Vec<(&str, Span)> = primal.params.iter().map(|p| (p.name.as_str(), p.span)).collect();
        let wrt: Vec<usize> =
            attr.wrt.iter().filter_map(|ident| self.find_parameter(ident, &names, attr.form)).collect();
        let wrt: Vec<usize> = wrt.into_iter().filter(|at| self.may_differentiate(primal, *at, attr)).collect();
        let is_complete = attr.is_valid && wrt.len() == attr.wrt.len();
        let result =
            if is_complete { self.declared_derivative_result(declared, primal, base, attr, &wrt) } else { Type::Error };
        let signature = Signature { name, result, ..declared.clone() };
        let callable = Callable {
            span: attr.span,
            params: primal.params.iter().map(|param| param.ty.clone()).collect(),
            result: primal.result.clone(),
            kind: CallableKind::Function { function: base, generics: own_generics(&primal.generics) },
        };
        let derivative = Derivative { span: attr.span, form: attr.form, mode: None, base: callable, wrt };
        self.add_function(signature, Some(FunctionBody::Derivative(derivative)))
    }

    /// The type of the result that the derivative has; reports a declared one that differs.
    fn declared_derivative_result(
        &mut self,
        declared: &Signature,
        primal: &Signature,
        base: FnId,
        attr: &DerivativeAttr,
        wrt: &[usize],
    ) -> Type {
        let gradients: Vec<Type> =
            wrt.iter().map(|at| typed::tangent_in(&self.structs, &primal.params[*at].ty)).collect();
        let expected = match attr.form {
            DerivativeForm::Grad => one_or_tuple(gradients),
            DerivativeForm::Jvp => {
                self.check_tangent_parameters(declared, primal, attr, &gradients);
                Type::Tuple(vec![primal.result.clone(), typed::tangent_in(&self.structs, &primal.result)])
            }
            DerivativeForm::ValueAndGrad
            | DerivativeForm::Vjp
            | DerivativeForm::Jacobian
            | DerivativeForm::Hessian
            | DerivativeForm::Hvp => Type::Tuple(std::iter::once(primal.result.clone()).chain(gradients).collect()),
        };
        if declared.result.has_error() {
            return declared.result.clone();
        }
        let is_gradient = attr.form == DerivativeForm::Grad;
        let is_pair = !declared.result.parts().is_empty();
        if !(is_gradient || is_pair) || !self.is_gradient_type(&declared.result, &expected) {
            let (found, wanted) = (self.show_in(declared, &declared.result), self.show_in(declared, &expected));
            let message = if is_gradient {
                format!("expected the result type `{wanted}`, that of the gradient, found `{found}`")
            } else if is_pair {
                format!("expected the result type `{wanted}`, found `{found}`")
            } else {
                format!("expected a tuple of the value of `{}` and its derivatives, found `{found}`", declared.name)
            };
            let help = match attr.form {
                DerivativeForm::Grad => format!("write `-> {wanted}`"),
                DerivativeForm::Jvp => "write `-> (R, R)` where `R` is the type of the body".to_owned(),
                DerivativeForm::ValueAndGrad
                | DerivativeForm::Vjp
                | DerivativeForm::Jacobian
                | DerivativeForm::Hessian
                | DerivativeForm::Hvp => {
                    "write `-> (R, G)`: the type of the body, then the type of each gradient".to_owned()
                }
            };
            let diagnostic = Diagnostic::error(codes::DERIVATIVE_RESULT, declared.span, message)
                .label(attr.span, "because of this")
                .help(help);
            if is_gradient {
                // Nothing more is to be said if the body itself is wrong.
                self.result_errors.push((base, diagnostic));
            } else {
                self.report(diagnostic);
            }
            return Type::Error;
        }
        if !is_gradient && !self.has_smooth_value(primal, attr) {
            return Type::Error;
        }
        expected
    }

    /// Whether the declared type of the value can be differentiated; reports one that can't.
    fn has_smooth_value(&mut self, primal: &Signature, attr: &DerivativeAttr) -> bool {
        let value = &primal.result;
        let is_smooth = self.is_differentiable(value, &primal.generics);
        if is_smooth && (value.is_scalar() || value.has_error() || attr.form == DerivativeForm::Jvp) {
            return true;
        }
        let found = self.show_in(primal, value);
        let message = format!("expected a float to differentiate, found `{found}`");
        self.report(
            Diagnostic::error(codes::NOT_SCALAR, primal.span, message)
                .label(attr.span, "differentiated because of this")
                .help("the declared result begins with the type of the body, which is one float for a gradient"),
        );
        false
    }

    /// Whether a declared type is that of a derivative; a struct may stand for its tangent.
    fn is_gradient_type(&self, declared: &Type, expected: &Type) -> bool {
        match (declared, expected) {
            (Type::Error, _) | (_, Type::Error) => true,
            (Type::Tuple(a), Type::Tuple(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| self.is_gradient_type(a, b))
            }
            _ => declared == expected || typed::tangent_in(&self.structs, declared) == *expected,
        }
    }

    /// The parameters of `@jvp` that hold the tangents must have the types of tangents.
    fn check_tangent_parameters(
        &mut self,
        declared: &Signature,
        primal: &Signature,
        attr: &DerivativeAttr,
        tangents: &[Type],
    ) {
        let given = &declared.params[primal.params.len()..];
        for ((tangent, param), ident) in tangents.iter().zip(given).zip(&attr.wrt) {
            if !self.is_gradient_type(&param.ty, tangent) {
                let (found, wanted) = (self.show_in(declared, &param.ty), self.show_in(declared, tangent));
                let message = format!(
                    "expected `{}`, the tangent of `{}`, to be `{wanted}`, found `{found}`",
                    param.name, ident.name
                );
                self.report(
                    Diagnostic::error(codes::DERIVATIVE_ATTRIBUTE, param.span, message)
                        .label(attr.span, "takes one tangent for each parameter that it names")
                        .help("after the parameters of the function stand the tangents, in the order of the attribute"),
                );
            }
        }
    }

    /// Name, parameters and result of a function.
    fn read_signature(&mut self, item: &Item, signature: &ast::Signature) -> Signature {
        let generics = self.generics(&signature.generics);
        let n_written_generics = generics.len();
        let mut integers: BTreeMap<String, Dim> = BTreeMap::new();
        let mut params: Vec<typed::Param> = Vec::new();
        let mut generics = generics;
        for (at, param) in signature.params.iter().enumerate() {
            let name = &param.name;
            let is_taken = params.iter().any(|other| other.name == name.name)
                || generics[..n_written_generics].iter().any(|generic| generic.name == name.name);
            if is_taken {
                self.report_twice(name, "parameter");
            }
            self.report_parameter_extras(param);
            let nodiff = self.has_nodiff(param);
            let values = |name: &str| integers.get(name).cloned();
            let mut scope = TypeScope { generics, values: &values, holes: Holes::Generics, next_size: 0 };
            let ty = self.resolve_type(&param.ty, &mut scope);
            generics = scope.generics;
            if ty == Type::of(Elem::I64) {
                integers.insert(name.name.clone(), Dim::atom(Atom::Value(LocalId(at as u32))));
            }
            self.record_type(param.id, &ty);
            params.push(typed::Param { name: name.name.clone(), span: name.span, ty, nodiff });
        }
        let values = |name: &str| integers.get(name).cloned();
        let mut scope = TypeScope { generics, values: &values, holes: Holes::Sizes, next_size: 0 };
        let result = match &signature.result {
            Some(result) => self.value_type(result, &mut scope),
            None if signature.name.name == "main" => Type::UNIT,
            None => Type::Error,
        };
        let n_open_sizes = scope.next_size;
        Signature {
            name: signature.name.name.clone(),
            span: signature.span,
            name_span: signature.name.span,
            doc: item.doc.as_ref().map(|doc| doc.text.clone()),
            generics: scope.generics,
            n_written_generics,
            params,
            result,
            n_open_sizes,
        }
    }

    fn report_parameter_extras(&mut self, param: &ast::Param) {
        let name = &param.name.name;
        if let Some(span) = param.mutable {
            let instead = format!("take `{name}` as it is and copy it: `let mut {name} = {name}`");
            self.report_later(span, &format!("the `mut` parameter `{name}`"), &instead);
        }
        if let Some(default) = &param.default {
            self.report_later(
                default.span,
                &format!("a default for the parameter `{name}`"),
                "give the value at every call",
            );
        }
    }

    /// Checks all bodies, in the order of the source.
    pub(super) fn check_bodies(&mut self) {
        for at in 0..self.plans.len() {
            let plan = self.plans[at];
            let (body, result) = BodyChecker::new(self, plan.function).function_body(plan);
            self.bodies[plan.function.0 as usize] = Some(FunctionBody::Source(body));
            if plan.inferred_for.is_some() {
                self.signatures[plan.function.0 as usize].result = result;
            }
        }
        for (base, diagnostic) in std::mem::take(&mut self.result_errors) {
            if !self.signature(base).result.has_error() {
                self.report(diagnostic);
            }
        }
    }

    /// The position of a parameter that a derivative names.
    pub(super) fn find_parameter(
        &mut self,
        ident: &Ident,
        params: &[(&str, Span)],
        form: DerivativeForm,
    ) -> Option<usize> {
        if let Some(at) = params.iter().position(|(name, _)| *name == ident.name) {
            self.note_use(ident.span, params[at].1);
            return Some(at);
        }
        if !ident.name.is_empty() {
            let names: Vec<&str> = params.iter().map(|(name, _)| *name).collect();
            let help = match crate::suggest::closest(&ident.name, names.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None if names.is_empty() => "the function has no parameters".to_owned(),
                None => format!("its parameters are `{}`", names.join("`, `")),
            };
            let message =
                format!("expected a parameter of the function in `{}`, found `{}`", form.as_str(), ident.name);
            self.report(Diagnostic::error(codes::UNKNOWN_PARAMETER, ident.span, message).help(help));
        }
        None
    }

    /// Whether a parameter that an attribute names can be differentiated; reports one that can't.
    fn may_differentiate(&mut self, primal: &Signature, at: usize, attr: &DerivativeAttr) -> bool {
        let param = &primal.params[at];
        if param.nodiff {
            let message =
                format!("expected a parameter with a derivative, found `{}`, which is marked `@nodiff`", param.name);
            self.report(
                Diagnostic::error(codes::NODIFF_PARAMETER, attr.span, message)
                    .label(param.span, "declared here")
                    .help("leave `@nodiff` out, or differentiate with respect to another parameter"),
            );
            return false;
        }
        if self.is_differentiable(&param.ty, &primal.generics) {
            return true;
        }
        let found = self.show_in(primal, &param.ty);
        let message = format!("expected a parameter with floats in it, found `{}: {found}`", param.name);
        self.report(
            Diagnostic::error(codes::NOT_DIFFERENTIABLE, attr.span, message)
                .label(param.span, "declared here")
                .help("only floats, and tensors, tuples and structs with floats in them, have derivatives"),
        );
        false
    }

    /// Whether values of a type have a derivative.
    pub(super) fn is_differentiable(&self, ty: &Type, generics: &[Generic]) -> bool {
        let mut has_integer_param = false;
        let mut scalars = ty.clone();
        scalars.each_scalar_mut(&mut |scalar| {
            if let Scalar::Param(id) = scalar
                && let Some(Generic { kind: GenericKind::Scalar(bound), .. }) = generics.get(id.0 as usize)
            {
                has_integer_param |= !bound.implies(Bound::Differentiable);
            }
        });
        ty.has_error() || !has_integer_param && has_float(&typed::tangent_in(&self.structs, ty))
    }
}

/// Whether something is left of a tangent.
fn has_float(tangent: &Type) -> bool {
    match tangent {
        Type::Tuple(parts) => parts.iter().any(has_float),
        Type::Never | Type::Function(_) => false,
        Type::Error | Type::Scalar(_) | Type::Tensor { .. } | Type::Struct(_) => true,
    }
}

/// The generics of a function as arguments for themselves.
fn own_generics(generics: &[Generic]) -> Vec<GenericArg> {
    let own = |(at, generic): (usize, &Generic)| match generic.kind {
        GenericKind::Size => GenericArg::Size(Dim::atom(Atom::Size(GenericId(at as u32)))),
        GenericKind::Scalar(_) => GenericArg::Scalar(Scalar::Param(GenericId(at as u32))),
    };
    generics.iter().enumerate().map(own).collect()
}

/// A single type as it is, several as a tuple.
pub(super) fn one_or_tuple(mut types: Vec<Type>) -> Type {
    if types.len() == 1 { types.swap_remove(0) } else { Type::Tuple(types) }
}
