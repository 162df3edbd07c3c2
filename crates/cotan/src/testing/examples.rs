//! The examples in documentation, as functions that can be called.
//!
//! An example is a block between lines of three backticks in the `##` comment of a declaration. It is the
//! body of a function whose result is a `bool`. The text of the program is changed so that it is one:
//!
//! ````text
//! ## Twice a number.                  ## Twice a number.
//! ## ```                              fn example_1_of_twice() -> bool {
//! ## twice(2.0) == 4.0       =>          twice(2.0) == 4.0
//! ## ```                              }
//! fn twice(...                        fn twice(...
//! ````
//!
//! Lines and columns stay what they were, so that messages about an example point into the comment.

use cotan_syntax::ast::{Item, ItemKind, Module};

/// One example.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Example {
    /// The name of the function that it becomes.
    pub(super) function: String,
    /// The declaration that it documents.
    pub(super) subject: String,
    /// The line of its first backticks, from 1.
    pub(super) line: usize,
}

/// The text with its examples as functions.
pub(super) fn expose(text: &str, module: &Module) -> (String, Vec<Example>) {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let mut examples = Vec::new();
    for item in &module.items {
        let Some(doc) = &item.doc else { continue };
        // A comment behind an attribute is in the middle of its declaration.
        if item.attrs.first().is_some_and(|attr| attr.span.start < doc.span.start) {
            continue;
        }
        let first = text[..doc.span.start as usize].matches('\n').count();
        let last = text[..doc.span.end as usize].matches('\n').count();
        let mut opening = None;
        for at in first..=last {
            let Some(content) = lines[at].trim_start().strip_prefix("##").map(str::trim) else { continue };
            match opening {
                None if content == FENCE => opening = Some(at),
                Some(start) if content == FENCE => {
                    let number = examples.len() + 1;
                    let subject = name(item);
                    let function = format!("example_{number}_of_{subject}");
                    lines[start] = format!("fn {function}() -> bool {{");
                    lines[start + 1..at].iter_mut().for_each(|line| *line = line.replacen("##", "  ", 1));
                    lines[at] = "}".to_owned();
                    examples.push(Example { function, subject, line: start + 1 });
                    opening = None;
                }
                None | Some(_) => {}
            }
        }
    }
    (lines.join("\n") + "\n", examples)
}

const FENCE: &str = "```";

/// The name of a declaration.
fn name(item: &Item) -> String {
    match &item.kind {
        ItemKind::Function(function) => function.signature.name.name.clone(),
        ItemKind::Struct(parts) => parts.name.name.clone(),
        ItemKind::Enum(parts) => parts.name.name.clone(),
        ItemKind::TypeAlias(parts) => parts.name.name.clone(),
        ItemKind::Const(parts) => parts.name.name.clone(),
        ItemKind::Trait(parts) => parts.name.name.clone(),
        ItemKind::Impl(_) => "impl".to_owned(),
        ItemKind::Import(_) => "import".to_owned(),
        ItemKind::Error => "error".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cotan_syntax::{FileId, parse};

    #[test]
    fn an_example_becomes_a_function_at_its_place() {
        let text = "## Twice.\n## ```\n## let x = 2.0\n## twice(x) == 4.0\n## ```\nfn twice(x: f64) -> f64 = 2.0 * x\n";
        let (module, _) = parse(FileId(0), text);
        let (exposed, examples) = expose(text, &module);
        let expected = "## Twice.\nfn example_1_of_twice() -> bool {\n   let x = 2.0\n   twice(x) == 4.0\n}\n\
                        fn twice(x: f64) -> f64 = 2.0 * x\n";
        assert_eq!(exposed, expected);
        let example = Example { function: "example_1_of_twice".to_owned(), subject: "twice".to_owned(), line: 2 };
        assert_eq!(examples, [example]);
    }

    #[test]
    fn what_is_not_between_backticks_stays_a_comment() {
        for text in ["## f(1.0) == 1.0\nfn f(x: f64) -> f64 = x\n", "## ```\n## open\nfn f(x: f64) -> f64 = x\n"] {
            let (module, _) = parse(FileId(0), text);
            assert_eq!(expose(text, &module), (text.to_owned(), Vec::new()));
        }
    }
}
