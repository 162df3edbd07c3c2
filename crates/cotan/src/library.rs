//! The standard library: modules in Cotan, part of every compiler.

use cotan_sema::modules::{Library, LibraryModule};

/// The modules behind `import std....`.
pub static STANDARD: &[LibraryModule] = &[
    LibraryModule { name: "std.attention", text: include_str!("../../../lib/std/attention.cot") },
    LibraryModule { name: "std.complex", text: include_str!("../../../lib/std/complex.cot") },
    LibraryModule { name: "std.conv", text: include_str!("../../../lib/std/conv.cot") },
    LibraryModule { name: "std.fft", text: include_str!("../../../lib/std/fft.cot") },
    LibraryModule { name: "std.index", text: include_str!("../../../lib/std/index.cot") },
    LibraryModule { name: "std.linalg", text: include_str!("../../../lib/std/linalg.cot") },
    LibraryModule { name: "std.losses", text: include_str!("../../../lib/std/losses.cot") },
    LibraryModule { name: "std.nn", text: include_str!("../../../lib/std/nn.cot") },
    LibraryModule { name: "std.ode", text: include_str!("../../../lib/std/ode.cot") },
    LibraryModule { name: "std.optim", text: include_str!("../../../lib/std/optim.cot") },
    LibraryModule { name: "std.pool", text: include_str!("../../../lib/std/pool.cot") },
    LibraryModule { name: "std.product", text: include_str!("../../../lib/std/product.cot") },
    LibraryModule { name: "std.random", text: include_str!("../../../lib/std/random.cot") },
    LibraryModule { name: "std.reduce", text: include_str!("../../../lib/std/reduce.cot") },
    LibraryModule { name: "std.resample", text: include_str!("../../../lib/std/resample.cot") },
    LibraryModule { name: "std.shape", text: include_str!("../../../lib/std/shape.cot") },
    LibraryModule { name: "std.solve", text: include_str!("../../../lib/std/solve.cot") },
    LibraryModule { name: "std.sort", text: include_str!("../../../lib/std/sort.cot") },
];

/// The standard library, and the operations of the op table.
pub fn standard() -> Library {
    Library::new(STANDARD)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn every_file_of_the_library_is_a_module() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lib/std");
        let files = std::fs::read_dir(folder).expect("the library").flatten().map(|entry| entry.path());
        let mut names: Vec<String> =
            files.filter_map(|path| Some(format!("std.{}", path.file_stem()?.to_str()?))).collect();
        names.sort();
        assert_eq!(names, STANDARD.iter().map(|module| module.name).collect::<Vec<_>>());
    }

    #[test]
    fn every_public_declaration_of_the_library_has_a_doc_comment() {
        for module in STANDARD {
            let (syntax, diagnostics) = cotan_syntax::parse(cotan_syntax::FileId(0), module.text);
            assert_eq!(diagnostics, [], "{}", module.name);
            for item in syntax.items.iter().filter(|item| item.public.is_some()) {
                assert!(item.doc.is_some(), "{}: {:?}", module.name, item.span);
            }
        }
    }
}
