//! Tile shapes, `for i in tile(n, 32)`: the range `0..n` with a hint at how to cut it into blocks.

use cotan_syntax::ast::{self, PostfixKind, PostfixOp};
use cotan_syntax::{Diagnostic, Span};

use super::{BodyChecker, ranges};
use crate::codes;
use crate::typed::{Expr, ExprKind, Literal, Range};

/// What the hint looks like.
const HELP: &str = "write `for i in tile(n, 32)`: the number of iterations, then the size of a block";

/// The arguments of `tile(..)`, if that is what an expression is.
pub(super) fn tile_args<'s>(checker: &BodyChecker<'_, '_>, expr: &'s ast::Expr) -> Option<&'s [ast::Arg]> {
    let ast::ExprKind::Postfix(postfix) = &expr.kind else { return None };
    let [PostfixOp { kind: PostfixKind::Call(args), .. }] = postfix.ops.as_slice() else { return None };
    let ast::ExprKind::Name(name) = &postfix.base.kind else { return None };
    let is_own = checker.locals.named(name).is_some() || checker.module.find(name).is_some();
    (name == "tile" && !is_own).then_some(args)
}

/// The range that `tile(..)` stands for.
pub(super) fn tile_range(checker: &mut BodyChecker<'_, '_>, args: &[ast::Arg], span: Span) -> Option<Range> {
    let values: Vec<Expr> = args.iter().map(|arg| checker.expr(&arg.value)).collect();
    let [count, block] =
        <[Expr; 2]>::try_from(values).map_err(|values| report_tile(checker, values.len(), span)).ok()?;
    let count = ranges::integer(checker, count, "the number of iterations of `tile`")?;
    let block = ranges::integer(checker, block, "the size of a block of `tile`")?;
    if let ExprKind::Literal(Literal::Int(size @ ..=0)) = block.kind {
        let message = format!("expected blocks of at least one iteration, found {size}");
        checker.report(Diagnostic::error(codes::TILE, block.span, message).help(HELP));
        return None;
    }
    let lo = Expr { span: count.span.before(), ty: count.ty.clone(), kind: ExprKind::Literal(Literal::Int(0)) };
    Some(Range { lo, hi: count, inclusive: false })
}

fn report_tile(checker: &mut BodyChecker<'_, '_>, found: usize, span: Span) {
    let message = format!("expected 2 arguments of `tile`, found {found}");
    checker.report(Diagnostic::error(codes::TILE, span, message).help(HELP));
}

/// Reports `tile` where there is no `for` to give a hint to.
pub(super) fn report_stray_tile(checker: &mut BodyChecker<'_, '_>, span: Span) {
    let message = "expected a value, found `tile`, which stands in the head of a `for` loop only";
    checker.report(
        Diagnostic::error(codes::TILE, span, message)
            .help("write the range itself, `0..n`, or use `tile(n, 32)` as what a `for` loop runs over"),
    );
}
