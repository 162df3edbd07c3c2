//! Splat analysis: tensors all of whose elements are one constant.

use cotan_ir::{Atom, Block, Const, Var};
use cotan_ops::FILL;
use rustc_hash::FxHashMap;

/// The tensors of a function that are filled with one constant.
#[derive(Clone, Debug, Default)]
pub(crate) struct Splats(FxHashMap<Var, Const>);

impl Splats {
    /// Those that a block makes, at any depth.
    pub(crate) fn of(block: &Block) -> Splats {
        let filled = block.walk().filter_map(|s| {
            let filler = s.op.args_of_tensor(FILL.op())?.first()?.constant()?;
            Some((s.results[0], filler))
        });
        Splats(filled.collect())
    }

    /// The constant that all elements of an operand are, which may itself be that constant.
    pub(crate) fn constant(&self, a: Atom) -> Option<Const> {
        match a {
            Atom::Const(c) => Some(c),
            Atom::Var(v) => self.0.get(&v).copied(),
        }
    }

    /// Whether an operand is a float zero, of either sign, or a tensor of them.
    pub(crate) fn is_zero(&self, a: Atom) -> bool {
        self.constant(a).is_some_and(|c| c.as_float() == Some(0.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cotan_ir::parse_function;
    use cotan_ops::Registry;

    #[test]
    fn tensors_of_one_constant_are_found_at_any_depth_and_others_are_not() {
        let text = "fn f(c: bool, x: f64, n: i64) {
  ones: f64[n] = fill 1.0
  xs: f64[n] = fill x
  y: f64[n] = switch c {
    zeros: f64[n] = fill -0.0
    yield zeros
  } {
    yield xs
  }
  return ones, y
}";
        let f = parse_function(text, Registry::standard()).unwrap_or_else(|e| panic!("{e}"));
        let splats = Splats::of(&f.body);
        let var = |name: &str| -> Atom {
            let s = f.body.walk().find(|s| f.name_of(s.results[0]) == name).expect("a statement of the text");
            s.results[0].into()
        };
        assert_eq!(splats.constant(var("ones")), Some(Const::f64(1.0)));
        assert_eq!(splats.constant(var("xs")), None);
        assert_eq!([var("zeros"), var("ones"), var("y")].map(|a| splats.is_zero(a)), [true, false, false]);
        assert!(splats.is_zero(Const::f64(0.0).into()));
    }
}
