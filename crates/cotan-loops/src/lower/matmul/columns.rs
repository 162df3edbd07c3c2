//! Packing: a matrix that every step of a sequential loop multiplies by a vector is transposed once, in front of the loop.
//!
//! A row times a vector is a chain of operations, and rows have no lanes. The same sums as columns of the transpose have: each
//! step adds up all of them at once, from memory as it lies, with the same terms in the same order. It pays for some steps,
//! and for a matrix that stays in a cache with its transpose; the run chooses.

use super::super::Lowering;
use super::loops::{Factors, product_loops};
use crate::node::{Node, Operand, Tensor};
use cotan_ir::{Elem, Loop, Op, Stmt, Var};
use cotan_ops::{Instruction, MATMUL, is_strong};

/// Steps of a loop from which on a transpose pays.
const LEAST_STEPS: i64 = 8;
/// Rows of a matrix from which on they have lanes enough.
const LEAST_ROWS: i64 = 16;
/// Elements of a matrix at most.
const MOST_ELEMENTS: i64 = 1 << 16;

/// The transpose of a matrix.
#[derive(Clone, Debug)]
pub(in super::super) struct Columns {
    /// Whether it was made, a bool.
    is_made: Operand,
    tensor: Tensor,
}

/// Transposes the matrices that steps of a loop multiply by a vector, where they are known in front of it. Loops in loops may
/// become a wavefront, and are left alone. Gives those that were.
pub(in super::super) fn pack(this: &mut Lowering, l: &Loop, steps: Operand) -> Vec<Var> {
    let is_innermost = !l.body.walk().any(|s| matches!(s.op, Op::Loop(_)));
    if this.is_in_par || this.is_in_loop || !this.target.reads_through_caches || !is_innermost {
        return Vec::new();
    }
    let mut matrices: Vec<Var> = l.body.stmts.iter().filter_map(|s| matrix_of(this, s)).collect();
    matrices.sort();
    matrices.dedup();
    matrices.retain(|matrix| transpose(this, *matrix, steps));
    matrices
}

/// The matrix that a statement multiplies by a vector, if it is known already.
fn matrix_of(this: &Lowering, s: &Stmt) -> Option<Var> {
    let Op::Tensor { op, args, attrs } = &s.op else { return None };
    let [matrix, vector] = args[..] else { return None };
    let is_product = *op == MATMUL.op() && !is_strong(attrs);
    let is_with_vector = this.f.atom_ty(matrix).rank() == 2 && this.f.atom_ty(vector).rank() == 1;
    matrix.var().filter(|v| is_product && is_with_vector && this.values.contains_key(v))
}

/// Transposes a matrix where that may pay.
fn transpose(this: &mut Lowering, matrix: Var, steps: Operand) -> bool {
    let from = this.tensor(matrix.into());
    let [rows, columns] = from.dims[..] else { return false };
    let n_elements = this.mul(rows, columns);
    let is_less = |n: Operand, least: i64| n.as_i64().is_some_and(|n| n < least);
    let is_large = n_elements.as_i64().is_some_and(|n| n > MOST_ELEMENTS);
    if is_less(steps, LEAST_STEPS) || is_less(rows, LEAST_ROWS) || is_large {
        return false;
    }
    let limits = [
        (Instruction::Ge, steps, LEAST_STEPS),
        (Instruction::Ge, rows, LEAST_ROWS),
        (Instruction::Le, n_elements, MOST_ELEMENTS),
    ];
    let tests = limits.map(|(test, n, limit)| this.native(test, Elem::I64, Elem::Bool, &[n, Operand::i64(limit)]));
    let [first, others @ ..] = tests;
    let is_made =
        others.into_iter().fold(first, |all, test| this.native(Instruction::And, Elem::Bool, Elem::Bool, &[all, test]));
    let kept = this.native(Instruction::Select, Elem::I64, Elem::I64, &[is_made, columns, Operand::i64(0)]);
    let memory = this.allocate("columns", from.elem, vec![kept, rows]);
    let tensor = Tensor { dims: vec![columns, rows], ..memory };
    let nodes = this.nodes(|this| this.permute(&from, &tensor, &[1, 0]));
    this.push(Node::If(is_made, nodes, Vec::new()));
    this.columns.insert(matrix, Columns { is_made, tensor });
    true
}

/// The product of a matrix that has been transposed and a vector.
pub(super) fn by_columns(this: &mut Lowering, columns: &Columns, factors: &Factors, to: &Tensor) {
    let outside = this.allocates;
    let turned = this.nodes(|this| {
        product_loops(this, &Factors { left: factors.right, right: &columns.tensor, attrs: factors.attrs }, to);
    });
    // A scope of its own releases what that takes.
    this.allocates = outside;
    let plain = this.nodes(|this| product_loops(this, factors, to));
    this.push(Node::If(columns.is_made, vec![Node::Scope(turned)], plain));
}
