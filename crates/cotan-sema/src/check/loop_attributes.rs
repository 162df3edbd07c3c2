//! Loop attributes, `@mode`, `@recompute` and `@checkpoint`: how derivatives are computed. What they are does not change.

use cotan_ir::Checkpoint;
use cotan_syntax::Diagnostic;
use cotan_syntax::ast::{self, Arg, Attr, ExprKind};

use super::ModuleChecker;
use crate::codes;
use crate::typed::{self, DerivativeMode, Expr, Part};

/// What the attributes of a function or a block say about its derivative.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Hints {
    /// The mode in which it is differentiated where nothing else says so.
    pub(super) mode: Option<DerivativeMode>,
    /// Whether the reverse sweep runs its loops again instead of keeping what they computed.
    pub(super) recompute: bool,
}

/// Nested deeper, segments pay for nothing: each level runs the loop once more.
const MAX_LEVELS: i64 = 8;

/// Takes an attribute that functions and blocks share; `false` if it is another one.
pub(super) fn hint(checker: &mut ModuleChecker<'_>, attr: &Attr, hints: &mut Hints) -> bool {
    match attr.name.name.as_str() {
        "mode" => {
            hints.mode = mode_attribute(checker, attr).or(hints.mode);
            true
        }
        "recompute" => {
            hints.recompute = true;
            if !attr.args.is_empty() {
                checker.report(
                    Diagnostic::error(codes::CHECKPOINT, attr.span, "expected `@recompute` alone, found a list")
                        .help("leave the parentheses out"),
                );
            }
            true
        }
        _ => false,
    }
}

/// The attributes of a block.
pub(super) fn block_hints(checker: &mut ModuleChecker<'_>, attrs: &[Attr]) -> Hints {
    let mut hints = Hints::default();
    for attr in attrs {
        if !hint(checker, attr, &mut hints) {
            checker.report_unknown_attribute(attr, "block", &["mode", "recompute"]);
        }
    }
    hints
}

/// Warns where a mode is given to a block in which there is nothing that could run backwards.
pub(super) fn warn_of_idle_mode(checker: &mut ModuleChecker<'_>, attrs: &[Attr], block: &Expr) {
    let mode = attrs.iter().find(|attr| attr.name.name == "mode");
    if let Some(attr) = mode.filter(|_| !may_loop(block)) {
        checker.report(
            Diagnostic::warning(
                codes::IDLE_HINT,
                attr.span,
                "this `@mode` has no effect: there is no loop in the block, and no call",
            )
            .help("leave it out, or put it on a block with a loop, or on a function whose derivative is taken"),
        );
    }
}

/// The attributes of a function of an impl. What a derivative does with the function of a trait is the matter of
/// whoever takes it, so there is no mode.
pub(super) fn impl_hints(checker: &mut ModuleChecker<'_>, attrs: &[Attr]) -> Hints {
    let mut hints = Hints::default();
    for attr in attrs {
        if attr.name.name == "mode" || !hint(checker, attr, &mut hints) {
            checker.report_unknown_attribute(attr, "function of an impl", &["recompute"]);
        }
    }
    hints
}

fn mode_attribute(checker: &mut ModuleChecker<'_>, attr: &Attr) -> Option<DerivativeMode> {
    let mode = match attr.args.as_slice() {
        [Arg { name: None, value: ast::Expr { kind: ExprKind::Name(name), .. }, .. }] => match name.as_str() {
            "forward" => Some(DerivativeMode::Forward),
            "reverse" => Some(DerivativeMode::Reverse),
            _ => None,
        },
        _ => None,
    };
    if mode.is_none() {
        checker.report(
            Diagnostic::error(codes::MODE, attr.span, "expected a mode in `@mode`, found something else")
                .help("write `@mode(forward)` or `@mode(reverse)`"),
        );
    }
    mode
}

/// The attributes of a loop.
pub(super) fn loop_attributes(checker: &mut ModuleChecker<'_>, attrs: &[Attr]) -> Option<Checkpoint> {
    let mut found: Option<(&Attr, Option<Checkpoint>)> = None;
    for attr in attrs {
        if attr.name.name != "checkpoint" {
            checker.report_unknown_attribute(attr, "loop", &["checkpoint"]);
            continue;
        }
        if let Some((first, _)) = found {
            checker.report(
                Diagnostic::error(codes::CHECKPOINT, attr.span, "expected one `@checkpoint` on a loop, found a second")
                    .label(first.span, "the first stands here")
                    .help("leave one of them out; `levels = k` puts checkpoints between checkpoints"),
            );
            continue;
        }
        found = Some((attr, checkpoint(checker, attr)));
    }
    found?.1
}

fn checkpoint(checker: &mut ModuleChecker<'_>, attr: &Attr) -> Option<Checkpoint> {
    let (message, help) = match attr.args.as_slice() {
        [Arg { name: None, value: ast::Expr { kind: ExprKind::Name(name), .. }, .. }] if name == "sqrt" => {
            return Some(Checkpoint::Sqrt);
        }
        [Arg { name: None, value: ast::Expr { kind: ExprKind::Name(name), .. }, .. }] if name == "all" => {
            return Some(Checkpoint::All);
        }
        [Arg { name: Some(name), value, .. }] => match (name.name.as_str(), positive(value)) {
            ("every", Some(n)) => return Some(Checkpoint::Every(n)),
            ("levels", Some(n)) if n <= MAX_LEVELS => return Some(Checkpoint::Levels(n)),
            ("budget", Some(n)) => return Some(Checkpoint::Budget(n)),
            ("levels", Some(n)) => (
                format!("expected at most {MAX_LEVELS} for `levels`, found {n}"),
                "each level runs the loop once more: two or three are enough for any loop".to_owned(),
            ),
            ("every" | "levels" | "budget", None) => (
                format!("expected a positive integer for `{}`, found something else", name.name),
                format!("write a number, as in `@checkpoint({} = 2)`", name.name),
            ),
            (other, _) => (
                format!("expected a scheme of checkpoints, found `{other}`"),
                "the schemes are `every = k`, `sqrt`, `levels = k`, `budget = bytes` and `all`".to_owned(),
            ),
        },
        _ => (
            "expected one scheme in `@checkpoint`, found another list".to_owned(),
            "the schemes are `every = k`, `sqrt`, `levels = k`, `budget = bytes` and `all`".to_owned(),
        ),
    };
    checker.report(Diagnostic::error(codes::CHECKPOINT, attr.span, message).help(help));
    None
}

/// Whether there is a loop in an expression, or a call of something that may have one.
fn may_loop(e: &Expr) -> bool {
    let mut found = matches!(
        e.kind,
        typed::ExprKind::For(_)
            | typed::ExprKind::While(_)
            | typed::ExprKind::FoldBy { .. }
            | typed::ExprKind::Builtin { .. }
    );
    e.each_part(&mut |part| {
        found |= match part {
            Part::Expr(inner) => may_loop(inner),
            Part::Callable(_) => true,
        }
    });
    found
}

/// A literal above zero.
fn positive(value: &ast::Expr) -> Option<i64> {
    let ExprKind::Literal(ast::Literal::Int { value, .. }) = &value.kind else { return None };
    i64::try_from(*value).ok().filter(|n| *n > 0)
}
