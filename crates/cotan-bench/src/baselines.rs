//! Baselines, timed in turn with an instance: its mark, and the peers that are installed.

use crate::report::{Compared, MarkTimes};
use anyhow::{Context, Result};
use cotan::Compiler;
use cotan::cpu::InstructionSet;
use cotan_bench::{
    Cpp, Found, Instance, Mark, Marks, Measured, Peer, Peers, Recorded, Settings, Timed, Turn, agreement,
    measure_beside, recorded,
};
use std::path::{Path, PathBuf};

/// Which baselines to compare with.
#[derive(Clone, Copy)]
pub(crate) struct Wanted {
    pub(crate) marks: bool,
    pub(crate) peers: bool,
    /// What they may use of the machine; `None` for all of it.
    pub(crate) instructions: Option<InstructionSet>,
}

/// The baselines that are there.
pub(crate) struct Baselines {
    marks: Option<(Marks, Vec<Recorded>)>,
    peers: Option<Peers>,
}

impl Baselines {
    /// Builds the programs of marks and looks for the environment of peers, where they are wanted. With it comes a line
    /// for each column that is wanted and cannot be there.
    pub(crate) fn gather(wanted: Wanted) -> Result<(Baselines, Vec<String>)> {
        let marks =
            if wanted.marks { Some((Marks::build(&reference(wanted.instructions)?)?, recorded()?)) } else { None };
        if !wanted.peers {
            return Ok((Baselines { marks, peers: None }, Vec::new()));
        }
        let (peers, missing) = match Peers::find(&environment()?, &benches().join("peers"), wanted.instructions) {
            Ok(peers) => {
                let missing = peers.missing();
                (Some(peers), missing)
            }
            Err(error) => (None, vec![format!("{error:#}")]),
        };
        Ok((Baselines { marks, peers }, missing))
    }

    /// Times an instance, in turns with its mark, if there are marks and it has one, and with the peers.
    pub(crate) fn measure(
        &self,
        compiler: &Compiler,
        instance: &Instance,
        file: Option<&Path>,
        settings: Settings,
    ) -> Result<Compared> {
        let found = self.marks.as_ref();
        let found = found.and_then(|(marks, rows)| Some((marks, rows.iter().find(|r| r.instance == instance.name)?)));
        let mark = found.and_then(|(marks, recorded)| marks.of(recorded, &instance.objective, file));
        let mut peers: Vec<Peer> = self.peers.as_ref().map(|peers| peers.start(instance)).unwrap_or_default();
        let mut timed: Option<Timed> = None;
        let mut run_others = |turn: &Turn<'_>| {
            if let Some(mark) = &mark {
                let now = mark.time(turn.budget)?;
                timed = Some(timed.map_or(now, |before| before.best(now)));
            }
            peers.iter_mut().for_each(|peer| peer.turn(turn));
            Ok(())
        };
        let (measured, entries) = measure_beside(compiler, instance, settings, &mut run_others)?;
        let error = mark.map(|mark| error_to(&mark, instance, &measured, &entries)).transpose()?;
        let mark = found.map(|(_, recorded)| MarkTimes { recorded: recorded.clone(), timed, error });
        Ok(Compared { measured, entries, mark, peers: peers.into_iter().map(Peer::finish).collect() })
    }
}

/// The folder of what is compared with.
pub(crate) fn benches() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benches")
}

/// The programs of marks and peaks.
pub(crate) fn reference(instructions: Option<InstructionSet>) -> Result<Cpp> {
    Ok(Cpp { sources: benches().join("reference"), built: folder()?.join("marks"), instructions })
}

/// The environment of peers, which `cargo xtask peers` makes.
pub(crate) fn environment() -> Result<PathBuf> {
    Ok(folder()?.parent().unwrap_or(Path::new("..")).join("peers"))
}

/// The folder of this program, in that which cargo builds in.
pub(crate) fn folder() -> Result<PathBuf> {
    let here = std::env::current_exe().context("finding this program")?;
    Ok(here.parent().unwrap_or(Path::new(".")).to_owned())
}

/// The largest error of derivative entries against those of the mark.
fn error_to(mark: &Mark<'_>, instance: &Instance, measured: &Measured, entries: &[f64]) -> Result<f64> {
    let (value, expected) = mark.entries()?;
    let ours = Found { value: measured.value.unwrap_or(f64::NAN), entries };
    agreement(ours, Found { value, entries: &expected }, &instance.blocks, instance.tolerance).context("the mark")
}
