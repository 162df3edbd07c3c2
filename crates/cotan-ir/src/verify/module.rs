//! Rules about members of a module: custom rules and derivatives to be written.

use super::{Verifier, VerifyError, verify};
use crate::print::derive_line;
use crate::{Derived, Item, Module, Symbol};
use std::ops::Deref;
use std::sync::Arc;

/// A module that has passed the verifier: what a backend takes. The only way to it is the verifier, in release builds as
/// well: it looks at each statement once, where a backend makes loop nests and code of it.
///
/// ```compile_fail
/// let module = std::sync::Arc::new(cotan_ir::Module::default());
/// let unverified = cotan_ir::VerifiedModule(module);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct VerifiedModule(Arc<Module>);

impl VerifiedModule {
    /// The module, if it keeps every rule.
    pub fn new(module: impl Into<Arc<Module>>) -> Result<VerifiedModule, Vec<VerifyError>> {
        let module = module.into();
        verify_module(&module)?;
        Ok(VerifiedModule(module))
    }
}

impl Deref for VerifiedModule {
    type Target = Module;

    fn deref(&self) -> &Module {
        &self.0
    }
}

/// Checks every member of a module.
pub fn verify_module(module: &Module) -> Result<(), Vec<VerifyError>> {
    let mut errors = Vec::new();
    for (name, item) in &module.items {
        match item {
            Item::Function(f) => {
                if *name != f.name {
                    let message = format!("the function `{}` stands under another name", f.name);
                    errors.push(VerifyError { function: name.clone(), statement: String::new(), message });
                }
                errors.extend(verify(module, f).err().into_iter().flatten());
            }
            Item::Derived(d) => errors.extend(derived(module, name, d)),
        }
    }
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

fn derived(module: &Module, name: &Symbol, d: &Derived) -> Vec<VerifyError> {
    let mut messages = Vec::new();
    if !leads_to_function(module, d) {
        messages.push(format!("`{}` leads to no function with a body", d.of));
    }
    for (what, positions) in [("wrt", &d.wrt), ("outs", &d.outs)] {
        if !positions.is_sorted_by(|a, b| a < b) {
            messages.push(format!("the positions of `{what}` do not ascend"));
        }
    }
    // The signature of a derivative of a derivative is known once the inner one is written.
    if let Some(f) = module.function(&d.of) {
        let is_float_param = |k: &usize| f.params.get(*k).is_some_and(|v| f.ty(*v).is_float());
        let is_float_result = |k: &usize| f.body.results.get(*k).is_some_and(|a| f.is_float(*a));
        for k in d.wrt.iter().filter(|k| !is_float_param(k)) {
            messages.push(format!("parameter {k} of `{}` is no float", d.of));
        }
        for k in d.outs.iter().filter(|k| !is_float_result(k)) {
            messages.push(format!("result {k} of `{}` is no float", d.of));
        }
    }
    let error = |message| VerifyError { function: name.clone(), statement: derive_line(name, d), message };
    messages.into_iter().map(error).collect()
}

/// Follows derivatives of derivatives; a chain longer than the module has members is a cycle.
fn leads_to_function(module: &Module, d: &Derived) -> bool {
    let mut of = &d.of;
    for _ in 0..=module.items.len() {
        match module.items.get(of) {
            Some(Item::Function(_)) => return true,
            Some(Item::Derived(inner)) => of = &inner.of,
            None => return false,
        }
    }
    false
}

impl Verifier<'_> {
    pub(super) fn custom_rules(&mut self) {
        let f = self.f;
        let (params, results) = (f.params.len(), f.body.results.len());
        let float_params = f.params.iter().filter(|v| f.ty(**v).is_float()).count();
        let float_results = f.body.results.iter().filter(|a| f.is_float(**a)).count();
        self.custom_rule(&f.custom_vjp, params + results + float_results, float_params);
        self.custom_rule(&f.custom_jvp, params + float_params, results + float_results);
    }

    fn custom_rule(&mut self, rule: &Option<Symbol>, takes: usize, gives: usize) {
        let Some(name) = rule else { return };
        match self.module.items.get(name) {
            Some(Item::Function(rule)) => {
                let (params, results) = (rule.params.len(), rule.body.results.len());
                if (params, results) != (takes, gives) {
                    self.fail(format!(
                        "the custom rule `{name}` takes {params} and gives {results}, expected {takes} and {gives}"
                    ));
                }
            }
            Some(Item::Derived(_)) => {}
            None => self.fail(format!("the module has no function `{name}`")),
        }
    }
}
