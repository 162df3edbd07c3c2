//! Imports that lead to no module of the library: what is meant by them.

use cotan_syntax::{Diagnostic, Span};

use super::LibraryModule;
use super::paths::last_name;
use crate::codes;
use crate::foreign;
use crate::suggest::closest;

/// What to say of an import of `name` at `span` of the declaration `whole`. The library has no such module.
pub(super) fn report(name: &str, library: &[LibraryModule], span: Span, whole: Span) -> Diagnostic {
    let message = format!("expected a module of the standard library, found `{name}`");
    let diagnostic = Diagnostic::error(codes::MODULE_NOT_FOUND, span, message);
    let known = || library.iter().map(|module| module.name);
    if let Some((module, item)) = declaration(name, library) {
        let used = format!("{}.{item}", last_name(module));
        let help = format!("modules are imported whole: write `import {module}`, and `{used}` where it is used");
        return diagnostic.help(help).fix(span, module);
    }
    if let Some(module) = known().find(|module| last_name(module) == name) {
        return diagnostic.help(format!("write `import {module}`")).fix(span, module);
    }
    let root = name.split('.').next().unwrap_or(name);
    let is_of_library = known().any(|known| known.split('.').next() == Some(root));
    if foreign::is_namespace(root) && !is_of_library {
        let help = "leave it out: there are no modules of other languages, and the prelude needs no import; `cotan ops WORD` \
                    searches the library";
        return diagnostic.help(help).fix(whole, "");
    }
    diagnostic.help(match closest(name, known()) {
        Some(near) => format!("did you mean `{near}`?"),
        None if is_of_library => format!("its modules are `{}`", known().collect::<Vec<_>>().join("`, `")),
        None => format!("a file is imported by its path: `import ./{}`", name.replace('.', "/")),
    })
}

/// The module and the declaration of a path such as `std.nn.softmax`, or `nn.softmax`.
fn declaration<'n>(name: &'n str, library: &[LibraryModule]) -> Option<(&'static str, &'n str)> {
    let (module, item) = name.rsplit_once('.')?;
    let found = library.iter().map(|it| it.name).find(|known| *known == module || last_name(known) == module)?;
    Some((found, item))
}
