//! What a compiled function takes and gives: types whose dims are constants or earlier i64 parameters.

use super::error::RuntimeError;
use super::operand::Operand;
use cotan_ir::{Atom, Dim, Function, Ty, Var};
use cotan_ops::{ElementCount, TensorMut};

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
    pub(super) fn check<A: Operand>(&self, args: &[A]) -> Result<(), RuntimeError> {
        let wrong = |message: String| Err(RuntimeError::Argument(message));
        if args.len() != self.params.len() {
            return wrong(format!("expected {} arguments, found {}", self.params.len(), args.len()));
        }
        for (position, ((_, ty), arg)) in self.params.iter().zip(args).enumerate() {
            if arg.elem() != ty.elem {
                return wrong(format!("argument {position}: expected element type {}, found {}", ty.elem, arg.elem()));
            }
            let agrees = ty.dims.len() == arg.dims().len()
                && ty.dims.iter().zip(arg.dims()).all(|(dim, found)| self.extent(*dim, args) == Some(*found));
            let is_whole = ElementCount::of(arg.dims()).is_some_and(|n| n.get() == arg.n_elements());
            if !agrees || !is_whole {
                let expected: Option<Vec<i64>> = ty.dims.iter().map(|dim| self.extent(*dim, args)).collect();
                let expected = expected.unwrap_or_default();
                return wrong(format!("argument {position}: expected extents {expected:?}, found {:?}", arg.dims()));
            }
        }
        Ok(())
    }

    /// Whether the room for results fits them: number, element types, ranks, and extents where the arguments decide them.
    pub(super) fn check_results<A: Operand>(&self, args: &[A], results: &[TensorMut<'_>]) -> Result<(), RuntimeError> {
        let wrong = |message: String| Err(RuntimeError::Argument(message));
        if results.len() != self.results.len() {
            return wrong(format!("expected room for {} results, found {}", self.results.len(), results.len()));
        }
        for (position, (ty, result)) in self.results.iter().zip(results).enumerate() {
            let (elem, dims) = (result.elem(), result.dims());
            if elem != ty.elem {
                return wrong(format!("result {position}: expected element type {}, found {elem}", ty.elem));
            }
            let agrees = |dim: &Dim, found: &i64| self.extent(*dim, args).is_none_or(|extent| extent == *found);
            if ty.dims.len() != dims.len() || !ty.dims.iter().zip(dims).all(|(dim, found)| agrees(dim, found)) {
                let expected: Vec<String> = ty.dims.iter().map(|dim| self.shown(*dim, args)).collect();
                return wrong(format!("result {position}: expected extents [{}], found {dims:?}", expected.join(", ")));
            }
        }
        Ok(())
    }

    /// An extent in a message.
    fn shown<A: Operand>(&self, dim: Dim, args: &[A]) -> String {
        self.extent(dim, args).map_or_else(|| "_".to_owned(), |extent| extent.to_string())
    }

    /// The number of elements of a type, where the arguments decide it.
    pub(super) fn size<A: Operand>(&self, ty: &Ty, args: &[A]) -> Option<ElementCount> {
        let extents = ty.dims.iter().map(|dim| self.extent(*dim, args));
        if extents.clone().all(|extent| extent.is_some()) { ElementCount::product(extents.flatten()) } else { None }
    }

    /// An extent, where the arguments decide it.
    fn extent<A: Operand>(&self, dim: Dim, args: &[A]) -> Option<i64> {
        match dim {
            Dim::Const(n) => Some(n),
            Dim::Var(v) => {
                let position = self.params.iter().position(|(param, _)| *param == v)?;
                args.get(position)?.as_i64()
            }
        }
    }
}
