//! The skeleton of a pass over the core IR: its file, the lines that register it, and its two file tests.
//!
//! What only its author can say stands in the skeleton as a `compile_error!`, and the file tests do not parse: nothing
//! goes through before all of it is filled in. The one line that remains is that of a pipeline.

use crate::new_op::insert;
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::Path;

/// What is to be said of a pass, with what stands in its place.
const BLANKS: [(&str, &str); 3] = [
    ("doc", "what it does, in one sentence that ends in a full stop"),
    ("promise", "what stays as it was: Promise::Bits, Rounding, UnlessNan or Traps"),
    ("is_idempotent", "whether a second run changes nothing"),
];

/// Writes the skeleton of a pass of this name.
pub(crate) fn write(root: &Path, args: &[String]) -> Result<()> {
    let [name] = args else {
        bail!("`new-pass` takes the name of the pass, a verb in lower case: `cargo xtask new-pass name`")
    };
    let is_name = name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    if !is_name {
        bail!("expected a name of lower-case letters, digits and `_`, found `{name}`");
    }
    let passes = root.join("crates/cotan-opt/src/passes");
    let file = passes.join(format!("{name}.rs"));
    if file.exists() || passes.join(name).exists() {
        bail!("there is a pass `{name}` already: {}", file.display());
    }
    put(&file, &skeleton(name))?;
    let list = passes.join("mod.rs");
    insert(&list, "pub mod ", &format!("pub mod {name};"))?;
    insert(&list, "    &", &format!("    &{name}::PASS,"))?;
    let tests = root.join("tests/ir").join(name);
    fs::create_dir_all(&tests).with_context(|| format!("making {}", tests.display()))?;
    put(&tests.join("fires_on_what.cir"), "Rename this file, and write a function that the pass changes.\n")?;
    put(&tests.join("keeps_what.cir"), "Rename this file, and write a function that the pass must leave alone.\n")
}

fn put(path: &Path, text: &str) -> Result<()> {
    fs::write(path, text).with_context(|| format!("writing {}", path.display()))
}

fn skeleton(name: &str) -> String {
    let blanks = BLANKS.map(|(field, what)| format!("    {field}: compile_error!(\"{name}: {field}: {what}\"),\n"));
    format!(
        "//! The textbook name of the technique: what it does, in plain words.\n\
         //!\n\
         //! Why results keep their bits and no error is added.\n\n\
         use crate::pass::{{Pass, Promise}};\n\
         use cotan_ir::Function;\n\n\
         compile_error!(\"{name}: name the technique, its conditions and its source in the documentation of the module\");\n\n\
         /// The record of the pass.\n\
         pub static PASS: Pass = Pass {{\n    \
         name: \"{name}\",\n{}    run: |f, _| {name}(f),\n}};\n\n\
         /// What it gives.\n\
         pub fn {name}(f: Function) -> Function {{\n    \
         compile_error!(\"{name}: the pass itself\")\n}}\n",
        blanks.concat()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_skeleton_has_a_blank_for_everything_that_only_its_author_knows() {
        let text = skeleton("smooth");
        for (field, _) in BLANKS {
            assert!(text.contains(&format!("    {field}: compile_error!(\"smooth: {field}: ")), "{field}\n{text}");
        }
        assert_eq!(text.matches("compile_error!").count(), BLANKS.len() + 2);
    }
}
