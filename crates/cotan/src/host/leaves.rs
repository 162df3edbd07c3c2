//! The leaves of a call: what a host lends for each, and the operands that follow from their extents.
//!
//! Hosts that call often, as typed handles, C and Python do, give leaves by position. Where the signature has plain sizes alone, as
//! `f64[N, D]` and not `f64[N + 1]`, operands are found without memory and without a search by name.

use super::fit::fit_leaves_elsewhere;
use super::{ArgumentMisfit, Arguments, HostValue};
use cotan_ir::Elem;
use cotan_lower::entry::{Entry, EntryParam, Leaf};
use cotan_ops::{TensorRef, Value};
use cotan_sema::dims::{Atom, Dim};
use std::ops::Range;

/// What is known of the leaves of a function before any call.
#[derive(Debug)]
pub(crate) struct Leaves {
    /// Those of the parameters, in order.
    leaves: Vec<Place>,
    /// The range of leaves of each parameter.
    params: Vec<Range<usize>>,
    /// The sizes that no extent has in it, by position: they are operands of their own behind the leaves.
    free_sizes: Vec<usize>,
    /// Where each size is found, a leaf and an axis, if that is so for all of them, and nothing else has to be found out.
    sources: Option<Vec<(usize, usize)>>,
}

/// A leaf.
#[derive(Debug)]
struct Place {
    elem: Elem,
    axes: Vec<Axis>,
}

/// An extent of a leaf.
#[derive(Clone, Copy, Debug)]
enum Axis {
    Number(i64),
    Size(usize),
    /// A formula, or what the run or a value says.
    Other,
}

impl Axis {
    fn of(dim: &Dim) -> Axis {
        match (dim.as_constant(), dim.as_atom()) {
            (Some(n), _) => Axis::Number(n),
            (None, Some(Atom::Size(id))) => Axis::Size(id.0 as usize),
            (None, Some(Atom::Value(_) | Atom::Runtime(_) | Atom::Pack(_) | Atom::Floor(..)) | None) => Axis::Other,
        }
    }
}

impl Leaves {
    pub(crate) fn of(entry: &Entry) -> Leaves {
        let (mut leaves, mut params) = (Vec::new(), Vec::new());
        for param in &entry.signature.params {
            let first = leaves.len();
            let place = |leaf: Leaf| Place { elem: leaf.elem, axes: leaf.dims.iter().map(Axis::of).collect() };
            leaves.extend(param.ty.leaves().into_iter().map(place));
            params.push(first..leaves.len());
        }
        let dims = || entry.signature.params.iter().flat_map(|param| param.ty.leaves()).flat_map(|leaf| leaf.dims);
        let is_free = |size: &usize| !dims().any(|dim| dim.has_atom(|atom| is_size(atom, *size)));
        let free_sizes = (0..entry.signature.sizes.len()).filter(is_free).collect();
        let sources = entry.extents.is_empty().then(|| sources(entry, &leaves)).flatten();
        Leaves { leaves, params, free_sizes, sources }
    }

    /// The sizes that have to be given, by position.
    pub(crate) fn free_sizes(&self) -> &[usize] {
        &self.free_sizes
    }

    /// The leaves of each parameter.
    pub(crate) fn params(&self) -> &[Range<usize>] {
        &self.params
    }

    pub(crate) fn len(&self) -> usize {
        self.leaves.len()
    }

    /// Finds the sizes of a call whose leaves fit without more ado; whether they do.
    pub(super) fn find_sizes(&self, args: &[TensorRef<'_>], sizes: &mut [i64]) -> bool {
        let Some(sources) = self.sources.as_ref().filter(|sources| sources.len() == sizes.len()) else { return false };
        if args.len() != self.leaves.len() {
            return false;
        }
        for (size, (leaf, axis)) in sizes.iter_mut().zip(sources) {
            let Some(found) = args[*leaf].dims().get(*axis) else { return false };
            *size = *found;
        }
        let is_axis = |(axis, found): (&Axis, &i64)| match axis {
            Axis::Number(n) => n == found,
            Axis::Size(size) => sizes[*size] == *found,
            Axis::Other => false,
        };
        args.iter().zip(&self.leaves).all(|(arg, place)| {
            arg.elem() == place.elem
                && arg.dims().len() == place.axes.len()
                && place.axes.iter().zip(arg.dims()).all(is_axis)
        })
    }

    /// The sizes and extents of any call, or why leaves fit no call. Of free sizes `given` has the values.
    pub(super) fn fit(
        &self,
        entry: &Entry,
        args: &[TensorRef<'_>],
        mut given: Arguments,
    ) -> Result<Vec<i64>, ArgumentMisfit> {
        let all: Vec<(&EntryParam, Range<usize>)> =
            entry.signature.params.iter().zip(self.params.iter().cloned()).collect();
        for (param, range) in &all {
            for leaf in range.clone() {
                self.check_kind(entry, param, &args[leaf], leaf)?;
            }
            let number = args[range.start..range.end].first().and_then(TensorRef::to_scalar);
            if let Some(number) = number.filter(|c| range.len() == 1 && c.as_integer().is_some()) {
                given.insert(param.name.clone(), HostValue::Scalar(number));
            }
        }
        // Elements stay where they are; numbers of variants are scalars.
        let value = |arg: &TensorRef<'_>| Value {
            elem: arg.elem(),
            dims: arg.dims().to_vec(),
            bits: arg.to_scalar().map(|c| c.bits()).into_iter().collect(),
        };
        let mut values: Vec<Value> = args.iter().map(value).collect();
        fit_leaves_elsewhere(entry, &given, &all, &mut values, &|at| !args[at].dims().is_empty())
    }

    fn check_kind(
        &self,
        entry: &Entry,
        param: &EntryParam,
        arg: &TensorRef<'_>,
        leaf: usize,
    ) -> Result<(), ArgumentMisfit> {
        let place = &self.leaves[leaf];
        if arg.elem() == place.elem && arg.dims().len() == place.axes.len() {
            return Ok(());
        }
        let (elem, dims) = (arg.elem(), arg.dims());
        let found = if dims.is_empty() { elem.to_string() } else { format!("{elem}{dims:?}") };
        Err(ArgumentMisfit::Kind { name: param.name.clone(), expected: entry.signature.show(&param.ty), found })
    }
}

fn is_size(atom: &Atom, size: usize) -> bool {
    matches!(atom, Atom::Size(id) if id.0 as usize == size)
}

/// Where each size is found, if all extents are sizes and numbers, and all parameters are arrays and numbers.
fn sources(entry: &Entry, leaves: &[Place]) -> Option<Vec<(usize, usize)>> {
    let has_variants = |param: &EntryParam| param.ty.leaves().iter().any(|leaf| leaf.is_tag);
    let has_formulas = leaves.iter().flat_map(|leaf| &leaf.axes).any(|axis| matches!(axis, Axis::Other));
    if has_formulas || entry.signature.params.iter().any(has_variants) {
        return None;
    }
    let source = |size: usize| {
        leaves.iter().enumerate().find_map(|(at, leaf)| {
            let axis = leaf.axes.iter().position(|axis| matches!(axis, Axis::Size(found) if *found == size))?;
            Some((at, axis))
        })
    };
    (0..entry.signature.sizes.len()).map(source).collect()
}
