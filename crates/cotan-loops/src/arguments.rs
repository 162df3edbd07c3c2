//! Arguments of nests: whether values fit the parameters of a function.

use crate::node::{LoopFunction, Operand, Param, Tensor};
use cotan_ir::{Const, Elem};
use cotan_ops::{ElementCount, Value};

/// An argument as far as a parameter asks: its elements may lie anywhere.
#[derive(Clone, Copy, Debug)]
pub struct ArgumentShape<'a> {
    /// Type of the elements.
    pub elem: Elem,
    /// Extents, outermost first.
    pub dims: &'a [i64],
    /// The number that a scalar is.
    pub scalar: Option<Const>,
    /// Whether there are as many elements as the extents say.
    pub is_whole: bool,
}

impl<'a> From<&'a Value> for ArgumentShape<'a> {
    fn from(value: &'a Value) -> ArgumentShape<'a> {
        let is_whole = ElementCount::of(&value.dims).is_some_and(|n| n.get() == value.bits.len());
        ArgumentShape { elem: value.elem, dims: &value.dims, scalar: value.scalar(), is_whole }
    }
}

/// Whether arguments fit the parameters: number, element types, extents.
pub fn check_arguments(f: &LoopFunction, args: &[Value]) -> Result<(), String> {
    check_shapes(f, &args.iter().map(ArgumentShape::from).collect::<Vec<_>>())
}

/// The same of arguments whose elements lie anywhere.
pub fn check_shapes(f: &LoopFunction, args: &[ArgumentShape<'_>]) -> Result<(), String> {
    if args.len() != f.params.len() {
        return Err(format!("expected {} arguments, found {}", f.params.len(), args.len()));
    }
    for (position, (param, arg)) in f.params.iter().zip(args).enumerate() {
        let (elem, dims) = match param {
            Param::Scalar(local) => (f.elem(*local), Vec::new()),
            Param::Tensor(tensor) => (tensor.elem, extents(f, tensor, args)),
        };
        if (arg.elem, arg.dims) != (elem, dims.as_slice()) || !arg.is_whole {
            return Err(format!("argument {position}: expected {elem}{dims:?}, found {}{:?}", arg.elem, arg.dims));
        }
    }
    Ok(())
}

/// The extents that a parameter asks for, by the values of other parameters.
fn extents(f: &LoopFunction, tensor: &Tensor, args: &[ArgumentShape<'_>]) -> Vec<i64> {
    let extent = |dim: &Operand| match dim {
        Operand::Const(c) => c.as_i64(),
        Operand::Local(local) => {
            let position = f.params.iter().position(|param| *param == Param::Scalar(*local));
            position.and_then(|at| args[at].scalar).and_then(Const::as_i64)
        }
    };
    // What is no size of this call fits no value.
    tensor.dims.iter().map(|dim| extent(dim).unwrap_or(-1)).collect()
}
