//! One framework on one instance: started, checked, sampled in turns.

use super::process::Process;
use super::protocol::{Calls, Ready, Sample, positive, read};
use crate::{Block, Instance, Tolerance};
use anyhow::{Context, Result, bail};
use cotan::host::{Budget, read_npy};
use cotan_measure::{Found, SHORTEST_SAMPLE, Turn, agreement};
use serde::Serialize;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// How long a peer may take to be ready: it loads the framework and compiles every formulation.
const START: Duration = Duration::from_secs(600);
/// How long a peer may take beyond what is asked for, by the last sample.
const ANSWER: Duration = Duration::from_secs(60);
/// Clocks of threads and of the wall differ by as much where there is one thread.
const ONE_THREAD: f64 = 1.2;

/// What came of a peer; times in seconds.
#[derive(Clone, Debug, Serialize)]
pub struct PeerFigures {
    /// The framework.
    pub peer: &'static str,
    /// Its version.
    pub version: Option<String>,
    /// The fastest of the ways in which the objective is written.
    pub formulation: Option<String>,
    /// The first calls of function and derivative, in which they are compiled.
    pub compile_s: Option<f64>,
    /// The largest error of our derivative entries, relative to the largest of the peer's in their block.
    pub error: Option<f64>,
    /// The shortest time of the function.
    pub obj_min: Option<f64>,
    /// The median time of the function.
    pub obj_med: Option<f64>,
    /// The shortest time of the derivative.
    pub grad_min: Option<f64>,
    /// The median time of the derivative.
    pub grad_med: Option<f64>,
    /// Samples of the derivative.
    pub samples: usize,
    /// The processors' time of all threads over the time on the wall.
    pub threads: Option<f64>,
    /// What all samples computed, in sum.
    pub checksum: f64,
    /// Why there are no times.
    pub failure: Option<String>,
}

/// A framework on an instance.
#[derive(Debug)]
pub struct Peer {
    name: &'static str,
    /// None once it has failed.
    running: Option<Running>,
    failure: Option<String>,
}

impl Peer {
    /// Starts the process and waits until it has compiled; it writes its derivative entries to a file.
    pub(crate) fn start(name: &'static str, command: Command, entries: &Path, instance: &Instance) -> Peer {
        match Running::start(command, entries, &instance.blocks, instance.tolerance) {
            Ok(running) => Peer { name, running: Some(running), failure: None },
            Err(error) => Peer::failed(name, &error),
        }
    }

    /// One that was not started.
    pub(crate) fn failed(name: &'static str, error: &anyhow::Error) -> Peer {
        Peer { name, running: None, failure: Some(format!("{error:#}")) }
    }

    /// Takes samples. Before the first one our value and entries are compared with the peer's, and what does not agree is
    /// not timed. A failure is kept for the report.
    pub fn turn(&mut self, turn: &Turn<'_>) {
        let Some(running) = &mut self.running else { return };
        if let Err(error) = running.turn(turn) {
            self.failure = Some(format!("{error:#}"));
            self.running = None;
        }
    }

    /// Ends the process.
    pub fn finish(self) -> PeerFigures {
        let empty = PeerFigures {
            peer: self.name,
            version: None,
            formulation: None,
            compile_s: None,
            error: None,
            obj_min: None,
            obj_med: None,
            grad_min: None,
            grad_med: None,
            samples: 0,
            threads: None,
            checksum: 0.0,
            failure: self.failure,
        };
        match self.running {
            Some(running) => running.figures(empty),
            None => empty,
        }
    }
}

#[derive(Debug)]
struct Running {
    process: Process,
    ready: Ready,
    entries: Vec<f64>,
    blocks: Vec<Block>,
    tolerance: Tolerance,
    /// None until the results were compared.
    error: Option<f64>,
    function: Samples,
    derivative: Samples,
}

impl Running {
    fn start(command: Command, entries: &Path, blocks: &[Block], tolerance: Tolerance) -> Result<Running> {
        let mut process = Process::start(command)?;
        let ready: Ready = read(&process.answer(START)?)?;
        let bytes = std::fs::read(entries).with_context(|| format!("reading {}", entries.display()))?;
        let entries = read_npy(&bytes, &mut Budget::default())
            .with_context(|| format!("reading {}", entries.display()))?
            .floats();
        let (function, derivative) = (Samples::of(Calls::Function), Samples::of(Calls::Derivative));
        let blocks = blocks.to_vec();
        Ok(Running { process, ready, entries, blocks, tolerance, error: None, function, derivative })
    }

    fn turn(&mut self, turn: &Turn<'_>) -> Result<()> {
        if self.error.is_none() {
            let ours = Found { value: turn.value.unwrap_or(f64::NAN), entries: turn.entries };
            let theirs = Found { value: self.ready.value, entries: &self.entries };
            self.error = Some(agreement(ours, theirs, &self.blocks, self.tolerance)?);
        }
        self.function.take(&mut self.process, turn.budget)?;
        self.derivative.take(&mut self.process, turn.budget)?;
        let threads = self.threads();
        if threads > ONE_THREAD {
            bail!("keeps {threads:.1} processors busy, not one");
        }
        Ok(())
    }

    fn threads(&self) -> f64 {
        let (wall, cpu) = (self.function.wall + self.derivative.wall, self.function.cpu + self.derivative.cpu);
        cpu / wall
    }

    fn figures(self, empty: PeerFigures) -> PeerFigures {
        let threads = self.threads();
        let (mut function, mut derivative) = (self.function.per_call, self.derivative.per_call);
        function.sort_by(f64::total_cmp);
        derivative.sort_by(f64::total_cmp);
        PeerFigures {
            version: Some(self.ready.version),
            formulation: Some(self.ready.formulation),
            compile_s: Some(self.ready.compile_s),
            error: self.error,
            obj_min: function.first().copied(),
            obj_med: function.get(function.len() / 2).copied(),
            grad_min: derivative.first().copied(),
            grad_med: derivative.get(derivative.len() / 2).copied(),
            samples: derivative.len(),
            threads: Some(threads),
            checksum: self.derivative.checksum,
            ..empty
        }
    }
}

#[derive(Debug)]
struct Samples {
    calls: Calls,
    /// Calls of a sample; chosen when the first ones are taken.
    repeats: u32,
    per_call: Vec<f64>,
    wall: f64,
    cpu: f64,
    checksum: f64,
}

impl Samples {
    fn of(calls: Calls) -> Samples {
        Samples { calls, repeats: 1, per_call: Vec::new(), wall: 0.0, cpu: 0.0, checksum: 0.0 }
    }

    /// Takes samples for so long, at least one.
    fn take(&mut self, process: &mut Process, budget: Duration) -> Result<()> {
        let start = Instant::now();
        loop {
            let seconds = self.ask(process)?;
            if self.per_call.is_empty() && seconds < SHORTEST_SAMPLE.as_secs_f64() && self.repeats < 1 << 20 {
                self.repeats *= 2;
                continue;
            }
            self.per_call.push(seconds / f64::from(self.repeats));
            if start.elapsed() >= budget {
                return Ok(());
            }
        }
    }

    fn ask(&mut self, process: &mut Process) -> Result<f64> {
        let answer = process.ask(&self.calls.request(self.repeats), ANSWER)?;
        let Sample { seconds, cpu_seconds, checksum } = positive(read(&answer)?)?;
        self.wall += seconds;
        self.cpu += cpu_seconds;
        self.checksum = checksum;
        Ok(seconds)
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use cotan::host::{HostValue, write_npy};

    /// A peer whose results are 7 and (1, 2), and which answers requests in the shell's way.
    fn peer(name: &str, loop_body: &str) -> Peer {
        let entries = std::env::temp_dir().join(format!("cotan-peer-{}-{name}.npy", std::process::id()));
        let bytes = write_npy(&HostValue::f64s(&[2], &[1.0, 2.0])).expect("a tensor");
        std::fs::write(&entries, bytes).expect("a folder for temporary files");
        let ready = r#"{"version": "1", "formulation": "plain", "value": 7.0, "compile_s": 0.5}"#;
        let mut command = Command::new("sh");
        command.args(["-c", &format!("echo '{ready}'; while read which repeats; do {loop_body}; done")]);
        let instance = Instance { blocks: Block::in_order(&[("a", 2)]), ..crate::newton("n0", 0) };
        let peer = Peer::start("test", command, &entries, &instance);
        std::fs::remove_file(&entries).expect("the file from above");
        peer
    }

    fn after_turn(mut peer: Peer, entries: &[f64]) -> PeerFigures {
        peer.turn(&Turn { budget: Duration::ZERO, value: Some(7.0), entries });
        peer.finish()
    }

    const ANSWERS: &str = r#"echo '{"seconds": 0.25, "cpu_seconds": 0.25, "checksum": 3.0}'"#;

    #[test]
    fn a_right_peer_has_times() {
        let figures = after_turn(peer("right", ANSWERS), &[1.0, 2.0]);
        assert_eq!((figures.error, figures.failure), (Some(0.0), None));
        assert_eq!((figures.obj_min, figures.grad_min, figures.grad_med), (Some(0.25), Some(0.25), Some(0.25)));
        assert_eq!((figures.samples, figures.threads, figures.checksum), (1, Some(1.0), 3.0));
    }

    #[test]
    fn a_wrong_peer_is_not_timed() {
        let figures = after_turn(peer("wrong", ANSWERS), &[1.0, 2.5]);
        let failure = figures.failure.expect("a failure");
        assert_eq!(failure, "gives the value 7, we 7; our derivative entries are 2.5e-1 away");
        assert_eq!((figures.grad_min, figures.samples), (None, 0));
    }

    #[test]
    fn a_peer_on_two_threads_is_refused() {
        let body = r#"echo '{"seconds": 0.25, "cpu_seconds": 0.5, "checksum": 3.0}'"#;
        let figures = after_turn(peer("threads", body), &[1.0, 2.0]);
        assert_eq!(figures.failure.expect("a failure"), "keeps 2.0 processors busy, not one");
        assert_eq!(figures.grad_min, None);
    }

    #[test]
    fn a_peer_that_dies_is_a_failure_and_no_error() {
        let figures = after_turn(peer("dies", "echo 'out of memory' >&2; exit 9"), &[1.0, 2.0]);
        assert_eq!(figures.failure.expect("a failure"), "stopped (exit status: 9): out of memory");
    }
}
