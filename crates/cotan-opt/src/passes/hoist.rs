//! Loop-invariant integers and truth values.
//!
//! A scalar primitive on integers or truth values moves out of loops in which none of its operands is bound. Primitives
//! are total, so running one where the loop would not have run is no error, only a little work. What is had
//! outside need not be recorded inside, and a loop whose count is known outside has records of a known shape. Floats stay
//! where they are: derivative code accumulates their cotangents in the order in which they stand.

use cotan_ir::{Block, Elem, Function, Op, Stmt, Var};
use rustc_hash::FxHashSet;

/// The function with loop-invariant integers outside of loops.
pub fn hoist(mut f: Function) -> Function {
    let body = std::mem::take(&mut f.body);
    let mut hoist = Hoist { f: &f };
    let body = hoist.block(body);
    f.body = body;
    f
}

struct Hoist<'a> {
    f: &'a Function,
}

impl Hoist<'_> {
    fn block(&mut self, block: Block) -> Block {
        let mut stmts = Vec::with_capacity(block.stmts.len());
        for mut s in block.stmts {
            for b in s.op.blocks_mut() {
                *b = self.block(std::mem::take(b));
            }
            let mut bound: FxHashSet<Var> = s.op.binders().into_iter().collect();
            match &mut s.op {
                Op::Loop(l) => stmts.extend(self.invariant(&mut l.body, &mut bound)),
                Op::Par(p) => stmts.extend(self.invariant(&mut p.body, &mut bound)),
                Op::Prim { .. }
                | Op::Tensor { .. }
                | Op::Index { .. }
                | Op::Update { .. }
                | Op::AccAdd { .. }
                | Op::Switch { .. }
                | Op::Call { .. }
                | Op::Check { .. } => {}
            }
            stmts.push(s);
        }
        Block { stmts, results: block.results }
    }

    /// Takes the statements out of a body that may stand in front of its loop; `bound` is what the loop binds.
    fn invariant(&self, body: &mut Block, bound: &mut FxHashSet<Var>) -> Vec<Stmt> {
        let (out, stay) = std::mem::take(&mut body.stmts).into_iter().partition(|s| {
            let moves = self.may_move(s, bound);
            if !moves {
                bound.extend(&s.results);
            }
            moves
        });
        body.stmts = stay;
        out
    }

    fn may_move(&self, s: &Stmt, bound: &FxHashSet<Var>) -> bool {
        let is_prim = match &s.op {
            Op::Prim { .. } => true,
            Op::Tensor { .. }
            | Op::Index { .. }
            | Op::Update { .. }
            | Op::AccAdd { .. }
            | Op::Par(_)
            | Op::Loop(_)
            | Op::Switch { .. }
            | Op::Call { .. }
            | Op::Check { .. } => false,
        };
        let is_whole = |elem: Elem| elem.is_integer() || elem == Elem::Bool;
        let is_scalar = |v: &Var| self.f.ty(*v).is_scalar() && is_whole(self.f.ty(*v).elem);
        let operands = s.op.operands();
        let is_outside = |v: Var| !bound.contains(&v) && is_scalar(&v);
        is_prim && s.results.iter().all(is_scalar) && operands.iter().filter_map(|a| a.var()).all(is_outside)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cotan_ir::parse_function;
    use cotan_ops::Ops;

    fn hoisted(text: &str) -> String {
        hoist(parse_function(text, &Ops).unwrap_or_else(|e| panic!("{e}"))).to_string()
    }

    #[test]
    fn what_depends_on_no_loop_stands_outside_of_all() {
        let text = "fn f(n: i64, m: i64, x: f64) {
  r: f64 = loop i < n (p: f64 = x) {
    q: f64 = loop j < n (s: f64 = p) {
      count: i64 = max m, 0
      more: i64 = add count, i
      own: i64 = add more, j
      y: f64 = to_f64 own
      z: f64 = mul x, x
      t: f64 = add y, z
      yield t
    }
    yield q
  }
  return r
}
";
        let expected = "fn f(n: i64, m: i64, x: f64) {
  count: i64 = max m, 0
  r: f64 = loop i < n (p: f64 = x) {
    more: i64 = add count, i
    q: f64 = loop j < n (s: f64 = p) {
      own: i64 = add more, j
      y: f64 = to_f64 own
      z: f64 = mul x, x
      t: f64 = add y, z
      yield t
    }
    yield q
  }
  return r
}
";
        assert_eq!(hoisted(text), expected);
    }
}
