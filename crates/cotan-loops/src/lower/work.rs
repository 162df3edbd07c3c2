//! How much work an iteration of a parallel loop is, and what its iterations share.
//!
//! The estimate decides where a loop is cut for threads, and so, where iterations add up, on the last bits of the sums. That
//! is why in such a loop a sequential loop counts the same whatever is in it: a checkpoint, which changes that and nothing
//! else, leaves the bits as they are. What is straight-line code beside such a loop does not count for the same reason.
//! Where nothing is added up the cuts show in no bit, and sequential loops count as what they do.

use super::access::Accumulator;
use super::{Lowering, Value};
use crate::node::{BufferKind, Expr, Operand, Sharing, Sum, Target};
use cotan_ir::{Atom, Block, Const, Elem, Op, Par, Stmt, Ty, Var, written_accs};
use cotan_ops::Instruction;
use rustc_hash::FxHashSet;

/// Steps that sequential loops stand for.
const LOOPS: f64 = 512.0;
/// The same in a parallel loop that stands in a sequential one, where only work for several threads is worth a cut.
const LOOPS_INSIDE: f64 = 4096.0;
/// The same where data say how many iterations a sequential loop has, as in the rows of a sparse matrix.
const RAGGED: f64 = 64.0;
/// Steps that a call of a function stands for.
const CALL: f64 = 128.0;
/// The extent of what is known only inside.
const UNKNOWN: f64 = 16.0;

/// What is known of the outermost loop of a `par` for threads, or of its values in row-major order where it `reduces` them;
/// nothing if its iterations must run one after the other.
pub(super) fn sharing(this: &mut Lowering, p: &Par, reduces: bool) -> Option<Sharing> {
    let sums = sums(this, p)?;
    let loops = match (sums.is_empty(), this.is_in_loop) {
        (true, _) => Loops::Counted,
        (false, true) => Loops::As(LOOPS_INSIDE),
        (false, false) => Loops::As(LOOPS),
    };
    let iteration = steps_of_block(this, &p.body, loops);
    if reduces {
        return Some(Sharing { steps: iteration, sums });
    }
    let steps = p.extents.iter().skip(1).fold(iteration, |steps, extent| {
        let extent = extent_as_float(this, *extent);
        float(this, Instruction::Mul, steps, extent)
    });
    Some(Sharing { steps, sums })
}

/// Whether iterations combine nothing into what is outside.
pub(super) fn combines_nothing(p: &Par) -> bool {
    let mut inside = FxHashSet::default();
    introduced(&p.body, &mut inside);
    written_accs(&p.body).is_subset(&inside)
}

/// Whether all iterations combine into the same elements: at constant places, or in a loop over them that is inside.
pub(super) fn combines_at_fixed_places(p: &Par) -> bool {
    let mut inside = FxHashSet::default();
    introduced(&p.body, &mut inside);
    let mut inner_indices = FxHashSet::default();
    for stmt in p.body.walk() {
        if let Op::Par(inner) = &stmt.op {
            inner_indices.extend(inner.indices.iter().copied());
        }
    }
    let is_fixed = |atom: &Atom| match atom {
        Atom::Const(_) => true,
        Atom::Var(v) => inner_indices.contains(v),
    };
    let moves = |stmt: &Stmt| matches!(&stmt.op, Op::AccAdd { acc, indices, .. } if !inside.contains(acc) && !indices.iter().all(is_fixed));
    !p.body.walk().any(moves)
}

/// The steps of as many iterations as an extent says.
pub(super) fn times_extent(this: &mut Lowering, steps: Operand, extent: Operand) -> Operand {
    let extent = match extent {
        Operand::Const(c) => number(c.as_i64().unwrap_or(0).max(0) as f64),
        Operand::Local(_) => this.native(Instruction::Cast(Elem::F64), Elem::I64, Elem::F64, &[extent]),
    };
    float(this, Instruction::Mul, steps, extent)
}

/// What the iterations of a `par` combine into; nothing if something of it can't be had in several copies. Where
/// each iteration of the outermost loop has a part of its own no copies are needed.
fn sums(this: &Lowering, p: &Par) -> Option<Vec<Sum>> {
    let outermost = Atom::Var(*p.indices.first()?);
    let mut inside = FxHashSet::default();
    introduced(&p.body, &mut inside);
    let mut written: Vec<Var> = written_accs(&p.body).difference(&inside).copied().collect();
    written.sort();
    written.retain(|acc| !starts_with(&p.body, *acc, outermost));
    written.into_iter().map(|acc| sum(this, acc)).collect()
}

fn sum(this: &Lowering, acc: Var) -> Option<Sum> {
    match this.accumulators.get(&acc)? {
        Accumulator::Scalar(monoid, local) => {
            Some(Sum { monoid: *monoid, target: Target::Local(*local), extents: Vec::new() })
        }
        Accumulator::Tensor(monoid, tensor) => {
            let is_whole = tensor.place.offset.as_i64() == Some(0)
                && matches!(this.buffers[tensor.place.buffer.index()].kind, BufferKind::Allocated(_));
            let target = Target::Element(tensor.place);
            is_whole.then(|| Sum { monoid: *monoid, target, extents: tensor.dims.clone() })
        }
        Accumulator::Log(_) => None,
    }
}

/// The same for loops over all elements of an array, of which each is so many steps.
pub(super) fn sharing_of_elements(this: &mut Lowering, extents: &[Operand], steps: f64) -> Option<Sharing> {
    if this.is_in_par || !this.target.estimates_work {
        return None;
    }
    let (_, inner) = extents.split_first()?;
    let steps = inner.iter().fold(number(steps), |steps, extent| times_extent(this, steps, *extent));
    Some(Sharing { steps, sums: Vec::new() })
}

/// The steps of so many iterations.
pub(super) fn times(this: &mut Lowering, steps: Operand, n: i64) -> Operand {
    float(this, Instruction::Mul, steps, number(n as f64))
}

/// What sequential loops count.
#[derive(Clone, Copy)]
enum Loops {
    /// So many steps, together with what is beside them.
    As(f64),
    /// What their iterations do.
    Counted,
}

fn steps_of_block(this: &mut Lowering, block: &Block, loops: Loops) -> Operand {
    let whole = match loops {
        Loops::As(steps) if has_loops(block) => Some(if is_ragged(this, block) { steps.min(RAGGED) } else { steps }),
        Loops::As(_) | Loops::Counted => None,
    };
    let mut steps = number(whole.unwrap_or(1.0 + block.stmts.len() as f64));
    for stmt in &block.stmts {
        let more = steps_of_parts(this, stmt, loops, whole.is_some());
        steps = float(this, Instruction::Add, steps, more);
    }
    steps
}

/// What a statement counts beside one step.
fn steps_of_parts(this: &mut Lowering, stmt: &Stmt, loops: Loops, is_beside_loops: bool) -> Operand {
    if let Op::Par(p) = &stmt.op {
        let iteration = steps_of_block(this, &p.body, loops);
        p.extents.iter().fold(iteration, |steps, extent| {
            let extent = extent_as_float(this, *extent);
            float(this, Instruction::Mul, steps, extent)
        })
    } else if let (Op::Loop(l), Loops::Counted) = (&stmt.op, loops) {
        let iteration = steps_of_block(this, &l.body, loops);
        let trips = l.count.map_or(number(UNKNOWN), |count| extent_as_float(this, count));
        float(this, Instruction::Mul, iteration, trips)
    } else if let Op::Switch { selector: _, arms } = &stmt.op {
        arms.iter().fold(number(0.0), |steps, arm| {
            let arm = steps_of_block(this, arm, loops);
            float(this, Instruction::Max, steps, arm)
        })
    } else if matches!(stmt.op, Op::Prim { .. } | Op::Tensor { .. }) && !is_beside_loops {
        let ty = this.f.ty(stmt.results[0]).clone();
        n_elements(this, &ty)
    } else if matches!(stmt.op, Op::Call { .. }) {
        number(CALL)
    } else {
        number(0.0)
    }
}

fn n_elements(this: &mut Lowering, ty: &Ty) -> Operand {
    let [first, others @ ..] = &ty.dims[..] else { return number(0.0) };
    let first = extent_as_float(this, first.atom());
    others.iter().fold(first, |n, dim| {
        let dim = extent_as_float(this, dim.atom());
        float(this, Instruction::Mul, n, dim)
    })
}

/// An extent as an f64.
fn extent_as_float(this: &mut Lowering, extent: Atom) -> Operand {
    match extent {
        Atom::Const(c) => number(c.as_i64().unwrap_or(0).max(0) as f64),
        Atom::Var(v) => match this.values.get(&v) {
            Some(Value::Scalar(Operand::Const(c))) => number(c.as_i64().unwrap_or(0).max(0) as f64),
            Some(Value::Scalar(local)) => {
                let local = *local;
                this.native(Instruction::Cast(Elem::F64), Elem::I64, Elem::F64, &[local])
            }
            Some(Value::Tensor(_)) | None => number(UNKNOWN),
        },
    }
}

/// An instruction on two f64; those on constants are done here.
fn float(this: &mut Lowering, instruction: Instruction, a: Operand, b: Operand) -> Operand {
    let known = |operand: Operand| match operand {
        Operand::Const(c) => c.as_float(),
        Operand::Local(_) => None,
    };
    match (instruction, known(a), known(b)) {
        (Instruction::Add, Some(a), Some(b)) => number(a + b),
        (Instruction::Mul, Some(a), Some(b)) => number(a * b),
        (Instruction::Max, Some(a), Some(b)) => number(a.max(b)),
        (Instruction::Add, Some(0.0), None) => b,
        (Instruction::Add, None, Some(0.0)) => a,
        _ => this.define("steps", Elem::F64, Expr::Native { instruction, elem: Elem::F64, args: vec![a, b] }),
    }
}

fn number(x: f64) -> Operand {
    Operand::Const(Const::float(Elem::F64, x))
}

/// Whether a block has sequential loops that are in no parallel one.
fn has_loops(block: &Block) -> bool {
    block.stmts.iter().any(|stmt| {
        matches!(stmt.op, Op::Loop(_)) || matches!(&stmt.op, Op::Switch { arms, .. } if arms.iter().any(has_loops))
    })
}

/// Whether elements that a block reads say how many iterations its sequential loops have. With checkpoints they do so, too, and
/// what looks for their distances carries no floats.
fn is_ragged(this: &Lowering, block: &Block) -> bool {
    let mut elements: FxHashSet<Var> = FxHashSet::default();
    for stmt in &block.stmts {
        let is_of_elements = |a: Atom| a.var().is_some_and(|v| elements.contains(&v));
        if let Op::Loop(l) = &stmt.op {
            let carries_floats = l.params.iter().any(|p| this.f.is_float((*p).into()));
            let is_search = l.count.is_none() && !carries_floats && written_accs(&l.body).is_empty();
            if !is_search && !l.count.is_some_and(is_of_elements) {
                return false;
            }
        } else if matches!(&stmt.op, Op::Switch { arms, .. } if arms.iter().any(has_loops)) {
            return false;
        } else if matches!(stmt.op, Op::Index { .. }) || stmt.op.operands().into_iter().any(is_of_elements) {
            elements.extend(&stmt.results);
        }
    }
    true
}

/// Whether everything that a block writes to an accumulator goes to the part of this index.
fn starts_with(block: &Block, acc: Var, index: Atom) -> bool {
    let is_other = |stmt: &Stmt| matches!(&stmt.op, Op::AccAdd { acc: written, indices, .. } if *written == acc && indices.first() != Some(&index));
    !block.walk().any(is_other)
}

/// The accumulators that statements of a block introduce.
fn introduced(block: &Block, accs: &mut FxHashSet<Var>) {
    for stmt in &block.stmts {
        accs.extend(stmt.op.accs().iter().map(|a| a.var));
        stmt.op.blocks().iter().for_each(|b| introduced(b, accs));
    }
}
