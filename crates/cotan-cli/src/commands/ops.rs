//! `cotan ops`: the manifest of operations.

use crate::args::OpsArgs;
use crate::diagnostics::Failure;
use crate::exit;
use crate::output;
use cotan::codes;
use cotan::ops::manifest;

pub(crate) fn run(args: &OpsArgs) -> Result<u8, Failure> {
    let manifest = manifest();
    if args.json {
        let text = serde_json::to_string_pretty(&manifest)
            .map_err(|e| Failure::plain(exit::PROGRAM, codes::BUG, format!("the manifest: {e}")))?;
        output::print(&format!("{text}\n"))?;
    } else {
        let width = manifest.iter().map(|op| op.name.len()).max().unwrap_or_default();
        let lines: String =
            manifest.iter().map(|op| format!("{:<11} {:<width$}  {}\n", op.group, op.name, op.doc)).collect();
        output::print(&lines)?;
    }
    Ok(exit::DONE)
}
