//! Versions for small sizes against the general code: the same bits, sums of derivatives included, and the same errors.

use super::Verdict;
use super::comparison::same_bits;
use super::compiled::{optimised_module, outcome_of};
use crate::compile::shared_machine;
use crate::derived_case::Case;
use crate::tier;
use cotan_ir::Module;
use cotan_llvm::CompileOptions;
use cotan_ops::Value;
use cotan_opt::plain_products;
use cotan_opt::versions::{KnownSize, version};
use std::ops::RangeInclusive;

/// The numbers that sizes are tested with, which are those of the library.
const SMALL: RangeInclusive<i64> = 1..=16;

/// One program of so many is asked each time.
const ONE_OF: u64 = 4;

/// One of the function and its derivatives, all in the campaign, does in its version what its general code does.
pub fn versions(case: &Case) -> Verdict {
    if !tier::takes(&case.subject.label, ONE_OF) {
        return Verdict::Holds;
    }
    let agree = || {
        let (module, names, calls) = (optimised_module(case), case.names(), case.calls(&case.subject.args)?);
        let which = tier::chosen(&Vec::from_iter(0..names.len()), 1, &case.subject.label);
        which.into_iter().try_for_each(|k| version_agrees(&module, &names[k], &calls[k]).map(drop))
    };
    Verdict::of(agree())
}

/// Whether a function has a version of its own for all of its small operands; that, or the general code with these sizes bound
/// in its nest, does what the general code does.
pub fn version_agrees(module: &Module, name: &str, args: &[Value]) -> Result<bool, String> {
    let small = |(k, arg): (usize, &Value)| Some((k, arg.scalar()?.as_i64().filter(|n| SMALL.contains(n))?));
    let sizes: Vec<KnownSize> = args.iter().enumerate().filter_map(small).collect();
    let plain = plain_products(module, name);
    let first = plain.as_ref().unwrap_or(module);
    if sizes.is_empty() {
        return Ok(false);
    }
    let has_plain_products = plain.is_some();
    let general = CompileOptions { has_plain_products, is_quick: true, ..CompileOptions::default() };
    let version = version(first, name, &sizes, &[]);
    let special = match version {
        Some(_) => CompileOptions { is_version: true, ..general.clone() },
        None => CompileOptions { known_sizes: sizes.clone(), ..general.clone() },
    };
    let what = format!("the version of `{name}` for {sizes:?}");
    let outcome = |module: &Module, options: &CompileOptions| {
        let code = shared_machine()?.compile(module, name, options)?;
        Ok::<_, String>(outcome_of(code.call(args), &what))
    };
    match (outcome(version.as_ref().unwrap_or(first), &special)?, outcome(first, &general)?) {
        (Ok(found), Ok(expected)) => same_bits(&found, &expected, &what)?,
        (Err(Ok(found)), Err(Ok(expected))) if found == expected => {}
        (found, expected) => return Err(format!("{what}: expected {expected:?}, found {found:?}")),
    }
    Ok(version.is_some())
}
