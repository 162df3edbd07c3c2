//! Code that is inlined elsewhere as a function of its own, so that it can be differentiated.

use super::super::Result;
use super::super::body::{Body, Closure};
use super::super::values::LeafTy;
use super::Base;

impl<'a, 'p> Body<'a, 'p> {
    /// Lowers what would be inlined as a function. What it reads from around becomes a leading parameter.
    pub(super) fn outline(
        &mut self,
        closure: Closure<'p>,
        functions: &[Option<Closure<'p>>],
        (params, result): (Vec<Vec<LeafTy>>, Vec<LeafTy>),
    ) -> Result<Base> {
        let symbol = self.lowering.free_symbol(&format!("{}.lambda", self.symbol));
        let start = self.start(closure, symbol);
        let mut inner = start.body(&mut *self.lowering);
        inner.lowering.enter("lambda", closure.callable.span)?;
        let value = inner.apply(closure, start.args.clone(), functions)?;
        inner.lowering.leave();
        let (mut function, results) = start.function(inner.code, value);
        let used = start.read_by(&function);
        function.params = start.params(&used);
        let leads = start.leads(&used);
        Ok(Base { function: self.lowering.module.insert(function), leads, params, results, result })
    }
}
