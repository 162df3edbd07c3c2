//! What integers are in terms of counters and of numbers that do not change while a nest runs.

use super::bounds::{Facts, Poly};
use cotan_ir::Elem;
use cotan_loops::node::{Definitions, Expr, Local, LoopFunction, Node, Operand, Param, each_definition};
use cotan_ops::Instruction;
use rustc_hash::{FxHashMap, FxHashSet};

/// The definitions of a function, seen from a nest.
pub(crate) struct Values<'a> {
    f: &'a LoopFunction,
    definitions: &'a Definitions,
    /// What the nest defines.
    inside: FxHashSet<Local>,
    /// Numbers that are greater than another one where anybody asks, so that the maximum of `e` and that is `e`.
    greater: FxHashMap<Local, i64>,
}

impl<'a> Values<'a> {
    /// Those for a nest, its counter and its body, in which loops of these counts run.
    pub(crate) fn new(
        f: &'a LoopFunction,
        definitions: &'a Definitions,
        (index, nest): (Local, &[Node]),
        counts: &[Operand],
    ) -> Values<'a> {
        let mut inside = FxHashSet::from_iter([index]);
        each_definition(nest, &mut |local, _| {
            inside.insert(local);
        });
        let mut greater = FxHashMap::default();
        for count in counts.iter().filter_map(|count| local_of(*count)) {
            greater.insert(count, 0);
            // The count of a range from `c` on is `max(e, c) - c`.
            if let Some(Expr::Native { instruction: Instruction::Sub, elem: Elem::I64, args }) = definitions.get(&count)
                && let [Operand::Local(end), Operand::Const(first)] = args[..]
                && let Some(first) = first.as_i64()
            {
                greater.insert(end, first);
            }
        }
        Values { f, definitions, inside, greater }
    }

    /// What is known of numbers outside of the nest.
    pub(crate) fn facts(&self) -> Facts {
        let mut facts = Facts::default();
        for param in &self.f.params {
            if let Param::Tensor(tensor) = param {
                tensor.dims.iter().filter_map(|dim| local_of(*dim)).for_each(|dim| facts.at_least(dim, 0));
            }
        }
        self.definitions.iter().for_each(|(local, expr)| {
            if let Some((_, least)) = maximum(expr) {
                facts.at_least(*local, least.into());
            }
        });
        facts
    }

    /// An i64 as a polynomial, as far as it can be followed.
    pub(crate) fn of(&self, operand: Operand) -> Option<Poly> {
        match operand {
            Operand::Const(c) => c.as_i64().map(|n| Poly::number(n.into())),
            Operand::Local(local) => self.of_local(local),
        }
    }

    fn of_local(&self, local: Local) -> Option<Poly> {
        let Some(expr) = self.definitions.get(&local) else { return Some(Poly::unknown(local)) };
        let followed = match expr {
            Expr::Copy(Operand::Local(from)) if self.f.locals[from.index()].is_mutable => None,
            Expr::Copy(from) => Some(self.of(*from)?),
            Expr::Native { instruction, elem: Elem::I64, args } => match (instruction, &args[..]) {
                (Instruction::Add, [a, b]) => Some(self.of(*a)?.plus(&self.of(*b)?)?),
                (Instruction::Sub, [a, b]) => Some(self.of(*a)?.minus(&self.of(*b)?)?),
                (Instruction::Mul, [a, b]) => Some(self.of(*a)?.times(&self.of(*b)?)?),
                (Instruction::Shl, [a, Operand::Const(c)]) => match c.as_i64() {
                    Some(n @ 0..63) => Some(Poly::number(0).plus_times(1 << n, &self.of(*a)?)?),
                    Some(_) | None => None,
                },
                (Instruction::Max, _) => match (maximum(expr), self.greater.get(&local)) {
                    (Some((operand, least)), Some(than)) if least <= *than => Some(self.of(operand)?),
                    (_, _) => None,
                },
                _ => None,
            },
            Expr::Native { .. }
            | Expr::Host { .. }
            | Expr::Iota(_)
            | Expr::Any(_)
            | Expr::First(_)
            | Expr::Fold(..)
            | Expr::Lane(_) => None,
        };
        Some(followed.unwrap_or_else(|| Poly::unknown(local)))
    }

    /// What the count of a loop is at most, where the loop runs: every one of these.
    pub(crate) fn counts(&self, count: Operand) -> Option<Vec<Poly>> {
        if let Operand::Local(local) = count
            && let Some(expr) = self.definitions.get(&local)
        {
            if let Expr::Native { instruction: Instruction::Min, elem: Elem::I64, args } = expr
                && let [a, b] = args[..]
            {
                return Some([self.counts(a)?, self.counts(b)?].concat());
            }
            if let Some((operand, ..=0)) = maximum(expr) {
                return self.counts(operand);
            }
        }
        Some(vec![self.of(count)?])
    }

    /// Whether a local has the same value in all iterations of the nest: it is defined outside, or by arithmetic on
    /// what is.
    pub(crate) fn is_fixed(&self, operand: Operand) -> bool {
        let Operand::Local(local) = operand else { return true };
        if self.f.locals[local.index()].is_mutable {
            return false;
        }
        if !self.inside.contains(&local) {
            return true;
        }
        match self.definitions.get(&local) {
            Some(Expr::Native { args, .. }) => args.iter().all(|arg| self.is_fixed(*arg)),
            Some(Expr::Copy(arg)) => self.is_fixed(*arg),
            Some(
                Expr::Host { .. } | Expr::Iota(_) | Expr::Any(_) | Expr::First(_) | Expr::Fold(..) | Expr::Lane(_),
            )
            | None => false,
        }
    }
}

/// `(e, c)` of `max(e, c)`.
fn maximum(expr: &Expr) -> Option<(Operand, i64)> {
    let Expr::Native { instruction: Instruction::Max, elem: Elem::I64, args } = expr else { return None };
    match args[..] {
        [operand, Operand::Const(c)] | [Operand::Const(c), operand] => Some((operand, c.as_i64()?)),
        _ => None,
    }
}

fn local_of(operand: Operand) -> Option<Local> {
    match operand {
        Operand::Local(local) => Some(local),
        Operand::Const(_) => None,
    }
}
