//! Values of the host in and out, and the sizes that follow from arguments.

use super::Machine;
use super::frame::Generic;
use super::number::Number;
use super::value::{Stop, Tensor, Value};
use cotan::host::{Arguments, HostValue};
use cotan_ir::{Const, Elem};
use cotan_sema::dims::{Atom, Dim};
use cotan_sema::typed::{Function, PayloadForm, Program, Type};
use cotan_sema::types::{Bound, GenericKind};

/// A value of the host as one of the evaluator.
pub(super) fn from_host(program: &Program, ty: &Type, value: &HostValue) -> Value {
    let extents = |dims: &[i64]| dims.iter().map(|n| *n as usize).collect();
    let part = |(ty, value): (&Type, &HostValue)| from_host(program, ty, value);
    match value {
        HostValue::Scalar(c) => Value::Number(Number::Plain(*c)),
        HostValue::Tensor(v) => {
            let cell = |bits: &u64| Value::Number(Number::Plain(Const::from_bits(v.elem, *bits)));
            Value::Tensor(Tensor::new(extents(&v.dims), v.bits.iter().map(cell).collect()))
        }
        HostValue::Array { dims, items } => {
            let cells = items.iter().map(|item| from_host(program, ty.elem(), item)).collect();
            Value::Tensor(Tensor::new(extents(dims), cells))
        }
        HostValue::Tuple(parts) => Value::Fields(ty.parts().iter().zip(parts).map(part).collect()),
        HostValue::Struct(fields) => {
            let types = if let Type::Struct(of) = ty { program.field_types(of) } else { Vec::new() };
            Value::Fields(types.iter().zip(fields.iter().map(|(_, value)| value)).map(part).collect())
        }
        HostValue::Enum { variant, payload } => {
            let Type::Enum(of) = ty else { return Value::unit() };
            let variants = &program.enum_def(of.def).variants;
            let index = variants.iter().position(|known| known.name == *variant).unwrap_or_default();
            let types = program.payload_types(of, index);
            let values: Vec<&HostValue> = match (payload.as_deref(), types.len()) {
                (None, _) => Vec::new(),
                (Some(HostValue::Struct(fields)), _) if variants[index].form == PayloadForm::Struct => {
                    fields.iter().map(|(_, value)| value).collect()
                }
                (Some(only), 1) => vec![only],
                (Some(HostValue::Tuple(parts)), _) => parts.iter().collect(),
                (Some(other), _) => vec![other],
            };
            Value::Variant(index, types.iter().zip(values).map(part).collect())
        }
    }
}

impl Machine<'_> {
    /// A value of the evaluator as one of the host.
    pub(super) fn to_host(&self, ty: &Type, value: &Value) -> Result<HostValue, Stop> {
        match (ty, value) {
            (_, Value::Failed(failure)) => Err(Stop::Failed(*failure)),
            (_, Value::Number(x)) => Ok(HostValue::Scalar(x.plain())),
            (Type::Tensor { elem, .. }, Value::Tensor(tensor)) => {
                let dims = tensor.dims.iter().map(|n| *n as i64).collect();
                match elem.as_ref() {
                    Type::Scalar(scalar) => {
                        let elem = self.elem_of(*scalar)?;
                        let bits = tensor.cells.iter().map(|cell| Ok(cell.number()?.plain().bits()));
                        Ok(HostValue::Tensor(cotan_ops::Value { elem, dims, bits: bits.collect::<Result<_, Stop>>()? }))
                    }
                    Type::Error
                    | Type::Never
                    | Type::Tensor { .. }
                    | Type::Tuple(_)
                    | Type::Struct(_)
                    | Type::Enum(_)
                    | Type::Param(_)
                    | Type::Function(_) => {
                        let items = tensor.cells.iter().map(|cell| self.to_host(elem, cell));
                        Ok(HostValue::Array { dims, items: items.collect::<Result<_, Stop>>()? })
                    }
                }
            }
            (Type::Tuple(types), Value::Fields(values)) => {
                let parts = types.iter().zip(values).map(|(ty, value)| self.to_host(ty, value));
                parts.collect::<Result<_, Stop>>().map(HostValue::Tuple)
            }
            (Type::Struct(of), Value::Fields(values)) => {
                let def = self.program.struct_def(of.def);
                let types = self.program.field_types(of);
                let mut fields = Vec::new();
                for ((field, ty), value) in def.fields.iter().zip(&types).zip(values) {
                    // A field without a derivative is left out of a tangent.
                    if !of.tangent || !ty.is_unit() {
                        fields.push((field.name.clone(), self.to_host(ty, value)?));
                    }
                }
                Ok(HostValue::Struct(fields))
            }
            (Type::Enum(of), Value::Variant(index, values)) => {
                let variant = &self.program.enum_def(of.def).variants[*index];
                let types = self.program.payload_types(of, *index);
                let is_empty = types.is_empty() || of.tangent && types.iter().all(Type::is_unit);
                let mut fields = Vec::new();
                for ((field, ty), value) in variant.fields.iter().zip(&types).zip(values) {
                    if variant.form == PayloadForm::Tuple || !of.tangent || !ty.is_unit() {
                        fields.push((field.name.clone(), self.to_host(ty, value)?));
                    }
                }
                let payload = match variant.form {
                    PayloadForm::Unit => None,
                    PayloadForm::Tuple | PayloadForm::Struct if is_empty => None,
                    PayloadForm::Struct => Some(HostValue::Struct(fields)),
                    PayloadForm::Tuple if fields.len() == 1 => Some(fields.remove(0).1),
                    PayloadForm::Tuple => Some(HostValue::Tuple(fields.into_iter().map(|(_, value)| value).collect())),
                };
                Ok(HostValue::Enum { variant: variant.name.clone(), payload: payload.map(Box::new) })
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
            ) => Err(Stop::Bug("a result of another structure than its type".to_owned())),
        }
    }
}

/// What the generics of a function are for these arguments: sizes by name, or as the extents say; element types as
/// given, `f64` or `i64` otherwise.
pub(super) fn generics_of(
    program: &Program,
    function: &Function,
    elems: &[Elem],
    args: &Arguments,
    values: &[Value],
) -> Vec<Generic> {
    let mut elems = elems.iter().copied();
    let mut next_elem = |bound: Bound| {
        let default = if bound.admits(Elem::F64) { Elem::F64 } else { Elem::I64 };
        elems.next().unwrap_or(default)
    };
    let given = |name: &String| args.get(name).and_then(HostValue::as_scalar).and_then(Const::as_i64);
    let mut generics: Vec<Generic> = Vec::new();
    for generic in &function.generics {
        generics.push(match generic.kind {
            GenericKind::Size => Generic::Size(given(&generic.name)),
            GenericKind::Scalar(bound) => Generic::Elem(next_elem(bound)),
            // A host can't call what is for any type or rank.
            GenericKind::Type { .. } | GenericKind::Pack => Generic::Size(None),
        });
    }
    let mut extents = Vec::new();
    for (param, value) in function.params.iter().zip(values) {
        collect_extents(program, &param.ty, value, &mut extents);
    }
    // A size may follow from another one that a later argument tells.
    for _ in 0..generics.len() {
        for (dim, found) in &extents {
            solve(&mut generics, function, args, dim, *found);
        }
    }
    generics
}

fn solve(generics: &mut [Generic], function: &Function, args: &Arguments, dim: &Dim, found: i64) {
    let known = dim.substitute(&|atom| match atom {
        Atom::Size(id) => match generics.get(id.0 as usize)? {
            Generic::Size(size) => size.map(Dim::constant),
            Generic::Elem(_) | Generic::Type(_) | Generic::Pack(_) => None,
        },
        Atom::Value(id) => {
            let value = args.get(&function.params.get(id.0 as usize)?.name)?.as_scalar()?.as_integer()?;
            i64::try_from(value).ok().map(Dim::constant)
        }
        Atom::Runtime(_) | Atom::Pack(_) | Atom::Floor(..) => None,
    });
    let is_open = |id: cotan_sema::dims::GenericId| matches!(generics[id.0 as usize], Generic::Size(None));
    let solved = known.and_then(|dim| dim.solve(&is_open, &Dim::constant(found)));
    if let Some((id, Some(n))) = solved.map(|(id, dim)| (id, dim.as_constant())) {
        generics[id.0 as usize] = Generic::Size(Some(n));
    }
}

fn collect_extents(program: &Program, ty: &Type, value: &Value, out: &mut Vec<(Dim, i64)>) {
    let (types, values) = match (ty, value) {
        (Type::Tensor { dims, elem }, Value::Tensor(tensor)) => {
            out.extend(dims.iter().cloned().zip(tensor.dims.iter().map(|n| *n as i64)));
            return tensor.cells.iter().take(1).for_each(|cell| collect_extents(program, elem, cell, out));
        }
        (Type::Tuple(types), Value::Fields(values)) => (types.clone(), values),
        (Type::Struct(of), Value::Fields(values)) => (program.field_types(of), values),
        (Type::Enum(of), Value::Variant(index, values)) => (program.payload_types(of, *index), values),
        (
            Type::Error
            | Type::Never
            | Type::Scalar(_)
            | Type::Tensor { .. }
            | Type::Tuple(_)
            | Type::Struct(_)
            | Type::Enum(_)
            | Type::Function(_)
            | Type::Param(_),
            Value::Number(_) | Value::Tensor(_) | Value::Fields(_) | Value::Variant(..) | Value::Failed(_),
        ) => return,
    };
    types.iter().zip(values).for_each(|(ty, value)| collect_extents(program, ty, value, out));
}
