//! What is worked out once per function: where tensors are used for the last time, and what its primitives call.
//!
//! A plan mirrors the blocks and statements of the function that it is made for.

use cotan_ir::{Atom, Block, Elem, Function, Op, Prim, Stmt, Var};
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// A function and its plan. `K` is what primitives call.
pub(crate) struct Plan<K> {
    pub(crate) function: Arc<Function>,
    pub(crate) body: BlockPlan<K>,
}

/// What is known of a block.
pub(crate) struct BlockPlan<K> {
    /// One per statement.
    pub(crate) stmts: Vec<StmtPlan<K>>,
    /// The tensors of this block that its results may take away. Every one of them is named once.
    pub(crate) moved: Vec<Var>,
    /// Whether nothing but its results tells that it has run: it cannot fail, print or run for ever, and writes to no
    /// accumulator.
    pub(crate) is_quiet: bool,
}

/// What is known of a statement.
pub(crate) struct StmtPlan<K> {
    /// What the primitive calls; `None` for other operations, and for a primitive that the numbers of the run lack.
    pub(crate) kernel: Option<K>,
    /// The tensors that the statement may take away when it reads its operands: nothing reads them again.
    pub(crate) moved: Vec<Var>,
    /// The tensors that nothing reads after the statement.
    pub(crate) dropped: Vec<Var>,
    /// One per inner block.
    pub(crate) blocks: Vec<BlockPlan<K>>,
}

impl<K> Plan<K> {
    /// Plans a function. `kernel` chooses what a primitive calls for operands of these element types.
    pub(crate) fn new(function: Arc<Function>, kernel: &dyn Fn(Prim, &[Elem]) -> Option<K>) -> Plan<K> {
        let mut planner = Planner { f: &function, kernel };
        let (body, _) = planner.block(&function.body, &function.params);
        Plan { body, function }
    }
}

struct Planner<'a, K> {
    f: &'a Function,
    kernel: &'a dyn Fn(Prim, &[Elem]) -> Option<K>,
}

impl<K> Planner<'_, K> {
    /// The plan of a block and all tensors that it reads. `bound` are the variables bound at its head.
    fn block(&mut self, block: &Block, bound: &[Var]) -> (BlockPlan<K>, FxHashSet<Var>) {
        let bound_inside = block.stmts.iter().flat_map(|s| &s.results);
        let own: FxHashSet<Var> = bound.iter().chain(bound_inside).copied().filter(|v| self.is_tensor(*v)).collect();

        let results = self.tensors(&block.results);
        let moved = results.iter().copied().filter(|v| own.contains(v) && is_single(&results, *v)).collect();
        let mut read: FxHashSet<Var> = results.into_iter().collect();

        let mut stmts = Vec::with_capacity(block.stmts.len());
        for s in block.stmts.iter().rev() {
            stmts.push(self.stmt(s, &own, &mut read));
        }
        stmts.reverse();
        let is_quiet = block.stmts.iter().all(is_quiet) && stmts.iter().flat_map(|s| &s.blocks).all(|b| b.is_quiet);
        (BlockPlan { stmts, moved, is_quiet }, read)
    }

    /// The plan of a statement. `own` are the variables of its block, `read` those that are read after it.
    fn stmt(&mut self, s: &Stmt, own: &FxHashSet<Var>, read: &mut FxHashSet<Var>) -> StmtPlan<K> {
        // A switch runs one arm once, so an arm may take away what nothing reads after the switch.
        let dying = || own.iter().copied().filter(|v| !read.contains(v)).collect();
        let bound = if matches!(s.op, Op::Switch { .. }) { dying() } else { s.op.binders() };
        let mut inside = FxHashSet::default();
        let mut blocks = Vec::new();
        for b in s.op.blocks() {
            let (plan, read_inside) = self.block(b, &bound);
            inside.extend(read_inside);
            blocks.push(plan);
        }
        let operands = self.tensors(&s.op.operands());
        let is_last = |v: &Var| own.contains(v) && !read.contains(v);
        let moved = operands
            .iter()
            .copied()
            .filter(|v| is_last(v) && !inside.contains(v) && is_single(&operands, *v))
            .collect();
        let mut dropped: Vec<Var> = operands.iter().chain(&inside).copied().filter(is_last).collect();
        // A set has no order of its own.
        dropped.sort();
        dropped.dedup();
        read.extend(operands);
        read.extend(inside);
        StmtPlan { kernel: self.kernel_of(&s.op), moved, dropped, blocks }
    }

    fn kernel_of(&self, op: &Op) -> Option<K> {
        let Op::Prim { prim, args } = op else { return None };
        let elems: Vec<Elem> = args.iter().map(|a| elem_of(self.f, *a)).collect();
        (self.kernel)(*prim, &elems)
    }

    fn tensors(&self, atoms: &[Atom]) -> Vec<Var> {
        atoms.iter().filter_map(|a| a.var()).filter(|v| self.is_tensor(*v)).collect()
    }

    fn is_tensor(&self, v: Var) -> bool {
        !self.f.ty(v).is_scalar()
    }
}

/// Whether nothing but its results tells that a statement has run, its blocks aside.
fn is_quiet(s: &Stmt) -> bool {
    !s.op.effects().show()
}

/// The element type of an operand.
pub(crate) fn elem_of(f: &Function, a: Atom) -> Elem {
    match a {
        Atom::Var(v) => f.ty(v).elem,
        Atom::Const(c) => c.elem(),
    }
}

fn is_single(vars: &[Var], v: Var) -> bool {
    vars.iter().filter(|w| **w == v).count() == 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use cotan_ir::parse_function;
    use cotan_ops::Registry;

    /// The names of variables.
    fn names(f: &Function, vars: &[Var]) -> Vec<String> {
        vars.iter().map(|v| f.name_of(*v).to_owned()).collect()
    }

    fn planned(text: &str) -> Plan<()> {
        let f = parse_function(text, Registry::standard()).expect("the text is well formed");
        Plan::new(Arc::new(f), &|_, _| Some(()))
    }

    #[test]
    fn a_tensor_is_taken_away_by_its_last_reader() {
        let plan = planned(
            "fn f(x: f64[3], y: f64[3]) {
                a: f64[3] = update x[0] = 1.0
                b: f64[3] = add a, y
                c: f64[3] = update a[1] = 2.0
                d: f64[3] = add b, b
                return c, d, d
            }",
        );
        let f = &plan.function;
        let moved: Vec<_> = plan.body.stmts.iter().map(|s| names(f, &s.moved)).collect();
        assert_eq!(moved, [vec!["x"], vec!["y"], vec!["a"], vec![]], "`b` is read twice by its last reader");
        assert_eq!(names(f, &plan.body.stmts[3].dropped), ["b"]);
        assert_eq!(names(f, &plan.body.moved), ["c"], "`d` is given twice");
    }

    #[test]
    fn a_loop_body_takes_away_its_own_tensors_and_none_from_outside() {
        let plan = planned(
            "fn f(n: i64, x: f64[n], y: f64[n]) {
                z: f64[n] = loop i < n (a: f64[n] = x) {
                    b: f64[n] = add a, y
                    yield b
                }
                return z
            }",
        );
        let f = &plan.function;
        let repeat = &plan.body.stmts[0];
        assert_eq!(names(f, &repeat.moved), ["x"]);
        assert_eq!(names(f, &repeat.dropped), ["x", "y"]);
        let body = &repeat.blocks[0];
        assert_eq!(names(f, &body.stmts[0].moved), ["a"]);
        assert_eq!(names(f, &body.moved), ["b"]);
    }

    #[test]
    fn an_arm_takes_away_what_dies_with_the_switch() {
        let plan = planned(
            "fn f(c: bool, x: f64[3], y: f64[3]) {
                z: f64[3] = switch c {
                    a: f64[3] = update x[0] = 1.0
                    yield a
                } {
                    yield y
                }
                w: f64[3] = add z, y
                return w
            }",
        );
        let f = &plan.function;
        let arms = &plan.body.stmts[0].blocks;
        assert_eq!(names(f, &arms[0].stmts[0].moved), ["x"]);
        assert_eq!(names(f, &arms[1].moved), [""; 0], "`y` is read after the switch");
    }
}
