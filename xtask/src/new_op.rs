//! Skeletons of operations: the file of an operation on scalars or tensors, and the lines that register it.
//!
//! What only its author can say stands in the skeleton as a `compile_error!`: it does not compile before all of it is
//! filled in.

use anyhow::{Context, Result, bail};
use std::fs;
use std::path::Path;

/// A field that has no default, with what stands in its place.
type Blank = (&'static str, &'static str);

/// What is to be said of a primitive on scalars.
const SCALAR_BLANKS: [Blank; 15] = [
    ("sig", "the types, such as same(&NAME, \\\"name\\\", UNARY, ElemSet::FLOAT)"),
    ("group", "the part of the reference that it belongs to, such as Group::Elementary"),
    ("doc", "what it computes of a0, a1, .. in one sentence that ends in a full stop"),
    ("words", "the functions of the language that it is, such as &[Word::new(\\\"name\\\", WordElems::Float)]"),
    ("kernels", "the evaluators, such as kernels!(name, (T) on float)"),
    ("denotation", "what it is on real numbers, such as RealDenotation::Codegen"),
    ("codegen", "how a backend computes it, such as Codegen::Term(term!(EXP(-a0)))"),
    ("fits", "the condition that an integer result does not wrap, or None"),
    ("partials", "one for each operand, such as &[Partial::term(term!(1 - r * r))]"),
    ("kinks", "the convention where a partial is no derivative, or Kinks::Smooth"),
    ("domain", "where the partials are true derivatives, such as &[Condition::Above(0, 0.0)]"),
    ("samples", "where tests take each operand from, such as &[Sample::Span(-3.0, 3.0)]"),
    ("expressions", "how random programs use it, such as &[\\\"name(sin(_))\\\"]"),
    ("identities", "the identities that hold bit for bit"),
    ("edge_points", "the points at which the value or a derivative is a convention"),
];

/// What is to be said of an operation on tensors.
const TENSOR_BLANKS: [Blank; 11] = [
    ("group", "the part of the reference that it belongs to, such as Group::LinearAlgebra"),
    ("operands", "names, types and what is smooth, such as &[Operand::smooth(\\\"x\\\", \\\"T[.., n]\\\")]"),
    ("result", "the type of the result, such as \\\"T[.., n]\\\""),
    ("elems", "the element types that `T` may stand for, such as ElemSet::FLOAT"),
    ("doc", "operands, attributes and result in one sentence that ends in a full stop"),
    ("shape", "how the dims of the result follow from those of the operands, or ShapeRule::Checked"),
    ("evaluation", "Evaluation::Direct(..) if it moves elements, Evaluation::Routine(..) if it computes"),
    ("derivative", "Linear, Multilinear, Rule or None with a reason: there is no default"),
    ("batching", "what it does to operands with one more leading axis"),
    ("stablehlo", "what it is in StableHLO, or None with a reason"),
    ("samples", "where tests call it, with each way that its attributes choose"),
];

/// Writes the skeleton of an operation of this name.
pub(crate) fn write(root: &Path, args: &[String]) -> Result<()> {
    let (name, is_scalar) = match args {
        [name] => (name, false),
        [option, name] if option == "--scalar" => (name, true),
        _ => bail!("`new-op` takes the name of the operation, in lower case: `cargo xtask new-op [--scalar] name`"),
    };
    let is_name = name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    if !is_name {
        bail!("expected a name of lower-case letters, digits and `_`, found `{name}`");
    }
    let folder = root.join("crates/cotan-ops/src");
    let file = folder.join(if is_scalar { "scalar" } else { "tensor" }).join(format!("{name}.rs"));
    if file.exists() {
        bail!("there is an operation `{name}` already: {}", file.display());
    }
    let text = if is_scalar { scalar_skeleton(name) } else { tensor_skeleton(name) };
    fs::write(&file, text).with_context(|| format!("writing {}", file.display()))?;
    if is_scalar { register_scalar(&folder, name) } else { register_tensor(&folder, name) }
}

fn register_scalar(folder: &Path, name: &str) -> Result<()> {
    let families = folder.join("scalar/mod.rs");
    insert(&families, "pub(crate) mod ", &format!("pub(crate) mod {name};"))?;
    insert(&families, "pub use ", &format!("pub use {name}::*;"))?;
    insert_before(&families, "];", &format!("    {name}::ROWS,\n"))
}

fn register_tensor(folder: &Path, name: &str) -> Result<()> {
    let constant = name.to_uppercase();
    insert(&folder.join("tensor/mod.rs"), "pub(crate) mod ", &format!("pub(crate) mod {name};"))?;
    insert(&folder.join("lib.rs"), "pub use tensor::", &format!("pub use tensor::{name}::{constant};"))?;
    insert_before(&folder.join("table.rs"), "        &PRINT,", &format!("        &{constant},\n"))
}

/// Inserts a line among those that begin in the same way, in alphabetical order.
pub(crate) fn insert(path: &Path, beginning: &str, line: &str) -> Result<()> {
    let text = fs::read_to_string(path)?;
    let mut lines: Vec<&str> = text.lines().collect();
    let alike = |l: &&str| l.starts_with(beginning) && l.ends_with([';', ',']);
    let after = lines.iter().position(|l| alike(l) && *l > line);
    let at = after.or_else(|| lines.iter().rposition(alike).map(|at| at + 1));
    lines.insert(at.with_context(|| format!("{} has no line like `{line}`", path.display()))?, line);
    fs::write(path, lines.join("\n") + "\n").with_context(|| format!("writing {}", path.display()))
}

/// Inserts a line before the last line that begins so.
fn insert_before(path: &Path, beginning: &str, line: &str) -> Result<()> {
    let text = fs::read_to_string(path)?;
    let at =
        text.rfind(&format!("\n{beginning}")).with_context(|| format!("{} has no `{beginning}`", path.display()))?;
    let (head, rest) = text.split_at(at + 1);
    fs::write(path, format!("{head}{line}{rest}")).with_context(|| format!("writing {}", path.display()))
}

/// The lines of a record, each with a `compile_error!` in place of its value.
fn blanks(name: &str, blanks: &[Blank], fields: &[&str]) -> String {
    let line = |field: &&str| {
        let what = blanks.iter().find(|(known, _)| known == field).map_or("", |(_, what)| what);
        format!("    {field}: compile_error!(\"{name}: {field}: {what}\"),\n")
    };
    fields.iter().map(line).collect()
}

fn scalar_skeleton(name: &str) -> String {
    let constant = name.to_uppercase();
    let fields = blanks(name, &SCALAR_BLANKS, &SCALAR_BLANKS.map(|(field, _)| field));
    format!(
        "//! `{name}(a0)`: what it computes, as a formula.\n\
         //!\n\
         //! Its domain, what happens at kinks and where there is no result, and why its derivative is what it is.\n\n\
         use crate::formula::term;\n\
         use crate::kernel::kernels;\n\
         use crate::row::{{Codegen, Group, Kinks, Partial, Proof, Sample}};\n\
         use crate::signature::{{UNARY, same}};\n\
         use crate::{{PrimRow, RealDenotation, Word, WordElems}};\n\
         use cotan_ir::ElemSet;\n\n\
         compile_error!(\"{name}: write the formula, the domain and the source into the documentation of the module\");\n\n\
         /// What the result is.\n\
         pub static {constant}: PrimRow = PrimRow {{\n\
         {fields}    proof: Proof::Unproved {{ reason: \"nobody has proved it\" }},\n}};\n\n\
         /// The rows of this file, in the order of the reference.\n\
         pub(crate) static ROWS: &[&PrimRow] = &[&{constant}];\n"
    )
}

fn tensor_skeleton(name: &str) -> String {
    let constant = name.to_uppercase();
    let blanks = |fields: &[&str]| blanks(name, &TENSOR_BLANKS, fields);
    let fields = blanks(&["group", "operands", "result", "elems", "doc", "shape"]);
    let rest = blanks(&["evaluation", "derivative", "batching", "stablehlo"]);
    format!(
        "//! `{name}(x)`: what it computes, as a formula.\n\
         //!\n\
         //! Its domain, what happens at kinks and where there is no result, and why its derivative is what it is.\n\n\
         use super::{{Batching, Derivative, Evaluation, ShapeRule, Shapes, StableHlo, TensorRow, TensorSample}};\n\
         use crate::{{Group, Operand, Proof}};\n\
         use cotan_ir::{{ElemSet, TensorSig}};\n\n\
         compile_error!(\"{name}: write the formula, the domain and the source into the documentation of the module\");\n\n\
         /// What the results are.\n\
         pub static {constant}: TensorRow = TensorRow {{\n    \
         sig: TensorSig {{ name: \"{name}\", prints: false, record: &{constant} }},\n\
         {fields}    check,\n{rest}    failure: None,\n{}    proof: Proof::Unproved {{ reason: \"nobody has proved it\" }},\n}};\n\n\
         fn check(_: &Shapes) -> Result<(), String> {{\n    \
         compile_error!(\"{name}: check: whether operands, attributes and result go together\")\n}}\n",
        blanks(&["samples"])
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_skeleton_has_a_blank_for_everything_that_only_its_author_knows() {
        let is_blank =
            |text: &str, field: &str| text.contains(&format!("    {field}: compile_error!(\"smooth: {field}: "));
        let (scalar, tensor) = (scalar_skeleton("smooth"), tensor_skeleton("smooth"));
        assert!(SCALAR_BLANKS.iter().all(|(field, _)| is_blank(&scalar, field)), "{scalar}");
        assert!(TENSOR_BLANKS.iter().all(|(field, _)| is_blank(&tensor, field)), "{tensor}");
        assert_eq!(scalar.matches("compile_error!").count(), SCALAR_BLANKS.len() + 1);
        assert_eq!(tensor.matches("compile_error!").count(), TENSOR_BLANKS.len() + 2);
    }
}
