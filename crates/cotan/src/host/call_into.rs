//! Calls on borrowed arrays: arguments and results are row-major arrays of the host, in the native width of their elements.
//!
//! Compiled code reads and writes them where they lie. Interpreters, and code that traps NaN, work on copies.

use super::fit::{expect_all, expect_known};
use super::{ArgumentMisfit, Arguments, HostValue};
use crate::CallError;
use crate::backend::copy_results;
use crate::function::Function;
use cotan_ir::{Const, OutOfMemory};
use cotan_lower::entry::EntryParam;
use cotan_ops::{TensorMut, TensorRef, Value};

/// So many sizes and operands take no memory.
const FEW: usize = 16;

impl Function {
    /// Calls the function with tensors and scalars by name, a size that follows from none of them too; each parameter needs
    /// one. The leaves of the result are written to `results`, in order. What the function prints is dropped.
    ///
    /// ```
    /// use cotan::host::{Elem, TensorMut, TensorRef};
    /// use cotan::{Compiler, Config, Engine, Request};
    ///
    /// let compiler = Compiler::new(Config::default())?;
    /// let program = compiler.check("twice.cot", "fn twice[N](x: f32[N]) -> f32[N] = x .+ x");
    /// let twice = compiler.function(&program, &Request::function("twice"), Engine::CPU)?;
    /// let (x, mut y) = ([1.0f32, 2.5], [0.0f32; 2]);
    /// let x = TensorRef::new(Elem::F32, &[2], &x[..])?;
    /// let result = TensorMut::new(Elem::F32, &[2], &mut y[..])?;
    /// twice.call_into(&[("x", x)], &mut [result])?;
    /// assert_eq!(y, [2.0, 5.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn call_into(&self, args: &[(&str, TensorRef<'_>)], results: &mut [TensorMut<'_>]) -> Result<(), CallError> {
        let leaves = self.leaves_of(args)?;
        let sizes = &self.entry.signature.sizes;
        let given = args.iter().filter(|(name, _)| sizes.iter().any(|size| size == name));
        let given = given.filter_map(|(name, size)| Some(((*name).to_owned(), HostValue::Scalar(size.to_scalar()?))));
        self.call_on_leaves(&leaves, results, given.collect())
    }

    /// Calls the function with the leaves of its arguments in order, and behind them the sizes that follow from none, as
    /// scalars of type i64: a parameter that is a scalar or a tensor is one leaf, and the leaves of a struct are those of its
    /// fields. The leaves of the result are written to `results`, in order. What the function prints is dropped.
    ///
    /// Compiled code reads and writes the elements where they lie, and calls of equal sizes allocate nothing, if all
    /// extents are sizes or numbers.
    pub fn call_leaves(&self, args: &[TensorRef<'_>], results: &mut [TensorMut<'_>]) -> Result<(), CallError> {
        let (leaves, given) = self.split_leaves(args)?;
        self.call_on_leaves(leaves, results, given)
    }

    /// Calls the function with leaves as [`Function::call_leaves`] does, and gives the leaves of the result as values: for results
    /// whose extents only the run knows.
    pub fn call_on_lent(&self, args: &[TensorRef<'_>]) -> Result<Vec<Value>, CallError> {
        let (leaves, given) = self.split_leaves(args)?;
        let numbers = self.leaves.fit(&self.entry, leaves, given)?;
        self.values_on_copies(&numbers, leaves)
    }

    fn call_on_leaves(
        &self,
        leaves: &[TensorRef<'_>],
        results: &mut [TensorMut<'_>],
        given: Arguments,
    ) -> Result<(), CallError> {
        let n_results = self.entry.leaf_results.len();
        if results.len() != n_results {
            let message = format!("expected room for {n_results} results, found {}", results.len());
            return Err(ArgumentMisfit::Operands(message).into());
        }
        let (mut few, n_sizes) = ([0; FEW], self.entry.signature.sizes.len());
        if given.is_empty() && n_sizes <= FEW && self.leaves.find_sizes(leaves, &mut few[..n_sizes]) {
            return self.call_with_numbers(&few[..n_sizes], leaves, results);
        }
        let numbers = self.leaves.fit(&self.entry, leaves, given)?;
        self.call_with_numbers(&numbers, leaves, results)
    }

    /// Calls the function with sizes and extents that fit the leaves.
    fn call_with_numbers(
        &self,
        numbers: &[i64],
        leaves: &[TensorRef<'_>],
        results: &mut [TensorMut<'_>],
    ) -> Result<(), CallError> {
        if self.traps.is_some() || !(self.has_leaves_alone || self.has_a_result_for_each_leaf()) {
            return self.call_on_copies(numbers, leaves, results);
        }
        let n = numbers.len() + leaves.len();
        let mut few = [TensorRef::i64(&0); FEW];
        let mut many = Vec::new();
        let operands: &mut [TensorRef<'_>] = match few.get_mut(..n) {
            Some(few) => few,
            None => {
                many.resize(n, TensorRef::i64(&0));
                &mut many
            }
        };
        let of_numbers = numbers.iter().map(TensorRef::i64);
        operands.iter_mut().zip(of_numbers.chain(leaves.iter().copied())).for_each(|(to, from)| *to = from);
        if self.has_leaves_alone {
            return self.executable.call_into(operands, results, self.context());
        }
        // Lengths that the run finds out stand between the leaves.
        let n = self.module.function(&self.entry.symbol).map_or(0, |f| f.body.results.len());
        let mut rooms: Vec<Option<TensorMut<'_>>> = (0..n).map(|_| None).collect();
        for (result, at) in results.iter_mut().zip(&self.entry.leaf_results) {
            rooms[*at] = Some(result.reborrow());
        }
        let mut lengths = vec![0; n];
        let rooms = rooms.into_iter().zip(&mut lengths);
        let mut rooms: Vec<TensorMut<'_>> =
            rooms.map(|(room, length)| room.unwrap_or_else(|| TensorMut::i64(length))).collect();
        self.executable.call_into(operands, &mut rooms, self.context())
    }

    fn call_on_copies(
        &self,
        numbers: &[i64],
        leaves: &[TensorRef<'_>],
        results: &mut [TensorMut<'_>],
    ) -> Result<(), CallError> {
        copy_results(&self.values_on_copies(numbers, leaves)?, results)
    }

    fn values_on_copies(&self, numbers: &[i64], leaves: &[TensorRef<'_>]) -> Result<Vec<Value>, CallError> {
        let mut operands: Vec<Value> = numbers.iter().map(|n| Value::from(Const::i64(*n))).collect();
        for leaf in leaves {
            operands.push(leaf.to_value().ok_or_else(|| no_memory(leaf.elements().len()))?);
        }
        let found = self.call_flat(&operands)?;
        Ok(self.entry.leaf_results.iter().map(|at| found[*at].clone()).collect())
    }

    /// The arguments in the order of the parameters, each of which is one leaf.
    fn leaves_of<'t>(&self, args: &[(&str, TensorRef<'t>)]) -> Result<Vec<TensorRef<'t>>, ArgumentMisfit> {
        let signature = &self.entry.signature;
        expect_known(&self.entry, args.iter().map(|(name, _)| *name))?;
        let given = |param: &EntryParam| args.iter().find(|(name, _)| *name == param.name).map(|(_, tensor)| *tensor);
        expect_all(&self.entry, &|param| given(param).is_some())?;
        let of_param = |(param, range): (&EntryParam, &std::ops::Range<usize>)| {
            let tensor = given(param)?;
            Some(if range.len() == 1 { Ok(tensor) } else { Err(self.no_leaf(param, &tensor)) })
        };
        signature.params.iter().zip(self.leaves.params()).filter_map(of_param).collect()
    }

    fn no_leaf(&self, param: &EntryParam, tensor: &TensorRef<'_>) -> ArgumentMisfit {
        let found = format!("{}{:?}", tensor.elem(), tensor.dims());
        ArgumentMisfit::Kind { name: param.name.clone(), expected: self.entry.signature.show(&param.ty), found }
    }

    /// Whether no two leaves of the result are one result of the IR.
    fn has_a_result_for_each_leaf(&self) -> bool {
        let leaves = &self.entry.leaf_results;
        leaves.iter().enumerate().all(|(k, at)| !leaves[..k].contains(at))
    }
}

fn no_memory(n_elements: usize) -> CallError {
    CallError::OutOfMemory(OutOfMemory::of_machine(n_elements.saturating_mul(size_of::<u64>())))
}
