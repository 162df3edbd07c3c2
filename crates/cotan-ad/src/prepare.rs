//! What a function goes through before it is differentiated: a private copy, simplified, with products as loops and
//! trip counts that are never negative.
//!
//! Common subexpressions go first because a duplicated read would be recorded twice, and one done twice hides that an
//! accumulator is a stacked result.

use crate::activity::VarSet;
use crate::checkpoint::{Segmented, segment_loops};
use crate::coalesce::coalesce;
use crate::expand::Session;
use crate::products::lower_products;
use crate::regions::Regions;
use crate::slopes::Slopes;
use cotan_ir::{Atom, Block, Dim, Elem, Function, Mode, Op, Span, Stmt, Ty, Var, VarInfo};
use cotan_opt::passes::inline::inline;
use cotan_opt::passes::licm::{Moves, licm};

/// What is differentiated in place of a function.
pub(crate) struct Prepared {
    pub(crate) f: Function,
    pub(crate) active: VarSet,
    /// What its loops over segments keep.
    pub(crate) segmented: Segmented,
    /// The loops that are differentiated forward in a reverse sweep.
    pub(crate) regions: Regions,
    /// The partial derivatives that are statements of it.
    pub(crate) slopes: Slopes,
}

/// The copy to differentiate in this mode.
pub(crate) fn prepared(
    session: &mut Session<'_>,
    f: &Function,
    mode: Mode,
    active: impl Fn(&Function) -> VarSet,
) -> Prepared {
    let mut f = cotan_opt::simplify(inline(session.module(), f, session.limits().inline));
    let products = active(&f);
    lower_products(&mut f, &products);
    let (mut regions, mut segmented, mut slopes) = (Regions::default(), Segmented::default(), Slopes::default());
    match mode {
        Mode::Vjp => {
            clamp_counts(&mut f);
            f = licm(f, Moves::Integers);
            // Before checkpoints change the loops, because they must not change what is chosen.
            regions = Regions::choose(session, &f, &active(&f));
            f = coalesce(f, &regions, &active);
            segmented = segment_loops(&mut f, &regions);
            let active = active(&f);
            slopes = Slopes::add(&mut f, &active, &regions);
        }
        Mode::Jvp => {}
    }
    let active = active(&f);
    Prepared { f, active, segmented, regions, slopes }
}

/// Gives every loop a count that is a length. A loop over a negative count does not run, but what it records must not
/// have a negative length.
fn clamp_counts(f: &mut Function) {
    let mut is_length = vec![false; f.vars.len()];
    let dims = f.vars.iter().flat_map(|v| v.ty.dim_vars());
    dims.for_each(|d| is_length[d.index()] = true);
    let body = std::mem::take(&mut f.body);
    f.body = Clamp { f, is_length }.block(body);
}

struct Clamp<'a> {
    f: &'a mut Function,
    /// Variables that are never negative, of those that the function had before.
    is_length: Vec<bool>,
}

impl Clamp<'_> {
    fn block(&mut self, block: Block) -> Block {
        let mut stmts = Vec::with_capacity(block.stmts.len());
        for mut s in block.stmts {
            for b in s.op.blocks_mut() {
                *b = self.block(std::mem::take(b));
            }
            match &mut s.op {
                Op::Prim { prim, args } => {
                    let is_natural = |a: &Atom| a.constant().and_then(|c| c.as_i64()).is_some_and(|n| n >= 0);
                    if *prim == cotan_ops::MAX.prim() && args.iter().any(is_natural) {
                        self.is_length[s.results[0].index()] = true;
                    }
                }
                Op::Loop(l) => stmts.extend(l.count.as_mut().and_then(|n| self.count(n, s.span))),
                Op::Par(_)
                | Op::Switch { .. }
                | Op::Tensor { .. }
                | Op::Index { .. }
                | Op::Update { .. }
                | Op::AccAdd { .. }
                | Op::Call { .. }
                | Op::Check { .. } => {}
            }
            stmts.push(s);
        }
        Block { stmts, results: block.results }
    }

    /// Replaces a count that may be negative, and gives the statement that clamps it.
    fn count(&mut self, count: &mut Atom, span: Span) -> Option<Stmt> {
        let is_length = match count {
            Atom::Const(c) => c.as_i64().is_some_and(|n| n >= 0),
            Atom::Var(v) => self.is_length.get(v.index()).copied().unwrap_or(true),
        };
        if is_length {
            return None;
        }
        let info = VarInfo { name: "count".into(), ty: Ty::scalar(Elem::I64), record: None };
        let clamped: Var = self.f.add_var(info);
        let args = vec![*count, Dim::Const(0).atom()];
        *count = clamped.into();
        Some(Stmt { results: vec![clamped], op: Op::Prim { prim: cotan_ops::MAX.prim(), args }, span })
    }
}
