//! Idioms of other languages: the tables of the book are those of the data, and both sides of each row give its value.

use cotan_testkit::book::chapters;
use cotan_testkit::files::{is_blessing, replace, report};
use cotan_testkit::idioms::{Framework, LANGUAGES, against_cotan, against_python, against_rust, idioms, table};
use std::collections::BTreeSet;
use std::path::Path;

const START: &str = "<!-- idioms ";
const END: &str = "<!-- end of idioms -->";

#[test]
fn the_tables_of_idioms_are_those_of_the_data() {
    let mut shown = BTreeSet::new();
    for page in chapters() {
        let mut parts = page.text.split(START);
        let mut text = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let (name, rest) = part.split_once(" -->\n").expect("a name");
            let (language, section) = name.split_once(' ').expect("a language and a section");
            let (_, rest) = rest.split_once(END).expect("an end of the table");
            let table = table(language, section).unwrap_or_else(|e| panic!("{}: {e}", page.name()));
            shown.insert((language.to_owned(), section.to_owned()));
            text += &format!("{START}{name} -->\n{table}{END}{rest}");
        }
        if is_blessing() && page.text != text {
            replace(&page.path, &text).expect("a page that can be written");
        } else {
            assert!(page.text == text, "{}: bless with COTAN_BLESS=1", page.name());
        }
    }
    for language in LANGUAGES {
        for idiom in idioms(language).expect("a table") {
            assert!(shown.contains(&(language.to_owned(), idiom.section.clone())), "no page has `{}`", idiom.section);
        }
    }
}

#[test]
fn cotans_side_of_every_idiom_gives_its_value() {
    let mut failures = Vec::new();
    let mut n_idioms = 0;
    for language in LANGUAGES {
        let of_language = idioms(language).expect("a table");
        n_idioms += of_language.len();
        failures.extend(against_cotan(&of_language).expect("a compiler"));
    }
    report(failures, n_idioms);
}

#[test]
fn the_side_of_python_gives_the_same_values_where_the_library_is_installed() {
    for framework in &Framework::ALL {
        let of_language = idioms(framework.language).expect("a table");
        if let Some(failures) = against_python(framework, &of_language).expect("a script that runs") {
            report(failures, of_language.len());
        }
    }
}

#[test]
fn the_side_of_rust_compiles_and_gives_the_same_values() {
    let of_rust = idioms("rust").expect("a table");
    let failures = against_rust(&of_rust, Path::new(env!("CARGO_TARGET_TMPDIR"))).unwrap_or_else(|e| panic!("{e}"));
    report(failures, of_rust.len());
}
