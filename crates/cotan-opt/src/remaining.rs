//! The checks that stay in loops, and why: for readers of a loop nest.

use cotan_ir::{Atom, Block, CheckKind, Function, Op, Span, Stmt, Var};
use rustc_hash::FxHashMap;
use std::fmt;

/// A check inside a loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopCheck {
    /// What it asks.
    pub kind: CheckKind,
    /// The source text that it stands for.
    pub span: Span,
    /// How many loops it stands in.
    pub depth: usize,
    /// Why nobody knows that it holds.
    pub reason: Reason,
}

/// Why a condition has to be asked when the program runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It depends on what an array of this name holds.
    Data(String),
    /// It depends on a number that is no integer, and that has this name.
    Float(String),
    /// It depends on a value of this name that a loop carries, not by steps of a fixed number.
    Carried(String),
    /// It depends on a value of this name that a loop or a branch gives.
    Computed(String),
    /// It does not follow from the sizes and parameters of these names.
    Sizes(Vec<String>),
}

impl fmt::Display for Reason {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Data(name) => write!(out, "depends on what `{name}` holds"),
            Reason::Float(name) => write!(out, "depends on the number `{name}`"),
            Reason::Carried(name) => write!(out, "depends on `{name}`, which a loop carries"),
            Reason::Computed(name) => write!(out, "depends on `{name}`, which a loop or a branch computes"),
            Reason::Sizes(names) if names.is_empty() => out.write_str("not known to hold"),
            Reason::Sizes(names) => write!(out, "does not follow from what is known of `{}`", names.join("`, `")),
        }
    }
}

/// The checks in the loops of a function, in the order of its text.
pub fn loop_checks(f: &Function) -> Vec<LoopCheck> {
    let mut search = Search { f, origins: FxHashMap::default(), checks: Vec::new() };
    search.block(&f.body, 0);
    search.checks
}

/// Where a variable comes from.
enum Origin<'a> {
    Statement(&'a Stmt),
    /// A value that a loop carries.
    Carried,
}

struct Search<'a> {
    f: &'a Function,
    /// Of all variables so far but indices and parameters.
    origins: FxHashMap<Var, Origin<'a>>,
    checks: Vec<LoopCheck>,
}

impl<'a> Search<'a> {
    fn block(&mut self, block: &'a Block, depth: usize) {
        for s in &block.stmts {
            let inside = if matches!(s.op, Op::Par(_)) {
                depth + 1
            } else if let Op::Loop(l) = &s.op {
                self.origins.extend(l.params.iter().map(|p| (*p, Origin::Carried)));
                depth + 1
            } else if let Op::Check { cond, kind, .. } = &s.op {
                if depth > 0 {
                    let (kind, span) = (*kind, s.span);
                    self.checks.push(LoopCheck { kind, span, depth, reason: self.reason(*cond) });
                }
                depth
            } else {
                depth
            };
            s.op.blocks().iter().for_each(|b| self.block(b, inside));
            self.origins.extend(s.results.iter().map(|r| (*r, Origin::Statement(s))));
        }
    }

    /// The first thing that a condition depends on and that no analysis of integers knows; else the sizes in it.
    fn reason(&self, cond: Atom) -> Reason {
        let name = |v: Var| self.f.name_of(v).to_owned();
        let mut sizes = Vec::new();
        let mut seen = Vec::new();
        let mut open: Vec<Var> = cond.var().into_iter().collect();
        while let Some(v) = open.pop() {
            if seen.contains(&v) {
                continue;
            }
            seen.push(v);
            if self.f.is_float(v.into()) {
                return Reason::Float(name(v));
            }
            let operands = match self.origins.get(&v) {
                None => {
                    sizes.push(name(v));
                    continue;
                }
                Some(Origin::Carried) => return Reason::Carried(name(v)),
                Some(Origin::Statement(s)) => {
                    if let Op::Index { array, .. } = &s.op {
                        return Reason::Data(array.var().map_or_else(|| name(v), name));
                    } else if let Op::Prim { args, .. } = &s.op {
                        args.clone()
                    } else if let Op::Check { value, .. } = &s.op {
                        vec![*value]
                    } else {
                        return Reason::Computed(name(v));
                    }
                }
            };
            open.extend(operands.iter().rev().filter_map(|a| a.var()));
        }
        Reason::Sizes(sizes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cotan_ir::parse_function;
    use cotan_ops::Registry;

    #[test]
    fn checks_in_loops_are_listed_with_what_they_depend_on() {
        let text = "fn f(n: i64, m: i64, at: i64[m], x: f64[n], y: f64) {
  whole: i64 = to_i64 y
  big: bool = ge whole, 0
  first: i64 = check big R0001(whole) whole
  r: f64[m] = par i < m (stack) {
    k: i64 = at[i]
    ok: bool = in_range k, n
    here: i64 = check ok R0001(k, n) k
    u: f64 = x[here]
    s: f64, q: i64 = loop j < first (p: f64 = u, c: i64 = 1) {
      own: bool = in_range i, n
      place: i64 = check own R0001(i, n) i
      v: f64 = x[place]
      double: i64 = mul c, 2
      fits: bool = mul_fits c, 2
      more: i64 = check fits R0003(c, 2) double
      w: f64 = add p, v
      positive: bool = gt w, 0.0
      z: f64 = check positive R0004() w
      yield z, more
    }
    t: f64 = to_f64 q
    a: f64 = add s, t
    yield a
  }
  return r
}
";
        let f = parse_function(text, Registry::standard()).unwrap_or_else(|e| panic!("{e}"));
        let found: Vec<String> =
            loop_checks(&f).iter().map(|c| format!("{} {}: {}", c.kind.code(), c.depth, c.reason)).collect();
        let expected = [
            "R0001 1: depends on what `at` holds",
            "R0001 2: does not follow from what is known of `i`, `n`",
            "R0003 2: depends on `c`, which a loop carries",
            "R0004 2: depends on the number `w`",
        ];
        assert_eq!(found, expected);
    }
}
