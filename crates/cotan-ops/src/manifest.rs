//! The table as data and as text for people.

use crate::{
    Derivative, Kinks, Lowering, Partial, PrimRow, Proof, TensorRecord, lookup, lookup_tensor, table, tensor_table,
};
use cotan_ir::{Elem, OperandElem, ResultElem};
use serde::Serialize;
use std::fmt::Write;

/// What the manifest says of one operation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ManifestEntry {
    /// Unique name.
    pub name: String,
    /// Part of the reference.
    pub group: String,
    /// Types, as `(T, i64) -> T`.
    pub signature: String,
    /// What it computes.
    pub doc: String,
    /// One per operand; none where their number varies.
    pub operands: Vec<OperandEntry>,
    /// Derivative modes and the highest order, `null` where there is no limit.
    pub modes: Modes,
    /// The element types that `T` may stand for.
    pub dtypes: Vec<String>,
    /// Where the derivative comes from: `partials`, `convert`, `linear`, `multilinear`, `zero`.
    pub rule: String,
    /// Status by backend: `native` or `expanded`.
    pub backends: Backends,
    /// `nothing to prove`, `pending`, or why it is not to be proved.
    pub proof: String,
}

/// How one operand is differentiated.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OperandEntry {
    /// `a0`, `a1`, ...
    pub name: String,
    /// The type: `T` or an element type.
    pub elem: String,
    /// `smooth`, `piecewise`, `zero` or `none`.
    pub differentiability: String,
    /// The convention at kinks, or the reason for zero or none.
    pub note: Option<String>,
    /// The partial derivative, where it is a term.
    pub partial: Option<String>,
}

/// Derivative modes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Modes {
    /// Forward.
    pub jvp: bool,
    /// Reverse.
    pub vjp: bool,
    /// The highest order.
    pub order: Option<u32>,
}

/// Status by backend.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Backends {
    /// The reference interpreter.
    pub interpreter: String,
    /// Compiled code for the CPU.
    pub cpu: String,
}

const EVERY_MODE: Modes = Modes { jvp: true, vjp: true, order: None };

/// One entry per operation: primitives, then tensor operations.
pub fn manifest() -> Vec<ManifestEntry> {
    let primitives = table().iter().map(|row| primitive(row));
    primitives.chain(tensor_table().iter().map(|record| tensor(record))).collect()
}

fn operand_name(want: OperandElem) -> String {
    match want {
        OperandElem::T => "T".to_owned(),
        OperandElem::Is(elem) => elem.to_string(),
    }
}

fn signature(row: &PrimRow) -> String {
    let operands: Vec<String> = row.sig.operands.iter().map(|want| operand_name(*want)).collect();
    let result = match row.sig.result {
        ResultElem::T => "T".to_owned(),
        ResultElem::Is(elem) => elem.to_string(),
    };
    format!("({}) -> {result}", operands.join(", "))
}

fn dtypes(row: &PrimRow) -> Vec<String> {
    if !row.sig.operands.contains(&OperandElem::T) {
        return Vec::new();
    }
    Elem::ALL.into_iter().filter(|elem| row.sig.domain.has(*elem)).map(|elem| elem.to_string()).collect()
}

fn primitive(row: &PrimRow) -> ManifestEntry {
    let operand = |k: usize, want: OperandElem, partial: &Partial| {
        let (differentiability, note, partial) = match partial {
            Partial::Term { term, .. } => match row.kinks {
                Kinks::At(convention) => ("piecewise", Some(convention.to_owned()), Some(term.to_string())),
                Kinks::Smooth | Kinks::Flat => ("smooth", None, Some(term.to_string())),
            },
            Partial::Convert => ("smooth", Some("the derivative is converted likewise".to_owned()), None),
            Partial::Zero { reason } => ("zero", Some((*reason).to_owned()), None),
        };
        let differentiability = differentiability.to_owned();
        OperandEntry { name: format!("a{k}"), elem: operand_name(want), differentiability, note, partial }
    };
    let operands: Vec<OperandEntry> =
        row.sig.operands.iter().zip(row.partials).enumerate().map(|(k, (want, p))| operand(k, *want, p)).collect();
    let rule = row.partials.iter().find_map(|p| match p {
        Partial::Term { .. } => Some("partials"),
        Partial::Convert => Some("convert"),
        Partial::Zero { .. } => None,
    });
    let cpu = match row.lowering {
        Lowering::Native(_) | Lowering::Host | Lowering::NativeOrHost(_) => "native",
        Lowering::Expand(_) | Lowering::Formula(_) => "expanded",
    };
    ManifestEntry {
        name: row.name().to_owned(),
        group: row.group.name().to_owned(),
        signature: signature(row),
        doc: row.doc.to_owned(),
        operands,
        modes: EVERY_MODE,
        dtypes: dtypes(row),
        rule: rule.unwrap_or("zero").to_owned(),
        backends: Backends { interpreter: "native".to_owned(), cpu: cpu.to_owned() },
        proof: match row.proof {
            Proof::Nothing => "nothing to prove".to_owned(),
            Proof::Pending => "pending".to_owned(),
            Proof::Unproved { reason } => format!("unproved: {reason}"),
        },
    }
}

fn tensor(record: &TensorRecord) -> ManifestEntry {
    let rule = match record.derivative {
        Derivative::Linear { .. } => "linear",
        Derivative::Multilinear { .. } => "multilinear",
        Derivative::Rule { .. } => "rule",
        Derivative::None { .. } => "zero",
    };
    ManifestEntry {
        name: record.name().to_owned(),
        group: record.group.name().to_owned(),
        signature: record.signature.to_owned(),
        doc: record.doc.to_owned(),
        operands: Vec::new(),
        modes: EVERY_MODE,
        dtypes: Elem::ALL.into_iter().filter(|elem| record.elems.has(*elem)).map(|elem| elem.to_string()).collect(),
        rule: rule.to_owned(),
        backends: Backends { interpreter: "native".to_owned(), cpu: "native".to_owned() },
        proof: "pending".to_owned(),
    }
}

/// What is known of an operation, as text: types, formulas, kinks, awkward points.
pub fn explain(name: &str) -> Option<String> {
    match (lookup(name), lookup_tensor(name)) {
        (Some(row), _) => Some(explain_primitive(row)),
        (None, Some(record)) => Some(explain_tensor(record)),
        (None, None) => None,
    }
}

fn explain_primitive(row: &PrimRow) -> String {
    let mut lines = vec![format!("{}{}", row.name(), signature(row)), format!("  {}", row.doc)];
    let types = dtypes(row);
    if !types.is_empty() {
        lines.push(format!("  T: {}", types.join(" ")));
    }
    for (k, partial) in row.partials.iter().enumerate() {
        lines.push(match partial {
            Partial::Term { term, .. } => format!("  d/da{k} = {term}"),
            Partial::Convert => format!("  d/da{k}: the derivative is converted likewise"),
            Partial::Zero { reason } => format!("  d/da{k} = 0: {reason}"),
        });
    }
    if !row.domain.is_empty() {
        let conditions: Vec<String> = row.domain.iter().map(ToString::to_string).collect();
        lines.push(format!("  true derivatives where {}", conditions.join(" and ")));
    }
    if let Kinks::At(convention) = row.kinks {
        lines.push(format!("  kinks: {convention}"));
    }
    for point in row.awkward {
        let mut line = format!("  {}(", row.name());
        for (k, x) in point.at.iter().enumerate() {
            let comma = if k > 0 { ", " } else { "" };
            let _ = write!(line, "{comma}{x:?}");
        }
        let _ = write!(line, ") = {:?}, derivatives {:?}: {}", point.value, point.partials, point.why);
        lines.push(line);
    }
    lines.join("\n") + "\n"
}

fn explain_tensor(record: &TensorRecord) -> String {
    let derivative = match record.derivative {
        Derivative::Linear { .. } => "linear in its float operands together".to_owned(),
        Derivative::Multilinear { .. } => "linear in each float operand".to_owned(),
        Derivative::Rule { .. } => "by formulas of its own".to_owned(),
        Derivative::None { reason } => format!("derivative 0: {reason}"),
    };
    format!("{}{}\n  {}\n  {derivative}\n", record.name(), record.signature, record.doc)
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    #[test]
    fn explanations_show_formulas_and_conventions() {
        let text = explain("log").expect("a primitive of that name");
        expect![[r#"
            log(T) -> T
              The natural logarithm of `a0`; NaN below 0.
              T: f32 f64
              d/da0 = select((a0 >= 0), (1 / a0), NaN)
              true derivatives where a0 > 0
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
        "#]]
        .assert_eq(&text);
    }

    #[test]
    fn the_manifest_names_conventions_and_reasons() {
        let entry = manifest().into_iter().find(|entry| entry.name == "powi").expect("an entry of that name");
        assert_eq!(entry.signature, "(T, i64) -> T");
        assert_eq!(entry.rule, "partials");
        assert_eq!(entry.dtypes.len(), 10);
        assert_eq!(entry.operands[0].differentiability, "piecewise");
        assert_eq!(entry.operands[0].partial.as_deref(), Some("mulz(to_T(a1), powi(a0, (a1 - 1)))"));
        assert_eq!(entry.operands[1].differentiability, "zero");
        assert_eq!(entry.operands[1].note.as_deref(), Some("a whole exponent cannot move"));
    }
}
