//! The rows or the columns of a matrix, as the leaves that they are made of.

use cotan_ir::{Elem, Function, Ty, Var};
use cotan_ops::{Value, count as count_of};

/// The leaves of one side, in the order in which code takes or gives them.
#[derive(Clone, Debug)]
pub(super) struct Side {
    leaves: Vec<Leaf>,
    /// The leaves in the order of the lines of the matrix.
    order: Vec<usize>,
}

#[derive(Clone, Debug)]
struct Leaf {
    elem: Elem,
    dims: Vec<Extent>,
}

/// Where an extent comes from.
#[derive(Clone, Copy, Debug)]
enum Extent {
    Constant(i64),
    /// An operand of the base.
    Operand(usize),
    /// A length that the base finds out.
    Length(usize),
}

/// A leaf at some operands.
#[derive(Clone, Debug)]
pub(super) struct Placed {
    elem: Elem,
    dims: Vec<i64>,
    /// Its first line.
    start: usize,
}

impl Side {
    /// The side that has leaves at some positions of a function; `ty_of` gives the type of each.
    pub(super) fn new(f: &Function, lengths: &[Var], positions: &[usize], ty_of: impl Fn(usize) -> Ty) -> Side {
        let extent = |v: Var| match f.params.iter().position(|param| *param == v) {
            Some(at) => Extent::Operand(at),
            None => Extent::Length(lengths.iter().position(|length| *length == v).unwrap_or(usize::MAX)),
        };
        let sorted = ascending(positions);
        let leaf = |position: &usize| {
            let ty = ty_of(*position).tangent();
            let dims = ty.dims.iter().map(|dim| match dim {
                cotan_ir::Dim::Const(n) => Extent::Constant(*n),
                cotan_ir::Dim::Var(v) => extent(*v),
            });
            Leaf { elem: ty.elem, dims: dims.collect() }
        };
        let order = positions.iter().filter_map(|position| sorted.iter().position(|other| other == position)).collect();
        Side { leaves: sorted.iter().map(leaf).collect(), order }
    }

    /// The leaves in the order of the lines of the matrix, by the order in which code takes them.
    pub(super) fn order(&self) -> &[usize] {
        &self.order
    }

    /// The widest type of a leaf.
    pub(super) fn widest(&self) -> Elem {
        if self.leaves.iter().any(|leaf| leaf.elem == Elem::F64) { Elem::F64 } else { Elem::F32 }
    }

    /// The leaves at these operands and lengths, in the order in which code takes them. What is no extent counts as 0.
    pub(super) fn placed(&self, flat: &[Value], lengths: &[i64]) -> Vec<Placed> {
        let value = |extent: &Extent| match extent {
            Extent::Constant(n) => *n,
            Extent::Operand(at) => flat.get(*at).and_then(Value::scalar).and_then(|c| c.as_i64()).unwrap_or(0).max(0),
            Extent::Length(at) => lengths.get(*at).copied().unwrap_or(0),
        };
        let placed = |leaf: &Leaf| Placed { elem: leaf.elem, dims: leaf.dims.iter().map(value).collect(), start: 0 };
        let mut all: Vec<Placed> = self.leaves.iter().map(placed).collect();
        let mut start = 0;
        for k in &self.order {
            all[*k].start = start;
            start += all[*k].size();
        }
        all
    }
}

/// The number of lines that leaves have together.
pub(super) fn count(leaves: &[Placed]) -> usize {
    leaves.iter().map(Placed::size).sum()
}

impl Placed {
    fn size(&self) -> usize {
        count_of(&self.dims)
    }

    /// The leaf's part of `n` directions with `stride` lines each, one after the other.
    pub(super) fn gathered(&self, n: usize, stride: usize, directions: &[f64]) -> Value {
        let mut bits = Vec::with_capacity(n * self.size());
        for k in 0..n {
            let own = &directions[k * stride + self.start..][..self.size()];
            // Derivatives are singles or doubles: storage types have those of singles.
            if self.elem == Elem::F32 {
                bits.extend(own.iter().map(|x| u64::from((*x as f32).to_bits())));
            } else {
                bits.extend(own.iter().map(|x| x.to_bits()));
            }
        }
        Value { elem: self.elem, dims: std::iter::once(n as i64).chain(self.dims.iter().copied()).collect(), bits }
    }

    /// Puts the leaf's part of `n` products with `stride` lines each to where it belongs.
    pub(super) fn scatter(&self, value: &Value, n: usize, stride: usize, products: &mut [f64]) {
        for k in 0..n {
            let own = &mut products[k * stride + self.start..][..self.size()];
            let bits = &value.bits[k * self.size()..];
            if self.elem == Elem::F32 {
                own.iter_mut().zip(bits).for_each(|(x, b)| *x = f32::from_bits(*b as u32).into());
            } else {
                own.iter_mut().zip(bits).for_each(|(x, b)| *x = f64::from_bits(*b));
            }
        }
    }
}

/// Positions in ascending order, each once.
pub(super) fn ascending(positions: &[usize]) -> Vec<usize> {
    let mut positions = positions.to_vec();
    positions.sort_unstable();
    positions.dedup();
    positions
}

/// The lengths that types of some results name and the body computes, in order of first appearance: for each the variable,
/// and a result and an axis where it stands.
pub(super) fn lengths(f: &Function, outs: &[usize]) -> Vec<(Var, usize, usize)> {
    let mut lengths: Vec<(Var, usize, usize)> = Vec::new();
    for out in outs {
        for (axis, dim) in f.atom_ty(f.body.results[*out]).dims.iter().enumerate() {
            if let Some(v) = dim.var()
                && !f.params.contains(&v)
                && lengths.iter().all(|(seen, ..)| *seen != v)
            {
                lengths.push((v, *out, axis));
            }
        }
    }
    lengths
}
