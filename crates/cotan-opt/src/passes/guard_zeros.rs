//! Zero guards: work that is multiplied by zero moves into a branch.
//!
//! In a product in which an exact zero wins, [`cotan_ops::MULZ`], the other factor need not be known where one is zero. If
//! a factor does not depend on the index of a parallel loop around, but the other one does, all iterations of that
//! loop meet the same zero, and nothing is lost by looking: what only such products need moves into a branch that is
//! taken where the factor is not zero. A forward derivative in many directions gains: a weight that is zero for the
//! value is zero for all of them.

use super::rename::lengths;
use crate::analysis::uses::uses;
use crate::pass::{Pass, Promise};
use cotan_ir::{Atom, Block, Const, Elem, Function, Op, Stmt, Ty, Var, VarInfo, free_vars};
use cotan_ops::{EQ, MULZ};
use rustc_hash::{FxHashMap, FxHashSet};

/// The record of the pass.
pub static PASS: Pass = Pass {
    name: "guard_zeros",
    doc: "Work that is only multiplied by a loop-invariant factor runs where that factor is not zero.",
    promise: Promise::Bits,
    is_idempotent: true,
    run: |f, _| guard_zeros(f),
};

/// Primitives and reads from which on a branch is worth it.
const WORTH_A_BRANCH: usize = 16;

/// The function with work moved into branches where a zero makes it needless.
pub fn guard_zeros(mut f: Function) -> Function {
    let mut levels = Levels { f: &f, of: FxHashMap::default() };
    levels.block(&f.body, 0);
    let of = levels.of;
    let body = std::mem::take(&mut f.body);
    let mut tests = FxHashMap::default();
    find_tests(&body, &mut tests);
    let mut pass = Sink { lengths: lengths(&f.vars), f: &mut f, of, tests, nonzero: FxHashSet::default() };
    let body = pass.block(body);
    Function { body, ..f }
}

/// The parallel loops around a value on whose indices it depends, as bits by nesting depth.
struct Levels<'a> {
    f: &'a Function,
    of: FxHashMap<Var, u64>,
}

impl Levels<'_> {
    fn of_atom(&self, a: Atom) -> u64 {
        a.var().and_then(|v| self.of.get(&v)).copied().unwrap_or(0)
    }

    fn block(&mut self, block: &Block, depth: u32) {
        for s in &block.stmts {
            self.stmt(s, depth);
        }
    }

    fn stmt(&mut self, s: &Stmt, depth: u32) {
        let mut level = s.op.operands().iter().fold(0, |all, a| all | self.of_atom(*a));
        let binders = s.op.binders();
        if let Op::Par(p) = &s.op {
            let own = 1_u64 << depth.min(63);
            self.of.extend(p.indices.iter().map(|i| (*i, own)));
            self.block(&p.body, depth + 1);
            level |= self.read_inside(&p.body, &binders) & !own;
        } else if let Op::Loop(l) = &s.op {
            // What a loop carries depends on what it becomes.
            loop {
                self.of.insert(l.index, self.of_atom(l.count.unwrap_or(Const::i64(0).into())));
                let before: Vec<u64> = l.params.iter().map(|p| self.of_atom((*p).into())).collect();
                for ((p, init), next) in l.params.iter().zip(&l.inits).zip(&l.body.results) {
                    let all = self.of_atom(*init) | self.of_atom(*next) | self.of_atom((*p).into());
                    self.of.insert(*p, all);
                }
                self.block(&l.body, depth);
                let after: Vec<u64> = l.body.results.iter().take(before.len()).map(|a| self.of_atom(*a)).collect();
                if before.iter().zip(&after).all(|(b, a)| a & !b == 0) {
                    break;
                }
            }
            level |= self.read_inside(&l.body, &binders);
        } else if let Op::Switch { arms, .. } = &s.op {
            for arm in arms {
                self.block(arm, depth);
                level |= self.read_inside(arm, &binders);
            }
        }
        self.of.extend(s.results.iter().map(|r| (*r, level)));
    }

    /// What the variables from outside depend on that a block reads.
    fn read_inside(&self, block: &Block, binders: &[Var]) -> u64 {
        free_vars(self.f, block, binders).iter().fold(0, |all, v| all | self.of_atom((*v).into()))
    }
}

struct Sink<'a> {
    f: &'a mut Function,
    /// The variables that types name.
    lengths: FxHashSet<Var>,
    /// See [`Levels`].
    of: FxHashMap<Var, u64>,
    /// What tells whether a factor is zero.
    tests: FxHashMap<Var, Var>,
    /// Factors that have been looked at here.
    nonzero: FxHashSet<Var>,
}

/// What moves into one branch.
struct Group {
    factor: Var,
    /// Positions of the products, and of what only they need.
    products: Vec<usize>,
    needed: Vec<usize>,
}

impl Sink<'_> {
    fn block(&mut self, mut block: Block) -> Block {
        while let Some(group) = self.group(&block) {
            self.branch(&mut block, &group);
        }
        for s in &mut block.stmts {
            let factor = self.factor_of(s);
            let is_new = factor.is_some_and(|v| self.nonzero.insert(v));
            s.op.map_blocks(|b| self.block(b));
            if let Some(v) = factor.filter(|_| is_new) {
                self.nonzero.remove(&v);
            }
        }
        block
    }

    /// The factor whose zero a branch of this pass looks at.
    fn factor_of(&self, s: &Stmt) -> Option<Var> {
        let Op::Switch { selector: Atom::Var(selector), .. } = &s.op else { return None };
        self.tests.get(selector).copied()
    }

    fn level(&self, a: Atom) -> u64 {
        a.var().and_then(|v| self.of.get(&v)).copied().unwrap_or(0)
    }

    fn group(&self, block: &Block) -> Option<Group> {
        let uses = uses(self.f, block);
        let mut factors: Vec<Var> = Vec::new();
        for s in &block.stmts {
            if let Some([a, b]) = product(&s.op) {
                for (factor, other) in [(a, b), (b, a)] {
                    if let Atom::Var(v) = factor
                        && self.f.ty(v).is_scalar()
                        && self.f.ty(s.results[0]).is_scalar()
                        && self.level(other) & !self.level(factor) != 0
                        && !self.nonzero.contains(&v)
                        && !factors.contains(&v)
                    {
                        factors.push(v);
                    }
                }
            }
        }
        factors.into_iter().find_map(|factor| self.group_of(block, &uses, factor))
    }

    fn group_of(&self, block: &Block, uses: &FxHashMap<Var, Vec<usize>>, factor: Var) -> Option<Group> {
        let is_product = |s: &Stmt| {
            product(&s.op).is_some_and(|args| args.contains(&factor.into())) && self.f.ty(s.results[0]).is_scalar()
        };
        let all: Vec<usize> = (0..block.stmts.len()).filter(|k| is_product(&block.stmts[*k])).collect();
        // The branch stands at the last product: until then nobody may read the others.
        let first_read = all.iter().flat_map(|k| readers(&block.stmts[*k], uses)).min().unwrap_or(usize::MAX);
        let products: Vec<usize> = all.into_iter().filter(|k| *k < first_read).collect();
        let last = *products.last()?;
        let mut inside: FxHashSet<usize> = products.iter().copied().collect();
        let mut needed = Vec::new();
        let mut work = 0;
        for k in (0..last).rev() {
            let s = &block.stmts[k];
            let is_free = is_pure(&s.op) && !s.results.contains(&factor) && !inside.contains(&k);
            let mut readers = readers(s, uses).peekable();
            if !is_free || readers.peek().is_none() || !readers.all(|r| inside.contains(&r)) {
                continue;
            }
            if s.results.iter().any(|r| self.lengths.contains(r)) || is_changed_between(block, k, last, &inside) {
                continue;
            }
            inside.insert(k);
            needed.push(k);
            work += 1;
        }
        needed.reverse();
        (work >= WORTH_A_BRANCH).then_some(Group { factor, products, needed })
    }

    fn branch(&mut self, block: &mut Block, group: &Group) {
        let last = *group.products.last().expect("invariant: a group has a product");
        let mut results = Vec::new();
        let mut inside = Block::default();
        let mut stays = Vec::new();
        let elem = self.f.ty(group.factor).elem;
        let zero = Atom::from(Const::zero(elem));
        let span = block.stmts[last].span;
        for (k, mut s) in std::mem::take(&mut block.stmts).into_iter().enumerate() {
            if group.products.contains(&k) {
                let result = s.results[0];
                let value = self.like(result);
                s.results = vec![value];
                inside.results.push(value.into());
                inside.stmts.push(s);
                results.push(result);
            } else if group.needed.contains(&k) {
                inside.stmts.push(s);
            } else {
                stays.push(s);
            }
            if k == last {
                let name = self.f.vars[group.factor.index()].name.clone();
                let test = self.f.add_var(VarInfo { name, ty: Ty::scalar(Elem::Bool), record: None });
                let is_zero = Op::Prim { prim: EQ.prim(), args: vec![group.factor.into(), zero] };
                stays.push(Stmt { results: vec![test], op: is_zero, span });
                self.tests.insert(test, group.factor);
                let zeros = Block { stmts: Vec::new(), results: vec![zero; results.len()] };
                let arms = vec![zeros, std::mem::take(&mut inside)];
                let op = Op::Switch { selector: test.into(), arms };
                stays.push(Stmt { results: std::mem::take(&mut results), op, span });
            }
        }
        block.stmts = stays;
    }

    fn like(&mut self, v: Var) -> Var {
        let VarInfo { name, ty, record: _ } = self.f.vars[v.index()].clone();
        let level = self.level(v.into());
        let new = self.f.add_var(VarInfo { name, ty, record: None });
        self.of.insert(new, level);
        new
    }
}

/// Finds what tells whether a variable is zero.
fn find_tests(block: &Block, tests: &mut FxHashMap<Var, Var>) {
    for s in &block.stmts {
        if let Op::Prim { prim, args } = &s.op
            && *prim == EQ.prim()
            && let [Atom::Var(v), Atom::Const(c)] = args[..]
            && c.as_float() == Some(0.0)
        {
            tests.insert(s.results[0], v);
        }
        s.op.blocks().iter().for_each(|b| find_tests(b, tests));
    }
}

/// The factors of a product of scalars in which a zero wins.
fn product(op: &Op) -> Option<[Atom; 2]> {
    op.args_of(MULZ.prim())?.try_into().ok()
}

/// Whether an operation only computes or reads.
fn is_pure(op: &Op) -> bool {
    matches!(op, Op::Prim { .. } | Op::Index { .. })
}

/// Whether what a statement reads would lie in the way of one that changes it, were it read later.
fn is_changed_between(block: &Block, from: usize, to: usize, inside: &FxHashSet<usize>) -> bool {
    let Op::Index { array, .. } = &block.stmts[from].op else { return false };
    block.stmts.iter().enumerate().take(to).skip(from + 1).any(|(k, s)| {
        let changes = !s.op.blocks().is_empty() || matches!(s.op, Op::Update { .. } | Op::Call { .. });
        changes && !inside.contains(&k) && s.op.operands().contains(array)
    })
}

fn readers<'a>(s: &'a Stmt, uses: &'a FxHashMap<Var, Vec<usize>>) -> impl Iterator<Item = usize> + 'a {
    s.results.iter().filter_map(|r| uses.get(r)).flatten().copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use cotan_ir::parse_function;
    use cotan_ops::Registry;

    fn sunk(text: &str) -> String {
        let f = guard_zeros(parse_function(text, Registry::standard()).unwrap_or_else(|e| panic!("{e}")));
        assert_eq!(cotan_ir::verify(&cotan_ir::Module::default(), &f), Ok(()), "{f}");
        f.to_string()
    }

    /// Directions of a sum of weighted powers; the weight is what `weight` reads.
    fn directions(weight: &str) -> String {
        let powers: String = (1..20).map(|k| format!("      p{k}: f64 = mul p{}, a\n", k - 1)).collect();
        format!(
            "fn f(n: i64, m: i64, x: f64[n, m], w: f64[n, m]) {{
  y: f64[n] = par i < n (stack) {{
    s: f64 = loop j < m (s1: f64 = 0.0) {{
      a: f64 = x[i, j]
      weight: f64 = {weight}
      p0: f64 = mul a, 2.0
{powers}      t: f64 = mulz p19, weight
      s2: f64 = add s1, t
      yield s2
    }}
    yield s
  }}
  return y
}}
"
        )
    }

    #[test]
    fn what_a_zero_weight_of_all_directions_makes_needless_is_branched_over() {
        let text = sunk(&directions("w[0, j]"));
        assert!(text.contains("weight.1: bool = eq weight, 0.0"), "{text}");
        assert!(text.find("switch weight.1") < text.find("p19: f64 = mul"), "{text}");
        assert_eq!(sunk(&text), text);
    }

    #[test]
    fn a_weight_of_each_direction_is_not_looked_at() {
        let text = directions("w[i, j]");
        assert_eq!(sunk(&text), text);
    }

    #[test]
    fn what_somebody_else_needs_stays() {
        let text = directions("w[0, j]").replace("add s1, t", "add p19, t");
        assert_eq!(sunk(&text), text);
    }
}
