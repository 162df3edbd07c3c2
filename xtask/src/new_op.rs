//! The skeleton of an operation on tensors: one file in the op table, and the lines that register it.
//!
//! What only its author can say stands in the skeleton as a `compile_error!`: it does not compile before all of it is
//! filled in.

use anyhow::{Context, Result, bail};
use std::fs;
use std::path::Path;

/// What is to be said of an operation: fields that have no default, with what stands in their place.
const BLANKS: [(&str, &str); 10] = [
    ("group", "the part of the reference that it belongs to, such as Group::LinearAlgebra"),
    ("operands", "names, types and what is smooth, such as &[Operand::smooth(\\\"x\\\", \\\"T[.., n]\\\")]"),
    ("result", "the type of the result, such as \\\"T[.., n]\\\""),
    ("elems", "the element types that `T` may stand for, such as ElemSet::FLOAT"),
    ("doc", "operands, attributes and result in one sentence that ends in a full stop"),
    ("evaluation", "Evaluation::Direct(..) if it moves elements, Evaluation::Routine(..) if it computes"),
    ("derivative", "Linear, Multilinear, Rule or None with a reason: there is no default"),
    ("batching", "what it does to operands with one more leading axis"),
    ("stablehlo", "what it is in StableHLO, or None with a reason"),
    ("samples", "where tests call it, with each way that its attributes choose"),
];

/// Writes the skeleton of an operation of this name.
pub(crate) fn write(root: &Path, args: &[String]) -> Result<()> {
    let [name] = args else {
        bail!("`new-op` takes the name of the operation, in lower case: `cargo xtask new-op name`")
    };
    let is_name = name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    if !is_name {
        bail!("expected a name of lower-case letters, digits and `_`, found `{name}`");
    }
    let folder = root.join("crates/cotan-ops/src");
    let file = folder.join(format!("tensor/{name}.rs"));
    if file.exists() {
        bail!("there is an operation `{name}` already: {}", file.display());
    }
    fs::write(&file, skeleton(name)).with_context(|| format!("writing {}", file.display()))?;
    insert(&folder.join("tensor/mod.rs"), "pub(crate) mod ", &format!("pub(crate) mod {name};"))?;
    let constant = name.to_uppercase();
    insert(&folder.join("lib.rs"), "pub use tensor::", &format!("pub use tensor::{name}::{constant};"))?;
    let table = folder.join("table.rs");
    let text = fs::read_to_string(&table)?;
    let last = text.rfind("        &PRINT,").context("the table has no line to write before")?;
    fs::write(&table, format!("{}        &{constant},\n{}", &text[..last], &text[last..]))?;
    Ok(())
}

/// Inserts a line among those that begin in the same way, in alphabetical order.
fn insert(path: &Path, beginning: &str, line: &str) -> Result<()> {
    let text = fs::read_to_string(path)?;
    let mut lines: Vec<&str> = text.lines().collect();
    let alike = |l: &&str| l.starts_with(beginning) && l.ends_with(';');
    let after = lines.iter().position(|l| alike(l) && *l > line);
    let at = after.or_else(|| lines.iter().rposition(alike).map(|at| at + 1));
    lines.insert(at.with_context(|| format!("{} has no line like `{line}`", path.display()))?, line);
    fs::write(path, lines.join("\n") + "\n").with_context(|| format!("writing {}", path.display()))
}

fn skeleton(name: &str) -> String {
    let constant = name.to_uppercase();
    let blank = |field: &str| {
        let what = BLANKS.iter().find(|(name, _)| *name == field).map_or("", |(_, what)| what);
        format!("    {field}: compile_error!(\"{name}: {field}: {what}\"),\n")
    };
    let fields: String = ["group", "operands", "result", "elems", "doc"].map(blank).concat();
    let rest: String = ["evaluation", "derivative", "batching", "stablehlo"].map(blank).concat();
    format!(
        "//! `{name}(x)`: what it computes, as a formula.\n\
         //!\n\
         //! Its domain, what happens at kinks and where there is no result, and why its derivative is what it is.\n\n\
         use super::{{Batching, Derivative, Evaluation, Shapes, StableHlo, TensorRecord, TensorSample}};\n\
         use crate::{{Group, Operand, Proof}};\n\
         use cotan_ir::{{ElemSet, TensorSig}};\n\n\
         compile_error!(\"{name}: write the formula, the domain and the source into the documentation of the module\");\n\n\
         /// What the results are.\n\
         pub static {constant}: TensorRecord = TensorRecord {{\n    \
         sig: TensorSig {{ name: \"{name}\", prints: false, record: &{constant} }},\n\
         {fields}    check,\n{rest}    failure: None,\n{}    proof: Proof::Unproved {{ reason: \"nobody has proved it\" }},\n}};\n\n\
         fn check(_: &Shapes) -> Result<(), String> {{\n    \
         compile_error!(\"{name}: check: whether operands, attributes and result go together\")\n}}\n",
        blank("samples")
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
