//! Fits arguments to a signature: finds the sizes, checks the extents, flattens.

use super::HostValue;
use cotan_ir::Const;
use cotan_ops::Value;
use cotan_sema::dims::{Atom, Dim};
use cotan_sema::entry::{Entry, HostType};
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
    /// Nothing says how large a size is.
    UnknownSize {
        /// The size.
        name: String,
    },
}

impl fmt::Display for ArgumentMisfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ArgumentMisfit::Missing { name, ty } => write!(f, "argument `{name}` is missing: expected {ty}, found none"),
            ArgumentMisfit::Unknown { name, known } => {
                write!(f, "there is no parameter `{name}`: expected one of `{}`", known.join("`, `"))
            }
            ArgumentMisfit::Kind { name, expected, found } => {
                write!(f, "argument `{name}`: expected {expected}, found {found}")
            }
            ArgumentMisfit::Extent { name, ty, axis, expected, found } => {
                write!(f, "argument `{name}: {ty}`: expected extent {expected} on axis {axis}, found {found}")
            }
            ArgumentMisfit::UnknownSize { name } => {
                write!(f, "size `{name}` follows from no argument: give it by name")
            }
        }
    }
}

impl std::error::Error for ArgumentMisfit {}

/// The flat operands of a call. Sizes follow from the extents of the arguments; one that follows from none is taken
/// from an argument of its name.
pub fn fit_arguments(entry: &Entry, args: &Arguments) -> Result<Vec<Value>, ArgumentMisfit> {
    if let Some(name) = args.keys().find(|name| !is_known(entry, name)) {
        let known = entry.params.iter().map(|p| p.name.clone()).chain(entry.sizes.iter().cloned()).collect();
        return Err(ArgumentMisfit::Unknown { name: name.clone(), known });
    }
    let mut leaves = Vec::new();
    let mut extents = Vec::new();
    for param in &entry.params {
        let Some(value) = args.get(&param.name) else {
            return Err(ArgumentMisfit::Missing { name: param.name.clone(), ty: entry.show(&param.ty) });
        };
        check_kind(entry, &param.name, value, &param.ty)?;
        let first = leaves.len();
        value.flatten(&param.ty, &mut leaves);
        for (leaf, found) in param.ty.leaves().into_iter().zip(&leaves[first..]) {
            // An empty array of structs says nothing about the extents of its elements.
            let is_guess = found.bits.is_empty() && matches!(value, HostValue::Array { .. });
            for (axis, (dim, n)) in leaf.dims.into_iter().zip(&found.dims).enumerate() {
                if !(is_guess && *n == 0) {
                    extents.push(Extent { param, axis, dim, found: *n });
                }
            }
        }
    }
    let sizes = solve_sizes(entry, args, &extents)?;
    for e in &extents {
        check_extent(entry, args, &sizes, e)?;
    }
    let sizes = sizes.into_iter().map(|n| Value::from(Const::i64(n)));
    Ok(sizes.chain(leaves).collect())
}

fn is_known(entry: &Entry, name: &str) -> bool {
    entry.params.iter().any(|p| p.name == name) || entry.sizes.iter().any(|s| s == name)
}

struct Extent<'a> {
    param: &'a cotan_sema::entry::EntryParam,
    axis: usize,
    dim: Dim,
    found: i64,
}

fn check_kind(entry: &Entry, name: &str, value: &HostValue, ty: &HostType) -> Result<(), ArgumentMisfit> {
    let misfit = |found: String| {
        Err(ArgumentMisfit::Kind { name: name.to_owned(), expected: entry.show(ty), found })
    };
    match (value, ty) {
        (HostValue::Scalar(c), HostType::Scalar(elem)) if c.elem() == *elem => Ok(()),
        (HostValue::Scalar(c), _) => misfit(c.elem().to_string()),
        (HostValue::Tensor(v), HostType::Tensor { elem, dims }) => match elem.as_ref() {
            HostType::Scalar(elem) if v.elem == *elem && v.dims.len() == dims.len() => Ok(()),
            HostType::Scalar(_) | HostType::Tensor { .. } | HostType::Tuple(_) | HostType::Struct { .. } => {
                misfit(format!("{}{:?}", v.elem, v.dims))
            }
        },
        (HostValue::Tensor(v), _) => misfit(format!("{}{:?}", v.elem, v.dims)),
        (HostValue::Array { dims: found, items }, HostType::Tensor { elem, dims }) if found.len() == dims.len() => {
            items.iter().try_for_each(|item| check_kind(entry, name, item, elem))
        }
        (HostValue::Array { .. }, _) => misfit("an array".to_owned()),
        (HostValue::Tuple(parts), HostType::Tuple(tys)) if parts.len() == tys.len() => {
            parts.iter().zip(tys).try_for_each(|(v, ty)| check_kind(entry, name, v, ty))
        }
        (HostValue::Tuple(parts), _) => misfit(format!("a tuple of {}", parts.len())),
        (HostValue::Struct(fields), HostType::Struct { fields: tys, .. })
            if fields.iter().map(|(n, _)| n).eq(tys.iter().map(|(n, _)| n)) =>
        {
            fields.iter().zip(tys).try_for_each(|((_, v), (_, ty))| check_kind(entry, name, v, ty))
        }
        (HostValue::Struct(_), _) => misfit("another struct".to_owned()),
    }
}

/// The value that an atom has by the sizes known so far and the scalar arguments.
fn known_atom(entry: &Entry, args: &Arguments, sizes: &[Option<i64>], atom: &Atom) -> Option<Dim> {
    let value = match atom {
        Atom::Size(k) => (*sizes.get(k.0 as usize)?)?,
        Atom::Value(k) => {
            let param = entry.params.get(k.0 as usize)?;
            let integer = args.get(&param.name)?.as_scalar()?.as_integer()?;
            i64::try_from(integer).ok()?
        }
        Atom::Runtime(_) | Atom::Floor(..) => return None,
    };
    Some(Dim::constant(value))
}

fn solve_sizes(entry: &Entry, args: &Arguments, extents: &[Extent<'_>]) -> Result<Vec<i64>, ArgumentMisfit> {
    let given = |name: &String| match args.get(name)?.as_scalar()?.as_i64() {
        Some(n) if entry.params.iter().all(|p| p.name != *name) => Some(n),
        Some(_) | None => None,
    };
    let mut sizes: Vec<Option<i64>> = entry.sizes.iter().map(given).collect();
    loop {
        let before = sizes.iter().flatten().count();
        for e in extents {
            let known = e.dim.substitute(&|atom| known_atom(entry, args, &sizes, atom));
            let is_unknown = |k: cotan_sema::dims::GenericId| sizes.get(k.0 as usize).is_some_and(Option::is_none);
            let solved = known.and_then(|dim| dim.solve(&is_unknown, &Dim::constant(e.found)));
            if let Some((k, value)) = solved
                && let Some(n) = value.as_constant()
            {
                sizes[k.0 as usize] = Some(n);
            }
        }
        if sizes.iter().flatten().count() == before {
            break;
        }
    }
    let name = |k: usize| ArgumentMisfit::UnknownSize { name: entry.sizes[k].clone() };
    sizes.into_iter().enumerate().map(|(k, n)| n.ok_or_else(|| name(k))).collect()
}

fn check_extent(entry: &Entry, args: &Arguments, sizes: &[i64], e: &Extent<'_>) -> Result<(), ArgumentMisfit> {
    let sizes: Vec<Option<i64>> = sizes.iter().copied().map(Some).collect();
    let expected = e.dim.substitute(&|atom| known_atom(entry, args, &sizes, atom));
    let expected = expected.and_then(|d| d.as_constant());
    // A dim that only the run knows is checked by the program.
    if expected.is_none_or(|n| n == e.found) {
        return Ok(());
    }
    let text = entry.show_dim(&e.dim);
    let expected = match expected {
        Some(n) if text != n.to_string() => format!("{text} = {n}"),
        Some(_) | None => text,
    };
    Err(ArgumentMisfit::Extent {
        name: e.param.name.clone(),
        ty: entry.show(&e.param.ty),
        axis: e.axis,
        expected,
        found: e.found,
    })
}
