//! Operations of the op table that a library names.

use cotan_ir::{Atom, Const, Dim, Monoid, TensorOp, Ty};
use cotan_ops::{ISFINITE, ISNAN, NOT, OR, tensor_row};

use super::Result;
use super::function::Body;
use super::values::Value;
use cotan_sema::typed::{Arg, Expr, ExprKind, Literal};

impl<'p> Body<'_, 'p> {
    /// A use of an operation; `e` is the whole expression, whose type is that of the result.
    pub(super) fn operation(
        &mut self,
        op: TensorOp,
        (attrs, operands): (&'p [Arg], &'p [Arg]),
        e: &'p Expr,
    ) -> Result<Value> {
        let attrs: Vec<i64> = attrs.iter().map(literal).collect();
        let mut args: Vec<Atom> = Vec::new();
        for operand in operands {
            args.extend(self.value(operand)?);
        }
        let leaf = self.leaf_types(&e.ty).swap_remove(0);
        let mut dims = Vec::new();
        for dim in &leaf.dims {
            let extent = self.clamped_size(dim).expect("invariant: the sizes of a result are those of operands");
            dims.push(Dim::from_atom(extent));
        }
        let result: Atom = self.b.tensor(op, &args, &attrs, Ty::new(leaf.elem, dims)).into();
        let Some(kind) = tensor_row(op).failure else { return Ok(vec![result]) };
        // A routine that has no result gives NaN; so does one that is given NaN, and then nothing is wrong.
        let has_nan = self.any(result, &mut |body, x| body.prim(&ISNAN, &[x]));
        let mut is_given = Atom::Const(Const::bool(true));
        for arg in args.iter().filter(|arg| self.b.ty(**arg).elem.is_float()).copied().collect::<Vec<_>>() {
            let is_odd = self.any(arg, &mut |body, x| {
                let is_finite = body.prim(&ISFINITE, &[x]);
                body.prim(&NOT, &[is_finite])
            });
            let is_finite = self.prim(&NOT, &[is_odd]);
            is_given = self.both(is_given, is_finite);
        }
        let has_no_nan = self.prim(&NOT, &[has_nan]);
        let is_not_given = self.prim(&NOT, &[is_given]);
        let cond = self.prim(&OR, &[has_no_nan, is_not_given]);
        Ok(vec![self.at(e.span, |body| body.b.check(cond, kind, &[], result, None)).into()])
    }

    /// Whether a condition holds for some element.
    fn any(&mut self, tensor: Atom, test: &mut dyn FnMut(&mut Self, Atom) -> Atom) -> Atom {
        let extents: Vec<Atom> = self.b.ty(tensor).dims.iter().map(|dim| dim.atom()).collect();
        self.reduce(Monoid::Or, Const::bool(false), &extents, &mut |body, at| {
            let element = body.b.index(tensor, at).into();
            test(body, element)
        })
    }
}

/// The value of an attribute.
fn literal(arg: &Arg) -> i64 {
    match arg {
        Arg::Value(Expr { kind: ExprKind::Literal(Literal::Int(value)), .. }) => i64::try_from(*value).unwrap_or(0),
        Arg::Value(_) | Arg::Function(_) | Arg::Pack(_) => 0,
    }
}
