//! Einstein sums: `einsum["ij,jk->ik"](a, b)` calls a function that is written for the string on demand.
//!
//! The letters before the arrow name the axes of the operands, those behind it the axes of the result; what is not among
//! those is summed over. `...` stands for leading axes that all operands and the result have. The functions are a module
//! of their own: to the checker they are functions like others, so types, sizes, derivatives and errors are theirs.

use cotan_syntax::token::{Token, TokenKind};
use std::collections::{BTreeMap, BTreeSet};

/// The name of the form.
pub(crate) const EINSUM: &str = "einsum";

/// The name of the module of its functions.
pub(crate) const MODULE: &str = "std.einsum";

/// The axes of an operand or of the result.
struct Axes {
    /// Whether there are leading axes before the letters.
    has_batch: bool,
    letters: Vec<char>,
}

/// The functions of Einstein sums that a text with these tokens uses, by name.
pub(super) fn uses(tokens: &[Token], text: &str, functions: &mut BTreeMap<String, String>) {
    for window in tokens.windows(3) {
        let [name, open, string] = window else { continue };
        let source = |at: usize| text.get(window[at].span.range()).unwrap_or_default();
        let is_form = name.kind == TokenKind::Ident && source(0) == EINSUM && open.kind == TokenKind::LBracket;
        if is_form && string.kind == TokenKind::Str {
            let sum = source(2).trim_matches('"');
            functions.extend(name_of(sum).zip(function(sum)));
        }
    }
}

/// The name of the function of a sum; `None` if it does not read as one.
pub(crate) fn name_of(sum: &str) -> Option<String> {
    function(sum)?;
    let written = sum.split_whitespace().collect::<String>();
    Some(format!("of_{}", written.replace("...", "batch_").replace("->", "_to_").replace(',', "_and_")))
}

fn axes(part: &str) -> Option<Axes> {
    let (has_batch, letters) = match part.strip_prefix("...") {
        Some(rest) => (true, rest),
        None => (false, part),
    };
    letters.chars().all(|c| c.is_ascii_lowercase()).then(|| Axes { has_batch, letters: letters.chars().collect() })
}

/// The text of the function of a sum.
fn function(sum: &str) -> Option<String> {
    let written: String = sum.split_whitespace().collect();
    let (operands, result) = written.split_once("->")?;
    let operands: Vec<Axes> = operands.split(',').map(axes).collect::<Option<_>>()?;
    let result = axes(result)?;
    let mut seen = BTreeSet::new();
    let all: Vec<char> = operands.iter().flat_map(|axes| &axes.letters).copied().filter(|c| seen.insert(*c)).collect();
    let is_distinct = result.letters.iter().collect::<BTreeSet<_>>().len() == result.letters.len();
    let is_known = result.letters.iter().all(|c| all.contains(c));
    let has_batch = result.has_batch;
    if !is_distinct || !is_known || operands.iter().any(|axes| axes.has_batch != has_batch) {
        return None;
    }
    let sizes = |letters: &[char]| letters.iter().map(|c| format!("N_{c}")).collect::<Vec<_>>();
    let ty = |axes: &Axes, with_batch: bool| {
        let batch = (with_batch && axes.has_batch).then(|| "..S".to_owned());
        let dims: Vec<String> = batch.into_iter().chain(sizes(&axes.letters)).collect();
        if dims.is_empty() { "T".to_owned() } else { format!("T[{}]", dims.join(", ")) }
    };
    let names: Vec<String> = (0..operands.len()).map(|k| format!("x{k}")).collect();
    let generics: Vec<String> =
        ["T: Numeric".to_owned()].into_iter().chain(has_batch.then(|| "..S".to_owned())).chain(sizes(&all)).collect();
    let params: Vec<String> =
        names.iter().zip(&operands).map(|(name, axes)| format!("{name}: {}", ty(axes, true))).collect();
    let summed: Vec<char> = all.iter().copied().filter(|c| !result.letters.contains(c)).collect();
    let factors: Vec<String> = names
        .iter()
        .zip(&operands)
        .map(|(name, axes)| {
            let at: Vec<String> = axes.letters.iter().map(|c| format!("i_{c}")).collect();
            if at.is_empty() { name.clone() } else { format!("{name}[{}]", at.join(", ")) }
        })
        .collect();
    let over = |letters: &[char], body: String| {
        let indices: Vec<String> = letters.iter().map(|c| format!("i_{c}")).collect();
        format!("tabulate([{}], |{}| {body})", sizes(letters).join(", "), indices.join(", "))
    };
    let mut body = factors.join(" * ");
    if !summed.is_empty() {
        body = format!("+/[all] {}", over(&summed, body));
    }
    if !result.letters.is_empty() {
        body = over(&result.letters, body);
    }
    if has_batch {
        body = format!("map[..S](|{}| {body}, {})", names.join(", "), names.join(", "));
    }
    let name = format!("of_{}", written.replace("...", "batch_").replace("->", "_to_").replace(',', "_and_"));
    let (generics, params) = (generics.join(", "), params.join(", "));
    Some(format!("## `{written}`\npub fn {name}[{generics}]({params}) -> {} = {body}\n", ty(&result, true)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_read_as_functions() {
        let check = |sum: &str, expected: Option<&str>| {
            let text = function(sum);
            assert_eq!(text.as_deref().and_then(|text| text.lines().nth(1)), expected, "{sum}");
        };
        check(
            "ij, jk -> ik",
            Some(
                "pub fn of_ij_and_jk_to_ik[T: Numeric, N_i, N_j, N_k](x0: T[N_i, N_j], x1: T[N_j, N_k]) -> T[N_i, N_k] = \
                 tabulate([N_i, N_k], |i_i, i_k| +/[all] tabulate([N_j], |i_j| x0[i_i, i_j] * x1[i_j, i_k]))",
            ),
        );
        check(
            "ii->",
            Some(
                "pub fn of_ii_to_[T: Numeric, N_i](x0: T[N_i, N_i]) -> T = +/[all] tabulate([N_i], |i_i| x0[i_i, i_i])",
            ),
        );
        check("ij", None);
        check("ij->k", None);
        check("ij->ii", None);
        check("...i,i->...", None);
        check("iJ->i", None);
    }
}
