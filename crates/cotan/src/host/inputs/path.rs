//! Paths into values: fields, keys and positions joined by dots, as in `result.0.w1`.
//!
//! A part with a dot or a colon in it stands in double quotes: `layers."a.b"`.

use std::fmt;

/// A path; the empty one is the whole.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ValuePath(Vec<String>);

impl ValuePath {
    /// The path of one part.
    pub(super) fn of(part: &str) -> ValuePath {
        ValuePath(vec![part.to_owned()])
    }

    /// Reads a path of at least one part.
    pub(super) fn parse(text: &str) -> Result<ValuePath, String> {
        let fail = |what: &str| Err(format!("the path `{text}`: {what}"));
        let mut parts = Vec::new();
        let mut rest = text;
        loop {
            let after;
            if let Some(quoted) = rest.strip_prefix('"') {
                let Some((part, behind)) = quoted.split_once('"') else { return fail("a quote is not closed") };
                parts.push(part.to_owned());
                after = behind;
            } else {
                let end = rest.find(['.', ':', '"']).unwrap_or(rest.len());
                let (part, behind) = rest.split_at(end);
                if part.is_empty() {
                    return fail("expected names and positions with a dot between them");
                }
                parts.push(part.to_owned());
                after = behind;
            }
            match after.strip_prefix('.') {
                Some(more) => rest = more,
                None if after.is_empty() => return Ok(ValuePath(parts)),
                None => return fail("a part with a dot, a colon or a quote in it stands in double quotes"),
            }
        }
    }

    /// The parts.
    pub(super) fn parts(&self) -> &[String] {
        &self.0
    }

    /// The same with another first part.
    pub(super) fn with_first(mut self, first: String) -> ValuePath {
        if let Some(part) = self.0.first_mut() {
            *part = first;
        }
        self
    }

    /// As the names of arrays have it: parts with dots between them, without quotes.
    pub(super) fn joined(&self) -> String {
        self.0.join(".")
    }
}

impl fmt::Display for ValuePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let quoted = |part: &String| if part.contains(['.', ':']) { format!("\"{part}\"") } else { part.clone() };
        f.write_str(&self.0.iter().map(quoted).collect::<Vec<_>>().join("."))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_with_dots_stand_in_quotes() {
        let parts = |text: &str| ValuePath::parse(text).map(|path| path.0);
        let owned = |parts: &[&str]| Ok(parts.iter().map(|&part| part.to_owned()).collect::<Vec<_>>());
        assert_eq!(parts("result.0.w1"), owned(&["result", "0", "w1"]));
        assert_eq!(parts("a.\"b.c:d\".e"), owned(&["a", "b.c:d", "e"]));
        assert_eq!(parts("\"\""), owned(&[""]));
        for text in ["", "a.", ".a", "a..b", "\"a", "\"a\"b", "a:b", "a\"b\""] {
            assert!(parts(text).is_err(), "{text}");
        }
        let shown = ValuePath::parse("a.\"b.c\"").map(|path| (path.to_string(), path.joined()));
        assert_eq!(shown, Ok(("a.\"b.c\"".to_owned(), "a.b.c".to_owned())));
    }
}
