//! Relaxation of products: plain products in the place of those in which an exact zero wins.
//!
//! The two differ, but for the sign of a zero, only where the plain product is NaN. Where such a NaN would reach a result
//! of the call, the plain product may be computed: if a result is NaN, the call is repeated with the exact products, and
//! else they would have given the same. It must not get lost on the way: in a comparison, a conversion to an integer, the
//! condition of a branch. Products on whose NaN that could happen stay as they are.
//!
//! Nor are products plain that meet `0 * inf` at points which programs visit on purpose, as `sqrt(max(v, 0))`: those with a
//! quotient, a logarithm or a power, which are infinite at a pole, those with the zero of the operand that loses a maximum, and
//! those of what the slope of a root was multiplied with. The call would be repeated each time. In these the zero of the
//! factor wins that is zero there (`mulg`): one comparison. A share of a maximum is chosen, and not multiplied with (`share`).
//!
//! Plain products belong to derivatives and to them alone, and no decision depends on them. So compiled code may add
//! them to sums without rounding them first (`mulc`).

mod factors;

use crate::pass::{Pass, Promise};
use cotan_ir::{Atom, Block, Function, Item, Module, Op, ParResult, Prim, Stmt, Symbol, Var};
use cotan_ops::{DIV, MATMUL, MULC, MULG, MULZ, PLAIN, SHARE, STRONG, row, tensor_row};
use factors::Factors;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The record of the pass.
pub static PASS: Pass = Pass {
    name: "relax_products",
    doc: "Products in which an exact zero wins become plain products where a NaN would be seen in a result.",
    promise: Promise::UnlessNan,
    is_idempotent: true,
    run: |f, context| {
        let mut module = context.module.cloned().unwrap_or_default();
        let f = module.insert(f);
        let relaxed = relax_products(&module, &f.name).and_then(|m| m.function(&f.name).cloned());
        relaxed.unwrap_or(f).as_ref().clone()
    },
};

/// The module with plain products where that is allowed, for calls of `entry` whose results are looked at for NaN.
/// `None` if there is none to replace, or if something is printed, which is not to be printed twice.
pub fn relax_products(module: &Module, entry: &str) -> Option<Module> {
    let functions: BTreeMap<&Symbol, &Arc<Function>> = module.functions().map(|f| (&f.name, f)).collect();
    let any = |holds: &dyn Fn(&Op) -> bool| functions.values().any(|f| f.body.walk().any(|s| holds(&s.op)));
    if any(&|op| op.effects().prints) || !any(&is_strong) {
        return None;
    }
    let lost = functions.iter().map(|(name, f)| ((*name).clone(), vec![false; f.vars.len()])).collect();
    let mut analysis = Analysis { functions: &functions, lost, changed: true };
    while analysis.changed {
        analysis.changed = false;
        functions.values().for_each(|f| analysis.block(f, &f.body, entry));
    }
    let mut plain = module.clone();
    let mut is_relaxed = false;
    for (name, f) in &functions {
        let lost = &analysis.lost[*name];
        is_relaxed |= f.body.walk().any(|s| is_strong(&s.op) && !lost[s.results[0].index()]);
        let body = Relaxation { lost, factors: Factors::of_function(f) }.block(&f.body);
        plain.items.insert((*name).clone(), Item::Function(Function { body, ..f.as_ref().clone() }.into()));
    }
    is_relaxed.then_some(plain)
}

/// Whether an operation multiplies so that an exact zero wins.
fn is_strong(op: &Op) -> bool {
    op.args_of(MULZ.prim()).is_some()
        || op.args_of(MULG.prim()).is_some()
        || matches!(op, Op::Tensor { op, attrs, .. } if *op == MATMUL.op() && cotan_ops::is_strong(attrs))
}

/// Writes the products anew.
struct Relaxation<'a> {
    /// Those in which a NaN might get lost, which stay as they are.
    lost: &'a [bool],
    factors: Factors,
}

impl Relaxation<'_> {
    fn block(&self, block: &Block) -> Block {
        Block { stmts: block.stmts.iter().map(|s| self.stmt(s)).collect(), results: block.results.clone() }
    }

    fn stmt(&self, s: &Stmt) -> Stmt {
        let mut s = s.clone();
        s.op.blocks_mut().iter_mut().for_each(|b| *b = self.block(b));
        if is_strong(&s.op) && !self.lost[s.results[0].index()] {
            match &mut s.op {
                Op::Prim { prim, args } => (*prim, *args) = self.product(*prim, args[0], args[1]),
                Op::Tensor { attrs, .. } => attrs[0] -= STRONG[0] - PLAIN[0],
                Op::Index { .. }
                | Op::Update { .. }
                | Op::AccAdd { .. }
                | Op::Par(_)
                | Op::Loop(_)
                | Op::Switch { .. }
                | Op::Call { .. }
                | Op::Check { .. } => {}
            }
        }
        s
    }

    /// The product of two factors of which the exact zero wins that meets infinity.
    fn product(&self, prim: Prim, a: Atom, b: Atom) -> (Prim, Vec<Atom>) {
        for (whole, share) in [(a, b), (b, a)] {
            if let Some([first, second]) = self.factors.of(share).share_of {
                return (SHARE.prim(), vec![whole, first, second]);
            }
        }
        let guards = |factor: Atom, other: Atom| self.factors.of(factor).is_zero || self.factors.of(other).is_infinite;
        // Where a divisor is zero, all its quotients are infinite, or NaN.
        let divisors = [a, b].map(|factor| self.factors.of(factor).divisor);
        let have_one_pole = divisors[0].is_some() && divisors[0] == divisors[1];
        if prim == MULG.prim() && !have_one_pole {
            return (MULG.prim(), vec![a, b]);
        }
        match (guards(a, b) && !have_one_pole, guards(b, a) && !have_one_pole) {
            (true, true) => (MULZ.prim(), vec![a, b]),
            (true, false) => (MULG.prim(), vec![a, b]),
            (false, true) => (MULG.prim(), vec![b, a]),
            (false, false) => (MULC.prim(), vec![a, b]),
        }
    }
}

/// Finds the variables in which a NaN might get lost on its way to the results, from the results backwards.
struct Analysis<'a> {
    functions: &'a BTreeMap<&'a Symbol, &'a Arc<Function>>,
    lost: FxHashMap<Symbol, Vec<bool>>,
    changed: bool,
}

impl Analysis<'_> {
    fn is_lost(&self, f: &Function, v: Var) -> bool {
        self.lost[&f.name][v.index()]
    }

    fn lose(&mut self, f: &Function, a: Atom) {
        if let Some(v) = a.var()
            && let Some(lost) = self.lost.get_mut(&f.name)
            && !lost[v.index()]
        {
            lost[v.index()] = true;
            self.changed = true;
        }
    }

    fn lose_if(&mut self, f: &Function, is_lost: bool, a: Atom) {
        if is_lost {
            self.lose(f, a);
        }
    }

    fn block(&mut self, f: &Function, block: &Block, entry: &str) {
        for s in block.stmts.iter().rev() {
            self.stmt(f, s, entry);
            for b in s.op.blocks().iter().rev() {
                self.block(f, b, entry);
            }
        }
    }

    fn stmt(&mut self, f: &Function, s: &Stmt, entry: &str) {
        let any_lost = s.results.iter().any(|r| self.is_lost(f, *r));
        match &s.op {
            Op::Prim { prim, args } => {
                let row = row(*prim);
                for (k, a) in args.iter().enumerate() {
                    // The sign of a zero shows in a quotient.
                    let passes = (is_strong(&s.op) || row.passes_on(k)) && !(*prim == DIV.prim() && k == 1);
                    self.lose_if(f, any_lost || !passes, *a);
                }
            }
            Op::Tensor { op, args, .. } => {
                let passes = tensor_row(*op).passes_on();
                args.iter().for_each(|a| self.lose_if(f, any_lost || !passes, *a));
            }
            Op::Index { array, .. } => self.lose_if(f, any_lost, *array),
            Op::Update { array, value, .. } => {
                self.lose_if(f, any_lost, *array);
                self.lose_if(f, any_lost, *value);
            }
            Op::AccAdd { acc, value, .. } => self.lose_if(f, self.is_lost(f, *acc), *value),
            Op::Par(p) => {
                for (k, kind) in p.kinds.iter().enumerate() {
                    let is_lost = self.is_lost(f, s.results[k]);
                    self.lose_if(f, is_lost, p.body.results[k]);
                    match kind {
                        ParResult::Stacked => {}
                        ParResult::Reduced { init, .. } => self.lose_if(f, is_lost, *init),
                    }
                }
                for (acc, result) in p.accs.iter().zip(&s.results[p.kinds.len()..]) {
                    self.accumulator(f, acc, *result);
                }
            }
            Op::Loop(l) => {
                let results = l.split(&s.results);
                for (k, p) in l.params.iter().enumerate() {
                    if self.is_lost(f, *p) || self.is_lost(f, results.carried[k]) {
                        self.lose(f, (*p).into());
                        self.lose(f, l.inits[k]);
                        self.lose(f, l.body.results[k]);
                    }
                }
                for (acc, result) in l.accs.iter().zip(results.accs) {
                    self.accumulator(f, acc, *result);
                }
                for (value, result) in l.body.results[l.params.len()..].iter().zip(results.stacked) {
                    self.lose_if(f, self.is_lost(f, *result), *value);
                }
            }
            Op::Switch { arms, .. } => {
                for arm in arms {
                    for (value, result) in arm.results.iter().zip(&s.results) {
                        self.lose_if(f, self.is_lost(f, *result), *value);
                    }
                }
            }
            Op::Call { callee, args } => self.call(f, s, callee, args, entry),
            Op::Check { args, value, .. } => {
                // A message shows its arguments.
                args.iter().for_each(|a| self.lose(f, *a));
                self.lose_if(f, any_lost, *value);
            }
        }
    }

    fn accumulator(&mut self, f: &Function, acc: &cotan_ir::Acc, result: Var) {
        if self.is_lost(f, result) {
            self.lose(f, acc.var.into());
            acc.init.iter().for_each(|init| self.lose(f, *init));
        }
    }

    /// What a caller loses of the results, the callee loses; what the callee loses of its parameters, the caller does.
    fn call(&mut self, f: &Function, s: &Stmt, callee: &Symbol, args: &[Atom], entry: &str) {
        let Some(g) = self.functions.get(callee).copied() else {
            return args.iter().for_each(|a| self.lose(f, *a));
        };
        for (value, result) in g.body.results.iter().zip(&s.results) {
            // Results are looked at where a call ends, not where the entry calls itself.
            let is_lost = self.is_lost(f, *result) || **callee == *entry;
            self.lose_if(g, is_lost, *value);
        }
        for (param, a) in g.params.iter().zip(args) {
            self.lose_if(f, self.is_lost(g, *param), *a);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cotan_ir::{parse_function, verify_module};
    use cotan_ops::Registry;

    /// The products that are exact then, and those that are plain, by name. The first function is the entry.
    fn products(functions: &[&str]) -> Option<(String, String)> {
        let mut module = Module::default();
        let mut entry = None;
        for text in functions {
            let f = module.insert(parse_function(text, Registry::standard()).unwrap_or_else(|e| panic!("{e}\n{text}")));
            entry.get_or_insert(f.name.clone());
        }
        let plain = relax_products(&module, &entry?)?;
        assert_eq!(verify_module(&plain), Ok(()), "{plain}");
        let text = plain.to_string();
        let of = |marks: [&str; 2]| {
            let lines = text.lines().filter(|line| marks.iter().any(|mark| line.contains(mark)));
            lines.filter_map(|line| Some(line.split_once(':')?.0.trim())).collect::<Vec<_>>().join(" ")
        };
        Some((of([" mulz ", "{1}"]), of([" mulc ", "{0}"])))
    }

    fn kinds(exact: &str, plain: &str) -> Option<(String, String)> {
        Some((exact.to_owned(), plain.to_owned()))
    }

    #[test]
    fn zeros_win_that_meet_infinity_on_purpose() {
        let text = "fn f(v: f64, y: f64) {
  root: f64 = sqrt v
  slope: f64 = div 0.5, root
  a: f64 = mulz y, slope
  wins: f64 = wins v, 0.0
  b: f64 = mulz a, wins
  square: f64 = mul slope, slope
  c: f64 = mulz square, b
  half: f64 = div y, 2.0
  d: f64 = mulz half, y
  zero: f64 = mulz a, v
  third: f64 = div y, v
  e: f64 = mulz y, third
  f: f64 = mulz e, y
  length: f64 = fma v, v, 1.0
  norm: f64 = sqrt length
  over: f64 = div 1.0, v
  slope_of_quotient: f64 = mulg third, over
  fourth: f64 = div y, norm
  g: f64 = mulz f, fourth
  return b, c, d, zero, g, slope_of_quotient
}";
        let mut module = Module::default();
        let f = module.insert(parse_function(text, Registry::standard()).unwrap_or_else(|e| panic!("{e}\n{text}")));
        let plain = relax_products(&module, &f.name).map(|plain| plain.to_string()).unwrap_or_default();
        for product in [
            "a: f64 = mulg y, slope",
            "b: f64 = share a, v, 0.0",
            "c: f64 = mulz square, b",
            "d: f64 = mulc half, y",
            "zero: f64 = mulg v, a",
            "e: f64 = mulg y, third",
            "f: f64 = mulc e, y",
            "g: f64 = mulc f, fourth",
            "slope_of_quotient: f64 = mulc third, over",
        ] {
            assert!(plain.contains(product), "no `{product}` in\n{plain}");
        }
    }

    #[test]
    fn a_product_that_goes_to_a_result_becomes_plain() {
        let text =
            "fn f(x: f64, y: f64) {\n  a: f64 = mulz x, y\n  b: f64 = fma a, x, y\n  c: f64 = neg b\n  return c\n}";
        assert_eq!(products(&[text]), kinds("", "a"));
        let text = "fn f(x: f64[2, 2], y: f64[2, 2]) {\n  a: f64[2, 2] = matmul x, y {1}\n  return a\n}";
        assert_eq!(products(&[text]), kinds("", "a"));
    }

    #[test]
    fn a_product_that_decides_something_stays_exact() {
        for decision in [
            "c: bool = lt a, y\n  r: f64 = select c, x, y",
            "k: i64 = to_i64 a\n  r: f64 = to_f64 k",
            "c: bool = isnan a\n  r: f64 = select c, x, y",
            "r: f64 = floor a",
            "r: f64 = sqrt a",
            "r: f64 = div 1.0, a",
            "r: f64 = pow x, a",
        ] {
            let text = format!("fn f(x: f64, y: f64) {{\n  a: f64 = mulz x, y\n  {decision}\n  return r, a\n}}");
            assert_eq!(products(&[&text]), None, "{decision}");
        }
        // Nor does what another one is made of, but the other one does.
        let text = "fn f(x: f64, y: f64) {
  a: f64 = mulz x, y
  b: f64 = add a, x
  d: f64 = mulz a, y
  c: bool = lt b, y
  r: f64 = select c, d, y
  return r
}";
        assert_eq!(products(&[text]), kinds("a", "d"));
    }

    #[test]
    fn what_goes_through_loops_branches_and_accumulators_is_followed() {
        let text = |last: &str| {
            format!(
                "fn f(n: i64, x: f64[n], go: bool) {{
  sum: f64, all: f64[n], last: f64 = par i < n (add from 0.0, stack) acc (last.1: f64 add from 0.0) {{
    a: f64 = x[i]
    p: f64 = mulz a, a
    t: f64 = loop j < n (s: f64 = p) {{
      q: f64 = mulz s, a
      yield q
    }}
    u: f64 = switch go {{
      yield t
    }} {{
      yield a
    }}
    w: f64 = mulz u, a
    acc_add last.1[] = w
    yield p, u
  }}
  {last}
}}"
            )
        };
        assert_eq!(products(&[&text("return sum, all, last")]), kinds("", "p q w"));
        // The accumulator decides, and with it all that goes into it.
        let decides = "c: bool = lt last, sum\n  return c, all";
        assert_eq!(products(&[&text(decides)]), None);
    }

    #[test]
    fn results_of_calls_are_followed_into_the_callee() {
        let callee = "fn g(x: f64, y: f64) {\n  a: f64 = mulz x, y\n  b: f64 = mulz y, y\n  return a, b\n}";
        let caller = |result: &str| {
            format!(
                "fn f(x: f64) {{\n  p: f64 = mulz x, x\n  a: f64, b: f64 = call g(p, x)\n  c: bool = lt a, x\n  return {result}\n}}"
            )
        };
        assert_eq!(products(&[&caller("b, c"), callee]), kinds("p a", "b"));
    }

    #[test]
    fn what_prints_is_left_alone() {
        let text = "fn f(x: f64) {\n  a: f64 = mulz x, x\n  p: i64 = print 0, a {104}\n  return a\n}";
        assert_eq!(products(&[text]), None);
        assert_eq!(products(&["fn f(x: f64) {\n  a: f64 = mul x, x\n  return a\n}"]), None);
    }
}
