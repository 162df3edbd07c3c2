//! `cotan ops`: the manifest of operations, all of it, a module, or what has a word in it.

use crate::args::OpsArgs;
use crate::diagnostics::Failure;
use crate::exit;
use crate::output;
use cotan::codes;
use cotan::library::standard;
use cotan::manifest::{Kind, Manifest, ManifestEntry, ModuleEntry, PROVED, UNPROVED, manifest};
use std::fmt::Write;

pub(crate) fn run(args: &OpsArgs) -> Result<u8, Failure> {
    let manifest = of_library()?;
    if args.json {
        let text = serde_json::to_string_pretty(&manifest).map_err(|e| Failure::bug(format!("the manifest: {e}")))?;
        output::print_json(&text)?;
        return Ok(exit::DONE);
    }
    let text = match (&args.word, &args.module) {
        (Some(word), _) => search(&manifest, word)?,
        (None, Some(name)) => module_table(&manifest, module_named(&manifest, name)?),
        (None, None) => table(&manifest),
    };
    output::print(&text)?;
    Ok(exit::DONE)
}

/// What has a word in its name or its description: first what programs call, names before descriptions.
fn search(manifest: &Manifest, word: &str) -> Result<String, Failure> {
    let wanted = word.to_lowercase();
    let mut found: Vec<(u8, &ManifestEntry)> =
        manifest.operations.iter().filter_map(|op| Some((rank(op, &wanted)?, op))).collect();
    found.sort_by_key(|(rank, _)| *rank);
    if found.is_empty() {
        let message = format!("no operation has `{word}` in its name or its description");
        let help = "give a part of a word, or a name of another language to `cotan explain`";
        return Err(Failure::plain(exit::USAGE, codes::UNFIT_REQUEST, message).help(help));
    }
    let width = found.iter().map(|(_, op)| op.name.chars().count()).max().unwrap_or_default();
    let mut text = String::new();
    for (_, op) in found {
        let _ = writeln!(text, "  {:<width$}  {:<10}  {}", op.name, op.kind.name(), first_sentence(&op.doc));
    }
    Ok(text)
}

/// Where an operation stands among what is found; `None` if it has not the word.
fn rank(op: &ManifestEntry, wanted: &str) -> Option<u8> {
    let is_inner = matches!(op.kind, Kind::Primitive | Kind::Tensor);
    let name = op.name.rsplit('.').next().unwrap_or(&op.name).to_lowercase();
    let of_name = if name == wanted {
        0
    } else if op.name.to_lowercase().contains(wanted) {
        1
    } else if op.doc.to_lowercase().contains(wanted) {
        2
    } else {
        return None;
    };
    Some(of_name + if is_inner { 3 } else { 0 })
}

/// A module by its whole name, or by what programs call it.
fn module_named<'m>(manifest: &'m Manifest, name: &str) -> Result<&'m ModuleEntry, Failure> {
    let found = manifest.modules.iter().find(|module| module.name == name || module.name == format!("std.{name}"));
    found.ok_or_else(|| {
        let names: Vec<&str> = manifest.modules.iter().map(|module| module.name.as_str()).collect();
        let message = format!("`{name}` is no module of the library");
        Failure::plain(exit::USAGE, codes::UNFIT_REQUEST, message)
            .help(&format!("its modules are `{}`", names.join("`, `")))
    })
}

/// A module: what it is about, its types and constants, its functions.
pub(crate) fn module_table(manifest: &Manifest, module: &ModuleEntry) -> String {
    let mut text = format!("{}: {}\n\nimport {}\n\n", module.name, module.doc, module.name);
    for declaration in &module.declarations {
        let _ = writeln!(text, "  {}  {}", declaration.signature, first_sentence(&declaration.doc));
    }
    let functions: Vec<&ManifestEntry> = manifest.operations.iter().filter(|op| op.group == module.name).collect();
    let width = functions.iter().map(|op| short(op).chars().count()).max().unwrap_or_default();
    for op in functions {
        let _ = writeln!(text, "  {:<width$}  {}", short(op), first_sentence(&op.doc));
    }
    text
}

/// The manifest of the standard library, which has no errors.
pub(crate) fn of_library() -> Result<Manifest, Failure> {
    manifest(&standard()).map_err(|e| Failure::bug(format!("the library: {e}")))
}

/// The operations by group: what programs call first, then what the op table has. Groups stand in the order in which the
/// manifest comes to them, and so do the operations of each: the name, where the derivative comes from, what is computed.
fn table(manifest: &Manifest) -> String {
    let width = manifest.operations.iter().map(|op| short(op).chars().count()).max().unwrap_or_default();
    let mut groups: Vec<(&str, Kind)> = Vec::new();
    for op in &manifest.operations {
        if !groups.contains(&(&op.group, op.kind)) {
            groups.push((&op.group, op.kind));
        }
    }
    groups.sort_by_key(|(_, kind)| matches!(kind, Kind::Primitive | Kind::Tensor));
    let mut text = String::new();
    for (group, kind) in groups {
        let doc = manifest.modules.iter().find(|module| module.name == group).map(|module| first_sentence(&module.doc));
        let doc = doc.map(|doc| format!(": {doc}")).unwrap_or_default();
        let _ = write!(text, "{}{group} ({}){doc}\n\n", if text.is_empty() { "" } else { "\n" }, kind.name());
        for op in manifest.operations.iter().filter(|op| op.group == group && op.kind == kind) {
            let _ = writeln!(text, "  {:<width$}  {:<11}  {}", short(op), op.rule, first_sentence(&op.doc));
        }
    }
    let count = |holds: &dyn Fn(&str) -> bool| manifest.operations.iter().filter(|op| holds(&op.proof)).count();
    let proved = count(&|proof| proof == PROVED);
    let unproved = count(&|proof| proof.starts_with(UNPROVED));
    let _ = writeln!(
        text,
        "\nThe rules of {proved} operations are proved; {unproved} are named as unproved, with the reason."
    );
    text + "`cotan explain NAME` says more of an operation, `cotan ops WORD` searches, `cotan ops --json` says everything.\n"
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
