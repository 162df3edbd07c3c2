//! Where an argument comes from, as users write it: `FILE`, `name=FILE`, `name=FILE:path`, `-`, or inline JSON.

use super::Malformed;
use super::content::Format;
use super::path::ValuePath;

/// What one source says.
pub(super) struct Source {
    /// The parameter that it is for; none for all whose names are in it.
    pub(super) param: Option<String>,
    pub(super) origin: Origin,
    /// The part that is meant.
    pub(super) path: Option<ValuePath>,
}

/// Where the bytes are.
pub(super) enum Origin {
    /// In the source itself, as JSON.
    Inline(String),
    /// In a file, or on standard input, which is called `-`.
    File { name: String, format: Format },
}

impl Source {
    pub(super) fn parse(text: &str) -> Result<Source, Malformed> {
        if text.trim_start().starts_with('{') {
            return Ok(Source { param: None, origin: Origin::Inline(text.to_owned()), path: None });
        }
        let (param, rest) = match text.split_once('=') {
            Some((name, rest)) if is_name(name) => (Some(name.to_owned()), rest),
            Some(_) | None => (None, text),
        };
        if rest.trim_start().starts_with('{') {
            let param = param.unwrap_or_default();
            let help = format!("write {{\"{param}\": ...}} with nothing in front, or `--set {param}=...`");
            return Err(Malformed::new(format!("`{text}`: inline JSON names its parameters itself")).help(help));
        }
        let Some((file, format, path)) = split_path(rest) else {
            let expected =
                "expected a file that ends in .json, .npz, .npy, .csv or .safetensors, `-`, or JSON in braces";
            return Err(Malformed::new(format!("`{text}`: {expected}")));
        };
        let path = path.map(ValuePath::parse).transpose().map_err(|e| Malformed::new(format!("`{text}`: {e}")))?;
        Ok(Source { param, origin: Origin::File { name: file.to_owned(), format }, path })
    }
}

/// Whether a text may be the name of a parameter, so that it is no part of the name of a file.
fn is_name(text: &str) -> bool {
    !text.is_empty() && !text.contains(['/', '\\', '.', ':'])
}

/// A file, its format, and the path behind its colon.
fn split_path(text: &str) -> Option<(&str, Format, Option<&str>)> {
    if let Some(after) = text.strip_prefix('-')
        && (after.is_empty() || after.starts_with(':'))
    {
        return Some(("-", Format::Json, after.strip_prefix(':')));
    }
    let ends = text.match_indices(':').map(|(at, _)| at).chain([text.len()]);
    ends.into_iter().find_map(|end| {
        let (file, rest) = text.split_at(end);
        Some((file, Format::of_file(file)?, rest.strip_prefix(':')))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        match Source::parse(text) {
            Ok(Source { param, origin, path }) => {
                let origin = match origin {
                    Origin::Inline(json) => format!("inline {json}"),
                    Origin::File { name, format } => format!("{format:?} {name}"),
                };
                format!("{param:?} {origin} {:?}", path.map(|path| path.to_string()))
            }
            Err(error) => error.message,
        }
    }

    #[test]
    fn names_files_and_paths_are_told_apart() {
        for (text, expected) in [
            ("d.json", "None Json d.json None"),
            ("x=a/d.npz:w.0", r#"Some("x") Npz a/d.npz Some("w.0")"#),
            ("x=d.csv:\"a.b\"", r#"Some("x") Csv d.csv Some("\"a.b\"")"#),
            ("x=c:d.npy", r#"Some("x") Npy c:d.npy None"#),
            ("./a=b.json", "None Json ./a=b.json None"),
            ("a.json:b.json", r#"None Json a.json Some("b.json")"#),
            ("-", "None Json - None"),
            ("p=-:result", r#"Some("p") Json - Some("result")"#),
            (" {\"x\": 1}", "None inline  {\"x\": 1} None"),
        ] {
            assert_eq!(shown(text), expected, "{text}");
        }
        assert!(shown("x=d.yaml").starts_with("`x=d.yaml`: expected a file that ends in"));
        assert!(shown("x={\"a\": 1}").ends_with("inline JSON names its parameters itself"));
    }
}
