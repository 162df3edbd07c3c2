//! What a body can see while it runs: its locals, sizes, element types and function arguments.

use super::Machine;
use super::value::{Flow, Tensor, Value, bug};
use cotan_ir::Elem;
use cotan_sema::dims::{Atom, Dim, GenericId, LocalId, SizeId};
use cotan_sema::typed::{Callable, GenericArg, Type};
use cotan_sema::types::{Scalar, Substitution};
use std::borrow::Cow;
use std::cell::RefCell;
use std::rc::Rc;

/// What a parameter in brackets stands for.
#[derive(Clone, Debug)]
pub(super) enum Generic {
    /// A size; none if nothing tells it.
    Size(Option<i64>),
    /// An element type.
    Elem(Elem),
    /// A type, with numbers for its sizes.
    Type(Type),
    /// The sizes of a shape pack, as numbers.
    Pack(Vec<Dim>),
}

/// A size that nothing tells, in a type with numbers for its sizes.
pub(super) fn unknown() -> Dim {
    Dim::atom(Atom::Runtime(SizeId(u32::MAX)))
}

/// Something callable, and the body that it stands in.
#[derive(Clone, Debug)]
pub(super) struct Closure<'p> {
    pub(super) callable: &'p Callable,
    pub(super) frame: Rc<Frame<'p>>,
}

/// The state of a body that runs.
#[derive(Debug, Default)]
pub(super) struct Frame<'p> {
    pub(super) generics: Vec<Generic>,
    pub(super) functions: Vec<Option<Closure<'p>>>,
    pub(super) locals: RefCell<Vec<Option<Value>>>,
    /// Extents that the run brought into being.
    pub(super) sizes: RefCell<Vec<Option<i64>>>,
}

impl<'p> Machine<'p> {
    /// The element type that a scalar type stands for.
    pub(super) fn elem_of(&self, scalar: Scalar) -> Flow<Elem> {
        match scalar {
            Scalar::Of(elem) => Ok(elem),
            Scalar::Param(id) => match self.frame.generics.get(id.0 as usize) {
                Some(Generic::Elem(elem)) => Ok(*elem),
                Some(Generic::Size(_) | Generic::Type(_) | Generic::Pack(_)) | None => {
                    bug("an element type that stands for nothing")
                }
            },
            Scalar::Var(_) => bug("an element type that nobody found out"),
        }
    }

    /// The element type of a scalar or tensor type.
    pub(super) fn elem(&self, ty: &Type) -> Flow<Elem> {
        self.ty(ty).scalar().map_or_else(|| bug("expected a type of scalars"), |scalar| self.elem_of(scalar))
    }

    /// A generic argument of the current body.
    pub(super) fn generic(&self, arg: &GenericArg) -> Flow<Generic> {
        Ok(match arg {
            GenericArg::Size(dim) => Generic::Size(self.size(dim)),
            GenericArg::Scalar(scalar) => Generic::Elem(self.elem_of(*scalar)?),
            GenericArg::Type(ty) => {
                let mut ty = substitution(self).ty(ty);
                ty.each_dim_mut(&mut |dim| *dim = numbered(self, dim));
                Generic::Type(ty)
            }
            GenericArg::Pack(dims) => {
                let dims = substitution(self).dims(dims).unwrap_or_default();
                Generic::Pack(dims.iter().map(|dim| numbered(self, dim)).collect())
            }
        })
    }

    /// A type of the current body, with types and packs for the parameters that stand for them.
    pub(super) fn ty<'t>(&self, ty: &'t Type) -> Cow<'t, Type> {
        let is_open = |generic: &Generic| matches!(generic, Generic::Type(_) | Generic::Pack(_));
        if self.frame.generics.iter().any(is_open) { Cow::Owned(substitution(self).ty(ty)) } else { Cow::Borrowed(ty) }
    }

    /// The sizes of a shape pack of the current body.
    pub(super) fn pack(&self, id: GenericId) -> Flow<Vec<usize>> {
        match self.frame.generics.get(id.0 as usize) {
            Some(Generic::Pack(dims)) => Ok(self.extents(dims)),
            Some(Generic::Size(_) | Generic::Elem(_) | Generic::Type(_)) | None => bug("a pack that is none"),
        }
    }

    /// The value of a size, if all that it is made of is known and an `i64` holds it.
    pub(super) fn size(&self, dim: &Dim) -> Option<i64> {
        i64::try_from(self.exact_size(dim)?).ok()
    }

    /// The value of a size, if all that it is made of is known.
    pub(super) fn exact_size(&self, dim: &Dim) -> Option<i128> {
        let mut sum = 0i128;
        for (monomial, coefficient) in dim.terms() {
            let mut product = i128::from(coefficient);
            for (atom, power) in monomial {
                let value = size_atom(self, atom)?;
                for _ in 0..*power {
                    product = product.checked_mul(value)?;
                }
            }
            sum = sum.checked_add(product)?;
        }
        Some(sum)
    }

    /// Brings into being the run-time sizes that a value of this type has as extents, and makes sure that all other
    /// extents are what the type says.
    pub(super) fn settle(&mut self, ty: &Type, value: &Value) -> Flow<()> {
        match (self.ty(ty).as_ref(), value) {
            (Type::Tensor { elem, dims }, Value::Tensor(tensor)) => {
                if dims.len() != tensor.dims.len() {
                    return bug(format!("a tensor of rank {} where {} was expected", tensor.dims.len(), dims.len()));
                }
                for (dim, found) in dims.iter().zip(&tensor.dims) {
                    settle_extent(self, dim, *found as i64)?;
                }
                if has_dims(elem)
                    && let Some(first) = tensor.cells.first()
                {
                    self.settle(elem, first)?;
                }
                Ok(())
            }
            (Type::Tuple(parts), Value::Fields(values)) => {
                parts.iter().zip(values).try_for_each(|(ty, value)| self.settle(ty, value))
            }
            (Type::Struct(of), Value::Fields(values)) => {
                if of.args.is_empty() {
                    return Ok(());
                }
                let types = self.program.field_types(of);
                types.iter().zip(values).try_for_each(|(ty, value)| self.settle(ty, value))
            }
            (Type::Enum(of), Value::Variant(index, values)) => {
                let types = self.program.payload_types(of, *index);
                types.iter().zip(values).try_for_each(|(ty, value)| self.settle(ty, value))
            }
            (Type::Scalar(_) | Type::Never | Type::Function(_) | Type::Param(_), _) | (_, Value::Failed(_)) => Ok(()),
            (Type::Error | Type::Tensor { .. } | Type::Tuple(_) | Type::Struct(_) | Type::Enum(_), _) => {
                bug("a value of another structure than its type")
            }
        }
    }

    /// The extents of a type. Those that nothing tells are 0: only an empty tensor asks.
    pub(super) fn extents(&self, dims: &[Dim]) -> Vec<usize> {
        dims.iter().map(|dim| self.size(dim).map_or(0, |n| n.max(0) as usize)).collect()
    }

    /// The value of a local.
    pub(super) fn local(&self, id: LocalId) -> Flow<Value> {
        match self.frame.locals.borrow().get(id.0 as usize) {
            Some(Some(value)) => Ok(value.clone()),
            Some(None) | None => bug("a local that has no value yet"),
        }
    }

    /// Gives a local a value.
    pub(super) fn set_local(&self, id: LocalId, value: Value) {
        if let Some(local) = self.frame.locals.borrow_mut().get_mut(id.0 as usize) {
            *local = Some(value);
        }
    }

    /// Runs `work` in another frame.
    pub(super) fn in_frame<T>(&mut self, frame: Rc<Frame<'p>>, work: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::replace(&mut self.frame, frame);
        let result = work(self);
        self.frame = before;
        result
    }

    /// A tensor or scalar of copies of one number, in the structure of a type.
    pub(super) fn filled(
        &self,
        ty: &Type,
        lead: &[usize],
        number: &dyn Fn(Elem) -> super::number::Number,
    ) -> Flow<Value> {
        match self.ty(ty).as_ref() {
            Type::Scalar(scalar) => Ok(Value::Number(number(self.elem_of(*scalar)?))),
            Type::Tuple(parts) => {
                parts.iter().map(|part| self.filled(part, &[], number)).collect::<Flow<_>>().map(Value::Fields)
            }
            Type::Struct(of) => {
                let types = self.program.field_types(of);
                types.iter().map(|ty| self.filled(ty, &[], number)).collect::<Flow<_>>().map(Value::Fields)
            }
            Type::Tensor { elem, dims } => {
                let mut extents = self.extents(dims);
                extents[..lead.len()].copy_from_slice(lead);
                let cell = self.filled(elem, &[], number)?;
                let n = extents.iter().product();
                Ok(Value::Tensor(Tensor::new(extents, vec![cell; n])))
            }
            Type::Error | Type::Never | Type::Enum(_) | Type::Function(_) | Type::Param(_) => {
                bug("a value of a type that has none")
            }
        }
    }
}

fn substitution(machine: &Machine<'_>) -> Substitution {
    Substitution::new(machine.frame.generics.iter().map(Generic::as_arg).collect())
}

fn numbered(machine: &Machine<'_>, dim: &Dim) -> Dim {
    machine.size(dim).map_or_else(unknown, Dim::constant)
}

fn size_atom(machine: &Machine<'_>, atom: &Atom) -> Option<i128> {
    match atom {
        Atom::Size(id) => match machine.frame.generics.get(id.0 as usize)? {
            Generic::Size(size) => size.map(i128::from),
            Generic::Elem(_) | Generic::Type(_) | Generic::Pack(_) => None,
        },
        // As a number of elements.
        Atom::Pack(id) => {
            let sizes = machine.pack(*id).ok()?;
            i128::try_from(sizes.into_iter().product::<usize>()).ok()
        }
        Atom::Value(id) => match machine.frame.locals.borrow().get(id.0 as usize)?.as_ref()? {
            Value::Number(number) => number.plain().as_integer(),
            Value::Tensor(_) | Value::Fields(_) | Value::Variant(..) | Value::Failed(_) => None,
        },
        Atom::Runtime(id) => machine.frame.sizes.borrow().get(id.0 as usize).copied().flatten().map(i128::from),
        Atom::Floor(p, q) => {
            let (p, q) = (i128::from(machine.size(p)?), i128::from(machine.size(q)?));
            (q != 0).then(|| p.div_euclid(q) - i128::from(q < 0 && p.rem_euclid(q) != 0))
        }
    }
}

fn settle_extent(machine: &mut Machine<'_>, dim: &Dim, found: i64) -> Flow<()> {
    if let Some(Atom::Runtime(id)) = dim.as_atom() {
        if let Some(size) = machine.frame.sizes.borrow_mut().get_mut(id.0 as usize) {
            *size = Some(found);
        }
        return Ok(());
    }
    match machine.size(dim) {
        Some(expected) if expected != found => {
            bug(format!("an extent of {found} where the type says {expected}, without a check"))
        }
        Some(_) | None => Ok(()),
    }
}

/// Whether values of the type have extents.
fn has_dims(ty: &Type) -> bool {
    match ty {
        Type::Tensor { .. } => true,
        Type::Tuple(parts) => parts.iter().any(has_dims),
        Type::Struct(of) => !of.args.is_empty(),
        Type::Enum(_) => true,
        Type::Error | Type::Never | Type::Scalar(_) | Type::Function(_) | Type::Param(_) => false,
    }
}
