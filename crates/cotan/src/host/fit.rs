//! Fits arguments to a signature: finds the sizes, checks the extents, flattens.

use super::{HostValue, NoMemory, rebuild};
use crate::codes;
use cotan_ir::Const;
use cotan_ops::Value;
use cotan_sema::dims::{Atom, Dim, GenericId};
use cotan_sema::entry::{Entry, EntryExtent, EntryParam, HostType};
use cotan_syntax::Code;
use std::collections::BTreeMap;
use std::fmt;

/// Arguments by name.
pub type Arguments = BTreeMap<String, HostValue>;

/// Arguments that do not fit the signature: the program never started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ArgumentMisfit {
    /// A parameter has no argument.
    Missing {
        /// The parameter.
        name: String,
        /// Its type.
        ty: String,
    },
    /// An argument that no parameter has the name of.
    Unknown {
        /// The name.
        name: String,
        /// The names of the parameters and sizes.
        known: Vec<String>,
    },
    /// A value of another kind than its parameter.
    Kind {
        /// The parameter.
        name: String,
        /// Its type.
        expected: String,
        /// The kind of the value.
        found: String,
    },
    /// An extent that is not what the type says.
    Extent {
        /// The parameter.
        name: String,
        /// Its type.
        ty: String,
        /// The axis.
        axis: usize,
        /// What the extent should be, with the values of the sizes.
        expected: String,
        /// The extent.
        found: i64,
    },
    /// An extent among flat operands is not what the sizes among them make it.
    FlatExtent {
        /// The extent, as the signature writes it.
        extent: String,
        /// Its value for the sizes; none if it does not fit.
        expected: Option<i64>,
        /// The operand.
        found: Option<i64>,
    },
    /// Nothing says how large a size is.
    UnknownSize {
        /// The size.
        name: String,
    },
    /// The machine has no memory for the copy of an argument that a call works on.
    NoMemory {
        /// The parameter.
        name: String,
        /// Bytes that there are no more.
        bytes: usize,
    },
}

impl ArgumentMisfit {
    /// The code of the diagnostic.
    pub fn code(&self) -> Code {
        match self {
            ArgumentMisfit::Missing { .. } => codes::MISSING_ARGUMENT,
            ArgumentMisfit::Unknown { .. } => codes::UNKNOWN_ARGUMENT,
            ArgumentMisfit::Kind { .. } => codes::ARGUMENT_TYPE,
            ArgumentMisfit::Extent { .. } | ArgumentMisfit::FlatExtent { .. } => codes::ARGUMENT_SHAPE,
            ArgumentMisfit::UnknownSize { .. } => codes::UNKNOWN_SIZE,
            ArgumentMisfit::NoMemory { .. } => codes::LIMIT,
        }
    }

    /// The parameter, argument or size that it is about.
    pub fn name(&self) -> &str {
        match self {
            ArgumentMisfit::Missing { name, .. }
            | ArgumentMisfit::Unknown { name, .. }
            | ArgumentMisfit::Kind { name, .. }
            | ArgumentMisfit::Extent { name, .. }
            | ArgumentMisfit::FlatExtent { extent: name, .. }
            | ArgumentMisfit::UnknownSize { name }
            | ArgumentMisfit::NoMemory { name, .. } => name,
        }
    }
}

impl fmt::Display for ArgumentMisfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ArgumentMisfit::Missing { name, ty } => {
                write!(f, "argument `{name}` is missing: expected {ty}, found none")
            }
            ArgumentMisfit::Unknown { name, known } => {
                write!(f, "there is no parameter `{name}`: expected one of `{}`", known.join("`, `"))
            }
            ArgumentMisfit::Kind { name, expected, found } => {
                write!(f, "argument `{name}`: expected {expected}, found {found}")
            }
            ArgumentMisfit::Extent { name, ty, axis, expected, found } => {
                write!(f, "argument `{name}: {ty}`: expected extent {expected} on axis {axis}, found {found}")
            }
            ArgumentMisfit::FlatExtent { extent, expected, found } => {
                let number = |n: &Option<i64>| n.map_or_else(|| "none".to_owned(), |n| n.to_string());
                write!(f, "the extent `{extent}`: expected {}, found {}", number(expected), number(found))
            }
            ArgumentMisfit::UnknownSize { name } => {
                write!(f, "size `{name}` follows from no argument: give it by name")
            }
            ArgumentMisfit::NoMemory { name, bytes } => {
                write!(f, "argument `{name}`: the machine has no memory for a copy of {bytes} bytes")
            }
        }
    }
}

impl std::error::Error for ArgumentMisfit {}

/// The flat operands of a call. Sizes follow from the extents of the arguments; one that follows from none is taken
/// from an argument of its name.
pub fn fit_arguments(entry: &Entry, args: &Arguments) -> Result<Vec<Value>, ArgumentMisfit> {
    let is_left_out = |param: &&EntryParam| !args.contains_key(&param.name);
    let default = |param: &EntryParam| Some((param.name.clone(), default_of(param)?));
    let defaults: Arguments = entry.params.iter().filter(is_left_out).filter_map(default).collect();
    let args = Given { args, defaults: &defaults };
    if let Some(name) = args.args.keys().find(|name| !is_known(entry, name)) {
        let known = entry.params.iter().map(|p| p.name.clone()).chain(entry.sizes.iter().cloned()).collect();
        return Err(ArgumentMisfit::Unknown { name: name.clone(), known });
    }
    let mut leaves = Vec::new();
    let mut extents = Vec::new();
    // The dims of payloads of other variants.
    let mut absent: Vec<Dim> = Vec::new();
    for param in &entry.params {
        let Some(value) = args.get(&param.name) else {
            return Err(ArgumentMisfit::Missing { name: param.name.clone(), ty: entry.show(&param.ty) });
        };
        check_kind(entry, &param.name, value, &param.ty)?;
        let first = leaves.len();
        let flat = value.flatten(&param.ty, &mut leaves);
        flat.map_err(|NoMemory(bytes)| ArgumentMisfit::NoMemory { name: param.name.clone(), bytes })?;
        for (leaf, found) in param.ty.leaves().into_iter().zip(&leaves[first..]) {
            if !leaf.is_there(&leaves[first..]) {
                absent.extend(leaf.dims);
                continue;
            }
            // An empty array of structs says nothing about the extents of its elements.
            let is_guess = found.bits.is_empty() && matches!(value, HostValue::Array { .. });
            for (axis, (dim, n)) in leaf.dims.into_iter().zip(&found.dims).enumerate() {
                if !(is_guess && *n == 0) {
                    extents.push(Extent { param, axis, dim, found: *n });
                }
            }
        }
    }
    let given = |name: &String| match args.get(name)?.as_scalar()?.as_i64() {
        Some(n) if entry.params.iter().all(|p| p.name != *name) => Some(n),
        Some(_) | None => None,
    };
    let mut known = Known { entry, args, sizes: entry.sizes.iter().map(given).collect() };
    let sizes = solve_sizes(&mut known, &extents, &absent)?;
    for e in &extents {
        check_extent(&known, e)?;
    }
    // An extent that nothing else tells is that of the argument.
    let found = |dim: &Dim| extents.iter().find(|e| e.dim == *dim).map(|e| e.found);
    let lengths = entry.extents.iter().map(|extent| match extent {
        EntryExtent::Size(dim) => known.value(dim).or_else(|| found(dim)).unwrap_or(0),
        EntryExtent::Payload { leaf, axis } => leaves[*leaf].dims[*axis],
    });
    let numbers = sizes.into_iter().chain(lengths).map(|n| Value::from(Const::i64(n)));
    let mut flat: Vec<Value> = numbers.collect();
    flat.extend(leaves);
    Ok(flat)
}

/// Whether the extents among flat operands are what the signature says of them for the sizes among these.
pub(crate) fn check_flat_extents(entry: &Entry, flat: &[Value]) -> Result<(), ArgumentMisfit> {
    let number = |k: usize| flat.get(k).and_then(|v| v.scalar()).and_then(|c| c.as_i64());
    let none = Arguments::new();
    let known = Known {
        entry,
        args: Given { args: &none, defaults: &none },
        sizes: (0..entry.sizes.len()).map(number).collect(),
    };
    for (k, extent) in entry.extents.iter().enumerate() {
        let EntryExtent::Size(dim) = extent else { continue };
        let (expected, found) = (known.value(dim), number(entry.sizes.len() + k));
        let depends_on_run = dim.has_atom(|atom| !matches!(atom, Atom::Size(_)));
        if !depends_on_run && (expected.is_none() || expected != found) {
            let text = entry.show_dim(dim);
            return Err(ArgumentMisfit::FlatExtent { extent: text, expected, found });
        }
    }
    Ok(())
}

/// The arguments, and the defaults of parameters that have none.
pub fn with_defaults(entry: &Entry, mut args: Arguments) -> Arguments {
    for param in &entry.params {
        if let Some(value) = default_of(param) {
            args.entry(param.name.clone()).or_insert(value);
        }
    }
    args
}

fn default_of(param: &EntryParam) -> Option<HostValue> {
    rebuild(&param.ty, &mut param.default.as_ref()?.iter().cloned())
}

fn is_known(entry: &Entry, name: &str) -> bool {
    entry.params.iter().any(|p| p.name == name) || entry.sizes.iter().any(|s| s == name)
}

/// The arguments of a call, and the defaults of parameters that have none.
#[derive(Clone, Copy)]
struct Given<'a> {
    args: &'a Arguments,
    defaults: &'a Arguments,
}

impl<'a> Given<'a> {
    fn get(&self, name: &str) -> Option<&'a HostValue> {
        self.args.get(name).or_else(|| self.defaults.get(name))
    }
}

struct Extent<'a> {
    param: &'a EntryParam,
    axis: usize,
    dim: Dim,
    found: i64,
}

fn check_kind(entry: &Entry, name: &str, value: &HostValue, ty: &HostType) -> Result<(), ArgumentMisfit> {
    let misfit = |found: String| Err(ArgumentMisfit::Kind { name: name.to_owned(), expected: entry.show(ty), found });
    match (value, ty) {
        (HostValue::Scalar(c), HostType::Scalar(elem)) if c.elem() == *elem => Ok(()),
        (HostValue::Scalar(c), _) => misfit(c.elem().to_string()),
        (HostValue::Tensor(v), HostType::Tensor { elem, dims }) => match elem.as_ref() {
            HostType::Scalar(elem) if v.elem == *elem && v.dims.len() == dims.len() => Ok(()),
            HostType::Scalar(_)
            | HostType::Tensor { .. }
            | HostType::Tuple(_)
            | HostType::Struct { .. }
            | HostType::Enum { .. } => misfit(value.describe()),
        },
        (HostValue::Tensor(_), _) => misfit(value.describe()),
        (HostValue::Array { dims: found, items }, HostType::Tensor { elem, dims }) if found.len() == dims.len() => {
            items.iter().try_for_each(|item| check_kind(entry, name, item, elem))
        }
        (HostValue::Array { .. }, _) => misfit(value.describe()),
        (HostValue::Tuple(parts), HostType::Tuple(tys)) if parts.len() == tys.len() => {
            parts.iter().zip(tys).try_for_each(|(v, ty)| check_kind(entry, name, v, ty))
        }
        (HostValue::Tuple(_), _) => misfit(value.describe()),
        (HostValue::Struct(fields), HostType::Struct { fields: tys, .. })
            if fields.iter().map(|(n, _)| n).eq(tys.iter().map(|(n, _)| n)) =>
        {
            fields.iter().zip(tys).try_for_each(|((_, v), (_, ty))| check_kind(entry, name, v, ty))
        }
        (HostValue::Struct(_), _) => misfit(value.describe()),
        (HostValue::Enum { variant, payload }, HostType::Enum { variants, .. }) => {
            let of = variants.iter().find(|v| v.name == *variant);
            match (payload, of.map(|v| &v.payload)) {
                (None, Some(None)) => Ok(()),
                (Some(payload), Some(Some(ty))) => check_kind(entry, name, payload, ty),
                (None, Some(Some(_))) | (Some(_), Some(None)) | (_, None) => misfit(value.describe()),
            }
        }
        (HostValue::Enum { .. }, _) => misfit(value.describe()),
    }
}

/// The sizes known so far, and the arguments: what the atoms of a dim stand for.
struct Known<'a> {
    entry: &'a Entry,
    args: Given<'a>,
    sizes: Vec<Option<i64>>,
}

impl Known<'_> {
    fn atom(&self, atom: &Atom) -> Option<Dim> {
        let value = match atom {
            Atom::Size(k) => (*self.sizes.get(k.0 as usize)?)?,
            Atom::Value(k) => {
                let param = self.entry.params.get(k.0 as usize)?;
                let integer = self.args.get(&param.name)?.as_scalar()?.as_integer()?;
                i64::try_from(integer).ok()?
            }
            // A quotient is substituted by its parts.
            Atom::Runtime(_) | Atom::Pack(_) | Atom::Floor(..) => return None,
        };
        Some(Dim::constant(value))
    }

    /// The dim with what is known filled in.
    fn dim(&self, dim: &Dim) -> Option<Dim> {
        dim.substitute(&|atom| self.atom(atom))
    }

    fn value(&self, dim: &Dim) -> Option<i64> {
        self.dim(dim)?.as_constant()
    }
}

/// Finds the sizes. One that only payloads of other variants have is zero.
fn solve_sizes(known: &mut Known<'_>, extents: &[Extent<'_>], absent: &[Dim]) -> Result<Vec<i64>, ArgumentMisfit> {
    loop {
        let before = known.sizes.iter().flatten().count();
        for e in extents {
            let dim = known.dim(&e.dim);
            let is_unknown = |k: GenericId| known.sizes.get(k.0 as usize).is_some_and(Option::is_none);
            let solved = dim.and_then(|dim| dim.solve(&is_unknown, &Dim::constant(e.found)));
            if let Some((k, value)) = solved
                && let Some(n) = value.as_constant()
            {
                known.sizes[k.0 as usize] = Some(n);
            }
        }
        if known.sizes.iter().flatten().count() == before {
            break;
        }
    }
    for (k, size) in known.sizes.iter_mut().enumerate() {
        let is_absent = |dim: &Dim| dim.has_atom(|atom| *atom == Atom::Size(GenericId(k as u32)));
        if size.is_none() && absent.iter().any(is_absent) {
            *size = Some(0);
        }
    }
    let name = |k: usize| ArgumentMisfit::UnknownSize { name: known.entry.sizes[k].clone() };
    known.sizes.iter().enumerate().map(|(k, n)| n.ok_or_else(|| name(k))).collect()
}

fn check_extent(known: &Known<'_>, e: &Extent<'_>) -> Result<(), ArgumentMisfit> {
    let expected = known.value(&e.dim);
    // A dim that only the run knows is checked by the program.
    if expected.is_none_or(|n| n == e.found) {
        return Ok(());
    }
    let text = known.entry.show_dim(&e.dim);
    let expected = match expected {
        Some(n) if text != n.to_string() => format!("{text} = {n}"),
        Some(_) | None => text,
    };
    Err(ArgumentMisfit::Extent {
        name: e.param.name.clone(),
        ty: known.entry.show(&e.param.ty),
        axis: e.axis,
        expected,
        found: e.found,
    })
}
