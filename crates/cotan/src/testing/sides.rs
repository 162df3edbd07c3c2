//! Assertion rewriting: what a test compares, shown by `debug`, as a text with calls of it around the operands.
//!
//! A test that gives false says nothing of why. Its program is checked once more with `debug` around the operands of the
//! comparisons at the end of the body, and run; the operands then tell themselves.

use cotan_syntax::ast::{BinaryOp, Expr, ExprKind, FoldOp, ItemKind, PostfixKind, UnaryOp};
use cotan_syntax::{FileId, Span, parse};

/// A longer text is no name of an operand.
const LONGEST_NAME: usize = 40;

/// The text of a program in which a test shows what it compares; `None` where it compares nothing.
pub fn with_sides(text: &str, test: &str) -> Option<String> {
    let (module, _) = parse(FileId(0), text);
    let body = module.items.iter().find_map(|item| {
        let ItemKind::Function(function) = &item.kind else { return None };
        (function.signature.name.name == test).then_some(&function.body)
    })?;
    let mut operands = Vec::new();
    compared(body, &mut operands);
    operands.retain(|(operand, _)| !matches!(operand.kind, ExprKind::Literal(_)));
    let mut changed = text.to_owned();
    for (operand, side) in operands.iter().rev() {
        let Span { start, end, .. } = operand.span;
        let source = text.get(start as usize..end as usize)?;
        let is_name = source.len() <= LONGEST_NAME && !source.contains(['"', '\\', '{', '}', '\n', '#']);
        let name = if is_name { source } else { side };
        changed.insert(end as usize, ')');
        changed.insert_str(start as usize, &format!("debug(\"{name}\", "));
    }
    (!operands.is_empty()).then_some(changed)
}

/// The operands of the comparisons that decide a value, in the order of the text.
fn compared<'e>(e: &'e Expr, operands: &mut Vec<(&'e Expr, &'static str)>) {
    if let ExprKind::Block(block) = &e.kind {
        block.value.iter().for_each(|value| compared(value, operands));
    } else if let ExprKind::LetIn(it) = &e.kind {
        compared(&it.body, operands);
    } else if let ExprKind::Ascription { operand, .. } | ExprKind::Unary { op: UnaryOp::Not, operand, .. } = &e.kind {
        compared(operand, operands);
    } else if let ExprKind::Fold(fold) = &e.kind {
        if matches!(fold.op, FoldOp::And | FoldOp::Or) {
            compared(&fold.operand, operands);
        }
    } else if let ExprKind::Binary(chain) = &e.kind {
        if is_comparison(chain.rest[0].op) {
            operands.push((&chain.first, "left"));
            operands.extend(chain.rest.iter().map(|link| (&link.operand, "right")));
        } else if matches!(chain.rest[0].op, BinaryOp::And | BinaryOp::Or) {
            compared(&chain.first, operands);
            chain.rest.iter().for_each(|link| compared(&link.operand, operands));
        }
    } else if let ExprKind::Postfix(postfix) = &e.kind
        && let (ExprKind::Name(name), [call]) = (&postfix.base.kind, &postfix.ops[..])
        && let (PostfixKind::Call(args), "close") = (&call.kind, name.as_str())
    {
        operands.extend(args.iter().take(2).zip(["left", "right"]).map(|(arg, side)| (&arg.value, side)));
    }
}

fn is_comparison(op: BinaryOp) -> bool {
    use BinaryOp::{DotEq, DotGe, DotGt, DotLe, DotLt, DotNe, Eq, Ge, Gt, Le, Lt, Ne};
    [Eq, Ne, Lt, Le, Gt, Ge, DotEq, DotNe, DotLt, DotLe, DotGt, DotGe].contains(&op)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(body: &str) -> Option<String> {
        let text = format!("fn t() -> bool = {body}");
        let changed = with_sides(&text, "t")?;
        changed.strip_prefix("fn t() -> bool = ").map(str::to_owned)
    }

    #[test]
    fn operands_of_comparisons_are_debugged() {
        let changed = shown("f(x) == 2.0 && !(x .< y[0])");
        assert_eq!(
            changed.as_deref(),
            Some(r#"debug("f(x)", f(x)) == 2.0 && !(debug("x", x) .< debug("y[0]", y[0]))"#)
        );
        let changed = shown("{ let x = 1.0\n close(x, { 2.0 }, 0.1) }");
        assert_eq!(
            changed.as_deref(),
            Some("{ let x = 1.0\n close(debug(\"x\", x), debug(\"right\", { 2.0 }), 0.1) }")
        );
        assert_eq!(shown("is_fine(3)"), None);
        assert_eq!(with_sides("fn t() -> bool = 1 == 2", "u"), None);
    }
}
