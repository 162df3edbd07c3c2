//! Arguments of nests: whether values fit the parameters of a function.

use crate::node::{LoopFunction, Operand, Param, Tensor};
use cotan_ir::Const;
use cotan_ops::{ElementCount, Value};

/// Whether arguments fit the parameters: number, element types, extents.
pub fn check_arguments(f: &LoopFunction, args: &[Value]) -> Result<(), String> {
    if args.len() != f.params.len() {
        return Err(format!("expected {} arguments, found {}", f.params.len(), args.len()));
    }
    for (position, (param, arg)) in f.params.iter().zip(args).enumerate() {
        let (elem, dims) = match param {
            Param::Scalar(local) => (f.elem(*local), Vec::new()),
            Param::Tensor(tensor) => (tensor.elem, extents(f, tensor, args)),
        };
        let is_whole = ElementCount::of(&arg.dims).is_some_and(|n| n.get() == arg.bits.len());
        if (arg.elem, &arg.dims) != (elem, &dims) || !is_whole {
            return Err(format!("argument {position}: expected {elem}{dims:?}, found {}{:?}", arg.elem, arg.dims));
        }
    }
    Ok(())
}

/// The extents that a parameter asks for, by the values of other parameters.
fn extents(f: &LoopFunction, tensor: &Tensor, args: &[Value]) -> Vec<i64> {
    let extent = |dim: &Operand| match dim {
        Operand::Const(c) => c.as_i64(),
        Operand::Local(local) => {
            let position = f.params.iter().position(|param| *param == Param::Scalar(*local));
            position.and_then(|at| args[at].scalar()).and_then(Const::as_i64)
        }
    };
    // What is no size of this call fits no value.
    tensor.dims.iter().map(|dim| extent(dim).unwrap_or(-1)).collect()
}
