//! Nests for a device against the core IR that they are lowered from, counted: each reduction is one node, and each loop
//! that is not sequential there says that its iterations are independent.

use cotan_ir::{Atom, Function, Module, Op, ParResult, Stmt};
use cotan_loops::node::walk;
use cotan_loops::{DEVICE, For, Independence, LoopFunction, Node, Threads, lower_only};
use cotan_ops::{MATMUL, RUN};

/// What there is of a function.
#[derive(Debug, Default, PartialEq, Eq)]
struct Counts {
    reductions: usize,
    /// What they reduce.
    sums: usize,
    /// Counted loops whose iterations run one after the other.
    sequential: usize,
    /// What only a plan for a CPU makes: partial results, and loops in blocks, in lanes or on threads.
    pieces: usize,
}

/// The reductions of a module stay whole in its nests for a device, and its parallel loops say what they are.
pub fn whole_on_devices(module: &Module) -> Result<(), String> {
    module.functions().try_for_each(|f| {
        let nest = lower_only(f, &DEVICE);
        let (expected, found) = (of_function(f), of_nest(&nest));
        if expected == found {
            return Ok(());
        }
        Err(format!("for a device `{}` has {found:?}, where the core IR has {expected:?}:\n{nest}", f.name))
    })
}

fn of_function(f: &Function) -> Counts {
    let mut counts = Counts::default();
    for stmt in f.body.walk() {
        if let Op::Par(p) = &stmt.op {
            let n = p.kinds.iter().filter(|kind| matches!(kind, ParResult::Reduced { .. })).count();
            counts.reductions += usize::from(n > 0);
            counts.sums += n;
        } else if let Op::Loop(l) = &stmt.op {
            counts.sequential += usize::from(l.count.is_some());
        } else {
            counts.sequential += loops_of_product(f, stmt);
        }
    }
    counts
}

/// The loops in which a matrix product adds up: one, or one around another where the order of long sums cuts it into runs.
fn loops_of_product(f: &Function, stmt: &Stmt) -> usize {
    let Some(args) = stmt.op.args_of_tensor(MATMUL.op()) else { return 0 };
    let summed = f.atom_ty(args[0]).dims.last().map(|dim| dim.atom());
    let is_short = match summed {
        Some(Atom::Const(n)) => n.as_i64().is_some_and(|n| n <= RUN as i64),
        Some(Atom::Var(_)) | None => false,
    };
    if is_short { 1 } else { 2 }
}

fn of_nest(nest: &LoopFunction) -> Counts {
    let mut counts = Counts::default();
    walk(&nest.body, &mut |node| {
        if let Node::Reduce(reduction) = node {
            counts.reductions += 1;
            counts.sums += reduction.sums.len();
        }
        if let Node::For(l) = node {
            let For { threads, independence, lanes, .. } = &**l;
            counts.sequential += usize::from(*independence == Independence::None);
            let is_piece = *independence == Independence::Block || *threads != Threads::One || *lanes > 1;
            counts.pieces += usize::from(is_piece);
        }
        counts.pieces += usize::from(matches!(node, Node::PartialSums(_)));
    });
    counts
}
