//! Roots: which functions a host asks for, and what it needs to know to call them.

use std::borrow::Cow;
use std::collections::HashSet;

use cotan_ir::ReversePolicy;
use cotan_syntax::{Code, Diagnostic, Span};

use super::body::under;
use super::calls::takes_functions;
use super::defaults::entry_default;
use super::output;
use super::walk::{each_callee, each_callee_of};
use super::{Extent, Lowering, Result};
use crate::entry::{DerivativeRequest, Entry, EntryExtent, EntryParam, HostType, HostVariant, Request, Signature};
use cotan_sema::codes;
use cotan_sema::dims::{Atom, Dim, GenericId};
use cotan_sema::instances::Wanted;
use cotan_sema::typed::forms;
use cotan_sema::typed::{
    Callable, CallableKind, Derivative, DerivativeForm, DerivativeMode, Expr, ExprKind, FnId, Function, FunctionBody,
    GenericArg, Leaf, Param, Part, Program, Rules, Type, Variant,
};
use cotan_sema::types::{Generic, GenericKind, Scalar};

/// Finds what a root asks for: a function at certain element types. A derivative of a function becomes a function of the program.
pub(super) fn resolve(program: &mut Cow<'_, Program>, root: &Request) -> Result<Wanted> {
    let Some(mut function) = program.function_named(&root.function) else {
        let message = format!("there is no function `{}`", root.function);
        return Err(Box::new(Diagnostic::error(codes::UNKNOWN_NAME, Span::default(), message)));
    };
    let source = program.function(function);
    if takes_functions(source) {
        let message = format!("`{}` takes a function, which a host can't give", root.function);
        let error = Diagnostic::error(codes::NOT_A_VALUE, source.name_span, message);
        return Err(Box::new(error.help("write a function that calls it with the function that you mean")));
    }
    if source.is_shapeless() {
        let message = format!("`{}` is for any type or rank, which a host does not say", root.function);
        let error = Diagnostic::error(codes::NOT_A_VALUE, source.name_span, message);
        return Err(Box::new(error.help("write a function that calls it with the types that you mean")));
    }
    if source.prints && root.form.is_some() {
        let message = format!("expected a pure function to differentiate, found `{}`, which prints", source.name);
        let error = Diagnostic::error(codes::DERIVATIVE_OF_OUTPUT, source.name_span, message);
        return Err(Box::new(error.help("move what is differentiated into a function that does not print")));
    }
    for (depth, request) in root.forms().enumerate() {
        let derivative = derivative_function(program, function, request)?;
        let program = program.to_mut();
        if depth > 0 {
            // What is differentiated again is called.
            program.order.push(function);
        }
        program.functions.push(derivative);
        function = FnId(program.functions.len() as u32 - 1);
    }
    let mut given = root.elems.iter().copied();
    let generics = program.function(function).generics.iter().enumerate();
    let args = generics.map(|(at, generic)| match generic.kind {
        GenericKind::Scalar(bound) => {
            GenericArg::Scalar(Scalar::Of(given.next().unwrap_or_else(|| bound.default_elem())))
        }
        GenericKind::Size | GenericKind::Type { .. } | GenericKind::Pack => generic.as_arg(at),
    });
    Ok((function, args.collect()))
}

/// What a host calls in place of a function: one that prints is wrapped.
pub(super) fn called_by_host(program: &mut Cow<'_, Program>, root: FnId) -> FnId {
    if !program.function(root).prints {
        return root;
    }
    let entry = output::entry(program, root);
    let program = program.to_mut();
    program.functions.push(entry);
    FnId(program.functions.len() as u32 - 1)
}

/// Lowers what a root asks for.
pub(super) fn lower_root(lowering: &mut Lowering<'_>, root: FnId) -> Result<Entry> {
    let program = lowering.program;
    let function = program.function(root);
    // Callees first, so that the depth of calls in the program costs no stack.
    for id in callees(program, root) {
        lower_callees(lowering, id)?;
        lowering.instance(id, ReversePolicy::default())?;
    }
    lower_callees(lowering, root)?;
    let instance = lowering.instance(root, ReversePolicy::default())?;
    let (result, n_tokens) = match function.result.parts() {
        [_, value] if function.prints => (value, 1),
        _ => (&function.result, 0),
    };
    let header = Header { generics: &function.generics, params: &function.params, result, body: &function.body };
    let leaves: Vec<Leaf> = function.params.iter().flat_map(|p| program.leaves(&p.ty)).collect();
    let extents = &instance.signature.extents;
    Ok(Entry {
        symbol: instance.function.name.clone(),
        signature: header.signature(program),
        extents: extents.iter().map(|extent| host_extent(*extent, &leaves)).collect(),
        leaf_results: instance.signature.results[n_tokens..].to_vec(),
    })
}

/// The parts of a function that its signature is made of.
pub(super) struct Header<'f> {
    pub(super) generics: &'f [Generic],
    pub(super) params: &'f [Param],
    /// Without the token of a function that prints.
    pub(super) result: &'f Type,
    pub(super) body: &'f FunctionBody,
}

impl Header<'_> {
    /// Names and types as the host sees them.
    pub(super) fn signature(&self, program: &Program) -> Signature {
        let host = Host { program };
        let param = |param: &Param| {
            let ty = host.ty(&param.ty);
            let default = param.default.as_ref().map(|value| entry_default(value, &ty));
            EntryParam { name: param.name.clone(), ty, default }
        };
        Signature {
            sizes: self.generics.iter().map(|generic| generic.name.clone()).collect(),
            params: self.params.iter().map(param).collect(),
            result: host.ty(self.result),
            wrt: match self.body {
                FunctionBody::Source(_) | FunctionBody::Required(_) => Vec::new(),
                FunctionBody::Derivative(derivative) => derivative.wrt.clone(),
            },
        }
    }
}

/// Lowers what a function calls as it is under its attributes.
fn lower_callees(lowering: &mut Lowering<'_>, caller: FnId) -> Result<()> {
    let program = lowering.program;
    let mut asked = Asked::default();
    asked.of_function(program.function(caller));
    for kept in asked.combinations() {
        callees(program, caller).into_iter().try_for_each(|id| lowering.instance(id, kept).map(drop))?;
    }
    Ok(())
}

/// What the attributes of a function, and of the blocks and derivatives in it, ask of a reverse sweep.
#[derive(Default)]
struct Asked {
    recompute: bool,
    modes: HashSet<DerivativeMode>,
}

impl Asked {
    /// How a reverse sweep may have to treat what is called, but for the case that nothing is asked.
    fn combinations(&self) -> Vec<ReversePolicy> {
        let modes = [None, Some(DerivativeMode::Forward), Some(DerivativeMode::Reverse)];
        let modes = modes.into_iter().filter(|mode| mode.is_none_or(|mode| self.modes.contains(&mode)));
        let all =
            modes.flat_map(|mode| [false, true].map(|recompute| under(ReversePolicy::default(), recompute, mode)));
        all.filter(|kept| *kept != ReversePolicy::default() && (self.recompute || !kept.recompute)).collect()
    }

    fn of_function(&mut self, function: &Function) {
        self.add(function.recompute, function.mode);
        match &function.body {
            FunctionBody::Source(body) => self.of_expr(&body.value),
            FunctionBody::Derivative(derivative) => {
                self.of_derivative(derivative);
                self.of_part(Part::Callable(&derivative.base));
            }
            FunctionBody::Required(_) => {}
        }
    }

    fn add(&mut self, recompute: bool, mode: Option<DerivativeMode>) {
        self.recompute |= recompute;
        self.modes.extend(mode);
    }

    /// A reverse sweep by request is one in all of what is differentiated.
    fn of_derivative(&mut self, derivative: &Derivative) {
        self.modes.extend(derivative.mode.filter(|mode| *mode == DerivativeMode::Reverse));
    }

    fn of_expr(&mut self, e: &Expr) {
        if let ExprKind::Block(block) = &e.kind {
            self.add(block.recompute, block.mode);
        }
        e.each_part(&mut |part| self.of_part(part));
    }

    fn of_part(&mut self, part: Part<'_>) {
        match part {
            Part::Expr(e) => self.of_expr(e),
            Part::Callable(callable) => {
                if let CallableKind::Derivative(derivative) = &callable.kind {
                    self.of_derivative(derivative);
                }
                callable.each_part(&mut |part| self.of_part(part));
            }
        }
    }
}

/// What the host must know of an extent to find it.
fn host_extent(extent: Extent, leaves: &[Leaf]) -> EntryExtent {
    let leaf = &leaves[extent.leaf];
    if leaf.within.is_empty() {
        EntryExtent::Size(leaf.ty.dims()[extent.axis].clone())
    } else {
        EntryExtent::Payload { leaf: extent.leaf, axis: extent.axis }
    }
}

/// The functions that a function calls, directly or not, and that are lowered once: callees before callers.
fn callees(program: &Program, root: FnId) -> Vec<FnId> {
    let mut seen = vec![false; program.functions.len()];
    let mut open = vec![root];
    while let Some(id) = open.pop() {
        let mut note = |callable: &Callable| {
            if let CallableKind::Function { function, .. } = &callable.kind
                && !std::mem::replace(&mut seen[function.0 as usize], true)
            {
                open.push(*function);
            }
        };
        match &program.function(id).body {
            FunctionBody::Source(body) => each_callee(&body.value, &mut note),
            FunctionBody::Derivative(derivative) => each_callee_of(&derivative.base, &mut note),
            FunctionBody::Required(_) => {}
        }
    }
    let is_lowered_once = |id: &FnId| seen[id.0 as usize] && *id != root && !takes_functions(program.function(*id));
    program.order.iter().copied().filter(is_lowered_once).collect()
}

// ---- derivatives that the host asks for

fn derivative_function(program: &Program, id: FnId, request: &DerivativeRequest) -> Result<Function> {
    let of = program.function(id);
    let wrt = differentiated(program, of, request)?;
    check_result(program, of, request, &wrt)?;
    let mut generics = of.generics.clone();
    let mut params: Vec<Param> = of.params.iter().map(|param| Param { nodiff: false, ..param.clone() }).collect();
    let wrt_types: Vec<Type> = wrt.iter().map(|at| of.params[*at].ty.clone()).collect();
    let names = wrt.iter().map(|at| match request.form {
        DerivativeForm::Vjp => "cotangent".to_owned(),
        DerivativeForm::Jvp
        | DerivativeForm::Hvp
        | DerivativeForm::Grad
        | DerivativeForm::ValueAndGrad
        | DerivativeForm::Jacobian
        | DerivativeForm::Hessian => format!("d{}", of.params[*at].name),
    });
    for (mut name, ty) in names.zip(forms::extra_params(program.declarations(), request.form, &of.result, &wrt_types)) {
        let ty = open_sizes_as_generics(ty, &mut generics);
        // Derivatives of derivatives have several tangents of a parameter, and several cotangents.
        let is_taken = |name: &str| params.iter().any(|param| param.name == name);
        let mut number = 1;
        while is_taken(&name) {
            number += 1;
            match request.form {
                DerivativeForm::Vjp => name = format!("cotangent{number}"),
                DerivativeForm::Jvp
                | DerivativeForm::Hvp
                | DerivativeForm::Grad
                | DerivativeForm::ValueAndGrad
                | DerivativeForm::Jacobian
                | DerivativeForm::Hessian => name.insert(0, 'd'),
            }
        }
        params.push(Param { name, span: of.name_span, ty, nodiff: false, mutable: false, default: None });
    }
    let base = Callable {
        span: of.name_span,
        params: of.params.iter().map(|param| param.ty.clone()).collect(),
        result: of.result.clone(),
        kind: CallableKind::Function { function: id, generics: Generic::as_args(&of.generics) },
    };
    Ok(Function {
        name: format!("{}.{}", of.name, request.form.as_str()),
        span: of.span,
        name_span: of.name_span,
        doc: None,
        n_written_generics: of.n_written_generics,
        generics,
        params,
        result: forms::result(program.declarations(), request.form, &of.result, &wrt_types),
        body: FunctionBody::Derivative(Derivative {
            span: of.name_span,
            form: request.form,
            mode: request.mode.or(if request.form.has_mode() { of.mode } else { None }),
            base,
            wrt,
        }),
        prints: false,
        rules: Rules::default(),
        mode: None,
        recompute: false,
    })
}

/// The parameters that a request names, or the first one with a derivative.
fn differentiated(program: &Program, of: &Function, request: &DerivativeRequest) -> Result<Vec<usize>> {
    let error = |code: Code, message: String| Err(Box::new(Diagnostic::error(code, of.name_span, message)));
    let mut wrt = Vec::new();
    for name in &request.wrt {
        match of.params.iter().position(|param| param.name == *name) {
            Some(at) if wrt.contains(&at) => {
                return error(codes::REPEATED_PARAMETER, format!("the parameter `{name}` is named twice"));
            }
            Some(at) => wrt.push(at),
            None => {
                return error(codes::UNKNOWN_PARAMETER, format!("`{}` has no parameter `{name}`", of.name));
            }
        }
    }
    let has_derivative = |param: &Param| !program.leaves(&program.tangent(&param.ty)).is_empty();
    if wrt.is_empty() {
        wrt.extend(of.params.iter().position(|param| !param.nodiff && has_derivative(param)));
    }
    if wrt.is_empty() {
        return error(codes::NO_PARAMETER, format!("`{}` has no parameter with a derivative", of.name));
    }
    for param in wrt.iter().map(|at| &of.params[*at]) {
        if param.nodiff {
            return error(codes::NODIFF_PARAMETER, format!("the parameter `{}` is marked `@nodiff`", param.name));
        }
        if !has_derivative(param) {
            return error(codes::NOT_DIFFERENTIABLE, format!("the parameter `{}` has no derivative", param.name));
        }
    }
    Ok(wrt)
}

/// Checks that the result of a function has the derivative that a request wants.
fn check_result(program: &Program, of: &Function, request: &DerivativeRequest, wrt: &[usize]) -> Result<()> {
    let error = |code: Code, message: String| Err(Box::new(Diagnostic::error(code, of.name_span, message)));
    let is_smooth = |ty: &Type| !program.leaves(&program.tangent(ty)).is_empty();
    let (loss, _) = forms::loss_and_aux(request.form, &of.result);
    if !is_smooth(loss) || request.form.is_of_a_number() && !loss.is_scalar() {
        return error(codes::NOT_SCALAR, format!("the result of `{}` is no float, so it has no gradient", of.name));
    }
    let is_matrix = matches!(request.form, DerivativeForm::Jacobian | DerivativeForm::Hessian);
    let mut types = wrt.iter().map(|at| &of.params[*at].ty).chain([&of.result]);
    if is_matrix && types.any(|ty| program.declarations().enum_in(ty).is_some()) {
        let message = format!("a {} of `{}` would be a tensor of enums", request.form.as_str(), of.name);
        return error(codes::ENUM_MATRIX, message);
    }
    Ok(())
}

/// A size that only the run knows becomes one that the caller gives.
fn open_sizes_as_generics(mut ty: Type, generics: &mut Vec<Generic>) -> Type {
    ty.each_dim_mut(&mut |dim| {
        if dim.has_atom(|atom| matches!(atom, Atom::Runtime(_))) {
            *dim = Dim::atom(Atom::Size(GenericId(generics.len() as u32)));
            generics.push(Generic::size("_"));
        }
    });
    ty
}

// ---- types of the host

/// Types of a function as the host sees them.
struct Host<'p> {
    program: &'p Program,
}

impl<'p> Host<'p> {
    fn ty(&self, ty: &Type) -> HostType {
        match ty {
            Type::Scalar(Scalar::Of(elem)) => HostType::Scalar(*elem),
            Type::Tensor { elem, dims } => HostType::Tensor { elem: Box::new(self.ty(elem)), dims: dims.clone() },
            Type::Tuple(parts) => HostType::Tuple(parts.iter().map(|part| self.ty(part)).collect()),
            Type::Struct(of) => {
                let def = self.program.struct_def(of.def);
                let fields = def.fields.iter().zip(self.program.field_types(of));
                // A field without a derivative is the unit in a tangent.
                let has_tangent = |(_, ty): &(_, Type)| !of.tangent || !ty.is_unit();
                let fields = fields.filter(has_tangent).map(|(field, ty)| (field.name.clone(), self.ty(&ty)));
                HostType::Struct { name: def.name.clone(), fields: fields.collect() }
            }
            Type::Enum(of) => {
                let def = self.program.enum_def(of.def);
                let variant = |(index, variant): (usize, &Variant)| {
                    let types = self.program.payload_types(of, index);
                    let fields = variant.fields.iter().zip(types);
                    let fields: Vec<(String, HostType)> =
                        fields.map(|(field, ty)| (field.name.clone(), self.ty(&ty))).collect();
                    HostVariant::new(&variant.name, variant.form, fields, of.tangent)
                };
                let variants = def.variants.iter().enumerate().map(variant).collect();
                HostType::Enum { name: def.name.clone(), variants }
            }
            Type::Error
            | Type::Never
            | Type::Function(_)
            | Type::Param(_)
            | Type::Scalar(Scalar::Param(_) | Scalar::Var(_)) => HostType::Tuple(Vec::new()),
        }
    }
}
