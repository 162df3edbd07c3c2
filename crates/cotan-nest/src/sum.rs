//! Sums of reductions: each element takes up its values in the order of [`cotan_ops::reduce`], as in the interpreter of the
//! core IR.

use cotan_loops::Target;
use cotan_ops::Kernel;
use cotan_ops::reduce::Reduction;

/// A value with what combines it with others.
#[derive(Clone, Copy)]
struct Term {
    bits: u64,
    kernel: Kernel,
}

fn combine(a: Term, b: Term) -> Term {
    Term { bits: (a.kernel)(&[a.bits, b.bits]), kernel: a.kernel }
}

/// The values that an element takes up.
type Element = Reduction<Term, fn(Term, Term) -> Term>;

/// A sum of a reduction around the node.
pub(crate) struct Reducing {
    pub(crate) target: Target,
    kernel: Kernel,
    elements: Vec<Element>,
}

impl Reducing {
    /// A sum of `n` elements.
    pub(crate) fn new(target: Target, kernel: Kernel, n: usize) -> Reducing {
        let elements = std::iter::repeat_with(|| Reduction::new(combine as fn(Term, Term) -> Term)).take(n);
        Reducing { target, kernel, elements: elements.collect() }
    }

    /// Lets an element take up a value; whether there is such an element.
    pub(crate) fn push(&mut self, number: usize, bits: u64) -> bool {
        let element = self.elements.get_mut(number);
        element.map(|element| element.push(Term { bits, kernel: self.kernel })).is_some()
    }

    /// What each element makes of its start value.
    pub(crate) fn totals(self) -> impl Iterator<Item = impl FnOnce(u64) -> u64> {
        let kernel = self.kernel;
        self.elements.into_iter().map(move |element| move |start| element.finish(Term { bits: start, kernel }).bits)
    }
}
