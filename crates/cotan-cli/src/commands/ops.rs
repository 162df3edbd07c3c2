//! `cotan ops`: the manifest of operations.

use crate::args::OpsArgs;
use crate::diagnostics::Failure;
use crate::exit;
use crate::output;
use cotan::library::standard;
use cotan::manifest::{Manifest, ManifestEntry, PROVED, UNPROVED, manifest};
use std::fmt::Write;

pub(crate) fn run(args: &OpsArgs) -> Result<u8, Failure> {
    let manifest = of_library()?;
    if args.json {
        let text = serde_json::to_string_pretty(&manifest).map_err(|e| Failure::bug(format!("the manifest: {e}")))?;
        output::print_json(&text)?;
    } else {
        output::print(&table(&manifest))?;
    }
    Ok(exit::DONE)
}

/// The manifest of the standard library, which has no errors.
pub(crate) fn of_library() -> Result<Manifest, Failure> {
    manifest(&standard()).map_err(|e| Failure::bug(format!("the library: {e}")))
}

/// The operations by group: the name, where the derivative comes from, and what is computed.
fn table(manifest: &Manifest) -> String {
    let width = manifest.operations.iter().map(|op| short(op).chars().count()).max().unwrap_or_default();
    let mut text = String::new();
    let mut group = "";
    for op in &manifest.operations {
        if op.group != group {
            group = &op.group;
            let doc =
                manifest.modules.iter().find(|module| module.name == *group).map(|module| first_sentence(&module.doc));
            let doc = doc.map(|doc| format!(": {doc}")).unwrap_or_default();
            let _ = write!(text, "{}{group} ({}){doc}\n\n", if text.is_empty() { "" } else { "\n" }, op.kind.name());
        }
        let _ = writeln!(text, "  {:<width$}  {:<11}  {}", short(op), op.rule, first_sentence(&op.doc));
    }
    let count = |holds: &dyn Fn(&str) -> bool| manifest.operations.iter().filter(|op| holds(&op.proof)).count();
    let proved = count(&|proof| proof == PROVED);
    let unproved = count(&|proof| proof.starts_with(UNPROVED));
    let _ = writeln!(
        text,
        "\nThe rules of {proved} operations are proved; {unproved} are named as unproved, with the reason."
    );
    text + "`cotan explain NAME` says more of an operation, `cotan ops --json` everything.\n"
}

/// The name without that of the module, which stands above.
fn short(op: &ManifestEntry) -> &str {
    op.name.strip_prefix(op.group.as_str()).and_then(|rest| rest.strip_prefix('.')).unwrap_or(&op.name)
}

/// The text up to the first full stop; two in a row stand for something left out.
fn first_sentence(doc: &str) -> &str {
    let end = doc.match_indices(". ").find(|(at, _)| !doc[..*at].ends_with('.'));
    end.map_or(doc, |(at, _)| &doc[..=at])
}
