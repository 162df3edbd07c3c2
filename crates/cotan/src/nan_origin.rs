//! Origins of NaN: which operation made one, of what, in words.

use crate::CheckFailure;
use cotan_ir::{Const, Monoid, Role, Span, Sweep};
use cotan_lower::entry::Entry;
use cotan_ops::Value;
use cotan_opt::passes::trap_nan::{Enclosing, Made, Shown, Site};
use cotan_syntax::{FileId, SourceMap};

/// The longest source text that a message quotes.
const MAX_QUOTED: usize = 40;

/// The operation that made a NaN of numbers, and what it was made of.
#[derive(Clone, Debug, PartialEq)]
pub struct NanOrigin {
    site: Site,
    /// The operands that are shown.
    operands: Vec<Const>,
    /// The numbers of the iterations, from 0, of all loops around it, outermost first.
    iterations: Vec<i64>,
    /// The indices of the element; none of a scalar.
    element: Vec<i64>,
}

impl NanOrigin {
    /// What a failed check says, by the sites of its function.
    pub(crate) fn of(failure: &CheckFailure, sites: &[Site]) -> Option<NanOrigin> {
        let (number, reported) = failure.args.split_first()?;
        let site = sites.get(usize::try_from(*number).ok()?)?.clone();
        let (operands, indices) = reported.split_at_checked(site.operands.len())?;
        let operands = operands.iter().zip(&site.operands);
        let operands = operands.map(|(bits, shown)| Const::from_bits(shown.elem, *bits as u64)).collect();
        let mut iterations: Vec<i64> = indices.iter().map(|n| *n as i64).collect();
        let element = iterations.split_off(iterations.len().checked_sub(site.n_indices)?);
        Some(NanOrigin { site, operands, iterations, element })
    }

    /// The source text whose value or derivative is NaN.
    pub fn span(&self) -> Span {
        self.site.span
    }

    /// The numbers of the iterations, from 0, of all loops around it, outermost first.
    pub fn iterations(&self) -> &[i64] {
        &self.iterations
    }

    /// The operation, what of the source it computes, its operands, and the iterations of the loops around it.
    pub fn message(&self, sources: &SourceMap) -> String {
        let mut message = format!("NaN from {}: {}", self.operation(), self.computed(sources));
        for (k, (shown, value)) in self.site.operands.iter().zip(&self.operands).enumerate() {
            let before = if k == 0 { " with " } else { ", " };
            message += &format!("{before}{} = {}", operand(shown, sources), value.digits());
        }
        if !self.element.is_empty() {
            message += &format!(", at element {:?}", self.element);
        }
        let mut rest = self.iterations.as_slice();
        for around in &self.site.loops {
            let Some((indices, inner)) = rest.split_at_checked(around.n_indices) else { break };
            message += &format!(", {}", iteration(around, indices, sources));
            rest = inner;
        }
        message
    }

    /// The operation by its name in the language.
    pub fn operation(&self) -> String {
        let name = match self.site.made {
            Made::Prim(prim) => symbol(prim.name()),
            Made::Reduced(Monoid::Mul) => "*/",
            Made::Reduced(Monoid::Add | Monoid::Max | Monoid::Min | Monoid::And | Monoid::Or) => "+/",
            Made::Accumulated => "+=",
            Made::Tensor(op) => symbol(op.name()),
        };
        format!("`{name}`")
    }

    /// What is computed of which source text.
    fn computed(&self, sources: &SourceMap) -> String {
        let role = self.site.span.role;
        let text = quoted(self.site.span, sources).map_or(String::new(), |text| format!(" `{text}`"));
        if role == Role::VALUE {
            return if text.is_empty() { "a value".to_owned() } else { format!("the value of{text}") };
        }
        let sweeps: Vec<&str> = role
            .sweeps()
            .map(|sweep| match sweep {
                Sweep::Tangent => "tangent",
                Sweep::Cotangent => "cotangent",
            })
            .collect();
        let sweeps: Vec<&str> = sweeps.into_iter().rev().collect();
        let derivative = sweeps.join(" of the ");
        let at = match self.site.made {
            Made::Accumulated => format!(" `{}`", self.site.result),
            Made::Prim(_) | Made::Reduced(_) | Made::Tensor(_) if text.is_empty() => String::new(),
            Made::Prim(_) | Made::Reduced(_) | Made::Tensor(_) => format!(" in{text}"),
        };
        if role.is_partial() {
            format!("the partial derivative for the {derivative}{at}")
        } else {
            format!("the {derivative}{at}")
        }
    }

    /// What can be done about it.
    pub fn help(&self) -> &'static str {
        if self.site.span.role == Role::VALUE {
            "keep the operands inside the domain of the operation, or branch around it; what a `select` does not choose \
             does not trap"
        } else {
            "the derivative does not exist here: branch around the point, or give the function a rule with `@vjp_for` \
             or `@jvp_for`"
        }
    }
}

/// The operator that a primitive or tensor operation is written as, or its name.
pub(crate) fn symbol(name: &'static str) -> &'static str {
    match name {
        "add" => "+",
        "sub" | "neg" => "-",
        "mul" | "mulz" => "*",
        "div" => "/",
        "rem" => "%",
        "pow" | "powi" => "**",
        "fma" => "* +",
        "matmul" => "@",
        other => other,
    }
}

/// An operand by its name in the source, or by the text that computes it.
fn operand(shown: &Shown, sources: &SourceMap) -> String {
    let text = shown.span.and_then(|span| quoted(span, sources));
    text.map_or_else(|| shown.name.to_string(), |text| format!("`{text}`"))
}

fn iteration(around: &Enclosing, indices: &[i64], sources: &SourceMap) -> String {
    let file = sources.get(FileId(around.span.file)).filter(|_| around.span.is_some());
    let place = file.map_or(String::new(), |file| {
        let place = file.line_column(around.span.start);
        format!(" at {}:{}", place.line, place.column)
    });
    let what = if around.span.role.is_segments() { "segment" } else { "iteration" };
    match indices {
        [index] => format!("in {what} {index} of the loop{place}"),
        several => format!("in {what} {several:?} of the loop{place}"),
    }
}

/// The source text of a place, where it fits into a message.
pub(crate) fn quoted(span: Span, sources: &SourceMap) -> Option<&str> {
    let text = sources.slice(cotan_syntax::Span::new(FileId(span.file), span.start, span.end));
    (!text.is_empty() && text.len() <= MAX_QUOTED && !text.contains('\n')).then_some(text)
}

/// An argument with a NaN in it, of a call whose result has one though no operation made it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NanArgument {
    /// The parameter.
    pub name: String,
    /// The indices of the first element that is NaN; none of a scalar.
    pub element: Vec<i64>,
}

impl NanArgument {
    /// The first argument with a NaN, if a result has one too.
    pub(crate) fn of(entry: &Entry, args: &[Value], results: &[Value]) -> Option<NanArgument> {
        results.iter().find_map(first_nan)?;
        let n_leaves: usize = entry.signature.params.iter().map(|p| p.ty.leaves().len()).sum();
        let mut leaves = args.get(args.len().checked_sub(n_leaves)?..)?.iter();
        entry.signature.params.iter().find_map(|p| {
            let element = leaves.by_ref().take(p.ty.leaves().len()).map(first_nan).fold(None, Option::or)?;
            Some(NanArgument { name: p.name.clone(), element })
        })
    }
}

impl std::fmt::Display for NanArgument {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the result is NaN, and so is argument `{}`", self.name)?;
        if self.element.is_empty() { Ok(()) } else { write!(f, " at {:?}", self.element) }
    }
}

/// The indices of the first NaN in a value.
fn first_nan(value: &Value) -> Option<Vec<i64>> {
    let mut at = value.floats()?.iter().position(|x| x.is_nan())? as i64;
    let mut indices: Vec<i64> = Vec::new();
    for extent in value.dims.iter().rev() {
        indices.push(at % extent);
        at /= extent;
    }
    indices.reverse();
    Some(indices)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_nan_is_told_by_its_indices() {
        let value = Value::f64s(&[2, 3], &[1.0, 2.0, 3.0, 4.0, f64::NAN, f64::NAN]);
        assert_eq!(first_nan(&value), Some(vec![1, 1]));
        assert_eq!(first_nan(&Value::f64s(&[], &[f64::NAN])), Some(Vec::new()));
        assert_eq!(first_nan(&Value::f64s(&[2], &[1.0, f64::INFINITY])), None);
    }
}
