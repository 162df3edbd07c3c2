//! What a host needs to know of a lowered function to call it: types over sizes, and the order of the flat operands.
//!
//! The IR function takes one i64 for each of the entry's sizes, one for each of its extents, then the leaves of the
//! parameters in order. Its results are the leaves of the result in order; lengths that the run finds out stand between
//! them.
//! The leaves of a struct or tuple are those of its parts in order; those of a tensor of structs or tuples are tensors
//! of their leaves.

use crate::dims::{Atom, Dim};
use crate::typed::{DerivativeForm, DerivativeMode};
use cotan_ir::{Elem, Module, Symbol};

/// A function that a host asks for.
#[derive(Clone, Debug, PartialEq)]
pub struct Root {
    /// Its name in the program.
    pub function: String,
    /// The derivative of it that is wanted in its place.
    pub form: Option<DerivativeRequest>,
    /// What its element type parameters stand for, in order; those that are missing are `f64`, or `i64` where they must
    /// be integers.
    pub elems: Vec<Elem>,
}

impl Root {
    /// The function of that name itself.
    pub fn function(name: impl Into<String>) -> Self {
        Self { function: name.into(), form: None, elems: Vec::new() }
    }

    /// A derivative of the function of that name.
    pub fn derivative(name: impl Into<String>, request: DerivativeRequest) -> Self {
        Self { function: name.into(), form: Some(request), elems: Vec::new() }
    }
}

/// A derivative that a host asks for: what `form[wrt](f)` is in the language.
#[derive(Clone, Debug, PartialEq)]
pub struct DerivativeRequest {
    /// Which derivative.
    pub form: DerivativeForm,
    /// The names of the parameters; none stands for the first that has a derivative.
    pub wrt: Vec<String>,
    /// The mode; by default the cheaper one as far as sizes tell.
    pub mode: Option<DerivativeMode>,
}

/// What lowering gives.
#[derive(Clone, Debug, PartialEq)]
pub struct Lowered {
    /// All functions, and requests for derivatives.
    pub module: Module,
    /// One for each root, in order.
    pub entries: Vec<Entry>,
}

/// A function that a host may call.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Its name in the lowered module.
    pub symbol: Symbol,
    /// The names of the size parameters. [`Atom::Size`] `k` in a dim of a parameter is the `k`-th.
    pub sizes: Vec<String>,
    /// Extents of parameters that are neither a size nor the value of a parameter, such as `D*(D+1)/2`: each is an i64
    /// argument after the sizes.
    pub extents: Vec<Dim>,
    /// The parameters. [`Atom::Value`] `k` in a dim is the value of the `k`-th.
    pub params: Vec<EntryParam>,
    /// The type of the result.
    pub result: HostType,
    /// The position, among the results of the IR function, of each leaf of the result; the others are lengths.
    pub leaf_results: Vec<usize>,
    /// The parameters that a derivative is taken with respect to, by position; none for other functions.
    pub wrt: Vec<usize>,
}

/// A parameter of an entry.
#[derive(Clone, Debug, PartialEq)]
pub struct EntryParam {
    /// The name in the source; a tangent of `w` is called `dw`, the cotangent of the result `cotangent`.
    pub name: String,
    /// Its type.
    pub ty: HostType,
}

/// The type of a value that crosses the boundary.
#[derive(Clone, Debug, PartialEq)]
pub enum HostType {
    /// A scalar.
    Scalar(Elem),
    /// A tensor of scalars, tuples or structs.
    Tensor {
        /// The type of an element; no tensor.
        elem: Box<HostType>,
        /// The extents, outermost first.
        dims: Vec<Dim>,
    },
    /// A tuple; the empty one is the type of statements.
    Tuple(Vec<HostType>),
    /// A struct with its fields in order. Fields without a derivative are left out of a tangent.
    Struct {
        /// The name.
        name: String,
        /// Names and types.
        fields: Vec<(String, HostType)>,
    },
}

/// A scalar or tensor of scalars that a value consists of.
#[derive(Clone, Debug, PartialEq)]
pub struct Leaf {
    /// The type of the elements.
    pub elem: Elem,
    /// The extents, outermost first.
    pub dims: Vec<Dim>,
}

impl HostType {
    /// The leaves of a value of this type, in order.
    pub fn leaves(&self) -> Vec<Leaf> {
        let mut out = Vec::new();
        self.collect_leaves(&[], &mut out);
        out
    }

    fn collect_leaves(&self, lead: &[Dim], out: &mut Vec<Leaf>) {
        match self {
            HostType::Scalar(elem) => out.push(Leaf { elem: *elem, dims: lead.to_vec() }),
            HostType::Tensor { elem, dims } => elem.collect_leaves(&[lead, dims].concat(), out),
            HostType::Tuple(parts) => parts.iter().for_each(|part| part.collect_leaves(lead, out)),
            HostType::Struct { fields, .. } => fields.iter().for_each(|(_, ty)| ty.collect_leaves(lead, out)),
        }
    }
}

impl Entry {
    /// The type as text, with sizes and integer parameters by name.
    pub fn show(&self, ty: &HostType) -> String {
        match ty {
            HostType::Scalar(elem) => elem.to_string(),
            HostType::Tensor { elem, dims } => {
                let dims: Vec<String> = dims.iter().map(|d| self.show_dim(d)).collect();
                format!("{}[{}]", self.show(elem), dims.join(", "))
            }
            HostType::Tuple(parts) => {
                format!("({})", parts.iter().map(|p| self.show(p)).collect::<Vec<_>>().join(", "))
            }
            HostType::Struct { name, .. } => name.clone(),
        }
    }

    /// A dim as text.
    pub fn show_dim(&self, dim: &Dim) -> String {
        let name = |atom: &Atom| match atom {
            Atom::Size(k) => self.sizes.get(k.0 as usize).cloned().unwrap_or_else(|| "_".to_owned()),
            Atom::Value(k) => self.params.get(k.0 as usize).map_or_else(|| "_".to_owned(), |p| p.name.clone()),
            Atom::Runtime(_) => "_".to_owned(),
            Atom::Floor(p, q) => format!("({} / {})", self.show_dim(p), self.show_dim(q)),
        };
        dim.show(&name)
    }
}
