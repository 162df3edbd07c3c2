//! The reference pages of the operations, `docs/operations/`, from the manifest that the command prints: a table of
//! everything, and a page for each group of the op table, for the prelude and for each module of the library.
//!
//! `docs/SUMMARY.md` links to them below the line of the table. This file must not know any operation.

use anyhow::{Context, Result, bail};
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Command;

const FOLDER: &str = "docs/operations";
const SUMMARY: &str = "docs/SUMMARY.md";

/// The line of the summary below which the pages are.
const ANCHOR: &str = "- [Operations](operations/index.md)\n";

/// Writes the pages, and their links in the summary; removes pages of groups that are gone.
pub(crate) fn write(root: &Path) -> Result<()> {
    let pages = pages(&manifest(root)?)?;
    let folder = root.join(FOLDER);
    fs::create_dir_all(&folder)?;
    for name in found(&folder)? {
        if !pages.files.contains_key(&name) {
            fs::remove_file(folder.join(&name)).with_context(|| format!("removing {name}"))?;
        }
    }
    for (name, text) in &pages.files {
        fs::write(folder.join(name), text).with_context(|| format!("writing {FOLDER}/{name}"))?;
    }
    let summary = root.join(SUMMARY);
    let text = fs::read_to_string(&summary).with_context(|| format!("reading {SUMMARY}"))?;
    fs::write(&summary, with_links(&text, &pages.links)?).with_context(|| format!("writing {SUMMARY}"))
}

/// Fails if a page is not what the manifest says.
pub(crate) fn check(root: &Path) -> Result<()> {
    let pages = pages(&manifest(root)?)?;
    let folder = root.join(FOLDER);
    let mut stale: Vec<String> = found(&folder)?.into_iter().filter(|name| !pages.files.contains_key(name)).collect();
    for (name, text) in &pages.files {
        if fs::read_to_string(folder.join(name)).is_ok_and(|found| found == *text) {
            continue;
        }
        stale.push(name.clone());
    }
    let summary = fs::read_to_string(root.join(SUMMARY)).with_context(|| format!("reading {SUMMARY}"))?;
    if with_links(&summary, &pages.links)? != summary {
        stale.push("../SUMMARY.md".to_owned());
    }
    if !stale.is_empty() {
        bail!("{FOLDER} is stale ({}): run `cargo xtask ops`", stale.join(", "));
    }
    Ok(())
}

/// The names of the pages that are there.
fn found(folder: &Path) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("reading {FOLDER}"))? {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}

/// What `cotan ops --json` prints. The command is built as the tests build it: `cargo run` would build all it is made of
/// once more, with the features that it has without them.
fn manifest(root: &Path) -> Result<Json> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let build = Command::new(cargo)
        .args(["test", "-q", "--workspace", "--test", "all", "--no-run", "--message-format=json-render-diagnostics"])
        .current_dir(root)
        .output()
        .context("building `cotan`")?;
    if !build.status.success() {
        bail!("`cotan` was not built: {}", String::from_utf8_lossy(&build.stderr));
    }
    let built = String::from_utf8_lossy(&build.stdout);
    let cotan = built.lines().find_map(command_of).context("cargo named no command `cotan` that it built")?;
    let out = Command::new(cotan).args(["ops", "--json"]).current_dir(root).output().context("running `cotan ops`")?;
    if !out.status.success() {
        bail!("`cotan ops` failed: {}", String::from_utf8_lossy(&out.stderr));
    }
    serde_json::from_slice(&out.stdout).context("the manifest is no JSON")
}

/// The path of the command, where it is what this message of cargo is about.
fn command_of(message: &str) -> Option<String> {
    let message: Json = serde_json::from_str(message).ok()?;
    let is_it = message["target"]["name"] == "cotan" && message["target"]["kind"][0] == "bin";
    message["executable"].as_str().filter(|_| is_it && message["profile"]["test"] == false).map(str::to_owned)
}

/// The summary with links to the pages below the line of the table.
fn with_links(summary: &str, links: &str) -> Result<String> {
    let (before, after) = summary.split_once(ANCHOR).with_context(|| format!("{SUMMARY} has no line {ANCHOR}"))?;
    let rest: String = after.split_inclusive('\n').skip_while(|line| line.starts_with("  - [")).collect();
    Ok(format!("{before}{ANCHOR}{links}{rest}"))
}

struct Pages {
    /// By the name of the file.
    files: BTreeMap<String, String>,
    /// The lines of the summary.
    links: String,
}

/// The operations of one group or module.
struct Group<'m> {
    name: &'m str,
    doc: String,
    declarations: &'m [Json],
    operations: Vec<&'m Json>,
}

impl Group<'_> {
    fn file(&self) -> String {
        self.name.replace([' ', '.'], "-") + ".md"
    }
}

fn pages(manifest: &Json) -> Result<Pages> {
    let mut groups: Vec<Group> = Vec::new();
    for op in list(manifest, "operations") {
        let name = field(op, "group");
        match groups.iter_mut().find(|group| group.name == name) {
            Some(group) => group.operations.push(op),
            None => {
                let module = list(manifest, "modules").iter().find(|module| field(module, "name") == name);
                let declarations = module.map_or(&[][..], |module| list(module, "declarations"));
                let doc = module.map_or_else(|| introduction(op).to_owned(), |module| field(module, "doc").to_owned());
                groups.push(Group { name, doc, declarations, operations: vec![op] });
            }
        }
    }
    if groups.is_empty() {
        bail!("the manifest lists no operations");
    }
    let mut files = BTreeMap::from([("index.md".to_owned(), index(&groups)?)]);
    let mut links = String::new();
    for group in &groups {
        writeln!(links, "  - [{}](operations/{})", title(group), group.file())?;
        files.insert(group.file(), page(group)?);
    }
    Ok(Pages { files, links })
}

/// What a page begins with if it is not that of a module.
fn introduction(op: &Json) -> &'static str {
    match field(op, "kind") {
        "prelude" => {
            "Functions of the [prelude](../reference/prelude.md) that are no scalar primitives. They need no import."
        }
        "tensor" => "Operations on tensors, as the core IR has them.",
        _ => {
            "Operations of the op table. A primitive goes element by element over tensors. Its operand is `x`, several are \
             `a`, `b`, .."
        }
    }
}

fn title(group: &Group) -> String {
    if group.name.contains('.') {
        return group.name.to_owned();
    }
    let mut letters = group.name.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

const GENERATED: &str = "<!-- Written by `cargo xtask ops` from the manifest of operations. -->\n";

/// The table of everything.
fn index(groups: &[Group]) -> Result<String> {
    let n: usize = groups.iter().map(|group| group.operations.len()).sum();
    let mut text = format!(
        "# Operations\n\n{GENERATED}\n{n} operations, from the manifest that `cotan ops --json` prints; `cotan explain NAME` \
         shows one of them. Each has the forward and the reverse derivative, unless the column says otherwise, of the order \
         that is named.\n\n\
         *Rule* is where the derivative comes from: `partials` are formulas of the op table, `linear` and `multilinear` maps \
         have their transposes, `rule` is a formula of its own, `definition` is what the compiler derives from the statements, \
         `convert` converts the derivative as the value, and `zero` is zero by nature. *CPU* is how compiled code computes it: \
         `native` itself, `expanded` as other operations, `library` as a function in Cotan. *Proof* is the state of the \
         machine-checked proof that the derivative is one.\n"
    );
    for group in groups {
        write!(
            text,
            "\n## {}\n\n| operation | jvp | vjp | order | rule | interpreter | CPU | types | tests | proof |\n\
             |---|---|---|---|---|---|---|---|---|---|\n",
            title(group)
        )?;
        for op in &group.operations {
            let modes = &op["modes"];
            let mark = |mode: &str| if modes[mode] == true { "yes" } else { "no" };
            writeln!(
                text,
                "| [`{}`]({}#{}) | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
                short(op),
                group.file(),
                anchor(op),
                mark("jvp"),
                mark("vjp"),
                modes["order"].as_u64().map_or("any".to_owned(), |order| order.to_string()),
                field(op, "rule"),
                field(&op["backends"], "interpreter"),
                field(&op["backends"], "cpu"),
                types(op),
                list(op, "tests").len(),
                escaped(field(op, "proof")),
            )?;
        }
    }
    Ok(text)
}

/// The page of a group.
fn page(group: &Group) -> Result<String> {
    let mut text = format!("# {}\n\n{GENERATED}\n{}\n", title(group), group.doc);
    if group.name.contains('.') {
        write!(text, "\n`import {}`\n", group.name)?;
    }
    for declaration in group.declarations {
        write!(text, "\n`{}`: {}\n", field(declaration, "signature"), field(declaration, "doc"))?;
    }
    for op in &group.operations {
        write!(text, "\n## {}\n\n```text\n{}\n```\n\n{}\n", short(op), wrapped(op), field(op, "doc"))?;
        let operands = list(op, "operands");
        if !operands.is_empty() {
            text += "\n| operand | type | derivative | |\n|---|---|---|---|\n";
        }
        for operand in operands {
            writeln!(
                text,
                "| `{}`{} | `{}`{} | {} | {} |",
                field(operand, "name"),
                if operand["repeated"] == true { ", .." } else { "" },
                escaped(field(operand, "type")),
                operand["default"].as_str().map(|value| format!(" = `{}`", escaped(value))).unwrap_or_default(),
                field(operand, "differentiability"),
                remark(op, operand),
            )?;
        }
        let kinks = list(op, "kinks");
        if !kinks.is_empty() {
            text += "\nConventions:\n\n";
        }
        for kink in kinks {
            let operation = field(kink, "operation");
            let of = if operation == field(op, "name") { String::new() } else { format!("`{operation}`: ") };
            writeln!(text, "- {of}{}", field(kink, "convention"))?;
        }
        let mut facts = vec![format!("rule: {}", field(op, "rule"))];
        if !types(op).is_empty() {
            facts.push(format!("types: {}", types(op)));
        }
        let batching = &op["batching"];
        if let Some(reason) = batching["reason"].as_str() {
            facts.push(format!("a batch is one use for each position, as {reason}"));
        }
        if let Some(name) = op["stablehlo"]["name"].as_str() {
            facts.push(format!("StableHLO: `{name}`"));
        }
        facts.push(format!("proof: {}", field(op, "proof")));
        write!(text, "\n{}.\n", facts.join("; "))?;
        let tests: Vec<String> =
            list(op, "tests").iter().filter_map(Json::as_str).map(|id| format!("`{id}`")).collect();
        write!(text, "\nTests: {}.\n", tests.join(", "))?;
    }
    Ok(text)
}

/// What is to be said of the derivative with respect to an operand: the formula, and the note unless the conventions below
/// say the same.
fn remark(op: &Json, operand: &Json) -> String {
    let is_below = |note: &&str| !list(op, "kinks").iter().any(|kink| field(kink, "convention") == *note);
    let formula = operand["partial"].as_str().map(|partial| format!("`{}`", escaped(partial)));
    let note = operand["note"].as_str().filter(is_below).map(escaped);
    formula.into_iter().chain(note).collect::<Vec<_>>().join("; ")
}

/// A signature, with a line for each parameter if it is long.
fn wrapped(op: &Json) -> String {
    const WIDTH: usize = 90;
    let name = if op["kind"] == "library" { "" } else { field(op, "name") };
    let has_name = field(op, "signature").starts_with(name);
    let signature = format!("{}{}", if has_name { "" } else { name }, field(op, "signature"));
    if signature.chars().count() <= WIDTH {
        return signature;
    }
    let (mut text, mut depth, mut is_inside) = (String::new(), 0, false);
    let mut letters = signature.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            // The parameters are in the first parentheses that stand in nothing else.
            '(' if depth == 0 && !text.contains('(') => {
                text += "(\n  ";
                (depth, is_inside) = (1, true);
            }
            ')' if depth == 1 && is_inside => {
                text += ",\n)";
                (depth, is_inside) = (0, false);
            }
            ',' if depth == 1 && is_inside => {
                text += ",\n  ";
                letters.next_if_eq(&' ');
            }
            _ => {
                depth += i32::from("([".contains(letter)) - i32::from(")]".contains(letter));
                text.push(letter);
            }
        }
    }
    text
}

/// The element types, in few words.
fn types(op: &Json) -> String {
    let names: Vec<&str> = list(op, "dtypes").iter().filter_map(Json::as_str).collect();
    let is = |all: &[&str]| names.len() == all.len() && all.iter().all(|name| names.contains(name));
    const INTEGERS: [&str; 8] = ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"];
    let with = |more: &[&'static str]| [&INTEGERS[..], more].concat();
    if is(&with(&["bool", "f16", "bf16", "f32", "f64"])) {
        "all".to_owned()
    } else if is(&with(&["f32", "f64"])) {
        "integers f32 f64".to_owned()
    } else if is(&INTEGERS) {
        "integers".to_owned()
    } else {
        names.join(" ")
    }
}

/// The name without that of the module.
fn short(op: &Json) -> &str {
    let name = field(op, "name");
    name.strip_prefix(field(op, "group")).and_then(|rest| rest.strip_prefix('.')).unwrap_or(name)
}

/// The anchor of the heading, as mdBook makes it.
fn anchor(op: &Json) -> String {
    short(op).to_lowercase()
}

fn escaped(text: &str) -> String {
    text.replace('|', "\\|")
}

fn field<'j>(json: &'j Json, name: &str) -> &'j str {
    json[name].as_str().unwrap_or_default()
}

fn list<'j>(json: &'j Json, name: &str) -> &'j [Json] {
    json[name].as_array().map(Vec::as_slice).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pages_of_the_operations_are_fresh() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace");
        check(root).expect("fresh pages");
    }

    #[test]
    fn links_replace_those_that_stand_below_the_line_of_the_table() {
        let summary = format!("- [A](a.md)\n{ANCHOR}  - [Old](operations/old.md)\n- [B](b.md)\n");
        let found = with_links(&summary, "  - [New](operations/new.md)\n").expect("the line is there");
        assert_eq!(found, format!("- [A](a.md)\n{ANCHOR}  - [New](operations/new.md)\n- [B](b.md)\n"));
        assert!(with_links("- [A](a.md)\n", "").is_err());
    }

    #[test]
    fn a_long_signature_has_a_line_for_each_parameter() {
        let signature =
            "pad[T, ..S, N](x: T[..S, N], before: i64, after: i64, value: (T, T), reflected: bool) -> (T, T)[..S]";
        let op = serde_json::json!({"kind": "library", "name": "std.shape.pad", "signature": signature});
        let lines = [
            "pad[T, ..S, N](",
            "  x: T[..S, N],",
            "  before: i64,",
            "  after: i64,",
            "  value: (T, T),",
            "  reflected: bool,",
            ") -> (T, T)[..S]",
        ];
        assert_eq!(wrapped(&op).lines().collect::<Vec<_>>(), lines);
    }
}
