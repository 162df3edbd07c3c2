//! Constant folding of primitives, and run-time checks in front of the values that need them.

use cotan_ir::{Atom, CheckKind, Dim as IrDim, Elem, Ty};
use cotan_ops::{AND, EQ, GE, IN_RANGE, OR, PrimRow, cast_to};

use super::code::Code;

impl Code {
    /// A scalar primitive, element-wise on equal shapes. Of integer and truth constants the value is computed here.
    pub(super) fn prim(&mut self, row: &'static PrimRow, args: &[Atom]) -> Atom {
        let constants: Option<Vec<_>> = args.iter().map(|a| a.constant()).collect();
        if let Some(constants) = constants
            && constants.iter().all(|c| !c.elem().is_float())
            && let Ok(value) = row.eval(&constants)
            && !value.elem().is_float()
        {
            return value.into();
        }
        let result = self.b.prim(row.prim(), args).into();
        infer_sign(self, row, args, result);
        result
    }

    /// Whether both conditions hold, if both can be computed. What is known of either is made use of.
    pub(super) fn both(&mut self, a: Atom, b: Atom) -> Atom {
        match (a.truth(), b.truth()) {
            (Some(true), _) | (_, Some(false)) => b,
            (Some(false), _) | (_, Some(true)) => a,
            (None, None) => self.prim(&AND, &[a, b]),
        }
    }

    /// Whether one of two conditions holds, if both can be computed.
    pub(super) fn either(&mut self, a: Atom, b: Atom) -> Atom {
        match (a.truth(), b.truth()) {
            (Some(false), _) | (_, Some(true)) => b,
            (Some(true), _) | (_, Some(false)) => a,
            (None, None) => self.prim(&OR, &[a, b]),
        }
    }

    /// `value`, guarded by `cond`.
    pub(super) fn check(&mut self, cond: Atom, kind: CheckKind, args: &[Atom], value: Atom) -> Atom {
        if cond.truth() == Some(true) {
            return value;
        }
        // Messages show integers; other operands say nothing there.
        let args: Vec<Atom> = args.iter().copied().filter(|a| self.b.ty(*a).elem.is_integer()).collect();
        let result: Atom = self.b.check(cond, kind, &args, value, None).into();
        keep_name(self, value, result);
        if self.is_non_negative(value) {
            self.note_non_negative(result);
        }
        result
    }

    /// An integer of any type as an index that lies in an axis of this extent, an i64.
    pub(super) fn checked_index(&mut self, given: Atom, extent: Atom) -> Atom {
        let index = self.as_i64(given);
        let cond = self.prim(&IN_RANGE, &[index, extent]);
        let index = self.check(cond, CheckKind::IndexRange, &[self.reported(given, index), extent], index);
        self.note_non_negative(index);
        self.note_bounded(index);
        index
    }

    /// A count that is not negative.
    pub(super) fn checked_count(&mut self, count: Atom) -> Atom {
        if self.is_non_negative(count) {
            return count;
        }
        let cond = self.prim(&GE, &[count, Atom::i64(0)]);
        let count = self.check(cond, CheckKind::NegativeSize, &[count], count);
        self.note_non_negative(count);
        count
    }

    /// What a message shows of an integer that is used as an i64: a u64 may be larger.
    pub(super) fn reported(&self, given: Atom, used: Atom) -> Atom {
        if self.b.ty(given).elem == Elem::U64 { given } else { used }
    }

    /// An integer of any type as an i64; one that does not fit is out of every range.
    pub(super) fn as_i64(&mut self, value: Atom) -> Atom {
        if self.b.ty(value).elem == Elem::I64 { value } else { self.prim(cast_to(Elem::I64), &[value]) }
    }

    /// `leaf` with dims that it is known, or must be checked, to have.
    pub(super) fn with_dims(&mut self, leaf: Atom, dims: &[Atom], kind: CheckKind) -> Atom {
        let mut leaf = leaf;
        for (axis, expected) in dims.iter().enumerate() {
            let ty = self.b.ty(leaf);
            let found = ty.dims[axis].atom();
            if found == *expected {
                continue;
            }
            let mut new = ty;
            new.dims[axis] = match IrDim::from_atom(*expected) {
                // A negative extent can't stand in a type; the check fails before anybody sees it.
                IrDim::Const(n) => IrDim::Const(n.max(0)),
                IrDim::Var(v) => IrDim::Var(v),
            };
            let cond = self.prim(&EQ, &[*expected, found]);
            let before = leaf;
            leaf = self.b.check(cond, kind, &[*expected, found], leaf, Some(new)).into();
            keep_name(self, before, leaf);
        }
        leaf
    }
}

/// What is made of non-negative i64 operands without subtraction is not negative: where it could overflow, a check
/// stands between it and whoever uses it.
fn infer_sign(code: &mut Code, row: &'static PrimRow, args: &[Atom], result: Atom) {
    let keeps_sign = [&cotan_ops::ADD, &cotan_ops::MUL, &cotan_ops::DIV, &cotan_ops::REM, &cotan_ops::FLOOR_DIV]
        .into_iter()
        .any(|other| std::ptr::eq(row, other));
    if keeps_sign && code.b.ty(result) == Ty::scalar(Elem::I64) && args.iter().all(|a| code.is_non_negative(*a)) {
        code.note_non_negative(result);
    }
}

/// Lets a new result be called like the operand that it stands for.
fn keep_name(code: &mut Code, operand: Atom, result: Atom) {
    if let (Atom::Var(from), Atom::Var(to)) = (operand, result) {
        let name = code.b.info(from).name.clone();
        code.b.info_mut(to).name = name;
        if code.named.contains(&from) {
            code.named.insert(to);
        }
    }
}
