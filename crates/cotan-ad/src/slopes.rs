//! Partial derivatives as statements of the body of a loop, before it is reversed.
//!
//! The slope of a hyperbolic tangent takes an exponential that its value takes, too, but the reverse sweep has neither. As a
//! statement of the source, the slope is a result like any other: the reverse of a loop computes it again, or the forward
//! loop records it (`keep.rs`), and computes it beside the value for little. What nobody records is dead in the forward loop.
//!
//! Note [Chains of partials]. Of `y = v * u` with `u = tanh p`, and no other use of `u`, the reverse sweep wants `v` and the slope,
//! each for one product with the cotangent. Their product, the partial of `y` with respect to `p`, is a statement of the source,
//! too: the forward loop records it in place of both. Slopes are at most 1, so that it overflows nowhere.

use crate::activity::VarSet;
use crate::regions::Regions;
use crate::structured::Use;
use cotan_ir::{Atom, Block, Builder, Function, Op, Var};
use cotan_ops::MULZ;
use cotan_opt::passes::contract_fma::count_uses;
use rustc_hash::FxHashMap;

/// The partial derivatives that are statements, by the result of the primitive and the position of the operand.
#[derive(Debug, Default)]
pub(crate) struct Slopes {
    of: FxHashMap<(Var, usize), Atom>,
    /// Those with respect to what the operand is made of, see Note [Chains of partials].
    through: FxHashMap<(Var, usize), Slope>,
}

/// The partial derivative of something with respect to an operand.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slope {
    pub(crate) operand: Atom,
    pub(crate) partial: Atom,
}

impl Slopes {
    /// Adds the partials that cost little beside the value to the loops that are to be run backwards.
    pub(crate) fn add(f: &mut Function, active: &VarSet, regions: &Regions) -> Slopes {
        let mut uses = vec![0; f.vars.len()];
        count_uses(&f.body, &mut uses);
        let b = Builder::on(std::mem::take(&mut f.vars));
        let mut loops = Loops { b, active, regions, uses, slopes: Slopes::default() };
        loops.inside(&mut f.body);
        f.vars = loops.b.into_vars();
        loops.slopes
    }

    /// That with respect to operand `k` of the primitive with this result, if it is a statement.
    pub(crate) fn of(&self, result: Var, k: usize) -> Option<Atom> {
        self.of.get(&(result, k)).copied()
    }

    /// What the cotangent of the primitive with this result is handed on to in place of operand `k`.
    pub(crate) fn through(&self, result: Var, k: usize) -> Option<Slope> {
        self.through.get(&(result, k)).copied()
    }
}

struct Loops<'a> {
    b: Builder,
    active: &'a VarSet,
    regions: &'a Regions,
    /// How often each variable of the source is used.
    uses: Vec<u32>,
    slopes: Slopes,
}

impl Loops<'_> {
    /// Goes through the loops inside of a block.
    fn inside(&mut self, block: &mut Block) {
        for s in block.stmts.iter_mut().filter(|s| !self.regions.is_one(s)) {
            let is_loop = s.op.as_loop().is_some();
            for b in s.op.blocks_mut() {
                self.inside(b);
                if is_loop {
                    self.body(b);
                }
            }
        }
    }

    /// Adds the partials of the primitives of a loop's body.
    fn body(&mut self, block: &mut Block) {
        self.b.open_block();
        let mut unary = FxHashMap::default();
        for s in std::mem::take(&mut block.stmts) {
            let site = match &s.op {
                Op::Prim { prim, args } => Some((Use::new(&self.b, *prim, args.clone(), s.results[0].into()), s.span)),
                Op::Tensor { .. }
                | Op::Index { .. }
                | Op::Update { .. }
                | Op::AccAdd { .. }
                | Op::Par(_)
                | Op::Loop(_)
                | Op::Switch { .. }
                | Op::Call { .. }
                | Op::Check { .. } => None,
            };
            let result = s.results.first().copied();
            self.b.stmts().push(s);
            if let (Some((site, span)), Some(result)) = (site, result.filter(|r| self.active.has(*r))) {
                self.b.set_span(span.partial());
                self.partials(result, &site);
                self.chains(result, &site, &unary);
                if let ([operand], Some(partial)) = (site.args(), self.slopes.of(result, 0)) {
                    unary.insert(result, Slope { operand: *operand, partial });
                }
            }
        }
        *block = self.b.close_block(std::mem::take(&mut block.results));
    }

    fn partials(&mut self, result: Var, site: &Use) {
        for (k, a) in site.args().iter().enumerate() {
            if self.active.member(*a).is_some() && site.is_beside(k) {
                self.slopes.of.extend(site.partial(&mut self.b, k).map(|slope| ((result, k), slope)));
            }
        }
    }

    /// Adds the partials with respect to what the operands are made of, of those that are used here alone; `unary` has the
    /// functions of one operand that stand before in the block.
    fn chains(&mut self, result: Var, site: &Use, unary: &FxHashMap<Var, Slope>) {
        for (k, a) in site.args().iter().enumerate() {
            let is_only_use = |v: &Var| self.uses.get(v.index()) == Some(&1);
            let Some(slope) = a.var().filter(is_only_use).and_then(|v| unary.get(&v)) else { continue };
            if let Some(factor) = site.factor_beside(k) {
                let partial = self.b.prim(MULZ.prim(), &[factor, slope.partial]).into();
                self.slopes.through.insert((result, k), Slope { operand: slope.operand, partial });
            }
        }
    }
}
