//! Shared subexpressions of a value and its slope: partial derivatives as statements of a loop's body, before it is reversed.
//!
//! The slope of a hyperbolic tangent needs the exponential of its value, but the reverse sweep has neither. As a statement of
//! the source, the slope is a result like any other: the reverse of a loop computes it again, or the forward loop records it
//! (`records/residuals.rs`) and computes it beside the value at little cost. A slope that is not recorded is dead in the forward
//! loop.
//!
//! Note [Chains of partials]. For `y = v * u` with `u = tanh p`, and no other use of `u`, the reverse sweep reads `v` and the
//! slope, each for one product with the cotangent. Their product, the partial of `y` with respect to `p`, is a statement of the
//! source, too: the forward loop records it in place of both. Slopes are at most 1, so the product does not overflow.

use super::pass::Pass;
use crate::analysis::activity::VarSet;
use crate::partials::Use;
use crate::state::{ForwardRegions, Slope, Slopes};
use cotan_ir::{Block, Builder, Function, Mode, Op, Var, count_uses};
use cotan_ops::MULZ;
use rustc_hash::FxHashMap;

/// The record of the pass.
pub(super) static PASS: Pass = Pass {
    name: "slopes",
    doc: "Partial derivatives that cost little beside their value become statements of the loops that run backwards.",
    modes: &[Mode::Vjp],
    is_idempotent: false,
    run: |mut f, preparation| {
        let active = preparation.active(&f);
        preparation.slopes = add_slopes(&mut f, &active, &preparation.regions);
        f
    },
};

/// Adds the partials that cost little beside the value to the loops that will run backwards.
fn add_slopes(f: &mut Function, active: &VarSet, regions: &ForwardRegions) -> Slopes {
    let uses = count_uses(&f.body, &f.vars);
    let b = Builder::on(std::mem::take(&mut f.vars));
    let mut loops = Loops { b, active, regions, uses, slopes: Slopes::default() };
    loops.inside(&mut f.body);
    f.vars = loops.b.into_vars();
    loops.slopes
}

struct Loops<'a> {
    b: Builder,
    active: &'a VarSet,
    regions: &'a ForwardRegions,
    /// How often each variable of the source is used.
    uses: Vec<u32>,
    slopes: Slopes,
}

impl Loops<'_> {
    /// Visits the loops inside a block.
    fn inside(&mut self, block: &mut Block) {
        for s in block.stmts.iter_mut().filter(|s| !self.regions.contains(s)) {
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
            let site = if let Op::Prim { prim, args } = &s.op {
                Some((Use::new(&self.b, *prim, args.clone(), s.results[0].into()), s.span))
            } else {
                None
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

    /// Adds the partials through operands whose only use is here; `unary` has the functions of one operand before this
    /// statement in the block.
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
