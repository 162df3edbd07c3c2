//! Arguments for a signature, at random: most of them fit it, some have extents of their own.

use crate::random::Rng;
use cotan::host::{Arguments, HostValue};
use cotan_ir::{Const, Elem};
use cotan_lower::entry::{Entry, HostType};
use cotan_ops::Value;
use cotan_sema::dims::{Atom, Dim};
use std::collections::BTreeMap;

/// The most elements along an axis.
const LONGEST: i64 = 40;

/// Arguments of the types of a signature; none where an extent can't be worked out.
pub(super) fn random(rng: &mut Rng, entry: &Entry) -> Option<Arguments> {
    // Extents of one's own: what is solved for then is negative, or has no solution.
    let fits = rng.chance(0.7);
    let sizes: Vec<i64> = entry.signature.sizes.iter().map(|_| rng.range(0, 5)).collect();
    let mut values = BTreeMap::new();
    let mut args = Arguments::new();
    // Integers first: extents may be made of them.
    for (k, param) in entry.signature.params.iter().enumerate() {
        if let HostType::Scalar(elem) = &param.ty {
            let scalar = scalar(rng, *elem);
            values.insert(k, scalar.as_i64());
            args.insert(param.name.clone(), HostValue::Scalar(scalar));
        }
    }
    for param in &entry.signature.params {
        if !args.contains_key(&param.name) {
            let value = Maker { rng, sizes: &sizes, values: &values, fits }.value(&param.ty)?;
            args.insert(param.name.clone(), value);
        }
    }
    for (k, name) in entry.signature.sizes.iter().enumerate() {
        let is_of_it = |dim: &Dim| dim.has_atom(|atom| matches!(atom, Atom::Size(id) if id.0 as usize == k));
        let leaves = entry.signature.params.iter().flat_map(|param| param.ty.leaves());
        if !leaves.flat_map(|leaf| leaf.dims).any(|dim| is_of_it(&dim)) {
            let n = if fits { sizes[k] } else { rng.range(-5, 5) };
            args.insert(name.clone(), HostValue::i64(n));
        }
    }
    Some(args)
}

struct Maker<'a> {
    rng: &'a mut Rng,
    sizes: &'a [i64],
    values: &'a BTreeMap<usize, Option<i64>>,
    fits: bool,
}

impl Maker<'_> {
    fn value(&mut self, ty: &HostType) -> Option<HostValue> {
        Some(match ty {
            HostType::Scalar(elem) => HostValue::Scalar(scalar(self.rng, *elem)),
            HostType::Tensor { elem, dims } => {
                let dims: Vec<i64> = dims.iter().map(|dim| self.extent(dim)).collect::<Option<_>>()?;
                let n = dims.iter().product::<i64>();
                if let HostType::Scalar(elem) = elem.as_ref() {
                    let bits = (0..n).map(|_| scalar(self.rng, *elem).bits()).collect();
                    return Some(HostValue::Tensor(Value { elem: *elem, dims, bits }));
                }
                let items = (0..n).map(|_| self.value(elem)).collect::<Option<_>>()?;
                HostValue::Array { dims, items }
            }
            HostType::Tuple(parts) => HostValue::Tuple(parts.iter().map(|ty| self.value(ty)).collect::<Option<_>>()?),
            HostType::Struct { fields, .. } => {
                let field = |(name, ty): &(String, HostType)| Some((name.clone(), self.value(ty)?));
                HostValue::Struct(fields.iter().map(field).collect::<Option<_>>()?)
            }
            HostType::Enum { variants, .. } => {
                let variant = variants.get(self.rng.below(variants.len()))?;
                let payload = match &variant.payload {
                    Some(ty) => Some(Box::new(self.value(ty)?)),
                    None => None,
                };
                HostValue::Enum { variant: variant.name.clone(), payload }
            }
        })
    }

    fn extent(&mut self, dim: &Dim) -> Option<i64> {
        if !self.fits && self.rng.chance(0.5) {
            return Some(self.rng.range(0, 6));
        }
        let value = dim.substitute(&|atom| match atom {
            Atom::Size(id) => self.sizes.get(id.0 as usize).copied().map(Dim::constant),
            Atom::Value(id) => self.values.get(&(id.0 as usize)).copied().flatten().map(Dim::constant),
            Atom::Runtime(_) | Atom::Pack(_) | Atom::Floor(..) => None,
        });
        let n = value?.as_constant()?;
        Some(if n < 0 { self.rng.range(0, 4) } else { n }).filter(|n| *n <= LONGEST)
    }
}

/// A number of a type: small ones, and now and then one at an edge.
fn scalar(rng: &mut Rng, elem: Elem) -> Const {
    match elem {
        Elem::Bool => Const::bool(rng.chance(0.5)),
        Elem::F64 | Elem::F32 | Elem::F16 | Elem::BF16 => {
            let edges = [0.0, -0.0, 1.0, -1.0, 1e-300, 1e300, f64::INFINITY, f64::NAN];
            let x = if rng.chance(0.15) { rng.choice(&edges) } else { rng.span(-2.0, 2.0) };
            Const::float(elem, x)
        }
        Elem::I8 | Elem::I16 | Elem::I32 | Elem::I64 | Elem::U8 | Elem::U16 | Elem::U32 | Elem::U64 => {
            let (lo, hi) = elem.integer_range().unwrap_or((0, 1));
            let n = if rng.chance(0.08) { rng.choice(&[lo, hi]) } else { i128::from(rng.range(-1, 5)) };
            Const::integer(elem, n.clamp(lo, hi))
        }
    }
}
