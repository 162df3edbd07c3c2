//! Derivative forms: the function is run once on numbers that carry a tangent for every scalar that it is
//! differentiated with respect to, and what the form wants is read off the result. Reverse mode does not exist here.

use super::Machine;
use super::frame::Closure;
use super::number::{Number, Tag};
use super::value::{Flow, Stop, Tensor, Value, bug, needed};
use cotan_ir::{CheckKind, Elem};
use cotan_sema::typed::{Derivative, DerivativeForm, DerivativeMode, Type};
use cotan_syntax::Span;

impl<'p> Machine<'p> {
    /// A call of a derivative of `base`.
    pub(super) fn derivative(
        &mut self,
        derivative: &'p Derivative,
        base: &Closure<'p>,
        args: Vec<Value>,
        functions: &[Option<Closure<'p>>],
    ) -> Flow<Value> {
        let value = read_off_run(self, derivative, base, args, functions);
        self.may_need_less |= value.as_ref().is_ok_and(|value| value.first_failure().is_some());
        self.deciding(value)
    }

    /// Gives every float of some arguments a direction of its own; also tells how many there are.
    pub(super) fn lift_all(&mut self, args: &mut [Value]) -> (Tag, usize) {
        let tag = new_tag(self, DerivativeMode::Reverse);
        let all: Vec<usize> = (0..args.len()).collect();
        let n = Wrt { params: &all, types: &[], primals: Vec::new() }.lift_units(args, tag);
        (tag, n)
    }

    /// The mode in which a derivative is taken.
    pub(super) fn mode(&self, tag: Tag) -> DerivativeMode {
        self.modes[tag.0 as usize]
    }

    /// A value in the structure of a tangent: `f` of every float, the unit value for all that has no derivative.
    pub(super) fn tangent_of(&self, ty: &Type, value: &Value, f: &mut dyn FnMut(&Number) -> Number) -> Flow<Value> {
        let ty = self.ty(ty);
        match (ty.as_ref(), value) {
            (_, Value::Failed(failure)) => Err(Stop::Failed(*failure)),
            (_, Value::Number(x)) => Ok(if x.elem().is_float() { Value::Number(f(x)) } else { Value::unit() }),
            (Type::Tensor { elem, .. }, Value::Tensor(tensor)) => {
                let is_discrete = elem.scalar().is_some() && !self.elem(elem)?.is_float();
                if is_discrete || self.program.tangent(elem).is_unit() {
                    return Ok(Value::unit());
                }
                let cells = tensor.cells.iter().map(|cell| self.tangent_of(elem, cell, f)).collect::<Flow<_>>()?;
                Ok(Value::Tensor(Tensor::new(tensor.dims.clone(), cells)))
            }
            (Type::Tuple(parts), Value::Fields(values)) => {
                let parts = parts.iter().zip(values).map(|(ty, value)| self.tangent_of(ty, value, f));
                parts.collect::<Flow<_>>().map(Value::Fields)
            }
            (Type::Enum(of), Value::Variant(index, values)) => {
                if self.program.tangent(&ty).is_unit() {
                    return Ok(Value::unit());
                }
                let types = self.program.payload_types(of, *index);
                let fields = types.iter().zip(values).map(|(ty, value)| self.tangent_of(ty, value, f));
                fields.collect::<Flow<_>>().map(|fields| Value::Variant(*index, fields))
            }
            (Type::Struct(of), Value::Fields(values)) => {
                let types = self.program.field_types(of);
                let fields = types.iter().zip(values).map(|(ty, value)| self.tangent_of(ty, value, f));
                fields.collect::<Flow<_>>().map(Value::Fields)
            }
            (
                Type::Error
                | Type::Never
                | Type::Scalar(_)
                | Type::Function(_)
                | Type::Tensor { .. }
                | Type::Tuple(_)
                | Type::Struct(_)
                | Type::Enum(_)
                | Type::Param(_),
                Value::Tensor(_) | Value::Fields(_) | Value::Variant(..),
            ) => bug("a value of another structure than its type"),
        }
    }
}

/// A call of a derivative: what is differentiated, and where.
struct Run<'x, 'p> {
    base: &'x Closure<'p>,
    functions: &'x [Option<Closure<'p>>],
    args: Vec<Value>,
    /// Tangents, or a cotangent.
    extra: Vec<Value>,
    of: Wrt<'x>,
    mode: Option<DerivativeMode>,
}

fn read_off_run<'p>(
    machine: &mut Machine<'p>,
    derivative: &'p Derivative,
    base: &Closure<'p>,
    mut args: Vec<Value>,
    functions: &[Option<Closure<'p>>],
) -> Flow<Value> {
    let n = base.callable.params.len();
    let extra = args.split_off(n.min(args.len()));
    // A derivative needs all of its tangents or of its cotangent.
    needed(&extra)?;
    let functions = &functions[..n.min(functions.len())];
    let of = Wrt { params: &derivative.wrt, types: &base.callable.params, primals: args.clone() };
    let run = Run { base, functions, args, extra, of, mode: derivative.mode };
    match derivative.form {
        DerivativeForm::Grad => gradient(machine, run, false),
        DerivativeForm::ValueAndGrad => gradient(machine, run, true),
        DerivativeForm::Jvp => jvp(machine, run),
        DerivativeForm::Vjp => vjp(machine, run),
        DerivativeForm::Jacobian => {
            let tag = new_tag(machine, run.mode.unwrap_or(DerivativeMode::Reverse));
            let Run { base, functions, mut args, of, .. } = run;
            of.lift_units(&mut args, tag);
            let value = whole_value(machine, base, args, functions)?;
            jacobians(machine, &of, &base.callable.result, &value, tag)
        }
        DerivativeForm::Hessian => hessian(machine, run),
        DerivativeForm::Hvp => hessian_vector_product(machine, run),
    }
}

/// The gradient of a loss, after its value if that is asked for; of `(loss, aux..)` the loss alone is differentiated.
fn gradient<'p>(machine: &mut Machine<'p>, run: Run<'_, 'p>, with_value: bool) -> Flow<Value> {
    let tag = new_tag(machine, run.mode.unwrap_or(DerivativeMode::Reverse));
    let Run { base, functions, mut args, of, .. } = run;
    of.lift_units(&mut args, tag);
    let value = machine.apply(base, args, functions)?;
    let (loss, aux) = match &value {
        Value::Fields(parts) => (parts[0].clone().met()?, parts[1..].to_vec()),
        Value::Number(_) | Value::Tensor(_) | Value::Variant(..) | Value::Failed(_) => (value.clone(), Vec::new()),
    };
    let y = loss.number()?;
    let gradients = read_off_all(machine, &of, &mut |direction, _| y.tangent(tag, direction))?;
    let aux = aux.iter().map(|part| part.map(&mut |x| x.primal(tag))).collect();
    let value = if with_value { vec![Value::Number(y.primal(tag))] } else { Vec::new() };
    Ok(several([value, gradients, aux].concat()))
}

fn jvp<'p>(machine: &mut Machine<'p>, run: Run<'_, 'p>) -> Flow<Value> {
    let tag = new_tag(machine, DerivativeMode::Forward);
    let Run { base, functions, mut args, extra, of, .. } = run;
    let span = machine.call_span;
    machine.checks.check(of.has_variants_of(&extra), CheckKind::VariantMismatch, span)?;
    of.lift_along(&mut args, &extra, tag);
    let value = whole_value(machine, base, args, functions)?;
    let result = &base.callable.result;
    let tangent = machine.tangent_of(result, &value, &mut |y| y.tangent(tag, 0).converted(y.elem()))?;
    Ok(Value::Fields(vec![value.map(&mut |y| y.primal(tag)), tangent]))
}

fn vjp<'p>(machine: &mut Machine<'p>, run: Run<'_, 'p>) -> Flow<Value> {
    let tag = new_tag(machine, DerivativeMode::Reverse);
    let Run { base, functions, mut args, extra, of, .. } = run;
    let span = machine.call_span;
    of.lift_units(&mut args, tag);
    let value = whole_value(machine, base, args, functions)?;
    let [cotangent] = extra.as_slice() else { return bug("a `vjp` takes one cotangent") };
    machine.checks.check(same_variants(&value, cotangent), CheckKind::VariantMismatch, span)?;
    let ys = floats(&value);
    let cotangents: Vec<Number> = floats(cotangent).iter().map(Number::computed).collect();
    machine.checks.check(ys.len() == cotangents.len(), CheckKind::ShapeMismatch, span)?;
    let parts = read_off_all(machine, &of, &mut |direction, elem| {
        let terms = ys.iter().zip(&cotangents).map(|(y, c)| y.tangent(tag, direction).times(c));
        let elem = elem.computed();
        terms.fold(Number::zero(elem), |sum, term| sum.plus(&term.converted(elem)))
    })?;
    Ok(Value::Fields([vec![value.map(&mut |y| y.primal(tag))], parts].concat()))
}

fn hessian<'p>(machine: &mut Machine<'p>, run: Run<'_, 'p>) -> Flow<Value> {
    let outer = new_tag(machine, run.mode.unwrap_or(DerivativeMode::Forward));
    let inner = new_tag(machine, DerivativeMode::Reverse);
    let Run { base, functions, mut args, of, .. } = run;
    of.lift_units(&mut args, outer);
    of.lift_units(&mut args, inner);
    let value = whole_value(machine, base, args, functions)?;
    let y = value.number()?;
    let gradients = read_off_all(machine, &of, &mut |direction, _| y.tangent(inner, direction))?;
    let mut rows = Vec::new();
    for (gradient, k) in gradients.iter().zip(of.params) {
        let ty = machine.program.tangent(&machine.ty(&base.callable.params[*k]));
        rows.push(jacobians(machine, &of, &ty, gradient, outer)?);
    }
    Ok(several(rows))
}

fn hessian_vector_product<'p>(machine: &mut Machine<'p>, run: Run<'_, 'p>) -> Flow<Value> {
    let outer = new_tag(machine, run.mode.unwrap_or(DerivativeMode::Forward));
    let inner = new_tag(machine, DerivativeMode::Reverse);
    let Run { base, functions, mut args, extra, of, .. } = run;
    let span = machine.call_span;
    machine.checks.check(of.has_variants_of(&extra), CheckKind::VariantMismatch, span)?;
    of.lift_along(&mut args, &extra, outer);
    of.lift_units(&mut args, inner);
    let value = whole_value(machine, base, args, functions)?;
    let y = value.number()?;
    let products = read_off_all(machine, &of, &mut |direction, _| y.tangent(inner, direction).tangent(outer, 0))?;
    Ok(several(products))
}

/// The Jacobians of a value with respect to each parameter.
fn jacobians(machine: &mut Machine<'_>, of: &Wrt, ty: &Type, value: &Value, tag: Tag) -> Flow<Value> {
    let mut all = Vec::new();
    let mut first = 0;
    for k in of.params {
        let at = At { first, ty: &of.types[*k], primal: &of.primals[*k] };
        all.push(jacobian(machine, &at, ty, value, tag)?);
        first += floats(&of.primals[*k]).len();
    }
    Ok(several(all))
}

/// The derivative of each scalar of a value with respect to one parameter. The parts of tuples and structs become a
/// tuple, the scalars of a tensor a tensor of tangents.
fn jacobian(machine: &mut Machine<'_>, of: &At, ty: &Type, value: &Value, tag: Tag) -> Flow<Value> {
    let dims = match value {
        Value::Tensor(tensor) => tensor.dims.clone(),
        Value::Number(_) | Value::Fields(_) | Value::Variant(..) | Value::Failed(_) => Vec::new(),
    };
    let cells = match value {
        Value::Tensor(tensor) => tensor.cells.to_vec(),
        Value::Number(_) | Value::Fields(_) | Value::Variant(..) | Value::Failed(_) => vec![value.clone()],
    };
    let ty = machine.ty(ty).into_owned();
    let types = match ty.elem() {
        Type::Tuple(types) => types.clone(),
        Type::Struct(of) => machine.program.field_types(of),
        Type::Scalar(scalar) => {
            if !machine.elem_of(*scalar)?.is_float() {
                return Ok(Value::unit());
            }
            let mut rows = Vec::new();
            for cell in &cells {
                let y = cell.number()?;
                rows.push(read_off(machine, of, &mut |direction, _| y.tangent(tag, direction))?);
            }
            let tangent = machine.program.tangent(&machine.ty(of.ty));
            return in_shape(machine, &tangent, &dims, rows);
        }
        Type::Error | Type::Never | Type::Function(_) | Type::Enum(_) | Type::Param(_) | Type::Tensor { .. } => {
            return bug("a Jacobian of what has no derivative");
        }
    };
    let mut parts = Vec::new();
    for (k, ty) in types.iter().enumerate() {
        let column = cells.iter().map(|cell| cell.field(k)).collect::<Flow<_>>()?;
        let part = in_shape(machine, ty, &dims, column)?;
        parts.push(jacobian(machine, of, ty, &part, tag)?);
    }
    Ok(Value::Fields(parts))
}

/// Values stacked over extents; the only value itself if there are none.
fn in_shape(machine: &mut Machine<'_>, ty: &Type, dims: &[usize], mut values: Vec<Value>) -> Flow<Value> {
    if dims.is_empty() { Ok(values.remove(0)) } else { machine.stack(ty, dims, values, Span::default()) }
}

/// A derivative that nobody has taken yet. Its mode matters to rules that the program gives.
fn new_tag(machine: &mut Machine<'_>, mode: DerivativeMode) -> Tag {
    machine.modes.push(mode);
    Tag(machine.modes.len() as u32 - 1)
}

/// The value of the base. A derivative needs all of it.
fn whole_value<'p>(
    machine: &mut Machine<'p>,
    base: &Closure<'p>,
    args: Vec<Value>,
    functions: &[Option<Closure<'p>>],
) -> Flow<Value> {
    let value = machine.apply(base, args, functions)?;
    match value.first_failure() {
        Some(failure) => Err(Stop::Failed(failure)),
        None => Ok(value),
    }
}

/// One value for each parameter, made of a number for each direction, in the structure and the types of tangents.
fn read_off_all(machine: &Machine<'_>, of: &Wrt, number: &mut dyn FnMut(usize, Elem) -> Number) -> Flow<Vec<Value>> {
    let mut first = 0;
    let mut values = Vec::new();
    for k in of.params {
        let at = At { first, ty: &of.types[*k], primal: &of.primals[*k] };
        values.push(read_off(machine, &at, number)?);
        first += floats(at.primal).len();
    }
    Ok(values)
}

fn read_off(machine: &Machine<'_>, of: &At, number: &mut dyn FnMut(usize, Elem) -> Number) -> Flow<Value> {
    let mut direction = of.first;
    machine.tangent_of(of.ty, of.primal, &mut |x| {
        direction += 1;
        number(direction - 1, x.elem()).converted(x.elem())
    })
}

/// One of the parameters that a derivative is taken with respect to.
struct At<'a> {
    /// The direction of its first float.
    first: usize,
    ty: &'a Type,
    primal: &'a Value,
}

/// The parameters that a derivative is taken with respect to.
struct Wrt<'a> {
    params: &'a [usize],
    types: &'a [Type],
    /// The arguments, without the tangents of this derivative.
    primals: Vec<Value>,
}

impl Wrt<'_> {
    /// Gives every float a direction of its own; tells how many there are.
    fn lift_units(&self, args: &mut [Value], tag: Tag) -> usize {
        let mut direction = 0;
        for k in self.params {
            args[*k] = args[*k].map(&mut |x| {
                if !x.elem().is_float() {
                    return x.clone();
                }
                direction += 1;
                Number::lifted(x.clone(), tag, direction - 1, Number::one(x.elem().computed()))
            });
        }
        direction
    }

    /// Whether tangents are of the variants of what they are tangents of.
    fn has_variants_of(&self, tangents: &[Value]) -> bool {
        self.params.iter().zip(tangents).all(|(k, tangent)| same_variants(&self.primals[*k], tangent))
    }

    /// Gives all floats the one direction that the tangents are.
    fn lift_along(&self, args: &mut [Value], tangents: &[Value], tag: Tag) {
        for (k, tangent) in self.params.iter().zip(tangents) {
            let mut tangents = floats(tangent).into_iter();
            args[*k] = args[*k].map(&mut |x| {
                let tangent = if x.elem().is_float() { tangents.next() } else { None };
                tangent.map_or_else(|| x.clone(), |tangent| Number::lifted(x.clone(), tag, 0, tangent.computed()))
            });
        }
    }
}

/// Every float of a value, in order.
pub(super) fn floats(value: &Value) -> Vec<Number> {
    let mut out = Vec::new();
    value.each(&mut |x| {
        if x.elem().is_float() {
            out.push(x.clone());
        }
    });
    out
}

/// Whether enums in a value and in its tangent are of the same variants.
fn same_variants(value: &Value, tangent: &Value) -> bool {
    let all = |values: &[Value], tangents: &[Value]| values.iter().zip(tangents).all(|(v, t)| same_variants(v, t));
    match (value, tangent) {
        (Value::Variant(k, values), Value::Variant(l, tangents)) => k == l && all(values, tangents),
        (Value::Fields(values), Value::Fields(tangents)) => all(values, tangents),
        (Value::Tensor(values), Value::Tensor(tangents)) => all(&values.cells, &tangents.cells),
        (Value::Number(_) | Value::Tensor(_) | Value::Fields(_) | Value::Variant(..) | Value::Failed(_), _) => true,
    }
}

/// Several things as a tuple, one as itself.
fn several(mut parts: Vec<Value>) -> Value {
    if parts.len() == 1 { parts.remove(0) } else { Value::Fields(parts) }
}
