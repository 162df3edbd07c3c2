//! What a host knows of a call before it: sizes, and the extents of results (shape inference).

use super::{ArgumentMisfit, Arguments};
use crate::CallError;
use crate::function::Function;
use cotan_ops::TensorRef;
use cotan_sema::dims::{Atom, Dim};

impl Function {
    /// The names of the sizes that follow from no argument.
    pub fn free_sizes(&self) -> impl Iterator<Item = &str> {
        self.leaves.free_sizes().iter().map(|at| self.entry.signature.sizes[*at].as_str())
    }

    /// The sizes of a call with these leaves, in the order of [`Signature::sizes`](crate::Signature). Leaves are those of
    /// [`Function::call_leaves`], with the sizes that follow from none behind them.
    pub fn sizes(&self, leaves: &[TensorRef<'_>]) -> Result<Vec<i64>, CallError> {
        let (leaves, given) = self.split_leaves(leaves)?;
        let mut sizes = vec![0; self.entry.signature.sizes.len()];
        if given.is_empty() && self.leaves.find_sizes(leaves, &mut sizes) {
            return Ok(sizes);
        }
        let mut numbers = self.leaves.fit(&self.entry, leaves, given)?;
        numbers.truncate(sizes.len());
        Ok(numbers)
    }

    /// The extents of each leaf of the result, in order, in calls of these sizes; `None` for those that the values of arguments
    /// or the run decide.
    ///
    /// ```
    /// use cotan::{Compiler, Config, Engine, Request};
    ///
    /// let compiler = Compiler::new(Config::default())?;
    /// let text = "fn outer[N, M](x: f64[N], y: f64[M]) -> f64[N, M + 1] = tabulate([N, M + 1], |i, j| x[i])";
    /// let program = compiler.check("outer.cot", text);
    /// let outer = compiler.function(&program, &Request::function("outer"), Engine::INTERPRETER)?;
    /// assert_eq!(outer.result_extents(&[3, 4])?, [[Some(3), Some(5)]]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn result_extents(&self, sizes: &[i64]) -> Result<Vec<Vec<Option<i64>>>, ArgumentMisfit> {
        let names = &self.entry.signature.sizes;
        if sizes.len() != names.len() {
            let message = format!("expected the sizes {}, found {} numbers", names.join(", "), sizes.len());
            return Err(ArgumentMisfit::Operands(message));
        }
        if let Some((name, found)) = names.iter().zip(sizes).find(|(_, size)| **size < 0) {
            return Err(ArgumentMisfit::NegativeSize { name: name.clone(), found: *found });
        }
        let size = |atom: &Atom| match atom {
            Atom::Size(id) => sizes.get(id.0 as usize).map(|size| Dim::constant(*size)),
            Atom::Value(_) | Atom::Runtime(_) | Atom::Pack(_) | Atom::Floor(..) => None,
        };
        // Whether a negative extent is none at all is for the call to say.
        let extent = |dim: &Dim| dim.substitute(&size)?.as_constant().filter(|extent| *extent >= 0);
        let leaves = self.entry.signature.result.leaves();
        Ok(leaves.iter().map(|leaf| leaf.dims.iter().map(extent).collect()).collect())
    }

    /// Leaves, and the sizes that are given behind them.
    pub(super) fn split_leaves<'a, 't>(
        &self,
        args: &'a [TensorRef<'t>],
    ) -> Result<(&'a [TensorRef<'t>], Arguments), ArgumentMisfit> {
        let (n, free) = (self.leaves.len(), self.leaves.free_sizes());
        if args.len() != n + free.len() {
            let message = format!("expected {} leaves and sizes, found {}", n + free.len(), args.len());
            return Err(ArgumentMisfit::Operands(message));
        }
        let (leaves, numbers) = args.split_at(n);
        let size = |(at, number): (&usize, &TensorRef<'_>)| {
            Some((self.entry.signature.sizes[*at].clone(), super::HostValue::Scalar(number.to_scalar()?)))
        };
        Ok((leaves, free.iter().zip(numbers).filter_map(size).collect()))
    }
}
