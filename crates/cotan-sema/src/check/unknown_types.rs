//! Types that stand for nothing: reports that say what is meant.

use cotan_ir::Elem;
use cotan_syntax::Diagnostic;
use cotan_syntax::ast::{Ident, Path};

use super::ModuleChecker;
use super::scope::{is_type, path_name};
use crate::codes;
use crate::suggest::closest;
use crate::types::{Generic, Type};

/// Reports a name that is no type; the parameters in brackets around it are `generics`.
pub(super) fn report(checker: &mut ModuleChecker<'_>, ident: &Ident, generics: &[Generic]) -> Type {
    let name = ident.name.as_str();
    if name.is_empty() {
        return Type::Error;
    }
    if name == "Self" {
        let message = "expected a type, found `Self` outside of a trait and an `impl`";
        checker.report(
            Diagnostic::error(codes::SELF_OUTSIDE, ident.span, message)
                .help("write the name of the type that you mean"),
        );
        return Type::Error;
    }
    let elems = Elem::ALL.into_iter().map(|elem| elem.name());
    let known = elems.chain(checker.declared_names().filter(|name| is_type(checker, name)));
    let known = known.chain(generics.iter().map(|generic| generic.name.as_str()));
    let message = format!("expected a type, found the unknown name `{name}`");
    let diagnostic = Diagnostic::error(codes::UNKNOWN_TYPE, ident.span, message);
    let diagnostic = match (checker.meant_type(&[name]), closest(name, known)) {
        (Some(meant), _) => {
            let diagnostic = diagnostic.help(meant.help(&meant.code, name));
            checker.with_fix(&meant, diagnostic, ident.span, None)
        }
        (None, Some(near)) => diagnostic.help(format!("did you mean `{near}`?")),
        (None, None) => {
            diagnostic.help(format!("declare it with `struct {name} {{ ... }}`, or as a parameter `[{name}: Float]`"))
        }
    };
    checker.report(diagnostic);
    Type::Error
}

/// Reports a name with dots that leads to no type.
pub(super) fn report_path(checker: &mut ModuleChecker<'_>, path: &Path) -> Type {
    let name = path_name(path);
    let segments: Vec<&str> = path.segments.iter().map(|segment| segment.name.as_str()).collect();
    let message = format!("expected a type, found a name with dots, `{name}`");
    let diagnostic = Diagnostic::error(codes::NOT_A_TYPE, path.span, message);
    let diagnostic = match checker.meant_type(&segments) {
        Some(meant) => {
            let diagnostic = diagnostic.help(meant.help(&meant.code, &name));
            checker.with_fix(&meant, diagnostic, path.span, None)
        }
        None => diagnostic.help(format!("import a module of that name: `import ./{}`", segments[0])),
    };
    checker.report(diagnostic);
    Type::Error
}
