//! What a compiled function takes and gives: types whose dims are constants or earlier i64 parameters.

use super::RuntimeError;
use cotan_ir::{Atom, Dim, Elem, Function, Ty, Var};
use cotan_ops::{ElementCount, Value};

/// The types of parameters and results.
#[derive(Clone, Debug)]
pub(super) struct Signature {
    params: Vec<(Var, Ty)>,
    pub(super) results: Vec<Ty>,
}

impl Signature {
    pub(super) fn of(f: &Function) -> Signature {
        let params = f.params.iter().map(|v| (*v, f.ty(*v).clone())).collect();
        let results = f.body.results.iter().map(|r: &Atom| f.atom_ty(*r)).collect();
        Signature { params, results }
    }

    /// Whether arguments fit the parameters: number, element types, extents.
    pub(super) fn check(&self, args: &[Value]) -> Result<(), RuntimeError> {
        let wrong = |message: String| Err(RuntimeError::Argument(message));
        if args.len() != self.params.len() {
            return wrong(format!("expected {} arguments, found {}", self.params.len(), args.len()));
        }
        for (position, ((_, ty), arg)) in self.params.iter().zip(args).enumerate() {
            if arg.elem != ty.elem {
                return wrong(format!("argument {position}: expected element type {}, found {}", ty.elem, arg.elem));
            }
            let agrees = ty.dims.len() == arg.dims.len()
                && ty.dims.iter().zip(&arg.dims).all(|(dim, found)| self.extent(*dim, args) == Some(*found));
            let is_whole = ElementCount::of(&arg.dims).is_some_and(|n| n.get() == arg.bits.len());
            if !agrees || !is_whole {
                let expected: Option<Vec<i64>> = ty.dims.iter().map(|dim| self.extent(*dim, args)).collect();
                let expected = expected.unwrap_or_default();
                return wrong(format!("argument {position}: expected extents {expected:?}, found {:?}", arg.dims));
            }
        }
        Ok(())
    }

    /// The number of elements of a type, where the arguments decide it.
    pub(super) fn size(&self, ty: &Ty, args: &[Value]) -> Option<ElementCount> {
        let extents = ty.dims.iter().map(|dim| self.extent(*dim, args));
        if extents.clone().all(|extent| extent.is_some()) { ElementCount::product(extents.flatten()) } else { None }
    }

    /// An extent, where the arguments decide it.
    fn extent(&self, dim: Dim, args: &[Value]) -> Option<i64> {
        match dim {
            Dim::Const(n) => Some(n),
            Dim::Var(v) => {
                let position = self.params.iter().position(|(param, _)| *param == v)?;
                args.get(position)?.scalar().filter(|c| c.elem() == Elem::I64)?.as_i64()
            }
        }
    }
}
