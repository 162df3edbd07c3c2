//! The matrix product: loops, and for large matrices a library.
//!
//! What is large shows when the product runs. A matrix that nothing but such products reads in another order is not
//! transposed in memory: the library takes strides, and the loops for small matrices transpose it themselves.

mod columns;
mod loops;
mod runs;

use super::{Lowering, Value};
use crate::node::{Node, Operand, Product, Tensor, View};
use crate::product::{either, is_small, is_surely_small};
use columns::by_columns;
pub(super) use columns::{Columns, pack};
use cotan_ir::{Atom, Block, Dim, Elem, Function, Op, Ty, Var, bug, count_uses};
use cotan_ops::{Instruction, MATMUL, RUN, TRANSPOSE, is_one_run, is_strong};
use loops::{Factors, product_loops};
use rustc_hash::{FxHashMap, FxHashSet};

/// One of the factors.
struct Factor {
    /// Its extents are those of the operation.
    tensor: Tensor,
    /// Whether its last two axes are exchanged in memory.
    is_transposed: bool,
}

impl Factor {
    /// The same elements as they lie in memory.
    fn in_memory(&self) -> Tensor {
        let mut stored = self.tensor.clone();
        if self.is_transposed {
            let rank = stored.dims.len();
            stored.dims.swap(rank - 2, rank - 1);
        }
        stored
    }
}

pub(super) fn matmul(this: &mut Lowering, result: Var, args: &[Value], attrs: &[i64]) -> Value {
    let Some((Op::Tensor { args: operands, .. }, _)) = this.definitions.get(&result).map(|(s, k)| (&s.op, k)) else {
        bug!("lowering to nests", this.f, "no statement computes the product {result:?}");
    };
    let is_transposed = |a: &Atom| a.var().is_some_and(|v| this.transposed.contains(&v));
    let marks = operands.iter().map(is_transposed);
    let factors = args.iter().zip(marks).map(|(value, is_transposed)| Factor { tensor: value.tensor(), is_transposed });
    let factors: Vec<Factor> = factors.collect();
    let [left, right] = &factors[..] else {
        bug!("lowering to nests", this.f, "a product has {} operands", factors.len())
    };
    let columns = operands[0].var().and_then(|matrix| this.columns.get(&matrix)).cloned();
    let has_vector = right.tensor.dims.len() == 1 && !is_strong(attrs);
    this.written(result, |this, to| match test_of_small(this, left, right, to, attrs) {
        None => {
            let factors = Factors { left: &left.tensor, right: &right.tensor, attrs };
            match columns.filter(|_| has_vector) {
                Some(columns) => by_columns(this, &columns, &factors, to),
                None => product_loops(this, &factors, to),
            }
        }
        Some(small) => {
            let loops = this.nodes(|this| {
                let (left, right) = (dense(this, left), dense(this, right));
                product_loops(this, &Factors { left: &left, right: &right, attrs }, to);
            });
            let library = this.nodes(|this| library_product(this, left, right, to));
            // What the loops have transposed is of no use afterwards.
            let transposes = left.is_transposed || right.is_transposed;
            let loops = if transposes { vec![Node::Scope(loops)] } else { loops };
            this.push(Node::If(small, loops, library));
        }
    })
}

/// Whether a product is to be done by loops, where that is known only when it runs; nothing if it always is.
fn test_of_small(this: &mut Lowering, left: &Factor, right: &Factor, to: &Tensor, attrs: &[i64]) -> Option<Operand> {
    let extents = sides(&left.tensor.dims, &right.tensor.dims)?;
    if !has_library(to.elem, attrs) || is_surely_small(extents) {
        return None;
    }
    let mut define = |instruction, elem, args: [Operand; 2]| {
        let result = if elem == Elem::Bool || instruction == Instruction::Lt { Elem::Bool } else { elem };
        this.native(instruction, elem, result, &args)
    };
    let small = is_small(extents, &mut define);
    if !is_one_run(attrs) {
        return Some(small);
    }
    // The library cuts longer sums.
    let is_long = define(Instruction::Lt, Elem::I64, [Operand::i64(RUN as i64), extents[2]]);
    Some(either(small, is_long, &mut define))
}

/// A factor as a dense tensor.
fn dense(this: &mut Lowering, factor: &Factor) -> Tensor {
    if !factor.is_transposed {
        return factor.tensor.clone();
    }
    let outside = this.allocates;
    let to = this.allocate("transposed", factor.tensor.elem, factor.tensor.dims.clone());
    // A scope of its own releases it.
    this.allocates = outside;
    let last = to.dims.len() as i64 - 1;
    let perm: Vec<i64> = (0..last - 1).chain([last, last - 1]).collect();
    this.permute(&factor.in_memory(), &to, &perm);
    to
}

/// The product by a library, for each index of the batch.
fn library_product(this: &mut Lowering, left: &Factor, right: &Factor, to: &Tensor) {
    let n_batch = to.dims.len() - 2;
    this.for_all(&to.dims[..n_batch], &mut |this, at| {
        let [to_view, left_view, right_view] =
            [(to, false), (&left.in_memory(), left.is_transposed), (&right.in_memory(), right.is_transposed)].map(
                |(matrices, is_transposed)| {
                    let matrix = this.part(matrices, at);
                    let mut strides = [matrix.dims[1], Operand::i64(1)];
                    if is_transposed {
                        strides.reverse();
                    }
                    View { place: matrix.place, strides }
                },
            );
        let extents = [to.dims[n_batch], to.dims[n_batch + 1], left.tensor.dims[n_batch + 1]];
        let product = Product { elem: to.elem, to: to_view, left: left_view, right: right_view, extents };
        this.push(Node::Product(Box::new(product)));
    });
}

/// Rows, columns and terms of a product of matrices, given the dims of the factors.
fn sides<D: Copy>(left: &[D], right: &[D]) -> Option<[D; 3]> {
    match (left, right) {
        ([.., m, k], [_, .., n]) => Some([*m, *n, *k]),
        (_, _) => None,
    }
}

/// Whether there is a library for products of this kind.
fn has_library(elem: Elem, attrs: &[i64]) -> bool {
    !is_strong(attrs) && matches!(elem, Elem::F32 | Elem::F64)
}

/// The transposed matrices that nothing reads but products in the same block that may be large.
pub(super) fn only_multiplied(f: &Function) -> FxHashSet<Var> {
    let mut found = FxHashSet::default();
    if has_transposed(&f.body) {
        collect(f, &f.body, &count_uses(&f.body, &f.vars), &mut found);
    }
    found
}

fn has_transposed(block: &Block) -> bool {
    block.walk().any(|s| s.op.args_of_tensor(TRANSPOSE.op()).is_some())
}

fn collect(f: &Function, block: &Block, uses: &[u32], found: &mut FxHashSet<Var>) {
    let mut in_products: FxHashMap<Var, u32> = FxHashMap::default();
    for stmt in &block.stmts {
        if let Op::Tensor { op, args, attrs } = &stmt.op
            && *op == MATMUL.op()
            && may_be_large(f.atom_ty(args[0]), f.atom_ty(args[1]), attrs)
        {
            args.iter().filter_map(|a| a.var()).for_each(|v| *in_products.entry(v).or_default() += 1);
        }
    }
    for stmt in &block.stmts {
        if let Op::Tensor { op, args, attrs } = &stmt.op
            && *op == TRANSPOSE.op()
            && exchanges_last_two(attrs)
            && args[0].var().is_some()
        {
            let v = stmt.results[0];
            if in_products.get(&v).copied().unwrap_or(0) == uses[v.index()] && f.vars[v.index()].record.is_none() {
                found.insert(v);
            }
        }
        stmt.op.blocks().iter().for_each(|inner| collect(f, inner, uses, found));
    }
}

fn may_be_large(left: Ty, right: Ty, attrs: &[i64]) -> bool {
    let extent = |dim: Dim| match dim.atom() {
        Atom::Const(c) => Operand::Const(c),
        // Any local will do: that it is not known is all that counts.
        Atom::Var(_) => Operand::Local(crate::node::Local(0)),
    };
    let extents = sides(&left.dims, &right.dims).map(|sides| sides.map(extent));
    has_library(left.elem, attrs) && extents.is_some_and(|extents| !is_surely_small(extents))
}

/// Whether a permutation of axes does nothing but exchange the last two.
fn exchanges_last_two(perm: &[i64]) -> bool {
    let Some(n_batch) = perm.len().checked_sub(2) else { return false };
    let leading = perm[..n_batch].iter().enumerate().all(|(k, axis)| *axis == k as i64);
    leading && perm[n_batch..] == [n_batch as i64 + 1, n_batch as i64]
}
