//! Generated programs with their arguments, and their IR.

use super::tree::Program;
use crate::frontend;
use crate::generate::Construct;
use cotan::Request;
use cotan::host::{Arguments, HostValue, fit_arguments};
use cotan_ir::Module;
use cotan_lower::entry::Entry;
use cotan_ops::Value;
use std::collections::BTreeSet;

/// A generated program and what to call it with.
#[derive(Clone, Debug)]
pub struct Generated {
    /// The program; its function is called `f`.
    pub program: Program,
    /// Arguments by name.
    pub args: Vec<(&'static str, Value)>,
    /// What it is made of.
    pub constructs: BTreeSet<Construct>,
}

impl Generated {
    /// A variant of the program as core IR.
    pub fn lowered(&self, program: &Program) -> Result<(Entry, Module), String> {
        let lowered = self.lower(&frontend::checked("generated.cot", &program.text())?)?;
        Ok((lowered.entry, Module::clone(&lowered.module)))
    }

    /// Calls stay calls in a variant if they do in the program.
    pub(super) fn lower(&self, variant: &cotan::Program) -> Result<cotan::ReadyModule, String> {
        let stay = frontend::calls_stay(&self.program.text());
        let lower = if stay { frontend::lower_to_derive_with_calls } else { frontend::lower_to_derive };
        lower(variant, &Request::function("f"))
    }

    /// The arguments in the order of the IR.
    pub fn arguments_for(&self, entry: &Entry) -> Result<Vec<Value>, String> {
        fit_arguments(entry, &self.named_arguments()).map_err(|e| e.to_string())
    }

    /// The program called with an index that is out of range wherever it is used, and with a number that is too large
    /// for most of what is done to it.
    pub fn failing(&self) -> [Generated; 2] {
        [("ix", 7), ("k", i64::MAX as u64)].map(|(bad_name, bits)| {
            let mut bad = self.clone();
            for (_, value) in bad.args.iter_mut().filter(|(name, _)| *name == bad_name) {
                value.bits[0] = bits;
            }
            bad
        })
    }

    /// The arguments by name.
    pub fn named_arguments(&self) -> Arguments {
        let host = |v: &Value| v.scalar().map_or_else(|| HostValue::Tensor(v.clone()), HostValue::Scalar);
        self.args.iter().map(|(name, v)| ((*name).to_owned(), host(v))).collect()
    }
}
