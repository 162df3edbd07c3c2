//! The race check: whether the iterations of the outermost loops of a kernel can run in any order, side by side.
//!
//! What a loop writes and does not declare itself is either **owned**, a tensor that every access in the loop meets at a
//! position of its own iteration, or **accumulated**, changed by one operator alone and not read. [`index_forms`] says which
//! positions belong to an iteration, [`accesses`] finds what a loop reads and writes, [`judge`] decides.

mod accesses;
mod index_forms;
mod judge;

use cotan_syntax::{Diagnostic, Span};

use crate::codes;
use crate::typed::{
    AssignOp, BinaryOp, Body, Declarations, Expr, ExprKind, For, FunctionBody, Part, Program, Sharing, Sink,
    TypeVisitor,
};

/// Checks the parallel loops of all kernels, and notes in each what its iterations write.
pub(super) fn check(program: &mut Program) -> Vec<Diagnostic> {
    let mut diagnostics = Vec::new();
    let types = Declarations { structs: &program.structs, enums: &program.enums, generics: &[] };
    for function in &mut program.functions {
        let FunctionBody::Source(body) = &mut function.body else { continue };
        let mut sharings = Vec::new();
        each_parallel(&body.value, &mut |it, span| {
            check_exits(&it.body, span, false, &mut diagnostics);
            let sharing = sharing(types, body, it, span, &mut diagnostics);
            diagnostics.extend(idle_checkpoint(it, &sharing, span));
            sharings.push(sharing);
        });
        if !sharings.is_empty() {
            note(body, sharings);
        }
    }
    diagnostics
}

/// Calls `f` for each parallel loop, in the order of the source. Lambdas have none.
fn each_parallel<'p>(e: &'p Expr, f: &mut dyn FnMut(&'p For, Span)) {
    if let ExprKind::For(it) = &e.kind
        && it.parallel.is_some()
    {
        return f(it, e.span);
    }
    e.each_part(&mut |part| match part {
        Part::Expr(e) => each_parallel(e, f),
        Part::Callable(_) => {}
    });
}

/// Warns of checkpoints where no iteration hands anything to the next; products are accumulated in sequence.
fn idle_checkpoint(it: &For, sharing: &Sharing, span: Span) -> Option<Diagnostic> {
    it.checkpoint?;
    if sharing.accumulated.iter().any(|part| part.op == AssignOp::Binary(BinaryOp::Mul)) {
        return None;
    }
    let message = "this `@checkpoint` has no effect: the iterations of a parallel loop keep nothing for each other";
    let diagnostic = Diagnostic::warning(codes::IDLE_HINT, span.before(), message);
    Some(diagnostic.help("leave it out, or put it on a loop inside, whose iterations run one after the other"))
}

/// Writes the findings into the loops, which come in the same order again.
fn note(body: &mut Body, sharings: Vec<Sharing>) {
    let mut sharings = sharings.into_iter();
    TypeVisitor {
        ty: &mut |_| {},
        callable: &mut |_| {},
        expr: &mut |e| {
            if let ExprKind::For(it) = &mut e.kind
                && let Some(parallel) = &mut it.parallel
                && let Some(sharing) = sharings.next()
            {
                *parallel = sharing;
            }
        },
    }
    .body(body);
}

/// Reports what would leave a parallel loop early.
fn check_exits(e: &Expr, span: Span, in_inner_loop: bool, diagnostics: &mut Vec<Diagnostic>) {
    let exit = if e.kind == ExprKind::Break && !in_inner_loop {
        Some(("break", "let the other iterations find out with an `if`"))
    } else if matches!(e.kind, ExprKind::Return(_)) {
        Some(("return", "keep the result in a variable and give it after the loop"))
    } else {
        None
    };
    if let Some((name, help)) = exit {
        let message = format!("expected iterations that run to their end, found `{name}` in a parallel loop");
        diagnostics.push(
            Diagnostic::error(codes::PARALLEL_EXIT, e.span, message)
                .label(span.before(), "the outermost loops of a kernel run in parallel")
                .help(format!("{help}; `continue` ends a single iteration")),
        );
    }
    let is_debug = matches!(&e.kind, ExprKind::Print(print) if print.to == Sink::Debug);
    let is_assert = matches!(e.kind, ExprKind::Assert(_));
    let step = is_debug.then_some("debug").or(is_assert.then_some("assert"));
    if let Some(name) = step {
        let message = format!("expected iterations without an order, found `{name}` in a parallel loop");
        diagnostics.push(
            Diagnostic::error(codes::EFFECT, e.span, message)
                .label(span.before(), "the outermost loops of a kernel run in parallel")
                .help(format!("write `fn` instead of `kernel`, or `{name}` after the loop")),
        );
    }
    let in_inner_loop = in_inner_loop || matches!(e.kind, ExprKind::For(_) | ExprKind::While(_));
    e.each_part(&mut |part| match part {
        Part::Expr(e) => check_exits(e, span, in_inner_loop, diagnostics),
        Part::Callable(_) => {}
    });
}

/// What the iterations of a loop write; reports those that may meet.
fn sharing(types: Declarations<'_>, body: &Body, it: &For, span: Span, diagnostics: &mut Vec<Diagnostic>) -> Sharing {
    let accesses = accesses::of_loop(body, it, span);
    judge::judge(types, body, accesses, span, diagnostics)
}
