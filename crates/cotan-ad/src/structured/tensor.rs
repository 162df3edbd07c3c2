//! Structural tensor operations: linear, multilinear or by a rule, as their row declares.

use crate::state::{Forward, Reverse, Scope, TangentScope};
use cotan_ir::{Atom, Stmt, TensorOp, Var};
use cotan_ops::{Derivative, TensorUse};

impl Forward<'_, '_> {
    pub(crate) fn jvp_tensor(
        &mut self,
        s: &Stmt,
        op: TensorOp,
        args: &[Atom],
        attrs: &[i64],
        scope: &mut TangentScope,
    ) {
        self.primal(s, scope);
        let y = s.results[0];
        self.b.set_span(s.span.tangent());
        for direction in self.directions_of(y).collect::<Vec<_>>() {
            let tan = self.tensor_tangent(y, op, args, attrs, direction, scope);
            scope.tans.extend(tan.map(|t| ((y, direction), t)));
        }
    }

    /// The tangent of the result of a tensor operation, if it is not zero.
    fn tensor_tangent(
        &mut self,
        result: Var,
        op: TensorOp,
        args: &[Atom],
        attrs: &[i64],
        direction: usize,
        scope: &TangentScope,
    ) -> Option<Atom> {
        let tangents: Vec<Option<Atom>> = args.iter().map(|a| self.known_tangent(*a, direction, scope)).collect();
        if tangents.iter().all(Option::is_none) {
            return None;
        }
        let name = self.tan_name(result);
        let ty = scope.env.ty(self.src.ty(result)).tangent();
        match &cotan_ops::tensor_row(op).derivative {
            Derivative::None { .. } => None,
            Derivative::Linear { .. } => {
                let src = self.src;
                let each =
                    |a: &Atom| if src.is_float(*a) { self.tangent(*a, direction, scope) } else { scope.env.atom(*a) };
                let args: Vec<Atom> = args.iter().map(each).collect();
                Some(self.b.named(&name).tensor(op, &args, attrs, ty).into())
            }
            Derivative::Multilinear { push, .. } => {
                let at = TensorUse { args: &scope.env.atoms(args), attrs, result: &ty };
                let mut total: Option<Atom> = None;
                for (k, tan) in tangents.iter().enumerate() {
                    let Some(tan) = tan else { continue };
                    let term = push(&mut self.b, &at, *tan, k);
                    total = Some(match total {
                        None => term,
                        Some(sum) => self.b.named(&name).prim(cotan_ops::ADD.prim(), &[sum, term]).into(),
                    });
                }
                total
            }
            Derivative::Rule { push, .. } => {
                let at = TensorUse { args: &scope.env.atoms(args), attrs, result: &ty };
                let y = scope.env.atom(result.into());
                Some(push(&mut self.b, &at, y, &tangents))
            }
        }
    }
}

impl Reverse<'_, '_> {
    pub(crate) fn reverse_tensor(
        &mut self,
        result: Var,
        op: TensorOp,
        args: &[Atom],
        attrs: &[i64],
        scope: &mut Scope,
    ) {
        let Some(c) = self.take(result, scope) else { return };
        let derivative = &cotan_ops::tensor_row(op).derivative;
        let y = scope.env.atom(result.into());
        let ty = self.cot_ty(result, scope);
        let target_args = scope.env.atoms(args);
        let at = TensorUse { args: &target_args, attrs, result: &ty };
        for (k, a) in args.iter().enumerate() {
            if self.active.member(*a).is_some() {
                let contribution = match derivative {
                    Derivative::None { .. } => return,
                    Derivative::Linear { transpose } | Derivative::Multilinear { transpose, .. } => {
                        transpose(&mut self.b, &at, c, k)
                    }
                    Derivative::Rule { pull, .. } => pull(&mut self.b, &at, y, c, k),
                };
                self.add(*a, contribution, scope);
            }
        }
    }
}
