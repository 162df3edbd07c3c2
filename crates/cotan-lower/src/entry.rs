//! What a host needs to know of a lowered function to call it: types over sizes, and the order of the flat operands.
//!
//! The IR function takes one i64 for each of the entry's sizes, one for each of its extents, then the leaves of the
//! parameters in order. Its results are the leaves of the result in order; lengths that the run finds out stand between
//! them.
//! The leaves of a struct or tuple are those of its parts in order; those of a tensor of structs or tuples are tensors
//! of their leaves.

use cotan_ir::{Const, Elem, Module, Symbol};
use cotan_ops::Value;
use cotan_sema::dims::{Atom, Dim};
use cotan_sema::typed::{DerivativeForm, DerivativeMode, PayloadForm};

/// A function that a host asks for.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// Its name in the program.
    pub function: String,
    /// The derivative of it that is wanted in its place.
    pub form: Option<DerivativeRequest>,
    /// Derivatives of that one, each of what stands before it.
    pub more: Vec<DerivativeRequest>,
    /// What its element type parameters stand for, in order; those that are missing are `f64`, or `i64` where they must
    /// be integers.
    pub elems: Vec<Elem>,
    /// Whether the host adds a first derivative of it to the module, in any mode.
    pub is_differentiated: bool,
}

impl Request {
    /// The function of that name itself.
    pub fn function(name: impl Into<String>) -> Self {
        Self { function: name.into(), form: None, more: Vec::new(), elems: Vec::new(), is_differentiated: false }
    }

    /// A derivative of the function of that name.
    pub fn derivative(name: impl Into<String>, request: DerivativeRequest) -> Self {
        Self { form: Some(request), ..Self::function(name) }
    }

    /// The derivative in a form of what is asked for so far, with respect to parameters by name. Those of a derivative are the
    /// arguments, and behind them the tangents or the cotangent: of `x` the tangent is `dx`, a second one `ddx`.
    ///
    /// ```
    /// use cotan_lower::entry::Request;
    /// use cotan_sema::typed::DerivativeForm;
    ///
    /// // The product of the Hessian with a tangent, forward over reverse.
    /// let request = Request::function("loss").then(DerivativeForm::Grad, &["w"]).then(DerivativeForm::Jvp, &["w"]);
    /// assert_eq!(request.forms().count(), 2);
    /// ```
    #[must_use]
    pub fn then(mut self, form: DerivativeForm, wrt: &[&str]) -> Self {
        let wrt = wrt.iter().map(|name| (*name).to_owned()).collect();
        let request = DerivativeRequest { form, wrt, mode: None };
        match self.form {
            None => self.form = Some(request),
            Some(_) => self.more.push(request),
        }
        self
    }

    /// All derivatives that are asked for, the innermost first.
    pub fn forms(&self) -> impl Iterator<Item = &DerivativeRequest> {
        self.form.iter().chain(&self.more)
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
pub struct LoweredProgram {
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
    /// Names and types.
    pub signature: Signature,
    /// Extents of parameters that are neither a size nor the value of a parameter: each is an i64 argument after the
    /// sizes.
    pub extents: Vec<EntryExtent>,
    /// The position, among the results of the IR function, of each leaf of the result; the others are lengths.
    pub leaf_results: Vec<usize>,
}

/// The names and types of a function that a host may call; nothing needs to be lowered to tell them.
#[derive(Clone, Debug, PartialEq)]
pub struct Signature {
    /// The names of the size parameters. [`Atom::Size`] `k` in a dim of a parameter is the `k`-th.
    pub sizes: Vec<String>,
    /// The parameters. [`Atom::Value`] `k` in a dim is the value of the `k`-th.
    pub params: Vec<EntryParam>,
    /// The type of the result.
    pub result: HostType,
    /// The parameters that a derivative is taken with respect to, by position; none for other functions.
    pub wrt: Vec<usize>,
}

/// An extent of a parameter that is an argument of its own.
#[derive(Clone, Debug, PartialEq)]
pub enum EntryExtent {
    /// A function of the sizes, such as `D*(D+1)/2`.
    Size(Dim),
    /// What is found at an axis of a leaf of the parameters, the payload of a variant that may not be there.
    Payload {
        /// The position among the leaves of all parameters.
        leaf: usize,
        /// The axis.
        axis: usize,
    },
}

/// A parameter of an entry.
#[derive(Clone, Debug, PartialEq)]
pub struct EntryParam {
    /// The name in the source; a tangent of `w` is called `dw`, the cotangent of the result `cotangent`.
    pub name: String,
    /// Its type.
    pub ty: HostType,
    /// The value that it has where no argument is given.
    pub default: Option<EntryDefault>,
}

/// What a parameter is where no argument is given.
#[derive(Clone, Debug, PartialEq)]
pub enum EntryDefault {
    /// The leaves of a constant.
    Leaves(Vec<Value>),
    /// The value of the parameter at this position, which stands before it.
    OfParam(usize),
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
    /// An enum. Its leaves are the number of the variant, an i64, and the payloads of all variants; of those that are
    /// not there, scalars are zero and tensors hold zeros, or are empty.
    Enum {
        /// The name.
        name: String,
        /// The variants in order.
        variants: Vec<HostVariant>,
    },
}

/// A variant of an enum.
#[derive(Clone, Debug, PartialEq)]
pub struct HostVariant {
    /// The name.
    pub name: String,
    /// What it carries; `None` for a variant without a payload, or without one that has a derivative in a tangent.
    pub payload: Option<HostType>,
}

impl HostVariant {
    /// A variant with these parts, by name. A payload of one part is that part, of several a tuple; one with names is a
    /// struct. In a tangent, parts of a struct without a derivative are left out.
    pub(crate) fn new(name: &str, form: PayloadForm, fields: Vec<(String, HostType)>, is_tangent: bool) -> Self {
        let unit = HostType::Tuple(Vec::new());
        let is_empty = fields.is_empty() || is_tangent && fields.iter().all(|(_, ty)| *ty == unit);
        let payload = match form {
            PayloadForm::Unit => None,
            PayloadForm::Tuple | PayloadForm::Struct if is_empty => None,
            PayloadForm::Tuple => {
                let mut types: Vec<HostType> = fields.into_iter().map(|(_, ty)| ty).collect();
                Some(if types.len() == 1 { types.remove(0) } else { HostType::Tuple(types) })
            }
            PayloadForm::Struct => {
                let fields = fields.into_iter().filter(|(_, ty)| !is_tangent || *ty != unit).collect();
                Some(HostType::Struct { name: name.to_owned(), fields })
            }
        };
        Self { name: name.to_owned(), payload }
    }
}

/// A scalar or tensor of scalars that a value consists of.
#[derive(Clone, Debug, PartialEq)]
pub struct Leaf {
    /// The type of the elements.
    pub elem: Elem,
    /// The extents, outermost first.
    pub dims: Vec<Dim>,
    /// Whether it is the number of the variant of an enum.
    pub is_tag: bool,
    /// The variants that must be there for this leaf to be: position of the number among the leaves, and the number.
    pub within: Vec<(usize, usize)>,
}

impl Leaf {
    /// Whether the variants that it belongs to are there in a value with these leaves.
    pub fn is_there(&self, leaves: &[Value]) -> bool {
        let tag = |at: usize| leaves.get(at).and_then(Value::scalar).and_then(Const::as_i64);
        self.within.iter().all(|(at, variant)| tag(*at) == Some(*variant as i64))
    }
}

impl HostType {
    /// The leaves of a value of this type, in order.
    pub fn leaves(&self) -> Vec<Leaf> {
        let mut out = Vec::new();
        self.collect_leaves(&[], &mut Vec::new(), &mut out);
        out
    }

    fn collect_leaves(&self, lead: &[Dim], within: &mut Vec<(usize, usize)>, out: &mut Vec<Leaf>) {
        match self {
            HostType::Scalar(elem) => {
                out.push(Leaf { elem: *elem, dims: lead.to_vec(), is_tag: false, within: within.clone() });
            }
            HostType::Tensor { elem, dims } => elem.collect_leaves(&[lead, dims].concat(), within, out),
            HostType::Tuple(parts) => parts.iter().for_each(|part| part.collect_leaves(lead, within, out)),
            HostType::Struct { fields, .. } => fields.iter().for_each(|(_, ty)| ty.collect_leaves(lead, within, out)),
            HostType::Enum { variants, .. } => {
                let tag = out.len();
                out.push(Leaf { elem: Elem::I64, dims: lead.to_vec(), is_tag: true, within: within.clone() });
                for (k, ty) in variants.iter().enumerate().filter_map(|(k, v)| Some((k, v.payload.as_ref()?))) {
                    within.push((tag, k));
                    ty.collect_leaves(lead, within, out);
                    within.pop();
                }
            }
        }
    }

    /// The leaves that a tangent has too, by position: the floats, and the numbers of the variants of enums with a
    /// float in them.
    pub fn tangent_leaves(&self) -> Vec<usize> {
        let leaves = self.leaves();
        let is_float = |leaf: &Leaf| leaf.elem.is_float();
        let has_float = |tag: usize| leaves.iter().any(|l| is_float(l) && l.within.iter().any(|(at, _)| *at == tag));
        (0..leaves.len()).filter(|k| is_float(&leaves[*k]) || leaves[*k].is_tag && has_float(*k)).collect()
    }

    /// The type of a tangent: fields of structs that carry no derivative are dropped, payloads of enums too, and other
    /// such places become the unit type.
    pub fn tangent(&self) -> HostType {
        let unit = HostType::Tuple(Vec::new());
        if self.tangent_leaves().is_empty() && !matches!(self, HostType::Tuple(_) | HostType::Struct { .. }) {
            return unit;
        }
        match self {
            HostType::Scalar(_) => self.clone(),
            HostType::Tensor { elem, dims } => HostType::Tensor { elem: Box::new(elem.tangent()), dims: dims.clone() },
            HostType::Tuple(parts) => HostType::Tuple(parts.iter().map(HostType::tangent).collect()),
            HostType::Struct { name, fields } => {
                let fields = fields.iter().map(|(field, ty)| (field.clone(), ty.tangent()));
                HostType::Struct { name: name.clone(), fields: fields.filter(|(_, ty)| *ty != unit).collect() }
            }
            HostType::Enum { name, variants } => {
                let tangent = |variant: &HostVariant| HostVariant {
                    name: variant.name.clone(),
                    payload: variant
                        .payload
                        .as_ref()
                        .filter(|ty| !ty.tangent_leaves().is_empty())
                        .map(HostType::tangent),
                };
                HostType::Enum { name: name.clone(), variants: variants.iter().map(tangent).collect() }
            }
        }
    }
}

impl Signature {
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
            HostType::Struct { name, .. } | HostType::Enum { name, .. } => name.clone(),
        }
    }

    /// A dim as text.
    pub fn show_dim(&self, dim: &Dim) -> String {
        let name = |atom: &Atom| match atom {
            Atom::Size(k) => self.sizes.get(k.0 as usize).cloned().unwrap_or_else(|| "_".to_owned()),
            Atom::Value(k) => self.params.get(k.0 as usize).map_or_else(|| "_".to_owned(), |p| p.name.clone()),
            Atom::Runtime(_) | Atom::Pack(_) => "_".to_owned(),
            Atom::Floor(p, q) => format!("({} / {})", self.show_dim(p), self.show_dim(q)),
        };
        dim.show(&name)
    }
}
