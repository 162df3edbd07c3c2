//! The body of an instance: types, sizes and callees replaced by what they are there.

use cotan_syntax::{Diagnostic, Span};

use super::Instances;
use crate::codes;
use crate::dims::{Atom, Dim};
use crate::order::Callee;
use crate::typed::{
    self, Arg, Builtin, Callable, CallableKind, EnumId, Expr, ExprKind, FunctionBody, GenericId, Program, Rules,
    TypeVisitor,
};
use crate::types::{GenericArg, Scalar, Substitution, Type};
use cotan_ir::{Elem, bug};

/// The body of instance number `at`, whose generics `types` replaces.
pub(super) fn specialise(
    instances: &mut Instances<'_>,
    at: usize,
    source: &FunctionBody,
    types: &Substitution,
) -> Result<FunctionBody, Box<Diagnostic>> {
    let mut error: Option<Box<Diagnostic>> = None;
    let (program, span) = (instances.program, instances.made[at].span);
    let declarations = program.declarations();
    let mut callee = |callable: &mut Callable| {
        let CallableKind::Function { function, generics } = &mut callable.kind else { return };
        let args: Vec<GenericArg> = generics.iter().filter_map(|arg| types.arg(arg)).collect();
        match instances.instance(*function, args, Some(at), callable.span) {
            Ok((id, sizes)) => {
                instances.made[at].callees.push(Callee { at: id.0 as usize, span: callable.span });
                (*function, *generics) = (id, sizes);
            }
            Err(found) => error = error.take().or(Some(found)),
        }
    };
    let mut element = None;
    let mut visitor = TypeVisitor {
        ty: &mut |ty| {
            *ty = types.ty(ty);
            if let Type::Tensor { elem, .. } = ty {
                element = element.or(declarations.enum_in(elem));
            }
        },
        callable: &mut callee,
        expr: &mut |expr| expression(expr, types),
    };
    let mut body = source.clone();
    match &mut body {
        FunctionBody::Source(body) => visitor.body(body),
        FunctionBody::Derivative(derivative) => visitor.callable(&mut derivative.base),
        FunctionBody::Required(_) => {}
    }
    if let Some(id) = element {
        return Err(enum_element(program, id, span));
    }
    error.map_or(Ok(body), Err)
}

/// A tensor of a type parameter that stands for an enum.
fn enum_element(program: &Program, id: EnumId, span: Span) -> Box<Diagnostic> {
    let name = &program.enum_def(id).name;
    let message = format!("expected elements that are alike in a tensor, found those of a call with the enum `{name}`");
    let error = Diagnostic::error(codes::ENUM_ELEMENT, span, message);
    Box::new(error.help("the function makes a tensor of the type that it is called with: call it with a struct"))
}

/// The rules of instance number `at`. They may call what they are for, so they don't count in the order of functions.
pub(super) fn rules(
    instances: &mut Instances<'_>,
    at: usize,
    source: &Rules,
    types: &Substitution,
) -> Result<Rules, Box<Diagnostic>> {
    let mut rules = source.clone();
    for rule in [&mut rules.vjp, &mut rules.jvp].into_iter().flatten() {
        rule.params.iter_mut().for_each(|param| *param = types.ty(param));
        rule.result = types.ty(&rule.result);
        if let CallableKind::Function { function, generics } = &mut rule.kind {
            let args: Vec<GenericArg> = generics.iter().filter_map(|arg| types.arg(arg)).collect();
            (*function, *generics) = instances.instance(*function, args, Some(at), rule.span)?;
        }
    }
    Ok(rules)
}

/// What an expression itself says of generics, its type replaced already.
fn expression(expr: &mut Expr, types: &Substitution) {
    if let ExprKind::Size(id) = &mut expr.kind {
        *id = size_of(types, *id);
    }
    if let ExprKind::Builtin { builtin, args } = &mut expr.kind {
        let goes_over = match args.first() {
            Some(Arg::Pack(id)) if *builtin == Builtin::Map => Some(sizes_of(types, *id).len()),
            Some(Arg::Pack(_) | Arg::Value(_) | Arg::Function(_)) | None => None,
        };
        if goes_over == Some(0) {
            expr.kind = call_of_map(std::mem::take(args));
            return;
        }
        let packs = std::mem::take(args);
        for arg in packs {
            match arg {
                Arg::Pack(id) => args.extend(sizes_of(types, id).iter().map(|dim| count(dim, expr.span))),
                Arg::Value(_) | Arg::Function(_) => args.push(arg),
            }
        }
        if matches!(builtin, Builtin::Reshape | Builtin::Broadcast) {
            // A type parameter that the elements had may have brought axes of its own.
            let inner = expr.ty.dims().get(args.len() - 1..).unwrap_or_default();
            args.extend(inner.iter().map(|dim| count(dim, expr.span)));
        }
    }
}

/// A `map` over no axes: one call.
fn call_of_map(args: Vec<Arg>) -> ExprKind {
    let mut callee = None;
    let mut values = Vec::new();
    for arg in args {
        match arg {
            Arg::Function(callable) => callee = Some(callable),
            Arg::Value(_) => values.push(arg),
            Arg::Pack(_) => {}
        }
    }
    let callee = Box::new(callee.expect("invariant: `map` has a function"));
    ExprKind::Call { callee, args: values }
}

/// The size of the instance that a size of the source is.
fn size_of(types: &Substitution, id: GenericId) -> GenericId {
    match types.generics.get(id.0 as usize) {
        Some(GenericArg::Size(dim)) => match dim.as_atom() {
            Some(Atom::Size(own)) => *own,
            Some(Atom::Value(_) | Atom::Runtime(_) | Atom::Pack(_) | Atom::Floor(..)) | None => id,
        },
        Some(GenericArg::Scalar(_) | GenericArg::Type(_) | GenericArg::Pack(_)) | None => id,
    }
}

fn sizes_of(types: &Substitution, id: GenericId) -> &[Dim] {
    match types.generics.get(id.0 as usize) {
        Some(GenericArg::Pack(dims)) => dims,
        Some(GenericArg::Size(_) | GenericArg::Scalar(_) | GenericArg::Type(_)) | None => &[],
    }
}

/// A size of the instance as an argument.
fn count(dim: &Dim, span: Span) -> Arg {
    let kind = match (dim.as_constant(), dim.as_atom()) {
        (Some(n), _) => ExprKind::Literal(typed::Literal::Int(i128::from(n))),
        (None, Some(Atom::Size(id))) => ExprKind::Size(*id),
        (None, Some(Atom::Value(_) | Atom::Runtime(_) | Atom::Pack(_) | Atom::Floor(..)) | None) => {
            bug!("instances", format_args!("{dim:?}"), "the sizes of an instance are its generics or constants")
        }
    };
    Arg::Value(Expr { span, ty: Type::Scalar(Scalar::Of(Elem::I64)), kind })
}
