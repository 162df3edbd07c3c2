//! Flattening of values: scalars and tensors of scalars, in order.

use cotan_ir::Elem;

use super::{Declarations, Type};

/// A scalar or a tensor of scalars that a value consists of.
#[derive(Clone, Debug, PartialEq)]
pub struct Leaf {
    /// The type.
    pub ty: Type,
    /// Whether it is the number of the variant of an enum.
    pub is_tag: bool,
    /// The variants that must be there for this leaf to be: position of the number among the
    /// leaves, and the number. Outermost enum first.
    pub within: Vec<(usize, usize)>,
}

impl Declarations<'_> {
    /// See [`super::Program::leaves`].
    pub fn leaves(self, ty: &Type) -> Vec<Leaf> {
        let mut leaves = Vec::new();
        self.push_leaves(ty, &mut Vec::new(), &mut leaves);
        leaves
    }

    fn push_leaves(self, ty: &Type, within: &mut Vec<(usize, usize)>, leaves: &mut Vec<Leaf>) {
        match ty {
            Type::Error | Type::Never | Type::Function(_) => {}
            // What stands for any type counts as one leaf until it is known.
            Type::Scalar(_) | Type::Param(_) => {
                leaves.push(Leaf { ty: ty.clone(), is_tag: false, within: within.clone() })
            }
            Type::Tuple(parts) => parts.iter().for_each(|part| self.push_leaves(part, within, leaves)),
            Type::Struct(of) => {
                self.field_types(of).iter().for_each(|field| self.push_leaves(field, within, leaves));
            }
            Type::Enum(of) => {
                let tag = leaves.len();
                leaves.push(Leaf { ty: Type::of(Elem::I64), is_tag: true, within: within.clone() });
                for (variant, payload) in self.all_payloads(of).iter().enumerate() {
                    within.push((tag, variant));
                    payload.iter().for_each(|part| self.push_leaves(part, within, leaves));
                    within.pop();
                }
            }
            Type::Tensor { elem, dims } => {
                let first = leaves.len();
                self.push_leaves(elem, within, leaves);
                for leaf in &mut leaves[first..] {
                    let ty = std::mem::replace(&mut leaf.ty, Type::UNIT);
                    leaf.ty = Type::tensor(ty, dims.clone());
                }
            }
        }
    }
}
