//! Segment lengths for checkpoints in a given number of bytes.
//!
//! Half of the bytes are for the record of one segment, the other half, less a little for alignment, for states between segments
//! (`records/replay.rs`). The record of a segment is decided only when it is reversed, but it has an upper bound: arrays that an
//! iteration writes in few places are logged or their reads recorded, everything else is recorded whole.

use super::Code;
use crate::analysis::closed_form::closed_form;
use crate::analysis::lineage::{scalar_reads, straight_updates};
use cotan_ir::{Atom, Const, Dim, Elem, Loop, Ty};
use cotan_ops::{ADD, DIV, FLOOR, LE, MAX, MIN, MUL, SELECT, cast_to};

/// The part of some bytes that is left for the alignment of tensors.
pub(super) fn alignment(bytes: i64) -> i64 {
    bytes / 16
}

impl Code<'_> {
    /// The length of the segments of a loop: all iterations if their records fit the bytes and their number is known, else
    /// as many as fit half of them, but at least one.
    pub(super) fn affordable(&mut self, l: &Loop, count: Option<Atom>, bytes: i64) -> Atom {
        let record = self.record_bytes(l);
        let segment = self.quotient(bytes - bytes / 2, record);
        let Some(count) = count else { return segment };
        let n = self.float(count);
        let all = self.prim(&MUL, &[record, n], Elem::F64);
        let state = self.state_bytes(l);
        let all = self.prim(&ADD, &[all, state], Elem::F64);
        let fits =
            self.prim(&LE, &[all, Const::float(Elem::F64, (bytes - alignment(bytes)) as f64).into()], Elem::Bool);
        self.prim(&SELECT, &[fits, count, segment], Elem::I64)
    }

    /// How many times `each` fits into some bytes, at least once.
    fn quotient(&mut self, bytes: i64, each: Atom) -> Atom {
        let each = self.prim(&MAX, &[each, Const::float(Elem::F64, 1.0).into()], Elem::F64);
        let n = self.prim(&DIV, &[Const::float(Elem::F64, bytes as f64).into(), each], Elem::F64);
        let n = self.prim(&FLOOR, &[n], Elem::F64);
        // No loop runs that often, and the number fits an i64.
        let n = self.prim(&MIN, &[n, Const::float(Elem::F64, 1e18).into()], Elem::F64);
        let n = self.prim(cast_to(Elem::I64), &[n], Elem::I64);
        self.prim(&MAX, &[n, Atom::i64(1)], Elem::I64)
    }

    /// The bytes of one row of a store: the start values of an iteration, and its number.
    fn state_bytes(&mut self, l: &Loop) -> Atom {
        let mut all: Atom = Const::float(Elem::F64, Elem::I64.bytes() as f64).into();
        for q in 0..l.params.len() {
            if closed_form(self.f, l, q).is_none() {
                let ty = self.f.ty(l.params[q]).clone();
                all = self.plus(all, 1, &ty);
            }
        }
        all
    }

    /// An upper bound of the bytes that an iteration records of the carried values.
    fn record_bytes(&mut self, l: &Loop) -> Atom {
        let mut all: Atom = Const::float(Elem::F64, 0.0).into();
        for (q, p) in l.params.iter().enumerate() {
            if closed_form(self.f, l, q).is_some() {
                continue;
            }
            let ty = self.f.ty(*p).clone();
            let reads = if ty.is_scalar() { 0 } else { scalar_reads(self.f, &l.body, *p).len() };
            all = self.plus(all, reads, &Ty::scalar(ty.elem));
            match straight_updates(l, q) {
                Some(arities) => {
                    all = self.plus(all, arities.len(), &ty.inner(arities[0]));
                    all = self.plus(all, arities.iter().sum(), &Ty::scalar(Elem::I64));
                }
                None => all = self.plus(all, 1, &ty),
            }
        }
        all
    }

    /// Adds the bytes of `n` values of a type.
    fn plus(&mut self, bytes: Atom, n: usize, ty: &Ty) -> Atom {
        let known = ty.dims.iter().filter_map(|dim| match dim {
            Dim::Const(n) => Some(*n as f64),
            Dim::Var(_) => None,
        });
        let known = known.product::<f64>() * (n * ty.elem.bytes()) as f64;
        let size = ty.dim_vars().fold(Const::float(Elem::F64, known).into(), |size, dim| {
            let dim = self.float(dim.into());
            self.prim(&MUL, &[size, dim], Elem::F64)
        });
        self.prim(&ADD, &[bytes, size], Elem::F64)
    }
}
