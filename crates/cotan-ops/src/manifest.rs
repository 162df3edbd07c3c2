//! The manifest of operations: the table as data, and as text for people.

use crate::operand_names::OperandNames;
use crate::{
    Batching, Codegen, Derivative, Kinks, Operand, Partial, PrimRow, Proof, Registry, StableHlo, TensorRow, lookup,
    lookup_tensor,
};
use cotan_ir::{Elem, OperandElem, ResultElem};
use serde::Serialize;
use std::fmt::Write;

/// What the manifest says of one operation. Absent facts are `null` or empty, so that every object has every field.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ManifestEntry {
    /// The name, unique among the operations of its kind.
    pub name: String,
    /// What it is.
    pub kind: Kind,
    /// Part of the reference: a group of operations, or a module of the library.
    pub group: String,
    /// Types of operands and result. Of a function, its declaration.
    pub signature: String,
    /// What it computes.
    pub doc: String,
    /// The operands, in order.
    pub operands: Vec<OperandEntry>,
    /// Derivative modes and the highest order.
    pub modes: Modes,
    /// The element types that `T` may stand for; none where there is no `T`.
    pub dtypes: Vec<String>,
    /// Where the derivative comes from: `partials`, `convert`, `linear`, `multilinear`, `rule`, `zero`, `definition`.
    pub rule: String,
    /// What happens at kinks, its own or those of the operations that it is made of.
    pub kinks: Vec<KinkEntry>,
    /// What it does to a batch of operands.
    pub batching: BatchingEntry,
    /// What it is in StableHLO; nothing where that is not recorded.
    pub stablehlo: Option<StableHloEntry>,
    /// Status by backend: `native`, `expanded` or `library`.
    pub backends: Backends,
    /// The tests that hold it.
    pub tests: Vec<String>,
    /// `nothing to prove`, `proved`, ``instance of `THEOREM` ``, `definition`, or `unproved:` and why.
    pub proof: String,
}

/// The kinds of operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// On scalars, element by element on tensors.
    Primitive,
    /// On tensors.
    Tensor,
    /// A function of the language that needs no import and is no primitive.
    Prelude,
    /// A function of the standard library, written in the language.
    Library,
}

impl Kind {
    /// The word of the manifest.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Primitive => "primitive",
            Kind::Tensor => "tensor",
            Kind::Prelude => "prelude",
            Kind::Library => "library",
        }
    }
}

/// How one operand is differentiated.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OperandEntry {
    /// The name; `a0`, `a1`, ... of primitives.
    pub name: String,
    /// The type.
    #[serde(rename = "type")]
    pub ty: String,
    /// Whether any number of operands like this one may follow.
    pub repeated: bool,
    /// The value if it is left out.
    pub default: Option<String>,
    /// `smooth`, `piecewise`, `zero` or `none`.
    pub differentiability: String,
    /// The convention at kinks, the condition, or the reason for zero or none.
    pub note: Option<String>,
    /// The partial derivative, where it is a term.
    pub partial: Option<String>,
}

impl From<&Operand> for OperandEntry {
    fn from(operand: &Operand) -> OperandEntry {
        OperandEntry {
            name: operand.name.to_owned(),
            ty: operand.ty.to_owned(),
            repeated: operand.repeated,
            default: None,
            differentiability: operand.differentiability.name().to_owned(),
            note: operand.differentiability.note(),
            partial: None,
        }
    }
}

/// Derivative modes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Modes {
    /// Forward.
    pub jvp: bool,
    /// Reverse.
    pub vjp: bool,
    /// The highest order; nothing where there is no limit.
    pub order: Option<u32>,
}

impl Modes {
    /// Both modes, to any order. Nothing in Cotan has fewer.
    pub const EVERY: Modes = Modes { jvp: true, vjp: true, order: None };
}

/// The convention of an operation at points where its derivative is one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct KinkEntry {
    /// The operation.
    pub operation: String,
    /// What happens there.
    pub convention: String,
}

/// What an operation does to a batch.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BatchingEntry {
    /// `scalar`: a parallel loop over elements; `leading`: leading axes are a batch; `axes`: attributes count one more axis;
    /// `each`: one use for each position; `definition`: as the statements that it is made of.
    pub form: String,
    /// Why there is one use for each position.
    pub reason: Option<String>,
}

impl BatchingEntry {
    /// A form that needs no reason.
    pub fn form(form: &str) -> BatchingEntry {
        BatchingEntry { form: form.to_owned(), reason: None }
    }
}

/// What an operation is in StableHLO.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StableHloEntry {
    /// `operation`, `custom_call`, `none`, or `definition`: what the statements are that it is made of.
    pub form: String,
    /// The name of the operation or of what is called.
    pub name: Option<String>,
    /// Why there is none.
    pub reason: Option<String>,
}

/// Status by backend.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Backends {
    /// The reference interpreter.
    pub interpreter: String,
    /// Compiled code for the CPU.
    pub cpu: String,
}

impl Backends {
    /// The same on all of them.
    pub fn all(status: &str) -> Backends {
        Backends { interpreter: status.to_owned(), cpu: status.to_owned() }
    }
}

/// The test that puts every operation of a registry before all oracles.
const BATTERY: &str = "battery";

/// The tests of the rows of the op table: values of each type, partials, identities, conventions.
const TABLE: &str = "table";

/// One entry per operation: primitives, then tensor operations. Of tests it names those that take all operations.
pub fn manifest(registry: &Registry) -> Vec<ManifestEntry> {
    let primitives = registry.prims().iter().map(|row| primitive(row));
    primitives.chain(registry.tensor_ops().iter().map(|record| tensor(record))).collect()
}

fn operand_name(want: OperandElem) -> String {
    match want {
        OperandElem::T => "T".to_owned(),
        OperandElem::Is(elem) => elem.to_string(),
    }
}

fn signature(row: &PrimRow) -> String {
    let operands: Vec<String> = row.sig.operands.iter().map(|want| operand_name(*want)).collect();
    format!("({}) -> {}", operands.join(", "), result_name(row))
}

fn named_signature(row: &PrimRow, names: &OperandNames) -> String {
    let operands = names.operands().zip(row.sig.operands);
    let operands: Vec<String> = operands.map(|(name, want)| format!("{name}: {}", operand_name(*want))).collect();
    format!("({}) -> {}", operands.join(", "), result_name(row))
}

fn result_name(row: &PrimRow) -> String {
    match row.sig.result {
        ResultElem::T => "T".to_owned(),
        ResultElem::Is(elem) => elem.to_string(),
    }
}

fn dtypes(row: &PrimRow) -> Vec<String> {
    if !row.sig.operands.contains(&OperandElem::T) {
        return Vec::new();
    }
    Elem::ALL.into_iter().filter(|elem| row.sig.domain.has(*elem)).map(|elem| elem.to_string()).collect()
}

fn primitive(row: &PrimRow) -> ManifestEntry {
    let names = OperandNames::of(row);
    let operand = |name: &str, want: OperandElem, partial: &Partial| {
        let (differentiability, note, partial) = match partial {
            Partial::Term { term, .. } => match row.kinks {
                Kinks::At(convention) => ("piecewise", Some(names.text(convention)), Some(names.formula(term))),
                Kinks::Smooth | Kinks::Flat => ("smooth", None, Some(names.formula(term))),
            },
            Partial::Convert => ("smooth", Some("the derivative is converted likewise".to_owned()), None),
            Partial::Zero { reason } => ("zero", Some(names.text(reason)), None),
        };
        let differentiability = differentiability.to_owned();
        let (name, ty) = (name.to_owned(), operand_name(want));
        OperandEntry { name, ty, repeated: false, default: None, differentiability, note, partial }
    };
    let parts = names.operands().zip(row.sig.operands).zip(row.partials);
    let operands: Vec<OperandEntry> = parts.map(|((name, want), p)| operand(name, *want, p)).collect();
    let rule = row.partials.iter().find_map(|p| match p {
        Partial::Term { .. } => Some("partials"),
        Partial::Convert => Some("convert"),
        Partial::Zero { .. } => None,
    });
    let cpu = match row.codegen {
        Codegen::Native(_) | Codegen::Host | Codegen::Power | Codegen::NativeOrHost(_) => "native",
        Codegen::Term(_) | Codegen::Expansion(_) => "expanded",
    };
    let has_float =
        row.sig.operands.contains(&OperandElem::T) && Elem::ALL.iter().any(|e| e.is_float() && row.sig.domain.has(*e));
    ManifestEntry {
        name: row.name().to_owned(),
        kind: Kind::Primitive,
        group: row.group.name().to_owned(),
        signature: signature(row),
        doc: names.text(row.doc),
        operands,
        modes: Modes::EVERY,
        dtypes: dtypes(row),
        rule: rule.unwrap_or("zero").to_owned(),
        kinks: match row.kinks {
            Kinks::At(convention) => {
                vec![KinkEntry { operation: row.name().to_owned(), convention: names.text(convention) }]
            }
            Kinks::Smooth | Kinks::Flat => Vec::new(),
        },
        batching: BatchingEntry::form("scalar"),
        stablehlo: None,
        backends: Backends { interpreter: "native".to_owned(), cpu: cpu.to_owned() },
        tests: if has_float { vec![TABLE.to_owned(), BATTERY.to_owned()] } else { vec![TABLE.to_owned()] },
        proof: proof(row.proof),
    }
}

/// How the manifest says that a rule is proved.
pub const PROVED: &str = "proved";

/// How it begins to say that one is not to be proved.
pub const UNPROVED: &str = "unproved";

fn proof(proof: Proof) -> String {
    match proof {
        Proof::Nothing => "nothing to prove".to_owned(),
        Proof::Proved => PROVED.to_owned(),
        Proof::Theorem(name) => format!("instance of `{name}`"),
        Proof::Unproved { reason } => format!("{UNPROVED}: {reason}"),
    }
}

fn tensor(record: &TensorRow) -> ManifestEntry {
    let rule = match record.derivative {
        Derivative::Linear { .. } => "linear",
        Derivative::Multilinear { .. } => "multilinear",
        Derivative::Rule { .. } => "rule",
        Derivative::None { .. } => "zero",
    };
    let batching = match record.batching {
        Batching::Leading => BatchingEntry::form("leading"),
        Batching::Axes => BatchingEntry::form("axes"),
        Batching::Each { reason } => BatchingEntry { form: "each".to_owned(), reason: Some(reason.to_owned()) },
    };
    let (form, name, reason) = match record.stablehlo {
        StableHlo::Operation(name) => ("operation", Some(name), None),
        StableHlo::CustomCall(name) => ("custom_call", Some(name), None),
        StableHlo::None { reason } => ("none", None, Some(reason)),
    };
    ManifestEntry {
        name: record.name().to_owned(),
        kind: Kind::Tensor,
        group: record.group.name().to_owned(),
        signature: record.signature(),
        doc: record.doc.to_owned(),
        operands: record.operands.iter().map(OperandEntry::from).collect(),
        modes: Modes::EVERY,
        dtypes: Elem::ALL.into_iter().filter(|elem| record.elems.has(*elem)).map(|elem| elem.to_string()).collect(),
        rule: rule.to_owned(),
        kinks: Vec::new(),
        batching,
        stablehlo: Some(StableHloEntry {
            form: form.to_owned(),
            name: name.map(str::to_owned),
            reason: reason.map(str::to_owned),
        }),
        backends: Backends::all("native"),
        // Of one without samples the battery has no program; it is in the tests of the table.
        tests: if record.samples.is_empty() { vec![TABLE.to_owned()] } else { vec![BATTERY.to_owned()] },
        proof: proof(record.proof),
    }
}

/// What is known of an operation, as text: types, formulas, kinks, edge points.
pub fn explain(name: &str) -> Option<String> {
    match (lookup(name), lookup_tensor(name)) {
        (Some(row), _) => Some(explain_primitive(row)),
        (None, Some(record)) => Some(explain_tensor(record)),
        (None, None) => None,
    }
}

fn explain_primitive(row: &PrimRow) -> String {
    let names = OperandNames::of(row);
    let mut lines =
        vec![format!("{}{}", row.name(), named_signature(row, &names)), format!("  {}", names.text(row.doc))];
    let types = dtypes(row);
    if !types.is_empty() {
        lines.push(format!("  T: {}", types.join(" ")));
    }
    for (name, partial) in names.operands().zip(row.partials) {
        lines.push(match partial {
            Partial::Term { term, .. } => format!("  d/d{name} = {}", names.formula(term)),
            Partial::Convert => format!("  d/d{name}: the derivative is converted likewise"),
            Partial::Zero { reason } => format!("  d/d{name} = 0: {}", names.text(reason)),
        });
    }
    if !row.domain.is_empty() {
        let conditions: Vec<String> = row.domain.iter().map(|condition| names.text(&condition.to_string())).collect();
        lines.push(format!("  true derivatives where {}", conditions.join(" and ")));
    }
    if let Kinks::At(convention) = row.kinks {
        lines.push(format!("  kinks: {}", names.text(convention)));
    }
    for point in row.edge_points {
        let mut line = format!("  {}(", row.name());
        for (k, x) in point.at.iter().enumerate() {
            let comma = if k > 0 { ", " } else { "" };
            let _ = write!(line, "{comma}{x:?}");
        }
        let _ = write!(line, ") = {:?}, derivatives {:?}: {}", point.value, point.partials, names.text(point.why));
        lines.push(line);
    }
    lines.join("\n") + "\n"
}

fn explain_tensor(record: &TensorRow) -> String {
    let derivative = match record.derivative {
        Derivative::Linear { .. } => "linear in its float operands together".to_owned(),
        Derivative::Multilinear { .. } => "linear in each float operand".to_owned(),
        Derivative::Rule { .. } => "by formulas of its own".to_owned(),
        Derivative::None { reason } => format!("derivative 0: {reason}"),
    };
    let mut text = format!("{}{}\n  {}\n  {derivative}\n", record.name(), record.signature(), record.doc);
    for operand in record.operands {
        let note = operand.differentiability.note().map(|note| format!(", {note}")).unwrap_or_default();
        let _ = writeln!(text, "  {}: {}{note}", operand.name, operand.differentiability.name());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    #[test]
    fn explanations_show_formulas_and_conventions() {
        let text = explain("log").expect("a primitive of that name");
        expect![[r#"
            log(x: T) -> T
              The natural logarithm of `x`; NaN below 0.
              T: f32 f64
              d/dx = select((x >= 0), (1 / x), NaN)
              true derivatives where x > 0
              kinks: at 0 the derivative is +inf, as the limit from inside the domain
              log(0.0) = -inf, derivatives [inf]: the pole of 1/x
              log(-1.0) = NaN, derivatives [NaN]: 1/x is finite where the logarithm is not defined: guarded
        "#]]
        .assert_eq(&text);
        let text = explain("pad").expect("an operation of that name");
        expect![[r#"
            pad(T[..], i64) -> T[..]
              `pad(x, lo){axis}`: zeros, with `x` at the positions from `lo` on along `axis`.
              linear in its float operands together
              x: smooth
              lo: zero, a position moves in steps
        "#]]
        .assert_eq(&text);
    }

    #[test]
    fn the_manifest_names_conventions_and_reasons() {
        let entry = manifest(Registry::standard())
            .into_iter()
            .find(|entry| entry.name == "powi")
            .expect("an entry of that name");
        assert_eq!(entry.signature, "(T, i64) -> T");
        assert_eq!(entry.rule, "partials");
        assert_eq!(entry.dtypes.len(), 10);
        assert_eq!(entry.operands[0].differentiability, "piecewise");
        assert_eq!(entry.operands[0].partial.as_deref(), Some("mulz(to_T(b), powi(a, (b - 1)))"));
        assert_eq!(entry.operands[1].differentiability, "zero");
        assert_eq!(entry.operands[1].note.as_deref(), Some("a whole exponent cannot move"));
    }
}
