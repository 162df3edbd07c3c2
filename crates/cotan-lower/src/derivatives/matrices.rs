//! Gradients, and Jacobians as stacks of first derivatives along bases.

use cotan_ir::{Atom, Builder, CheckKind, Const, Dim as IrDim, Elem, Env, ParResult, Ty, Var};
use cotan_ops::{EQ, FILL, TRANSPOSE, cast_to};

use super::super::body::Value;
use super::super::function::with_results;
use super::Base;
use super::calls::Calls;
use cotan_sema::typed::DerivativeMode;

impl Calls<'_, '_> {
    /// The value, which begins with a float, and the gradients of that.
    pub(super) fn gradient(&mut self, wrt: &[usize], mode: Option<DerivativeMode>) -> (Value, Value) {
        let out = self.base.results[0];
        match mode {
            Some(DerivativeMode::Reverse) | None => {
                let elem = self.base.function.atom_ty(self.base.function.body.results[out]).elem;
                self.vjp(wrt, &[out], &[Const::number(elem, 1).into()])
            }
            Some(DerivativeMode::Forward) => {
                let function = self.base.function.clone();
                let results = self.b.call(&function, self.args);
                (self.leaves_of(&results), self.jacobian(wrt, &[out], mode))
            }
        }
    }

    /// A function that gives the gradients of the base.
    pub(super) fn gradient_function(&mut self, wrt: &[usize]) -> Base {
        let function = self.base.function.clone();
        let symbol = self.lowering.free_symbol(&format!("{}.grad", function.name));
        let mut b = Builder::new();
        let mut env = Env::new();
        let mut args: Vec<Atom> = Vec::new();
        for v in &function.params {
            let ty = env.ty(function.ty(*v));
            let param = b.param(function.name_of(*v), ty);
            env.insert(*v, param.into());
            args.push(param.into());
        }
        let mut calls = Calls { lowering: &mut *self.lowering, b: &mut b, base: self.base, args: &args };
        let (_, gradients) = calls.gradient(wrt, None);
        let (function, results) = with_results(b.finish(&symbol, Vec::new()), gradients);
        Base {
            function: self.lowering.module.insert(function),
            leads: self.base.leads.clone(),
            params: self.base.params.clone(),
            results,
            result: Vec::new(),
        }
    }

    /// For each of some results the derivatives with respect to each of some parameters: dims of the result, then of
    /// the parameter.
    pub(super) fn jacobian(&mut self, params: &[usize], outs: &[usize], mode: Option<DerivativeMode>) -> Value {
        let mut blocks = Value::new();
        for out in outs {
            for param in params {
                blocks.push(self.block(*param, *out, mode));
            }
        }
        blocks
    }

    /// The derivatives of one result with respect to one parameter, in the element type of the parameter.
    fn block(&mut self, param: usize, out: usize, mode: Option<DerivativeMode>) -> Atom {
        let param_ty = self.b.ty(self.args[param]);
        let result_ty = self.result_ty(out);
        match mode.unwrap_or_else(|| cheaper_mode(&param_ty, &result_ty)) {
            DerivativeMode::Reverse => {
                self.per_element(&result_ty, |calls, basis| calls.vjp(&[param], &[out], &[basis]).1[0])
            }
            DerivativeMode::Forward => {
                let stacked = self.per_element(&param_ty, |calls, basis| {
                    let tangent = calls.jvp(&[param], &[out], &[basis]).1[0];
                    let tangent = calls.under_dims(tangent, &result_ty.dims);
                    if result_ty.elem == param_ty.elem {
                        return tangent;
                    }
                    calls.b.prim(cast_to(param_ty.elem).prim(), &[tangent]).into()
                });
                let (n_param, n_result) = (param_ty.rank() as i64, result_ty.rank() as i64);
                if n_param == 0 || n_result == 0 {
                    return stacked;
                }
                let ty = Ty::new(param_ty.elem, [result_ty.dims, param_ty.dims].concat());
                let perm: Vec<i64> = (n_param..n_param + n_result).chain(0..n_param).collect();
                self.b.tensor(TRANSPOSE.op(), &[stacked], &perm, ty).into()
            }
        }
    }

    /// The type of a result of the base in the caller. A length that the base computes is found by calling it.
    fn result_ty(&mut self, out: usize) -> Ty {
        let function = self.base.function.clone();
        let env = self.env();
        let ty = function.atom_ty(function.body.results[out]);
        if ty.dim_vars().all(|v| env.contains_key(&v)) {
            return env.ty(&ty);
        }
        let results = self.b.call(&function, self.args);
        self.b.var_ty(results[out]).clone()
    }

    /// A tangent or cotangent whose lengths the base computes, under the dims that a call outside found for them.
    pub(super) fn under_dims(&mut self, tangent: Atom, dims: &[IrDim]) -> Atom {
        let mut tangent = tangent;
        for (axis, expected) in dims.iter().enumerate() {
            let mut ty = self.b.ty(tangent);
            let found = ty.dims[axis];
            if found != *expected {
                let args = [expected.atom(), found.atom()];
                let is_equal = self.b.prim(EQ.prim(), &args);
                ty.dims[axis] = *expected;
                let checked = self.b.check(is_equal.into(), CheckKind::ShapeMismatch, &args, tangent, Some(ty));
                tangent = checked.into();
            }
        }
        tangent
    }

    /// Stacks `f` of every basis tensor of a type; of a scalar just `f` of 1.
    fn per_element(&mut self, ty: &Ty, f: impl Fn(&mut Self, Atom) -> Atom) -> Atom {
        let one = Const::number(ty.elem, 1).into();
        if ty.is_scalar() {
            return f(self, one);
        }
        let zeros = self.b.tensor(FILL.op(), &[Const::zero(ty.elem).into()], &[], ty.clone());
        let indices: Vec<Var> = ty.dims.iter().map(|_| self.b.var("i", Ty::scalar(Elem::I64))).collect();
        let at: Vec<Atom> = indices.iter().map(|v| Atom::Var(*v)).collect();
        self.b.open_block();
        let basis = self.b.named("basis").update(zeros.into(), &at, one);
        let element = f(self, basis.into());
        let block = self.b.close_block(vec![element]);
        let extents = ty.dims.iter().map(|dim| dim.atom()).collect();
        self.b.finish_par(indices, extents, vec![ParResult::Stacked], Vec::new(), block)[0].into()
    }
}

/// Forward runs once for each element of the parameter, reverse once for each of the result. Where sizes do not tell,
/// reverse.
fn cheaper_mode(param: &Ty, result: &Ty) -> DerivativeMode {
    let count = |ty: &Ty| {
        let extent = |dim: &IrDim| dim.atom().constant().and_then(|c| c.as_i64());
        ty.dims.iter().try_fold(1i64, |product, dim| product.checked_mul(extent(dim)?))
    };
    let is_forward = match (count(param), count(result)) {
        (Some(param), Some(result)) => param <= result,
        (Some(param), None) => param == 1,
        (None, Some(_)) => false,
        (None, None) => param.dims == result.dims,
    };
    if is_forward { DerivativeMode::Forward } else { DerivativeMode::Reverse }
}
