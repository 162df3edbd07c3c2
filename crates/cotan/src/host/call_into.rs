//! Calls on borrowed arrays: arguments and results are row-major arrays of the host, in the native width of their elements.
//!
//! Compiled code reads and writes them where they lie. Interpreters, and code that traps NaN, work on copies.

use super::fit::{check_flat_extents, fit_numbers};
use super::{ArgumentMisfit, Arguments, HostType, HostValue};
use crate::CallError;
use crate::backend::copy_results;
use crate::function::Function;
use cotan_ir::{Const, OutOfMemory};
use cotan_lower::entry::EntryParam;
use cotan_ops::{TensorMut, TensorRef, Value};

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
        let numbers = self.numbers(args)?;
        let words: Vec<Value> = numbers.iter().map(|n| Value::from(Const::i64(*n))).collect();
        check_flat_extents(&self.entry, &words)?;
        let n_results = self.entry.leaf_results.len();
        if results.len() != n_results {
            let message = format!("expected room for {n_results} results, found {}", results.len());
            return Err(ArgumentMisfit::Operands(message).into());
        }
        let leaf = |param: &EntryParam| args.iter().find(|(name, _)| *name == param.name).map(|(_, tensor)| *tensor);
        let leaves = self.entry.signature.params.iter().filter_map(leaf);
        if self.traps.is_none() && self.has_a_result_for_each_leaf() {
            let operands: Vec<TensorRef<'_>> = numbers.iter().map(TensorRef::i64).chain(leaves).collect();
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
            return self.executable.call_into(&operands, &mut rooms, self.context());
        }
        let mut operands = words;
        for leaf in leaves {
            operands.push(leaf.to_value().ok_or_else(|| no_memory(leaf.elements().len()))?);
        }
        let found = self.call_flat(&operands)?;
        let found: Vec<Value> = self.entry.leaf_results.iter().map(|at| found[*at].clone()).collect();
        copy_results(&found, results)
    }

    /// The sizes and extents that follow from arguments, each of which fits its parameter.
    fn numbers(&self, args: &[(&str, TensorRef<'_>)]) -> Result<Vec<i64>, ArgumentMisfit> {
        let signature = &self.entry.signature;
        let mut integers = Arguments::new();
        for (name, tensor) in args {
            match signature.params.iter().find(|param| param.name == *name) {
                Some(param) => self.check_kind(param, tensor)?,
                None if signature.sizes.iter().any(|size| size == name) => {}
                None => {
                    let params = signature.params.iter().map(|param| param.name.clone());
                    let known = params.chain(signature.sizes.iter().cloned()).collect();
                    return Err(ArgumentMisfit::Unknown { name: (*name).to_owned(), known });
                }
            }
            let number = tensor.to_scalar().filter(|c| c.as_integer().is_some());
            integers.extend(number.map(|c| ((*name).to_owned(), HostValue::Scalar(c))));
        }
        let dims = |param: &EntryParam| {
            let given = args.iter().find(|(name, _)| *name == param.name);
            given.map(|(_, tensor)| tensor.dims().to_vec())
        };
        fit_numbers(&self.entry, &dims, &integers)
    }

    fn check_kind(&self, param: &EntryParam, tensor: &TensorRef<'_>) -> Result<(), ArgumentMisfit> {
        let fits = match &param.ty {
            HostType::Scalar(elem) => *elem == tensor.elem() && tensor.dims().is_empty(),
            HostType::Tensor { elem, dims } => {
                **elem == HostType::Scalar(tensor.elem()) && dims.len() == tensor.dims().len()
            }
            HostType::Tuple(_) | HostType::Struct { .. } | HostType::Enum { .. } => false,
        };
        if fits {
            return Ok(());
        }
        let (elem, dims) = (tensor.elem(), tensor.dims());
        let found = if dims.is_empty() { elem.to_string() } else { format!("{elem}{dims:?}") };
        Err(ArgumentMisfit::Kind { name: param.name.clone(), expected: self.entry.signature.show(&param.ty), found })
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
