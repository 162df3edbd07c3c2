//! What arguments are for: the parameters of a signature, and sizes by name.

use super::Unbound;
use crate::host::files::{FileError, JsonText};
use crate::host::json::Misfit;
use crate::host::{ArgumentMisfit, Budget, Elem, HostType, HostValue, Leaf};
use cotan_lower::entry::Signature;

/// The type of a size.
static SIZE: HostType = HostType::Scalar(Elem::I64);

/// A parameter, or a size that is given by name.
#[derive(Clone, Copy)]
pub(super) struct Target<'s> {
    signature: &'s Signature,
    pub(super) name: &'s str,
    pub(super) ty: &'s HostType,
    is_size: bool,
}

impl<'s> Target<'s> {
    /// All of a signature. The name of a parameter hides that of a size.
    pub(super) fn all(signature: &'s Signature) -> Vec<Target<'s>> {
        let param = |name: &str| signature.params.iter().any(|param| param.name == name);
        let sizes = signature.sizes.iter().filter(|size| !param(size));
        let sizes = sizes.map(|name| Target { signature, name, ty: &SIZE, is_size: true });
        let params = signature.params.iter().map(|p| Target { signature, name: &p.name, ty: &p.ty, is_size: false });
        params.chain(sizes).collect()
    }

    /// The type as text.
    pub(super) fn shown(&self) -> String {
        if self.is_size { "a whole number".to_owned() } else { self.signature.show(self.ty) }
    }

    /// A value of another kind.
    pub(super) fn kind(&self, expected: impl Into<String>, found: impl Into<String>) -> ArgumentMisfit {
        ArgumentMisfit::Kind { name: self.name.to_owned(), expected: expected.into(), found: found.into() }
    }

    /// The same at a place inside of the value; an empty one is the whole.
    pub(super) fn kind_at(&self, place: &str, expected: &str, found: impl Into<String>) -> ArgumentMisfit {
        match place {
            "" => self.kind(self.shown(), found),
            place => self.kind(format!("{} (at `.{place}`: {expected})", self.shown()), found),
        }
    }

    /// The type of a leaf as text.
    pub(super) fn shown_leaf(&self, leaf: &Leaf) -> String {
        let elem = HostType::Scalar(leaf.elem);
        match leaf.dims.as_slice() {
            [] => self.signature.show(&elem),
            dims => self.signature.show(&HostType::Tensor { elem: Box::new(elem), dims: dims.to_vec() }),
        }
    }

    /// The value that a JSON text is.
    pub(super) fn of_json(&self, json: &JsonText, budget: &mut Budget) -> Result<HostValue, Unbound> {
        json.value(self.ty, budget).map_err(|misfit| {
            if self.is_size {
                return Unbound::misfit(self.kind(self.shown(), super::shown(json)));
            }
            Unbound::misfit(self.json_misfit(misfit))
        })
    }

    /// What does not fit in a JSON text.
    pub(super) fn json_misfit(&self, misfit: Misfit) -> ArgumentMisfit {
        let expected = match (self.ty, misfit.place.as_str()) {
            // What is wanted inside of a scalar is the scalar.
            (HostType::Scalar(_), _) => misfit.expected,
            (_, "") => format!("{} ({})", self.shown(), misfit.expected),
            (_, place) => format!("{} (at `{place}`: {})", self.shown(), misfit.expected),
        };
        self.kind(expected, misfit.found)
    }
}

/// An error of a file while it is read for arguments.
pub(super) fn of_file(file: &str, error: &FileError) -> Unbound {
    Unbound::Malformed(super::Malformed::of_file(file, error))
}
