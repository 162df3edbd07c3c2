//! The checks that stay in the loops of a function, as text below its loop nest.

use cotan_ir::Function;
use cotan_opt::remaining::{LoopCheck, loop_checks};
use cotan_syntax::{FileId, SourceMap};

/// One line a check: its code, where it stands, in how many loops, and why.
pub(super) fn text(sources: &SourceMap, f: &Function) -> String {
    let checks = loop_checks(f);
    if checks.is_empty() {
        return "no checks in loops\n".to_owned();
    }
    let lines: Vec<String> = checks.iter().map(|c| line(sources, c)).collect();
    format!("checks in loops:\n{}", lines.concat())
}

fn line(sources: &SourceMap, check: &LoopCheck) -> String {
    let LoopCheck { kind, span, depth, reason } = check;
    let file = sources.get(FileId(span.file)).filter(|_| span.is_some());
    let place = file.map_or_else(
        || "code of the compiler".to_owned(),
        |file| {
            let at = file.line_column(span.start);
            format!("{}:{}:{}", file.name(), at.line, at.column)
        },
    );
    let loops = if *depth == 1 { "loop" } else { "loops" };
    format!("  {} at {place}, in {depth} {loops}: {reason}\n", kind.code())
}
