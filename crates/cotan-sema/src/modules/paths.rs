//! Paths of imports, by text alone: no file system is asked.

use cotan_syntax::ast::ImportSource;

/// The path of the file that an import in `importer` names. `a/main.cot` with `../b/c` is `b/c.cot`.
pub(super) fn relative_file(importer: &str, parents: u32, names: &[&str]) -> String {
    let folder = importer.rsplit_once('/').map(|(folder, _)| folder);
    let mut parts: Vec<&str> = folder.map(|folder| folder.split('/').collect()).unwrap_or_default();
    for _ in 0..parents {
        while parts.last() == Some(&".") {
            parts.pop();
        }
        match parts.last() {
            // Above a folder that is named by going up, or above where the path starts.
            Some(&"..") | None => parts.push(".."),
            // The root of the file system is its own parent.
            Some(&"") if parts.len() == 1 => {}
            Some(_) => drop(parts.pop()),
        }
    }
    parts.extend(names);
    format!("{}.cot", parts.join("/"))
}

/// The name of the module that an import in the library module `importer` names. `std.nn` with `./layers` is
/// `std.layers`.
pub(super) fn relative_library(importer: &str, parents: u32, names: &[&str]) -> String {
    let mut parts: Vec<&str> = importer.split('.').collect();
    parts.truncate(parts.len().saturating_sub(parents as usize + 1));
    parts.extend(names);
    parts.join(".")
}

/// What programs call a module of a library: the last part of its name.
pub(crate) fn last_name(module: &str) -> &str {
    module.rsplit('.').next().unwrap_or(module)
}

/// The name of a file without folder and ending.
pub(super) fn stem(path: &str) -> &str {
    let name = path.rsplit_once('/').map_or(path, |(_, name)| name);
    name.strip_suffix(".cot").unwrap_or(name)
}

/// An import as it is written.
pub(super) fn written(source: &ImportSource) -> String {
    let (start, segments, between) = match source {
        ImportSource::Library(path) => (String::new(), &path.segments, "."),
        ImportSource::Relative { parents: 0, segments, .. } => ("./".to_owned(), segments, "/"),
        ImportSource::Relative { parents, segments, .. } => ("../".repeat(*parents as usize), segments, "/"),
    };
    let names: Vec<&str> = segments.iter().map(|segment| segment.name.as_str()).collect();
    format!("{start}{}", names.join(between))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_import_is_relative_to_the_importing_file() {
        assert_eq!(relative_file("main.cot", 0, &["layers"]), "layers.cot");
        assert_eq!(relative_file("a/main.cot", 0, &["b", "c"]), "a/b/c.cot");
        assert_eq!(relative_file("a/main.cot", 1, &["b", "c"]), "b/c.cot");
        assert_eq!(relative_file("a/main.cot", 2, &["c"]), "../c.cot");
        assert_eq!(relative_file("../main.cot", 1, &["c"]), "../../c.cot");
        assert_eq!(relative_file("./main.cot", 1, &["c"]), "../c.cot");
        assert_eq!(relative_file("/a/main.cot", 1, &["c"]), "/c.cot");
        assert_eq!(relative_file("/main.cot", 1, &["c"]), "/c.cot");
    }

    #[test]
    fn two_ways_to_a_file_are_one_path() {
        assert_eq!(relative_file("a/main.cot", 0, &["x"]), relative_file("a/b/other.cot", 1, &["x"]));
    }

    #[test]
    fn an_import_in_a_library_stays_there() {
        assert_eq!(relative_library("std.nn", 0, &["layers"]), "std.layers");
        assert_eq!(relative_library("std.nn.conv", 1, &["complex"]), "std.complex");
    }
}
