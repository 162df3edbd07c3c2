//! Parallel loops that stack: `tabulate`, `map`, array literals.
//!
//! The extents of what is stacked must be known before the loop. Those that follow from sizes outside are computed
//! there; one that only the body knows is taken from the first element, and every element is checked to have it.

use std::collections::HashSet;

use cotan_ir::{Atom, CheckKind, Const, Dim as IrDim, Elem, ParResult, Var};
use cotan_ops::{CONCAT, FILL, FROM_ELEMENTS, GT};

use super::Result;
use super::body::{Body, Value};
use cotan_sema::dims::Dim;
use cotan_sema::typed::{Expr, Type};

/// What one iteration computes, given its indices.
pub(super) type Element<'x, 'a, 'p> = &'x mut dyn FnMut(&mut Body<'a, 'p>, &[Atom]) -> Result<Value>;

impl<'a, 'p> Body<'a, 'p> {
    /// Stacks elements of type `ty` over index ranges.
    pub(super) fn stack(&mut self, extents: &[Atom], ty: &Type, element: Element<'_, 'a, 'p>) -> Result<Value> {
        let leaves = self.layout.leaf_types(ty);
        let mut known: Vec<Vec<Option<Atom>>> = Vec::new();
        for leaf in &leaves {
            known.push(leaf.dims.iter().map(|dim| self.clamped_size(dim)).collect());
        }
        let indices = self.code.index_vars(extents.len());
        let at: Vec<Atom> = indices.iter().map(|v| Atom::Var(*v)).collect();
        self.code.b.open_block();
        let elements = self.scoped(|body| element(body, &at))?;
        let mut block = self.code.b.close_block(Vec::new());
        let inside: HashSet<Var> =
            block.stmts.iter().flat_map(|s| s.results.iter().copied()).chain(indices.clone()).collect();

        // Sizes that only the body knows, with the leaf and axis that they are found at.
        let mut unknown: Vec<(Dim, usize, usize)> = Vec::new();
        for (k, leaf) in leaves.iter().enumerate() {
            let found = self.code.b.ty(elements[k]).dims;
            for (axis, dim) in leaf.dims.iter().enumerate() {
                if known[k][axis].is_some() {
                    continue;
                }
                if found[axis].var().is_none_or(|v| !inside.contains(&v)) {
                    known[k][axis] = Some(found[axis].atom());
                } else if unknown.iter().all(|(other, ..)| other != dim) {
                    unknown.push((dim.clone(), k, axis));
                }
            }
        }
        let first = if unknown.is_empty() { Value::new() } else { first_extents(self, extents, &unknown, element)? };
        let extent_of = |k: usize, axis: usize| {
            let dim = &leaves[k].dims[axis];
            let at = unknown.iter().position(|(other, ..)| other == dim);
            known[k][axis].or(at.map(|at| first[at])).unwrap_or(Atom::i64(0))
        };

        self.code.b.reopen_block(std::mem::take(&mut block.stmts));
        let mut results = Value::new();
        for (k, leaf) in elements.into_iter().enumerate() {
            let dims: Vec<Atom> = (0..leaves[k].dims.len()).map(|axis| extent_of(k, axis)).collect();
            results.push(self.code.with_dims(leaf, &dims, CheckKind::RaggedStack));
        }
        let kinds = vec![ParResult::Stacked; results.len()];
        let block = self.code.b.close_block(results);
        let results = self.code.b.finish_par(indices, extents.to_vec(), kinds, Vec::new(), block);
        Ok(results.into_iter().map(Atom::Var).collect())
    }

    /// `[a, b, ..]`, of type `ty`.
    pub(super) fn array(&mut self, parts: &'p [Expr], ty: &Type) -> Result<Value> {
        let mut rows: Vec<Value> = vec![Value::new(); self.layout.n_leaves(ty)];
        for part in parts {
            let value = self.expr(part)?;
            for (row, leaf) in rows.iter_mut().zip(value) {
                row.push(leaf);
            }
        }
        let length = IrDim::Const(parts.len() as i64);
        let mut arrays = Value::new();
        for row in rows {
            let first = self.code.b.ty(row[0]);
            if first.is_scalar() {
                arrays.push(self.code.b.tensor(FROM_ELEMENTS.op(), &row, &[], first.stacked([length])).into());
                continue;
            }
            let mut elements = Value::new();
            for leaf in row {
                // Nobody may see two names for one extent: those of the first element hold.
                let ty = first.stacked([IrDim::Const(1)]);
                elements.push(self.code.b.tensor(FILL.op(), &[leaf], &[], ty).into());
            }
            let array = match elements.as_slice() {
                [only] => *only,
                _ => self.code.b.tensor(CONCAT.op(), &elements, &[0], first.stacked([length])).into(),
            };
            arrays.push(array);
        }
        Ok(arrays)
    }
}

/// Extents of the first element; zeros if there is none.
fn first_extents<'a, 'p>(
    body: &mut Body<'a, 'p>,
    extents: &[Atom],
    unknown: &[(Dim, usize, usize)],
    element: Element<'_, 'a, 'p>,
) -> Result<Value> {
    // The body is lowered once more, so nests of such loops multiply.
    let name = body.symbol.to_string();
    let span = body.code.span();
    body.lowering.enter(&name, span)?;
    let mut selector = Atom::Const(Const::bool(true));
    for n in extents {
        let holds = body.code.prim(&GT, &[*n, Atom::i64(0)]);
        selector = body.code.both(selector, holds);
    }
    let zeros = vec![Atom::i64(0); extents.len()];
    let some = body.arm(|body| {
        let elements = element(body, &zeros)?;
        Ok(Some(unknown.iter().map(|(_, k, axis)| body.code.b.ty(elements[*k]).dims[*axis].atom()).collect()))
    })?;
    let none = body.arm(|_| Ok(Some(vec![Atom::i64(0); unknown.len()])))?;
    let ty = Type::Tuple(vec![Type::of(Elem::I64); unknown.len()]);
    let first = body.merge(selector, [some, none], &ty).unwrap_or_default();
    first.iter().for_each(|n| body.code.note_non_negative(*n));
    body.lowering.leave();
    Ok(first)
}
