//! The words of the language: every example compiles, every section of the reference is there, every keyword is explained.

use cotan::library::standard;
use cotan::{LANGUAGE_WORDS, Program, language_word};
use cotan_sema::Limits;
use cotan_sema::modules::NoFiles;
use cotan_sema::typed::NamedForm;
use cotan_syntax::token::TokenKind;
use std::collections::BTreeSet;
use std::path::Path;

#[test]
fn every_example_compiles_and_shows_its_word() {
    for entry in LANGUAGE_WORDS {
        let program = Program::load("example.cot", entry.example, &NoFiles, &standard(), &Limits::default());
        assert!(!program.has_errors(), "{}: {:?}", entry.words[0], program.diagnostics);
        let shows = |word: &&&str| entry.example.contains(**word) || entry.form.contains(**word);
        assert!(entry.words.iter().any(|word| shows(&word)), "{}: the example has none of its words", entry.words[0]);
    }
}

#[test]
fn every_section_of_the_reference_is_there() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference");
    for entry in LANGUAGE_WORDS {
        let (page, section) = entry.reference.split_once('#').expect("a page and a section");
        let text = std::fs::read_to_string(folder.join(format!("{page}.md"))).expect("the page");
        let headings = text.lines().filter(|line| line.starts_with('#')).map(|line| {
            let title = line.trim_start_matches('#').trim().to_lowercase();
            title.replace(' ', "-").replace(['`', ',', '(', ')'], "")
        });
        assert!(headings.into_iter().any(|heading| heading == section), "{}", entry.reference);
    }
}

#[test]
fn every_keyword_and_form_is_explained_once() {
    let keywords = TokenKind::KEYWORDS.iter().filter_map(|kind| kind.text());
    for word in keywords.chain(NamedForm::all().map(|form| form.name)) {
        assert!(language_word(word).is_some(), "`{word}`");
    }
    let all: Vec<&str> = LANGUAGE_WORDS.iter().flat_map(|entry| entry.words).copied().collect();
    assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len());
}
