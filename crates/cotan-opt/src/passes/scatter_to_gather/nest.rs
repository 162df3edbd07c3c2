//! The nest of loops that writes to an accumulator, and what is known of the variables bound in it.

use super::extents::Extents;
use cotan_ir::{Atom, Block, Function, Op, Par, Stmt, Var};
use cotan_ops::{ADD, MAX, MIN, SUB};
use rustc_hash::FxHashMap;

/// Offsets beyond this are no neighbourhood.
const MOST_OFFSET: i64 = 1 << 16;

/// How many iterations at an end of a loop may write to one element because their indices are clamped.
const MOST_CLAMPED: i64 = 2;

/// Where a write goes, from the number of the iteration.
pub(super) struct Reach {
    /// What is added to the number of each loop.
    pub(super) offset: Vec<i64>,
    pub(super) clamp: Option<Clamp>,
}

/// The first or last element stands for those beyond it.
pub(super) struct Clamp {
    pub(super) axis: usize,
    pub(super) is_at_start: bool,
    /// How many iterations at that end would write beyond it.
    pub(super) beyond: i64,
}

/// Loops, one in the other.
pub(super) struct Nest<'a> {
    /// From the outermost to the one whose body writes.
    pub(super) levels: Vec<&'a Par>,
    /// Where in the body of each loop but the last the next one stands.
    pub(super) positions: Vec<usize>,
    /// The numbers of all loops, and how often these run.
    pub(super) indices: Vec<Var>,
    pub(super) extents: Vec<Atom>,
    /// The variables bound inside, with the level, and the number of arms around in the body of that level.
    sites: FxHashMap<Var, (usize, usize)>,
    /// Elements and what is computed of scalars.
    pub(super) made: FxHashMap<Var, &'a Stmt>,
}

/// A write to the accumulator.
pub(super) struct Write<'a> {
    /// The switches around, in the body of the innermost loop, each by its position and the arm.
    pub(super) arms: Vec<(usize, usize)>,
    /// Their selectors.
    pub(super) selectors: Vec<Atom>,
    pub(super) indices: &'a [Atom],
    pub(super) value: Atom,
}

impl<'a> Nest<'a> {
    pub(super) fn of(f: &Function, outermost: &'a Par, acc: Var) -> Nest<'a> {
        let (mut levels, mut positions) = (vec![outermost], Vec::new());
        let mut p = outermost;
        loop {
            let mut writing = p.body.stmts.iter().enumerate().filter(|(_, s)| n_writes(s, acc) > 0);
            let (Some((at, s)), None) = (writing.next(), writing.next()) else { break };
            let Op::Par(inner) = &s.op else { break };
            positions.push(at);
            levels.push(inner);
            p = inner;
        }
        let mut nest = Nest {
            indices: levels.iter().flat_map(|p| p.indices.iter().copied()).collect(),
            extents: levels.iter().flat_map(|p| p.extents.iter().copied()).collect(),
            levels,
            positions,
            sites: FxHashMap::default(),
            made: FxHashMap::default(),
        };
        nest.survey(f, &outermost.body, 0, 0);
        nest.sites.extend(outermost.indices.iter().map(|i| (*i, (0, 0))));
        nest
    }

    fn survey(&mut self, f: &Function, block: &'a Block, level: usize, depth: usize) {
        for s in &block.stmts {
            self.sites.extend(s.results.iter().map(|v| (*v, (level, depth))));
            // A row whose length is known only inside stays where it is.
            let is_row = |v: Var| !f.ty(v).dim_vars().any(|d| self.is_bound(d));
            let is_made = matches!(s.op, Op::Prim { .. }) && f.ty(s.results[0]).is_scalar()
                || matches!(s.op, Op::Index { .. }) && is_row(s.results[0]);
            if is_made {
                self.made.insert(s.results[0], s);
            }
            let is_next = |p: &Par| self.levels.get(level + 1).is_some_and(|next| std::ptr::eq(p, *next));
            let (level, depth) = if let Op::Par(p) = &s.op
                && is_next(p)
            {
                (level + 1, 0)
            } else if matches!(s.op, Op::Switch { .. }) {
                (level, depth + 1)
            } else {
                (level, depth)
            };
            self.sites.extend(s.op.binders().into_iter().map(|v| (v, (level, depth))));
            s.op.blocks().iter().for_each(|b| self.survey(f, b, level, depth));
        }
    }

    /// Whether a variable is bound inside.
    pub(super) fn is_bound(&self, v: Var) -> bool {
        self.sites.contains_key(&v)
    }

    /// The level at which a variable is bound, and the number of arms around it in the body of that level.
    pub(super) fn site(&self, v: Var) -> Option<(usize, usize)> {
        self.sites.get(&v).copied()
    }

    /// The writes, if all of them are in the innermost body, in loops no more.
    pub(super) fn writes(&self, acc: Var) -> Option<Vec<Write<'a>>> {
        let mut writes = Vec::new();
        let innermost = *self.levels.last()?;
        find_writes(&innermost.body, acc, &mut Vec::new(), &mut Vec::new(), &mut writes);
        let all: usize = self.levels[0].body.stmts.iter().map(|s| n_writes(s, acc)).sum();
        (writes.len() == all).then_some(writes)
    }

    /// Whether there are writes to other accumulators.
    pub(super) fn writes_elsewhere(&self, acc: Var) -> bool {
        self.levels[0].body.walk().filter_map(|s| s.op.written()).any(|written| written != acc)
    }

    /// What is added to the number of each loop, if that is what the indices are, one of them clamped or none.
    pub(super) fn reach(&self, indices: &[Atom], extents: &Extents) -> Option<Reach> {
        if indices.len() != self.indices.len() {
            return None;
        }
        let (mut offset, mut clamp) = (Vec::new(), None);
        for (axis, a) in indices.iter().enumerate() {
            if let Some(c) = self.beside(*a, self.indices[axis]) {
                offset.push(c);
            } else {
                let (c, is_at_start) = self.clamped(*a, axis, extents)?;
                let beyond = if is_at_start { -c } else { c };
                let is_first = clamp.replace(Clamp { axis, is_at_start, beyond }).is_none();
                if !is_first || !(1..=MOST_CLAMPED).contains(&beyond) {
                    return None;
                }
                offset.push(c);
            }
        }
        Some(Reach { offset, clamp })
    }

    /// What is added to the number of a loop before the first or last element is taken in the place of those beyond.
    fn clamped(&self, a: Atom, axis: usize, extents: &Extents) -> Option<(i64, bool)> {
        let s = self.made.get(&a.var()?)?;
        let (is_at_start, args) = match (s.op.args_of(MAX.prim()), s.op.args_of(MIN.prim())) {
            (Some(args), None) => (true, args),
            (None, Some(args)) => (false, args),
            (_, _) => return None,
        };
        let is_end = |bound: Atom| match is_at_start {
            true => bound.constant().and_then(|c| c.as_i64()) == Some(0),
            false => extents.difference(bound, self.extents[axis]) == Some(-1),
        };
        let of = match args[..] {
            [of, bound] | [bound, of] if is_end(bound) => of,
            _ => return None,
        };
        Some((self.beside(of, self.indices[axis])?, is_at_start))
    }

    fn beside(&self, a: Atom, i: Var) -> Option<i64> {
        if a == Atom::Var(i) {
            return Some(0);
        }
        let Op::Prim { prim, args } = &self.made.get(&a.var()?)?.op else { return None };
        let number = |a: Atom| a.constant()?.as_i64();
        let offset = match args[..] {
            [a, b] if *prim == ADD.prim() => match number(b) {
                Some(n) => self.beside(a, i)?.checked_add(n)?,
                None => self.beside(b, i)?.checked_add(number(a)?)?,
            },
            [a, b] if *prim == SUB.prim() => self.beside(a, i)?.checked_sub(number(b)?)?,
            _ => return None,
        };
        (-MOST_OFFSET..=MOST_OFFSET).contains(&offset).then_some(offset)
    }
}

/// How often a statement writes to an accumulator, in the text.
fn n_writes(s: &Stmt, to: Var) -> usize {
    s.walk().filter(|s| s.op.written() == Some(to)).count()
}

fn find_writes<'a>(
    block: &'a Block,
    to: Var,
    arms: &mut Vec<(usize, usize)>,
    selectors: &mut Vec<Atom>,
    out: &mut Vec<Write<'a>>,
) {
    for (at, s) in block.stmts.iter().enumerate() {
        if let Op::AccAdd { acc, indices, value } = &s.op
            && *acc == to
        {
            out.push(Write { arms: arms.clone(), selectors: selectors.clone(), indices, value: *value });
        } else if let Op::Switch { selector, arms: blocks } = &s.op {
            selectors.push(*selector);
            for (k, arm) in blocks.iter().enumerate() {
                arms.push((at, k));
                find_writes(arm, to, arms, selectors, out);
                arms.pop();
            }
            selectors.pop();
        }
    }
}
