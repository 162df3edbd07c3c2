//! Symbols: the names of functions, and derivatives that a module names before they are written.

use std::sync::Arc;

/// The name of a function of a module.
pub type Symbol = Arc<str>;

/// Direction of a derivative.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Mode {
    /// Forward: values and tangents.
    Jvp,
    /// Reverse: values and cotangents.
    Vjp,
}

/// A function that is asked for and not yet written: the derivative of another one.
///
/// `jvp`: `(params.., tangent of each wrt..) -> (results.., tangent of each of outs..)`.
/// `vjp`: `(params.., lengths.., cotangent of each of outs..) -> (results.., cotangent of each wrt..)`, where `lengths`
/// are the i64 lengths, in order of first appearance, that types of results in `outs` name and the body computes.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Derived {
    /// The function to differentiate.
    pub of: Symbol,
    /// Forward or reverse.
    pub mode: Mode,
    /// Float parameters, by position, ascending.
    pub wrt: Vec<usize>,
    /// Float results, by position, ascending.
    pub outs: Vec<usize>,
}

impl Derived {
    /// The name under which a module holds this derivative, unless the source gave it another.
    pub fn canonical_name(&self) -> Symbol {
        let mode = match self.mode {
            Mode::Jvp => "jvp",
            Mode::Vjp => "vjp",
        };
        let list = |ns: &[usize]| ns.iter().map(usize::to_string).collect::<Vec<_>>().join("_");
        format!("{}.{mode}_{}_of_{}", self.of, list(&self.wrt), list(&self.outs)).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn different_derivatives_have_different_canonical_names() {
        let name = |mode, wrt: &[usize], outs: &[usize]| {
            Derived { of: "f".into(), mode, wrt: wrt.to_vec(), outs: outs.to_vec() }.canonical_name()
        };
        assert_eq!(&*name(Mode::Vjp, &[0, 12], &[1]), "f.vjp_0_12_of_1");
        assert_eq!(&*name(Mode::Jvp, &[], &[]), "f.jvp__of_");
    }
}
