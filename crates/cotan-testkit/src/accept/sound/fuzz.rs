//! How much every fuzz target was fed in all runs together, and how fast the differential one is.

use crate::accept::{Line, Measured, Workplace};
use crate::fuzz::campaign::Campaign;
use crate::fuzz::counts::{self, Count};
use crate::fuzz::{Corpus, Target};
use std::time::Duration;

pub(super) const LINE: Line = Line {
    title: "fuzz targets, all runs together (fuzz/counts.tsv; `cargo xtask fuzz --all SECONDS` adds to it)",
    bar: "each at least 20 CPU-minutes; the differential one at least 20 inputs a second now, without a finding",
    measure,
};

/// Minutes of processors for each target.
const MINUTES: f64 = 20.0;

/// Inputs of the differential target for each second.
const RATE: f64 = 20.0;

/// How long that is measured.
const MEASURED: Duration = Duration::from_secs(20);

fn measure(_: &Workplace) -> Result<Measured, String> {
    let all = counts::read(&counts::file())?;
    let told = |target: Target| {
        let count = all.get(target.name()).copied().unwrap_or_default();
        let minutes = count.processor_seconds / 60.0;
        let text = format!("{} {} inputs in {minutes:.1} min ({} found)", target.name(), count.inputs, count.findings);
        (minutes >= MINUTES, text)
    };
    let (enough, texts): (Vec<bool>, Vec<String>) = Target::ALL.into_iter().map(told).unzip();
    let (target, first) = (Target::Differential, 1 << 40);
    let campaign = Campaign { target, first, count: u64::MAX, time: MEASURED, findings: 1 };
    let outcome = campaign.run(&Corpus::load(), None);
    let rate = outcome.inputs as f64 / outcome.seconds;
    let for_each_core = Count::of(&outcome).rate();
    let holds = enough.iter().all(|is_enough| *is_enough) && rate >= RATE && outcome.findings.is_empty();
    let found = outcome.findings.first().map_or(String::new(), |(seed, f)| format!("; seed {seed}: {}", f.message));
    let text = format!(
        "{}; differential now {rate:.1} a second ({for_each_core:.1} for each second of a processor){found}",
        texts.join(", ")
    );
    Ok(Measured::new(holds, text))
}
