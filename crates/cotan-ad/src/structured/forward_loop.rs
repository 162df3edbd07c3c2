//! A loop differentiated forward inside a reverse sweep (Note [Regions]): forward mode carries its Jacobian beside it, and the
//! reverse sweep is a product with that matrix.

use crate::analysis::activity::{directions, inputs};
use crate::error::Error;
use crate::report::{ForwardLoop, Reversal, ReversedLoop};
use crate::state::{Forward, Jacobian, Reverse, Scope, TangentScope};
use cotan_ir::{Atom, Const, Env, Loop, Mode, Stmt, Var};
use rustc_hash::FxHashMap;

impl Reverse<'_, '_> {
    /// Copies a loop with tangents in one direction for each scalar that it depends on.
    pub(crate) fn copy_with_tangents(&mut self, s: &Stmt, l: &Loop, env: &mut Env) -> Result<Jacobian, Error> {
        let inputs = inputs(self.src, l, &self.active);
        let directions = directions(self.src, s, &inputs, &self.active);
        let one = |x: &Var| Atom::from(Const::number(self.src.ty(*x).elem.computed(), 1));
        let seeds = inputs.iter().enumerate().map(|(direction, x)| ((*x, direction), one(x)));
        let mut scope = TangentScope { env: std::mem::take(env), tans: seeds.collect(), ..TangentScope::default() };
        let b = std::mem::take(&mut self.b);
        let mut forward =
            Forward { session: &mut *self.session, name: self.name, src: self.src, directions: &directions, b };
        let pushed = forward.stmts(std::slice::from_ref(s), &mut scope);
        self.b = forward.b;
        *env = scope.env;
        pushed?;
        let column = |direction: usize| {
            s.results.iter().filter_map(|r| Some((*r, *scope.tans.get(&(*r, direction))?))).collect()
        };
        let columns = inputs.iter().enumerate().map(|(direction, x)| (*x, column(direction))).collect();
        Ok(Jacobian { columns })
    }

    /// The cotangents of the inputs of a loop: those of its results, times the partial derivatives.
    pub(crate) fn multiply(&mut self, s: &Stmt, l: &Loop, jacobian: &Jacobian, scope: &mut Scope) {
        let cots: FxHashMap<Var, Atom> = s.results.iter().filter_map(|r| Some((*r, self.take(*r, scope)?))).collect();
        for (x, column) in &jacobian.columns {
            let name = self.cot_name(*x);
            let mut total: Option<Atom> = None;
            for (r, partial) in column {
                let Some(c) = cots.get(r) else { continue };
                let term = self.b.named(&name).prim(cotan_ops::MULZ.prim(), &[*c, *partial]).into();
                total = Some(match total {
                    None => term,
                    Some(sum) => self.b.named(&name).prim(cotan_ops::ADD.prim(), &[sum, term]).into(),
                });
            }
            total.into_iter().for_each(|c| self.add((*x).into(), c, scope));
        }
        // A start value often has no name in the source; its carried value has one.
        let carried = |x: Var| l.inits.iter().position(|init| *init == x.into()).map(|q| l.params[q]);
        let name = |x: Var| self.src.vars[carried(x).unwrap_or(x).index()].name.clone();
        let names = jacobian.columns.iter().map(|(x, _)| name(*x));
        let pushed = ForwardLoop {
            inputs: names.collect(),
            forward: self.regions.0[&l.index].forward,
            reverse: self.regions.0[&l.index].reverse,
            is_asked_for: l.kept.mode == Some(Mode::Jvp),
        };
        self.session.report(ReversedLoop { span: self.b.span(), how: Reversal::Forward(pushed) });
    }
}
