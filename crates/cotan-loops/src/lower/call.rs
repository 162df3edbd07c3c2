//! Calls of other functions of the module. They follow the convention of calls from outside, with results in memory of
//! the caller where their size is known, and what the callee allocates on the way is released afterwards.

use super::{Lowering, Value};
use crate::node::{Argument, BufferKind, CallResult, Node, Operand, Place, Tensor};
use cotan_ir::{Atom, Stmt, Symbol};

impl Lowering<'_> {
    pub(super) fn call(&mut self, stmt: &Stmt, callee: &Symbol, args: &[Atom]) {
        let args = args.iter().map(|a| match self.value_of(*a) {
            Value::Scalar(operand) => Argument::Scalar(operand),
            Value::Tensor(tensor) => Argument::Tensor(tensor),
        });
        let args: Vec<Argument> = args.collect();
        let mut results = Vec::new();
        let mut is_sized_by_callee = false;
        for v in &stmt.results {
            let info = &self.f.vars[v.index()];
            results.push(if info.ty.is_scalar() {
                CallResult::Scalar(self.new_local(&info.name, info.ty.elem, false))
            } else if info.ty.dim_vars().any(|d| stmt.results.contains(&d)) {
                is_sized_by_callee = true;
                let buffer = self.new_buffer(&info.name, info.ty.elem, BufferKind::Bound);
                CallResult::New(buffer, info.ty.rank())
            } else {
                CallResult::Into(self.allocate_for(*v))
            });
        }
        let call = Node::Call { callee: callee.clone(), args, results: results.clone() };
        if is_sized_by_callee {
            self.allocates = true;
            self.push(call);
        } else {
            self.push(Node::Scope(vec![call]));
        }
        for (v, result) in stmt.results.iter().zip(results) {
            let value = match result {
                CallResult::Scalar(local) => Value::Scalar(local.into()),
                CallResult::Into(tensor) => Value::Tensor(tensor),
                CallResult::New(buffer, _) => {
                    let ty = self.f.ty(*v);
                    let place = Place { buffer, offset: Operand::i64(0) };
                    Value::Tensor(Tensor { place, elem: ty.elem, dims: self.dims(ty) })
                }
            };
            self.bind(*v, value);
        }
    }
}
