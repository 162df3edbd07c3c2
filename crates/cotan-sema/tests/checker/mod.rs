//! The checker from outside: programs that it accepts, programs that it rejects, and what it says.

mod accepted;
mod codes;
mod literals;
mod out_of_range;
mod rejected;
mod robust;
mod tree;

use cotan_sema::modules::{Library, LibraryModule, Loaded, NoFiles, load};
use cotan_sema::{Checked, Limits, check};
use cotan_syntax::Diagnostic;

/// The library that the pages of codes speak of.
const LIBRARY: &[LibraryModule] = &[
    LibraryModule { name: "std.complex", text: include_str!("../../../../lib/std/complex.cot") },
    LibraryModule { name: "std.linalg", text: include_str!("../../../../lib/std/linalg.cot") },
];

/// Parses and checks a program; both kinds of diagnostics.
fn run(source: &str) -> (Checked, Vec<Diagnostic>) {
    let Loaded { modules, mut diagnostics, .. } = load("main.cot", source, &NoFiles, &Library::new(LIBRARY));
    let checked = check(&modules, &Limits::default());
    diagnostics.extend(checked.diagnostics.iter().cloned());
    (checked, diagnostics)
}

/// The diagnostics as text: code, the source that they point at, message, help.
fn report(source: &str) -> String {
    let (_, diagnostics) = run(source);
    let line = |diagnostic: &Diagnostic| {
        let span = diagnostic.primary.span;
        let place = source.get(span.range()).unwrap_or("<outside>").replace('\n', "\\n");
        format!("{} [{}] {} | {}\n", diagnostic.code, place, diagnostic.message, diagnostic.help.join(" / "))
    };
    diagnostics.iter().map(line).collect()
}

/// Checks a program that must be without errors.
fn accept(source: &str) -> Checked {
    let text = report(source);
    let (checked, diagnostics) = run(source);
    assert!(diagnostics.iter().all(|diagnostic| !diagnostic.is_error()), "{source}\n{text}");
    checked
}
