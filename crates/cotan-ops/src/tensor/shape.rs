//! Shape rules: the dims of a result that follow from those of the operands, whatever dims are.

/// How the dims of a result follow from those of the operands. The same rule checks extents when a program runs, and says
/// whether the sizes in types agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShapeRule {
    /// They end in those of the operand: leading axes are new.
    Extends,
    /// They are those of the operand.
    Same,
    /// They are those of the operand in the order of the attributes.
    Permuted,
    /// They are those of a product of two matrices, or of two batches of matrices.
    Product,
    /// They depend on numbers, which the check of the operation looks at.
    Checked,
}

impl ShapeRule {
    /// Whether the dims of a result are those that the rule gives; `None` if they depend on numbers.
    pub fn holds<D: Copy + PartialEq>(self, args: &[&[D]], attrs: &[i64], result: &[D]) -> Option<bool> {
        match (self, args) {
            (ShapeRule::Extends, [x, ..]) => Some(result.ends_with(x)),
            (ShapeRule::Same | ShapeRule::Permuted, [x, ..]) => Some(self.of_operand(x, attrs)? == result),
            (ShapeRule::Product, [a, b]) => Some(is_product(a, b, result) == Some(true)),
            (
                ShapeRule::Extends | ShapeRule::Same | ShapeRule::Permuted | ShapeRule::Product | ShapeRule::Checked,
                _,
            ) => None,
        }
    }

    /// The dims of the result where they are dims of the one operand.
    pub(crate) fn of_operand<D: Copy>(self, x: &[D], attrs: &[i64]) -> Option<Vec<D>> {
        match self {
            ShapeRule::Same => Some(x.to_vec()),
            ShapeRule::Permuted => attrs.iter().map(|axis| x.get(usize::try_from(*axis).ok()?).copied()).collect(),
            ShapeRule::Extends | ShapeRule::Product | ShapeRule::Checked => None,
        }
    }
}

/// Whether `[batch.., m, k] @ [batch.., k, n]` is `[batch.., m, n]`, `[m, k] @ [k]` is `[m]` or `[k] @ [k, n]` is `[n]`.
fn is_product<D: Copy + PartialEq>(a: &[D], b: &[D], result: &[D]) -> Option<bool> {
    match (a, b) {
        ([m, inner], [k]) => return Some(inner == k && result == [*m]),
        ([inner], [k, n]) => return Some(inner == k && result == [*n]),
        _ => {}
    }
    let ((n, batch_and_k), (k, batch_and_m)) = (b.split_last()?, a.split_last()?);
    let (inner, batch) = batch_and_k.split_last()?;
    let fits = inner == k && batch_and_m.starts_with(batch) && batch.len() + 1 == batch_and_m.len();
    Some(fits && result == [batch_and_m, &[*n]].concat())
}
