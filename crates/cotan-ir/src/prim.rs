//! What the IR sees of the op table: names and signatures.

use crate::{Elem, ElemSet};
use std::any::Any;
use std::fmt;
use std::hash::{Hash, Hasher};

/// Element type that a primitive wants of an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperandElem {
    /// The element type `T` of this use, the same for all operands marked so; it must be in the signature's domain.
    T,
    /// This type.
    Is(Elem),
}

/// Element type of a primitive's result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultElem {
    /// The `T` of the operands.
    T,
    /// This type.
    Is(Elem),
}

/// The signature of a scalar primitive.
pub struct PrimSig {
    /// Unique name, also in the text form.
    pub name: &'static str,
    /// The element types that `T` may stand for.
    pub domain: ElemSet,
    /// One entry per operand.
    pub operands: &'static [OperandElem],
    /// Element type of the result.
    pub result: ResultElem,
    /// The row of the op table that this signature belongs to.
    pub record: &'static (dyn Any + Send + Sync),
}

/// A scalar primitive: a reference to its signature.
#[derive(Clone, Copy)]
pub struct Prim(pub &'static PrimSig);

impl Prim {
    /// The name.
    pub fn name(self) -> &'static str {
        self.0.name
    }

    /// Number of operands.
    pub fn arity(self) -> usize {
        self.0.operands.len()
    }

    /// The element type of the result for operands of these types, or what is wrong with them.
    pub fn result_elem(self, operands: &[Elem]) -> Result<Elem, String> {
        let sig = self.0;
        if operands.len() != sig.operands.len() {
            return Err(format!("`{}` takes {} operands, found {}", sig.name, sig.operands.len(), operands.len()));
        }
        let mut t = None;
        for (want, found) in sig.operands.iter().zip(operands) {
            match want {
                OperandElem::Is(e) if e != found => {
                    return Err(format!("`{}` expects {e}, found {found}", sig.name));
                }
                OperandElem::Is(_) => {}
                OperandElem::T => match t {
                    None if sig.domain.has(*found) => t = Some(*found),
                    None => return Err(format!("`{}` is not defined on {found}", sig.name)),
                    Some(e) if e != *found => {
                        return Err(format!("`{}` expects operands of one type, found {e} and {found}", sig.name));
                    }
                    Some(_) => {}
                },
            }
        }
        match sig.result {
            ResultElem::Is(e) => Ok(e),
            ResultElem::T => t.ok_or_else(|| format!("`{}` has no operand that decides its type", sig.name)),
        }
    }
}

impl PartialEq for Prim {
    fn eq(&self, other: &Prim) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}

impl Eq for Prim {}

impl Hash for Prim {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.name.hash(state);
    }
}

impl fmt::Debug for Prim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.name)
    }
}

/// The signature of a structural operation on tensors. Result types stand in the statement; the record holds the rule
/// that relates them to the operands.
pub struct TensorSig {
    /// Unique name, also in the text form.
    pub name: &'static str,
    /// Whether it writes output.
    pub prints: bool,
    /// The record of the op table that this signature belongs to.
    pub record: &'static (dyn Any + Send + Sync),
}

/// A structural operation on tensors: a reference to its signature.
#[derive(Clone, Copy)]
pub struct TensorOp(pub &'static TensorSig);

impl TensorOp {
    /// The name.
    pub fn name(self) -> &'static str {
        self.0.name
    }

    /// Whether it writes output: an effect that must not be repeated, dropped or moved.
    pub fn prints(self) -> bool {
        self.0.prints
    }
}

impl PartialEq for TensorOp {
    fn eq(&self, other: &TensorOp) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}

impl Eq for TensorOp {}

impl Hash for TensorOp {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.name.hash(state);
    }
}

impl fmt::Debug for TensorOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.name)
    }
}
