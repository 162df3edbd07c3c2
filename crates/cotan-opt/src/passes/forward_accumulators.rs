//! Accumulator forwarding: contributions go straight to the accumulator that they end up in.
//!
//! A region adds up contributions to the elements of an array, from zero, and what comes out is only added to a part of
//! an accumulator around it: reverse mode makes this of a row that is taken from a matrix and then read element by
//! element. Where each element gets its contribution from one iteration, there is nothing to add up first: the region
//! writes to the outer accumulator. So does a parallel loop of which every iteration gives an element of what is added, as
//! the outer product that is added to the derivative of a matrix. An element that several iterations write to stays an element of the inner array,
//! which is nearer. An index that depends on the number of every loop around a write is taken for one that no two
//! iterations share; if some do, only the order of a sum of derivatives changes, which is free.

use crate::analysis::splats::Splats;
use crate::pass::{Pass, Promise};
use cotan_ir::{Acc, AccKind, Atom, Block, Function, Monoid, Op, ParResult, Span, Stmt, Var, bug, count_uses};
use rustc_hash::{FxHashMap, FxHashSet};

/// The record of the pass.
pub static PASS: Pass = Pass {
    name: "forward_accumulators",
    doc: "Contributions to an accumulator that is only added to another one are added to that directly.",
    promise: Promise::Rounding,
    is_idempotent: true,
    run: |f, _| forward_accumulators(f),
};

/// The function with contributions that need not be added up first written to where they end up.
pub fn forward_accumulators(mut f: Function) -> Function {
    let n_uses = count_uses(&f.body, &f.vars);
    let mut body = std::mem::take(&mut f.body);
    let mut pass = Direct { n_uses, splats: Splats::of(&body), sums: FxHashSet::default() };
    pass.block(&mut body);
    f.body = body;
    f
}

struct Direct {
    n_uses: Vec<u32>,
    splats: Splats,
    /// The accumulators in scope that are sums.
    sums: FxHashSet<Var>,
}

/// What a region adds up or stacks.
#[derive(Clone, Copy)]
enum Collected {
    /// An accumulator, by its position.
    Acc(usize),
    /// What the iterations of a parallel loop give, by the position of the result.
    Stacked(usize),
}

/// Something that a region collects and that ends up in an accumulator.
struct Detour {
    /// Position of the region in its block.
    region: usize,
    collected: Collected,
    /// Position of the addition behind the region.
    addition: usize,
    /// The outer accumulator, and the part of it.
    to: Var,
    part: Vec<Atom>,
}

impl Direct {
    fn block(&mut self, block: &mut Block) {
        for s in &mut block.stmts {
            let sums = s.op.accs().iter().filter(|acc| acc.kind == AccKind::Reduce(Monoid::Add)).map(|acc| acc.var);
            self.sums.extend(sums);
        }
        while let Some(detour) = self.detour(block) {
            shorten(block, &detour);
        }
        block.stmts.iter_mut().flat_map(|s| s.op.blocks_mut()).for_each(|b| self.block(b));
    }

    fn detour(&self, block: &Block) -> Option<Detour> {
        block.stmts.iter().enumerate().find_map(|(region, s)| {
            let accs = s.op.accs().iter().enumerate();
            let mut summed = accs.filter(|(_, acc)| self.may_be_forwarded(&s.op, acc));
            let kinds = if let Op::Par(p) = &s.op { &p.kinds[..] } else { &[] };
            let stacked = kinds.iter().enumerate().filter(|(_, kind)| matches!(kind, ParResult::Stacked));
            summed
                .find_map(|(acc, _)| self.detour_of(block, region, Collected::Acc(acc)))
                .or_else(|| stacked.clone().find_map(|(k, _)| self.detour_of(block, region, Collected::Stacked(k))))
        })
    }

    /// Whether an accumulator of a region is a sum from zero whose elements get one contribution each.
    fn may_be_forwarded(&self, region: &Op, acc: &Acc) -> bool {
        acc.kind == AccKind::Reduce(Monoid::Add)
            && acc.init.is_some_and(|init| self.splats.is_zero(init))
            && Writes { to: acc.var, loops: Vec::new(), numbers: FxHashMap::default() }.are_apart_in(region)
    }

    fn detour_of(&self, block: &Block, region: usize, collected: Collected) -> Option<Detour> {
        let s = &block.stmts[region];
        let result = match collected {
            Collected::Acc(acc) => s.results[s.op.first_acc() + acc],
            Collected::Stacked(k) => s.results[k],
        };
        if self.n_uses[result.index()] != 1 {
            return None;
        }
        let behind = block.stmts.iter().enumerate().skip(region + 1);
        let (addition, to, part) = behind.into_iter().find_map(|(at, s)| {
            if let Op::AccAdd { acc, indices, value } = &s.op
                && *value == Atom::Var(result)
            {
                Some((at, *acc, indices.clone()))
            } else {
                None
            }
        })?;
        let between: FxHashSet<Var> = block.stmts[region..addition].iter().flat_map(|s| s.results.clone()).collect();
        let is_known = part.iter().filter_map(|a| a.var()).all(|v| !between.contains(&v));
        (is_known && self.sums.contains(&to)).then_some(Detour { region, collected, addition, to, part })
    }
}

/// The writes to an accumulator in a region.
struct Writes {
    to: Var,
    /// The numbers of the loops around, from the region on.
    loops: Vec<Var>,
    /// The numbers that scalars are computed of.
    numbers: FxHashMap<Var, FxHashSet<Var>>,
}

impl Writes {
    /// Whether every write in an operation is at an index that depends on all loops around it.
    fn are_apart_in(&mut self, op: &Op) -> bool {
        if let Op::AccAdd { acc, indices, .. } = op
            && *acc == self.to
        {
            let of_all: FxHashSet<Var> = indices.iter().flat_map(|a| self.numbers_of(*a)).collect();
            return self.loops.iter().all(|l| of_all.contains(l));
        }
        let n_outside = self.loops.len();
        self.loops.extend(op.indices().into_iter().map(|(index, _)| index));
        let apart = op.blocks().iter().all(|b| self.are_apart_in_block(b));
        self.loops.truncate(n_outside);
        apart
    }

    fn are_apart_in_block(&mut self, block: &Block) -> bool {
        block.stmts.iter().all(|s| {
            let apart = self.are_apart_in(&s.op);
            if let Op::Prim { .. } | Op::Check { .. } = s.op {
                let numbers: FxHashSet<Var> = s.op.operands().iter().flat_map(|a| self.numbers_of(*a)).collect();
                self.numbers.insert(s.results[0], numbers);
            }
            apart
        })
    }

    fn numbers_of(&self, a: Atom) -> FxHashSet<Var> {
        match a {
            Atom::Var(v) if self.loops.contains(&v) => FxHashSet::from_iter([v]),
            Atom::Var(v) => self.numbers.get(&v).cloned().unwrap_or_default(),
            Atom::Const(_) => FxHashSet::default(),
        }
    }
}

/// Takes a detour out of a block.
fn shorten(block: &mut Block, detour: &Detour) {
    block.stmts.remove(detour.addition);
    let s = &mut block.stmts[detour.region];
    match (detour.collected, &mut s.op) {
        (Collected::Acc(acc), op) => {
            s.results.remove(op.first_acc() + acc);
            let Some(accs) = op.accs_mut() else { return };
            let inner = accs.remove(acc).var;
            op.blocks_mut().iter_mut().for_each(|b| redirect(b, inner, detour));
        }
        (Collected::Stacked(k), Op::Par(p)) => {
            s.results.remove(k);
            p.kinds.remove(k);
            let value = p.body.results.remove(k);
            let indices = detour.part.iter().copied().chain(p.indices.iter().map(|i| Atom::Var(*i))).collect();
            let op = Op::AccAdd { acc: detour.to, indices, value };
            p.body.stmts.push(Stmt { results: Vec::new(), op, span: Span::NONE });
        }
        // The addition is gone already: going on would drop a derivative.
        (Collected::Stacked(k), _) => bug!("forward_accumulators", k, "only a parallel loop stacks"),
    }
}

fn redirect(block: &mut Block, from: Var, detour: &Detour) {
    for s in &mut block.stmts {
        if let Op::AccAdd { acc, indices, .. } = &mut s.op
            && *acc == from
        {
            *acc = detour.to;
            indices.splice(0..0, detour.part.iter().copied());
        }
        s.op.blocks_mut().iter_mut().for_each(|b| redirect(b, from, detour));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cotan_ir::parse_function;
    use cotan_ops::Registry;

    fn shortened(text: &str) -> String {
        forward_accumulators(parse_function(text, Registry::standard()).unwrap_or_else(|e| panic!("{e}"))).to_string()
    }

    /// A gradient of rows, where `at` says which element of the row an iteration adds to.
    fn rows(at: &str) -> String {
        format!(
            "fn f(n: i64, m: i64, x: f64[n, m]) {{
  zeros: f64[n, m] = fill 0.0
  x_cot: f64[n, m] = par i < n acc (x_cot.1: f64[n, m] add from zeros) {{
    zero: f64[m] = fill 0.0
    row_cot: f64[m] = par j < m acc (row_cot.1: f64[m] add from zero) {{
      elem: f64 = x[i, j]
      acc_add row_cot.1[{at}] = elem
      yield
    }}
    acc_add x_cot.1[i] = row_cot
    yield
  }}
  return x_cot
}}
"
        )
    }

    #[test]
    fn elements_with_one_contribution_go_straight_to_the_matrix() {
        let text = shortened(&rows("j"));
        assert!(text.contains("acc_add x_cot.1[i, j] = elem"), "{text}");
        assert!(!text.contains("row_cot"), "{text}");
        assert_eq!(shortened(&text), text);
    }

    #[test]
    fn elements_with_several_contributions_are_added_up_first() {
        let text = rows("0");
        assert_eq!(shortened(&text), text);
    }

    #[test]
    fn what_a_loop_stacks_is_added_where_it_is_made() {
        let text = "fn f(n: i64, m: i64, x: f64[n, m]) {
  zeros: f64[m, m] = fill 0.0
  x_cot: f64[m, m] = loop i < n () acc (x_cot.1: f64[m, m] add from zeros) {
    outer: f64[m, m], kept: f64[m, m] = par j < m, k < m (stack, stack) {
      a: f64 = x[i, j]
      b: f64 = x[i, k]
      product: f64 = mul a, b
      yield product, a
    }
    acc_add x_cot.1[] = outer
    acc_add x_cot.1[] = kept
    row: f64[m] = kept[0]
    acc_add x_cot.1[0] = row
    yield
  }
  return x_cot
}
";
        let made = shortened(text);
        assert!(made.contains("acc_add x_cot.1[j, k] = product") && !made.contains("outer"), "{made}");
        assert!(made.contains("acc_add x_cot.1[] = kept"), "it is read once more: {made}");
        assert_eq!(shortened(&made), made);
    }

    #[test]
    fn what_does_not_start_from_zero_is_added_up_first() {
        let text = rows("j").replace("zero: f64[m] = fill 0.0", "zero: f64[m] = fill 1.0");
        assert_eq!(shortened(&text), text);
    }
}
