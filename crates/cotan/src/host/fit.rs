//! Fits arguments to a signature: finds the sizes, checks the extents, flattens.

use super::value::UNTOLD;
use super::{HostValue, NoMemory, rebuild};
use crate::codes;
use cotan_ir::Const;
use cotan_lower::entry::{Entry, EntryDefault, EntryExtent, EntryParam, HostType, Signature};
use cotan_ops::{ElementCount, Value};
use cotan_sema::dims::{Atom, Dim, GenericId};
use cotan_syntax::Code;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

/// Arguments by name.
pub type Arguments = BTreeMap<String, HostValue>;

/// Arguments that do not fit the signature: the program never started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ArgumentMisfit {
    /// Parameters have no arguments.
    Missing {
        /// The parameters, each with its type; there is at least one.
        params: Vec<(String, String)>,
    },
    /// A parameter has two arguments.
    Twice {
        /// The parameter.
        name: String,
        /// Where they come from.
        by: [String; 2],
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
    /// Flat operands that are not those of the function: what was expected and found.
    Operands(String),
    /// Nothing says how large a size is.
    UnknownSize {
        /// The size.
        name: String,
    },
    /// A size that is given by name is negative.
    NegativeSize {
        /// The size.
        name: String,
        /// What is given for it.
        found: i64,
    },
    /// An extent of an argument makes a size negative.
    SizeBelowZero {
        /// The size.
        size: String,
        /// What it would be.
        value: i64,
        /// The parameter.
        name: String,
        /// Its type.
        ty: String,
        /// The axis.
        axis: usize,
        /// The extent that makes the size zero, if the others are as they are.
        limit: Option<i64>,
        /// The extent.
        found: i64,
    },
    /// The sizes make an extent of a parameter negative.
    NegativeExtent {
        /// The parameter; none of the flat operands has a name.
        name: Option<String>,
        /// The extent, as the signature writes it.
        extent: String,
        /// What it would be.
        value: i64,
    },
    /// A value whose extents are not those of as many elements as it has.
    Elements {
        /// The parameter.
        name: String,
        /// The extents.
        dims: Vec<i64>,
        /// The number of elements.
        found: usize,
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
            ArgumentMisfit::Twice { .. } => codes::ARGUMENT_TWICE,
            ArgumentMisfit::Unknown { .. } => codes::UNKNOWN_ARGUMENT,
            ArgumentMisfit::Kind { .. } | ArgumentMisfit::Operands(_) => codes::ARGUMENT_TYPE,
            ArgumentMisfit::Extent { .. } | ArgumentMisfit::FlatExtent { .. } | ArgumentMisfit::Elements { .. } => {
                codes::ARGUMENT_SHAPE
            }
            ArgumentMisfit::UnknownSize { .. } => codes::UNKNOWN_SIZE,
            ArgumentMisfit::NegativeSize { .. }
            | ArgumentMisfit::SizeBelowZero { .. }
            | ArgumentMisfit::NegativeExtent { .. } => codes::NEGATIVE_SIZE,
            ArgumentMisfit::NoMemory { .. } => codes::LIMIT,
        }
    }

    /// Other parameters that it is about.
    pub(crate) fn other_names(&self) -> Vec<&str> {
        let ArgumentMisfit::Missing { params } = self else { return Vec::new() };
        params.iter().skip(1).map(|(name, _)| name.as_str()).collect()
    }

    /// The parameter, argument or size that it is about.
    pub fn name(&self) -> &str {
        match self {
            ArgumentMisfit::Missing { params } => params.first().map_or("", |(name, _)| name),
            ArgumentMisfit::Twice { name, .. }
            | ArgumentMisfit::Unknown { name, .. }
            | ArgumentMisfit::Kind { name, .. }
            | ArgumentMisfit::Extent { name, .. }
            | ArgumentMisfit::FlatExtent { extent: name, .. }
            | ArgumentMisfit::UnknownSize { name }
            | ArgumentMisfit::NegativeSize { name, .. }
            | ArgumentMisfit::SizeBelowZero { name, .. }
            | ArgumentMisfit::NegativeExtent { name: Some(name), .. }
            | ArgumentMisfit::NegativeExtent { name: None, extent: name, .. }
            | ArgumentMisfit::NoMemory { name, .. }
            | ArgumentMisfit::Elements { name, .. } => name,
            // No name belongs to a flat operand.
            ArgumentMisfit::Operands(_) => "",
        }
    }
}

impl fmt::Display for ArgumentMisfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ArgumentMisfit::Missing { params } => match params.as_slice() {
                [(name, ty)] => write!(f, "argument `{name}` is missing: expected {ty}, found none"),
                several => {
                    let shown: Vec<String> = several.iter().map(|(name, ty)| format!("`{name}: {ty}`")).collect();
                    write!(f, "{} arguments are missing: {}", several.len(), shown.join(", "))
                }
            },
            ArgumentMisfit::Twice { name, by: [first, second] } => {
                write!(f, "argument `{name}` is given twice: by `{first}` and by `{second}`")
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
            ArgumentMisfit::Operands(message) => f.write_str(message),
            ArgumentMisfit::NegativeSize { name, found } => {
                write!(f, "size `{name}`: expected at least 0, found {found}")
            }
            ArgumentMisfit::SizeBelowZero { size, value, name, ty, axis, limit, found } => {
                write!(f, "argument `{name}: {ty}`: expected an extent ")?;
                match limit {
                    Some(limit) if found < limit => write!(f, "of at least {limit}")?,
                    Some(limit) => write!(f, "of at most {limit}")?,
                    None => write!(f, "that fits")?,
                }
                write!(f, " on axis {axis}, found {found}: the size `{size}` would be {value}")
            }
            ArgumentMisfit::NegativeExtent { name, extent, value } => {
                if let Some(name) = name {
                    write!(f, "argument `{name}`: ")?;
                }
                write!(f, "the extent `{extent}`: expected at least 0, found {value}")
            }
            ArgumentMisfit::Elements { name, dims, found } => {
                write!(f, "argument `{name}`: expected the elements of extents {dims:?}, found {found} of them")
            }
        }
    }
}

impl std::error::Error for ArgumentMisfit {}

/// The flat operands of a call. Sizes follow from the extents of the arguments; one that follows from none is taken
/// from an argument of its name.
pub fn fit_arguments(entry: &Entry, args: &Arguments) -> Result<Vec<Value>, ArgumentMisfit> {
    let defaults = defaults(&entry.signature, args);
    let args = Given { args, defaults: &defaults };
    expect_known(entry, args.args.keys().map(String::as_str))?;
    expect_all(entry, &|param| args.get(&param.name).is_some())?;
    let (mut leaves, mut given) = (Vec::new(), Vec::new());
    for param in &entry.signature.params {
        let Some(value) = args.get(&param.name) else { continue };
        check_kind(entry, &param.name, value, &param.ty)?;
        let first = leaves.len();
        let flat = value.flatten(&param.ty, &mut leaves);
        flat.map_err(|NoMemory(bytes)| ArgumentMisfit::NoMemory { name: param.name.clone(), bytes })?;
        given.push((param, first..leaves.len()));
    }
    let numbers = fit_leaves(entry, args, &given, &mut leaves, &|_| false)?;
    let mut flat: Vec<Value> = numbers.into_iter().map(|n| Value::from(Const::i64(n))).collect();
    flat.extend(leaves);
    Ok(flat)
}

/// An error if an argument has the name of no parameter or size.
pub(crate) fn expect_known<'n>(entry: &Entry, mut names: impl Iterator<Item = &'n str>) -> Result<(), ArgumentMisfit> {
    let Some(name) = names.find(|name| !is_known(entry, name)) else { return Ok(()) };
    let params = entry.signature.params.iter().map(|p| p.name.clone());
    let known = params.chain(entry.signature.sizes.iter().cloned()).collect();
    Err(ArgumentMisfit::Unknown { name: name.to_owned(), known })
}

/// The sizes and extents of a call with these leaves, which stand before them among its flat operands. Each parameter has a
/// range of leaves; the elements of some are elsewhere. Extents that an empty array of structs does not tell are filled in.
fn fit_leaves(
    entry: &Entry,
    args: Given<'_>,
    params: &[(&EntryParam, Range<usize>)],
    leaves: &mut [Value],
    is_elsewhere: &dyn Fn(usize) -> bool,
) -> Result<Vec<i64>, ArgumentMisfit> {
    let mut extents = Vec::new();
    // Extents that an empty array of structs does not tell, each of a leaf and an axis.
    let mut untold: Vec<(usize, usize, Extent<'_>)> = Vec::new();
    // The dims of payloads of other variants.
    let mut absent: Vec<Dim> = Vec::new();
    for (param, range) in params {
        let (first, of_param) = (range.start, &leaves[range.clone()]);
        for (at, (leaf, found)) in param.ty.leaves().into_iter().zip(of_param).enumerate() {
            if !leaf.is_there(of_param) {
                absent.extend(leaf.dims);
                continue;
            }
            let is_told = |n: i64| n != UNTOLD;
            let told: Vec<i64> = found.dims.iter().copied().filter(|n| is_told(*n)).collect();
            if !is_elsewhere(first + at) && ElementCount::of(&told).is_none_or(|n| n.get() != found.bits.len()) {
                let (name, found, dims) = (param.name.clone(), found.bits.len(), told);
                return Err(ArgumentMisfit::Elements { name, dims, found });
            }
            for (axis, (dim, n)) in leaf.dims.into_iter().zip(&found.dims).enumerate() {
                let extent = Extent { param, axis, dim, found: *n };
                match is_told(*n) {
                    true => extents.push(extent),
                    false => untold.push((first + at, axis, extent)),
                }
            }
        }
    }
    let (sizes, known) = known_sizes(entry, args, &extents, &absent)?;
    for (leaf, axis, e) in untold {
        leaves[leaf].dims[axis] = not_negative(&known, &e, known.value(&e.dim).unwrap_or(0))?;
    }
    let payload = |leaf: usize, axis: usize| leaves[leaf].dims[axis];
    Ok(numbers(&known, sizes, &extents, &payload))
}

/// The sizes and extents of a call whose leaves may lie elsewhere. Of arguments that decide a size or an extent by their value,
/// `integers` has the values.
pub(crate) fn fit_leaves_elsewhere(
    entry: &Entry,
    integers: &Arguments,
    params: &[(&EntryParam, Range<usize>)],
    leaves: &mut [Value],
    is_elsewhere: &dyn Fn(usize) -> bool,
) -> Result<Vec<i64>, ArgumentMisfit> {
    let none = Arguments::new();
    fit_leaves(entry, Given { args: integers, defaults: &none }, params, leaves, is_elsewhere)
}

/// The parameters without an argument, each with its type.
pub(crate) fn missing(signature: &Signature, is_given: &dyn Fn(&EntryParam) -> bool) -> Vec<(String, String)> {
    let missing = signature.params.iter().filter(|param| !is_given(param));
    missing.map(|param| (param.name.clone(), signature.show(&param.ty))).collect()
}

/// Fails if parameters have no argument.
pub(crate) fn expect_all(entry: &Entry, is_given: &dyn Fn(&EntryParam) -> bool) -> Result<(), ArgumentMisfit> {
    match missing(&entry.signature, is_given) {
        params if params.is_empty() => Ok(()),
        params => Err(ArgumentMisfit::Missing { params }),
    }
}

/// The sizes, which fit all extents.
fn known_sizes<'a>(
    entry: &'a Entry,
    args: Given<'a>,
    extents: &[Extent<'a>],
    absent: &[Dim],
) -> Result<(Vec<i64>, Known<'a>), ArgumentMisfit> {
    let given = |name: &String| match args.get(name)?.as_scalar()?.as_i64() {
        Some(n) if entry.signature.params.iter().all(|p| p.name != *name) => Some(n),
        Some(_) | None => None,
    };
    let mut known = Known { entry, args, sizes: entry.signature.sizes.iter().map(given).collect() };
    for (name, size) in entry.signature.sizes.iter().zip(&known.sizes) {
        if let Some(found) = size.filter(|n| *n < 0) {
            return Err(ArgumentMisfit::NegativeSize { name: name.clone(), found });
        }
    }
    let sizes = solve_sizes(&mut known, extents, absent)?;
    extents.iter().try_for_each(|e| check_extent(&known, e))?;
    Ok((sizes, known))
}

/// The sizes, and the extents that are operands of their own.
fn numbers(
    known: &Known<'_>,
    sizes: Vec<i64>,
    extents: &[Extent<'_>],
    payload: &dyn Fn(usize, usize) -> i64,
) -> Vec<i64> {
    // An extent that nothing else tells is that of the argument.
    let found = |dim: &Dim| extents.iter().find(|e| e.dim == *dim).map(|e| e.found);
    let lengths = known.entry.extents.iter().map(|extent| match extent {
        EntryExtent::Size(dim) => known.value(dim).or_else(|| found(dim)).unwrap_or(0),
        EntryExtent::Payload { leaf, axis } => payload(*leaf, *axis),
    });
    sizes.into_iter().chain(lengths).collect()
}

/// Whether the extents among flat operands are what the signature says of them for the sizes among these.
pub(crate) fn check_flat_extents(entry: &Entry, flat: &[Value]) -> Result<(), ArgumentMisfit> {
    let number = |k: usize| flat.get(k).and_then(|v| v.scalar()).and_then(|c| c.as_i64());
    let none = Arguments::new();
    let given = Given { args: &none, defaults: &none };
    let known = Known { entry, args: given, sizes: (0..entry.signature.sizes.len()).map(number).collect() };
    for (name, size) in entry.signature.sizes.iter().zip(&known.sizes) {
        if let Some(found) = size.filter(|n| *n < 0) {
            return Err(ArgumentMisfit::NegativeSize { name: name.clone(), found });
        }
    }
    for (k, extent) in entry.extents.iter().enumerate() {
        let found = number(entry.signature.sizes.len() + k);
        if let Some(value) = found.filter(|n| *n < 0) {
            let extent = match extent {
                EntryExtent::Size(dim) => entry.signature.show_dim(dim),
                EntryExtent::Payload { axis, .. } => format!("axis {axis} of a payload"),
            };
            return Err(ArgumentMisfit::NegativeExtent { name: None, extent, value });
        }
        let EntryExtent::Size(dim) = extent else { continue };
        let expected = known.value(dim);
        let depends_on_run = dim.has_atom(|atom| !matches!(atom, Atom::Size(_)));
        if !depends_on_run && (expected.is_none() || expected != found) {
            let text = entry.signature.show_dim(dim);
            return Err(ArgumentMisfit::FlatExtent { extent: text, expected, found });
        }
    }
    Ok(())
}

/// The arguments, and the defaults of parameters that have none.
pub fn with_defaults(signature: &Signature, mut args: Arguments) -> Arguments {
    args.extend(defaults(signature, &args));
    args
}

/// The values of the parameters that are left out and have a default.
fn defaults(signature: &Signature, args: &Arguments) -> Arguments {
    let mut defaults = Arguments::new();
    for param in signature.params.iter().filter(|param| !args.contains_key(&param.name)) {
        let value = default_of(signature, param, Given { args, defaults: &defaults });
        defaults.extend(value.map(|value| (param.name.clone(), value)));
    }
    defaults
}

/// The value of a parameter that is left out, where those before it have theirs.
fn default_of(signature: &Signature, param: &EntryParam, before: Given<'_>) -> Option<HostValue> {
    match param.default.as_ref()? {
        EntryDefault::Leaves(leaves) => rebuild(&param.ty, &mut leaves.iter().cloned()),
        EntryDefault::OfParam(at) => before.get(&signature.params[*at].name).cloned(),
    }
}

/// Adds the default of the parameter of that name, if it is left out; those before it have their values.
pub(crate) fn add_default(signature: &Signature, name: &str, args: &mut Arguments) {
    let left_out = signature.params.iter().find(|param| param.name == name && !args.contains_key(name));
    let value = left_out.and_then(|param| default_of(signature, param, Given { args, defaults: args }));
    args.extend(value.map(|value| (name.to_owned(), value)));
}

fn is_known(entry: &Entry, name: &str) -> bool {
    entry.signature.params.iter().any(|p| p.name == name) || entry.signature.sizes.iter().any(|s| s == name)
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

pub(crate) fn check_kind(entry: &Entry, name: &str, value: &HostValue, ty: &HostType) -> Result<(), ArgumentMisfit> {
    let misfit =
        |found: String| Err(ArgumentMisfit::Kind { name: name.to_owned(), expected: entry.signature.show(ty), found });
    let elements = match value {
        HostValue::Tensor(v) => Some((&v.dims, v.bits.len())),
        HostValue::Array { dims, items } => Some((dims, items.len())),
        HostValue::Scalar(_) | HostValue::Tuple(_) | HostValue::Struct(_) | HostValue::Enum { .. } => None,
    };
    if let Some((dims, found)) = elements
        && ElementCount::of(dims).is_none_or(|n| n.get() != found)
    {
        return Err(ArgumentMisfit::Elements { name: name.to_owned(), dims: dims.clone(), found });
    }
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
                let param = self.entry.signature.params.get(k.0 as usize)?;
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
                if n < 0 {
                    return Err(size_below_zero(known, e, k, n));
                }
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
    let name = |k: usize| ArgumentMisfit::UnknownSize { name: known.entry.signature.sizes[k].clone() };
    known.sizes.iter().enumerate().map(|(k, n)| n.ok_or_else(|| name(k))).collect()
}

/// An extent makes a size negative.
fn size_below_zero(known: &mut Known<'_>, e: &Extent<'_>, size: GenericId, value: i64) -> ArgumentMisfit {
    let at = size.0 as usize;
    known.sizes[at] = Some(0);
    ArgumentMisfit::SizeBelowZero {
        size: known.entry.signature.sizes[at].clone(),
        value,
        name: e.param.name.clone(),
        ty: known.entry.signature.show(&e.param.ty),
        axis: e.axis,
        limit: known.value(&e.dim).filter(|limit| *limit >= 0),
        found: e.found,
    }
}

/// An extent of a parameter for the sizes; an error if it is negative.
fn not_negative(known: &Known<'_>, e: &Extent<'_>, value: i64) -> Result<i64, ArgumentMisfit> {
    if value >= 0 {
        return Ok(value);
    }
    let name = Some(e.param.name.clone());
    Err(ArgumentMisfit::NegativeExtent { name, extent: known.entry.signature.show_dim(&e.dim), value })
}

fn check_extent(known: &Known<'_>, e: &Extent<'_>) -> Result<(), ArgumentMisfit> {
    let expected = known.value(&e.dim);
    if let Some(n) = expected {
        not_negative(known, e, n)?;
    }
    // A dim that only the run knows is checked by the program.
    if expected.is_none_or(|n| n == e.found) {
        return Ok(());
    }
    let text = known.entry.signature.show_dim(&e.dim);
    let expected = match expected {
        Some(n) if text != n.to_string() => format!("{text} = {n}"),
        Some(_) | None => text,
    };
    Err(ArgumentMisfit::Extent {
        name: e.param.name.clone(),
        ty: known.entry.signature.show(&e.param.ty),
        axis: e.axis,
        expected,
        found: e.found,
    })
}
