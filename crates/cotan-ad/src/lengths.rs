//! Lengths that a function computes: its reverse derivative takes them as parameters, next to the cotangents.

use cotan_ir::{Dim, Function, Symbol, Var};

/// The i64 variables, in order of first appearance, that the types of some results name and the body computes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lengths {
    /// Their names.
    pub names: Vec<Symbol>,
    /// For each of the results and each axis, the position of its length, if the body computes it.
    pub axes: Vec<Vec<Option<usize>>>,
}

impl Lengths {
    /// Those of the results `outs` of `f`.
    pub fn of(f: &Function, outs: &[usize]) -> Lengths {
        let mut vars: Vec<Var> = Vec::new();
        let mut axis = |d: &Dim| {
            let v = d.var().filter(|v| !f.params.contains(v))?;
            let known = vars.iter().position(|u| *u == v);
            Some(known.unwrap_or_else(|| {
                vars.push(v);
                vars.len() - 1
            }))
        };
        let axes = outs.iter().map(|k| f.atom_ty(f.body.results[*k]).dims.iter().map(&mut axis).collect()).collect();
        Lengths { names: vars.iter().map(|v| f.vars[v.index()].name.clone()).collect(), axes }
    }

    /// The values of the lengths, read off values of the results' types (or cotangents of them).
    pub(crate) fn values(&self, shapes: &[Vec<Dim>]) -> Vec<Dim> {
        let find = |n| {
            let mut places = self.axes.iter().zip(shapes).flat_map(|(axes, shape)| axes.iter().zip(shape));
            places.find(|(axis, _)| **axis == Some(n)).map(|(_, dim)| *dim)
        };
        (0..self.names.len()).map(|n| find(n).expect("invariant: a length is the length of an axis")).collect()
    }
}
