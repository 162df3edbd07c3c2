//! Operations of the op table that a library names.

use cotan_ir::{Atom, Const, Dim, Monoid, TensorOp, Ty};
use cotan_ops::{ISFINITE, ISNAN, NOT, OR, tensor_row};

use super::Result;
use super::body::{Body, Value};
use super::code::Code;
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
        let leaf = self.layout.leaf_types(&e.ty).swap_remove(0);
        let mut dims = Vec::new();
        for dim in &leaf.dims {
            let extent = self.clamped_size(dim).expect("invariant: the sizes of a result are those of operands");
            dims.push(Dim::from_atom(extent));
        }
        let result: Atom = self.code.b.tensor(op, &args, &attrs, Ty::new(leaf.elem, dims)).into();
        let Some(kind) = tensor_row(op).failure else { return Ok(vec![result]) };
        // A routine that has no result gives NaN; so does one that is given NaN, and then nothing is wrong.
        let has_nan = any(&mut self.code, result, &mut |code, x| code.prim(&ISNAN, &[x]));
        let mut is_given = Atom::Const(Const::bool(true));
        for arg in args.iter().filter(|arg| self.code.b.ty(**arg).elem.is_float()).copied().collect::<Vec<_>>() {
            let is_odd = any(&mut self.code, arg, &mut |code, x| {
                let is_finite = code.prim(&ISFINITE, &[x]);
                code.prim(&NOT, &[is_finite])
            });
            let is_finite = self.code.prim(&NOT, &[is_odd]);
            is_given = self.code.both(is_given, is_finite);
        }
        let has_no_nan = self.code.prim(&NOT, &[has_nan]);
        let is_not_given = self.code.prim(&NOT, &[is_given]);
        let cond = self.code.prim(&OR, &[has_no_nan, is_not_given]);
        Ok(vec![self.at(e.span, |body| body.code.b.check(cond, kind, &[], result, None)).into()])
    }
}

/// Whether a condition holds for some element.
fn any(code: &mut Code, tensor: Atom, test: &mut dyn FnMut(&mut Code, Atom) -> Atom) -> Atom {
    let extents: Vec<Atom> = code.b.ty(tensor).dims.iter().map(|dim| dim.atom()).collect();
    code.reduce(Monoid::Or, Const::bool(false), &extents, &mut |code, at| {
        let element = code.b.index(tensor, at).into();
        test(code, element)
    })
}

/// The value of an attribute.
fn literal(arg: &Arg) -> i64 {
    match arg {
        Arg::Value(Expr { kind: ExprKind::Literal(Literal::Int(value)), .. }) => i64::try_from(*value).unwrap_or(0),
        Arg::Value(_) | Arg::Function(_) | Arg::Pack(_) => 0,
    }
}
