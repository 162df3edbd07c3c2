//! What a sparse matrix holds the first derivatives of: a function, or its gradient.

use super::SparseError;
use super::sides::{Side, lengths};
use crate::{Compiler, DerivativeForm, DerivativeRequest, Program, Request};
use cotan_ir::{Module, Var};
use cotan_lower::entry::{Entry, HostType};

/// A function with the places of what is differentiated, and of what is differentiated by it.
pub(super) struct Base {
    /// How it is called.
    pub(super) entry: Entry,
    /// Its IR, in which derivatives are requests.
    pub(super) module: Module,
    /// The parameters' leaves that are the columns: positions among the flat operands.
    pub(super) wrt: Vec<usize>,
    /// The results that are the rows: positions among the results of the IR.
    pub(super) outs: Vec<usize>,
    /// Whether the matrix is symmetric.
    pub(super) is_symmetric: bool,
}

impl Base {
    pub(super) fn new(compiler: &Compiler, program: &Program, request: &Request) -> Result<Base, SparseError> {
        let Some(form) = &request.form else { return Err(SparseError::Form(None)) };
        let is_symmetric = match form.form {
            DerivativeForm::Jacobian => false,
            DerivativeForm::Hessian => true,
            DerivativeForm::Grad
            | DerivativeForm::ValueAndGrad
            | DerivativeForm::Jvp
            | DerivativeForm::Vjp
            | DerivativeForm::Hvp => return Err(SparseError::Form(Some(form.form))),
        };
        // The dense form says what can't be differentiated, and by what it is differentiated if nothing is named.
        let params = compiler.signature(program, request)?.wrt;
        let form =
            is_symmetric.then(|| DerivativeRequest { form: DerivativeForm::Grad, wrt: form.wrt.clone(), mode: None });
        let request = Request { form, is_differentiated: true, ..request.clone() };
        let (entry, module) = compiler.lower_source(program, &request)?;
        let wrt = float_leaves(&entry, &params);
        let floats = entry
            .signature
            .result
            .leaves()
            .into_iter()
            .zip(&entry.leaf_results)
            .filter(|(leaf, _)| leaf.elem.is_float());
        let outs = floats.map(|(_, at)| *at).collect();
        Ok(Base { entry, module, wrt, outs, is_symmetric })
    }
}

impl Base {
    /// The rows and the columns; `None` if the module lacks the function.
    pub(super) fn sides(&self) -> Option<(Side, Side)> {
        let f = self.module.function(&self.entry.symbol)?;
        let lengths: Vec<Var> = lengths(f, &self.outs).into_iter().map(|(v, ..)| v).collect();
        let rows = Side::new(f, &lengths, &self.outs, |out| f.atom_ty(f.body.results[out]));
        let columns = Side::new(f, &lengths, &self.wrt, |param| f.ty(f.params[param]).clone());
        Some((rows, columns))
    }
}

/// Where the floats of some parameters stand among the flat operands, in the order of the parameters.
fn float_leaves(entry: &Entry, params: &[usize]) -> Vec<usize> {
    let leaves: Vec<_> = entry.signature.params.iter().map(|param| HostType::leaves(&param.ty)).collect();
    let n_numbers = entry.signature.sizes.len() + entry.extents.len();
    let first = |param: usize| n_numbers + leaves[..param].iter().map(Vec::len).sum::<usize>();
    let floats = |param: usize| {
        let own = leaves[param].iter().enumerate().filter(|(_, leaf)| leaf.elem.is_float());
        own.map(move |(k, _)| first(param) + k).collect::<Vec<_>>()
    };
    params.iter().flat_map(|param| floats(*param)).collect()
}
