//! Which function of which impl a call of a trait's function means: found by the type that `Self` turns out to be.

use super::Machine;
use super::frame::{Generic, unknown};
use super::value::{Flow, bug};
use cotan_sema::dims::{Atom, Dim, GenericId};
use cotan_sema::typed::{Function, FunctionBody, GenericArg, Impl, TraitMethod, Type};
use cotan_sema::types::Scalar;

impl<'p> Machine<'p> {
    /// The function that is meant, with what its generics stand for.
    pub(super) fn chosen(&self, function: &'p Function, generics: Vec<Generic>) -> Flow<(&'p Function, Vec<Generic>)> {
        let FunctionBody::Required(TraitMethod { of, index }) = &function.body else { return Ok((function, generics)) };
        let n_own = self.program.traits[of.0 as usize].generics.len();
        let args: Vec<GenericArg> = generics.iter().map(Generic::as_arg).collect();
        let Some(Some(target)) = args.first().map(GenericArg::as_type) else { return bug("a trait of no type") };
        for candidate in self.program.impls.iter().filter(|candidate| candidate.trait_ref.def == *of) {
            if let Some(mut bound) = bound_by(candidate, &target, &args[1..=n_own]) {
                bound.extend(generics[n_own + 1..].iter().cloned());
                return Ok((self.program.function(candidate.methods[*index]), bound));
            }
        }
        bug("a trait without an impl for the type")
    }
}

/// What the generics of an impl stand for if it is for this type.
fn bound_by(candidate: &Impl, target: &Type, args: &[GenericArg]) -> Option<Vec<Generic>> {
    let mut bound = Bound(vec![None; candidate.generics.len()]);
    let is_for_it = bound.ty(&candidate.target, target) && bound.args(&candidate.trait_ref.args, args);
    is_for_it.then(|| bound.0.into_iter().map(|generic| generic.unwrap_or(Generic::Size(None))).collect())
}

struct Bound(Vec<Option<Generic>>);

impl Bound {
    fn set(&mut self, id: GenericId, generic: Generic) -> bool {
        self.0[id.0 as usize].get_or_insert(generic);
        true
    }

    fn ty(&mut self, pattern: &Type, found: &Type) -> bool {
        match (pattern, found) {
            (Type::Param(id), _) => self.set(*id, Generic::Type(found.clone())),
            (Type::Scalar(Scalar::Param(id)), Type::Scalar(Scalar::Of(elem))) => self.set(*id, Generic::Elem(*elem)),
            (Type::Scalar(a), Type::Scalar(b)) => a == b,
            (Type::Tensor { elem, dims }, _) => self.ty(elem, found.elem()) && self.dims(dims, found.dims()),
            (Type::Tuple(a), Type::Tuple(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| self.ty(a, b)),
            (Type::Struct(a), Type::Struct(b)) => a.def == b.def && self.args(&a.args, &b.args),
            (Type::Enum(a), Type::Enum(b)) => a.def == b.def && self.args(&a.args, &b.args),
            (
                Type::Error
                | Type::Never
                | Type::Scalar(_)
                | Type::Tuple(_)
                | Type::Struct(_)
                | Type::Enum(_)
                | Type::Function(_),
                _,
            ) => false,
        }
    }

    fn dims(&mut self, pattern: &[Dim], found: &[Dim]) -> bool {
        let at = pattern.iter().position(|dim| dim.as_pack().is_some()).unwrap_or(pattern.len());
        let pack = pattern.get(at).and_then(Dim::as_pack);
        let n_behind = pattern.len() - at - usize::from(pack.is_some());
        if found.len() < at + n_behind || pack.is_none() && found.len() != pattern.len() {
            return false;
        }
        let behind = found.len() - n_behind;
        if let Some(id) = pack {
            self.set(id, Generic::Pack(found[at..behind].to_vec()));
        }
        let last = &pattern[pattern.len() - n_behind..];
        let sizes = pattern[..at].iter().zip(&found[..at]).chain(last.iter().zip(&found[behind..]));
        // Impls are not told apart by sizes.
        sizes.for_each(|(pattern, found)| self.size(pattern, found));
        true
    }

    fn size(&mut self, pattern: &Dim, found: &Dim) {
        if let Some(Atom::Size(id)) = pattern.as_atom() {
            self.set(*id, Generic::Size(found.as_constant()));
        }
    }

    fn args(&mut self, pattern: &[GenericArg], found: &[GenericArg]) -> bool {
        pattern.iter().zip(found).all(|(pattern, found)| match (pattern, found) {
            (GenericArg::Size(pattern), GenericArg::Size(found)) => {
                self.size(pattern, found);
                true
            }
            (GenericArg::Pack(pattern), GenericArg::Pack(found)) => self.dims(pattern, found),
            (GenericArg::Size(_) | GenericArg::Pack(_) | GenericArg::Scalar(_) | GenericArg::Type(_), _) => {
                match (pattern.as_type(), found.as_type()) {
                    (Some(pattern), Some(found)) => self.ty(&pattern, &found),
                    (_, _) => false,
                }
            }
        })
    }
}

impl Generic {
    /// The same for types to be made with it.
    pub(super) fn as_arg(&self) -> GenericArg {
        match self {
            Generic::Size(size) => GenericArg::Size(size.map_or_else(unknown, Dim::constant)),
            Generic::Elem(elem) => GenericArg::Scalar(Scalar::Of(*elem)),
            Generic::Type(ty) => GenericArg::Type(ty.clone()),
            Generic::Pack(dims) => GenericArg::Pack(dims.clone()),
        }
    }
}
