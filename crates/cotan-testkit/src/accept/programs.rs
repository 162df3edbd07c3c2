//! Primitives, edge points and random programs.

use super::{Line, Measured, Workplace};
use crate::campaign::{Campaign, mixed};
use crate::generate::Construct;
use crate::{battery, kinks};
use cotan_ops::Registry;

pub(super) const LINES: &[Line] = &[
    Line {
        title: "every operation from the table alone: jvp = vjp, finite differences, second order",
        bar: "no failure",
        measure: every_primitive,
    },
    Line {
        title: "every row of spec/kinks.tsv, on every path and in every type",
        bar: "no failure",
        measure: every_kink,
    },
    Line {
        title: "random programs under the oracles O1-O6",
        bar: "10,000 programs, 300 compiled, no failure; median >= 30 statements, every cell >= 50, usable >= 90 %",
        measure: random_programs,
    },
];

fn every_primitive(_: &Workplace) -> Result<Measured, String> {
    let report = battery::check_all(Registry::standard());
    let failure = report.failures.first().map(|f| format!(", first: {f}")).unwrap_or_default();
    let text = format!(
        "{} operations, {} points, {} failures{failure}",
        report.operations,
        report.points,
        report.failures.len()
    );
    Ok(Measured::new(report.failures.is_empty() && report.operations > 0, text))
}

fn every_kink(_: &Workplace) -> Result<Measured, String> {
    let (mut n, mut failures) = (0, Vec::new());
    for row in kinks::rows()? {
        for elem in &row.types {
            n += 1;
            failures.extend(kinks::check(&row, *elem).err().map(|e| format!("{}: {e}", row.id)));
        }
    }
    let first = failures.first().map(|f| format!(", first: {f}")).unwrap_or_default();
    let text = format!("{n} points, {} failures{first}", failures.len());
    Ok(Measured::new(failures.is_empty(), text))
}

fn random_programs(_: &Workplace) -> Result<Measured, String> {
    let campaign = Campaign {
        programs: 10_000,
        seed: 1_000_000,
        compiled: 300,
        only: None,
        stop_at_failure: false,
        shows_progress: true,
    };
    let outcome = campaign.run(mixed);
    let (_, _, least) = outcome.coverage.least(Construct::ALL);
    let holds = outcome.failures.is_empty()
        && outcome.programs >= 10_000
        && outcome.median_statements() >= 30
        && least >= 50
        && outcome.usable_share() >= 0.9;
    Ok(Measured::new(holds, outcome.figures(Construct::ALL)))
}
