//! The passes over the core IR: what a program is after one of them, and how many times each runs.

use crate::diagnostics::Failure;
use crate::exit;
use crate::session::Session;
use cotan::ir::{Function, Module};
use cotan::{PASSES, Pass, Request, codes};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// The pass of this name.
pub(super) fn named(name: &str) -> Result<&'static Pass, Failure> {
    PASSES.iter().copied().find(|pass| pass.name == name).ok_or_else(|| {
        let names = || PASSES.iter().map(|pass| pass.name);
        let all = names().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        let help = match cotan::sema::closest(name, names()) {
            Some(near) => format!("did you mean `{near}`? The passes are {all}"),
            None => format!("the passes are {all}"),
        };
        Failure::plain(exit::USAGE, codes::UNFIT_REQUEST, format!("there is no pass `{name}`")).help(&help)
    })
}

/// The functions of these requests after the last run of a pass on each.
pub(super) fn after(session: &Session, requests: &[Request], pass: &Pass) -> Result<String, Failure> {
    let seen = Mutex::new(Module::default());
    let observer = |run: &'static Pass, f: &Function| {
        if run.name == pass.name {
            seen.lock().unwrap_or_else(PoisonError::into_inner).insert(f.clone());
        }
    };
    requests.iter().try_for_each(|request| session.observe(request, &observer))?;
    let module = seen.into_inner().unwrap_or_else(PoisonError::into_inner);
    if module.items.is_empty() {
        let message = format!("the pass `{}` does not run on the way of this program", pass.name);
        let help = "`cotan emit FILE --stage passes` says how many times each pass runs";
        return Err(Failure::plain(exit::USAGE, codes::UNFIT_REQUEST, message).help(help));
    }
    Ok(module.to_string())
}

/// A line for each pass: its name, how many times it runs on the functions of these requests, and what it does.
pub(super) fn list(session: &Session, requests: &[Request]) -> Result<String, Failure> {
    let counts = Mutex::new(BTreeMap::<&str, usize>::new());
    let observer = |run: &'static Pass, _: &Function| {
        *counts.lock().unwrap_or_else(PoisonError::into_inner).entry(run.name).or_default() += 1;
    };
    requests.iter().try_for_each(|request| session.observe(request, &observer))?;
    let counts = counts.into_inner().unwrap_or_else(PoisonError::into_inner);
    let line = |pass: &&Pass| {
        let n = counts.get(pass.name).copied().unwrap_or(0);
        format!("{:<24}{n:>6}  {}\n", pass.name, pass.doc)
    };
    Ok(PASSES.iter().map(line).collect())
}
