use super::*;
use crate::codes;

/// Codes whose failing example is no program.
const DESCRIBED: &[crate::Code] = &[
    codes::INVALID_UTF8,
    codes::FILE_TOO_LARGE,
    codes::NESTING_TOO_DEEP,
    codes::TOO_MANY_DIAGNOSTICS,
    codes::DECLARATION_TOO_LARGE,
];

#[test]
fn every_failing_example_has_exactly_the_code_of_its_page() {
    for info in codes::all().filter(|info| !DESCRIBED.contains(&info.code)) {
        let (_, diagnostics) = parse(FileId(0), info.failing_example);
        let found: Vec<_> = diagnostics.iter().map(|d| d.code).collect();
        assert_eq!(found, [info.code], "{}", info.failing_example);
        let diagnostic = &diagnostics[0];
        assert!(diagnostic.message.starts_with("expected "), "{diagnostic:?}");
        assert!(diagnostic.message.contains(", found "), "{diagnostic:?}");
    }
}

#[test]
fn every_mended_example_is_free_of_errors() {
    for info in codes::all().filter(|info| !DESCRIBED.contains(&info.code)) {
        let (_, mended) = info.explanation.split_once("Mended:\n\n").expect("each page ends with the mended example");
        let (_, diagnostics) = parse(FileId(0), mended);
        assert_eq!(diagnostics, [], "{mended}");
    }
}

#[test]
fn codes_are_unique_and_in_order() {
    let all: Vec<_> = codes::all().map(|info| info.code).collect();
    assert!(all.is_sorted());
    assert!(all.windows(2).all(|pair| pair[0] != pair[1]));
    assert!(all.iter().all(|code| code.as_str().starts_with("E01")));
}
