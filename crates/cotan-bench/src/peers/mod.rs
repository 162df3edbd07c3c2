//! Peers: frameworks that differentiate, timed in turn with us on the same arguments.
//!
//! They live in a Python environment that `cargo xtask peers` makes. One process for each framework and instance runs
//! `benches/peers/serve.py`, which holds the objectives written for each framework; it is asked for one sample at a time,
//! so that a disturbance meets all. A peer that dies, hangs, is wrong or uses more than one thread is a line of the
//! report and nothing else.

mod exchange;
mod process;
mod protocol;
mod timing;

pub(crate) use exchange::Exchange;
pub use timing::{Peer, PeerFigures};

use crate::Instance;
use anyhow::{Context, Result, bail};
use cotan::cpu::InstructionSet;
use process::Process;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// The frameworks, as the environment and as their makers call them, with what installs them.
const FRAMEWORKS: [(&str, &str, &str); 2] =
    [("jax", "JAX", "cargo xtask peers"), ("torch", "PyTorch", "cargo xtask peers --torch")];

/// What tells the scripts of an instruction set.
const LIMIT: &str = "COTAN_PEERS_CPU";

/// How long the names of what is installed are waited for.
const VERSIONS: Duration = Duration::from_secs(20);

/// The environment of peers.
#[derive(Debug)]
pub struct Peers {
    python: PathBuf,
    scripts: PathBuf,
    /// Where arguments and entries are handed over.
    exchange: PathBuf,
    /// What they may use of the machine; `None` for all of it.
    instructions: Option<InstructionSet>,
    /// Version by framework.
    installed: BTreeMap<String, String>,
}

impl Peers {
    /// The environment in a folder; `scripts` is the folder of `serve.py`. The error says in one line what to do.
    pub fn find(environment: &Path, scripts: &Path, instructions: Option<InstructionSet>) -> Result<Peers> {
        let python = python_of(environment);
        if !python.exists() {
            let all: Vec<&str> = FRAMEWORKS.iter().map(|(_, name, _)| *name).collect();
            bail!(
                "no columns of {}: there is no {} (`cargo xtask peers` makes it)",
                all.join(" and "),
                python.display()
            );
        }
        let mut command = Command::new(&python);
        command.arg(scripts.join("serve.py")).arg("versions");
        let answer = Process::start(command).and_then(|mut process| process.answer(VERSIONS));
        let installed = answer.and_then(|line| protocol::read(&line));
        let installed = installed.with_context(|| format!("no columns of peers: asking {}", python.display()))?;
        Ok(Peers {
            python,
            scripts: scripts.to_owned(),
            exchange: environment.join("exchange"),
            instructions,
            installed,
        })
    }

    /// One line for each framework that is not installed.
    pub fn missing(&self) -> Vec<String> {
        self.missing_of(|_| true)
    }

    /// The same of the frameworks in which a module is written.
    pub fn missing_in(&self, module: &str) -> Vec<String> {
        self.missing_of(|key| self.has(key, module))
    }

    fn missing_of(&self, is_wanted: impl Fn(&str) -> bool) -> Vec<String> {
        let absent = FRAMEWORKS.iter().filter(|(key, ..)| !self.installed.contains_key(*key) && is_wanted(key));
        absent.map(|(_, name, install)| format!("no column of {name}: it is not installed (`{install}`)")).collect()
    }

    /// Whether a module is written in a framework.
    fn has(&self, key: &str, module: &str) -> bool {
        self.scripts.join(format!("in_{key}")).join(module).with_extension("py").exists()
    }

    /// Starts every installed framework in which an instance is written. An instance without a gradient has no peers.
    pub fn start(&self, instance: &Instance) -> Vec<Peer> {
        let module = instance.objective.split('.').next().unwrap_or_default();
        let is_there = |key: &str| self.installed.contains_key(key) && self.has(key, module);
        let installed = FRAMEWORKS.iter().filter(|(key, ..)| is_there(key));
        let handed_over = Exchange::hand_over(&self.exchange, instance);
        let start = |(key, ..): &(&'static str, _, _)| match &handed_over {
            Ok(folder) => {
                let entries = folder.entries(key);
                let mut command = Command::new(&self.python);
                command.arg(self.scripts.join("serve.py")).args([*key, &instance.objective]);
                command.arg(folder.arguments()).arg(&entries);
                command.envs(self.instructions.map(|set| (LIMIT, set.name())));
                Peer::start(key, command, &entries, instance)
            }
            Err(error) => Peer::failed(key, error),
        };
        if instance.gradient.is_some() { installed.map(start).collect() } else { Vec::new() }
    }
}

/// The interpreter of an environment that `python3 -m venv` made.
fn python_of(environment: &Path) -> PathBuf {
    if cfg!(windows) { environment.join("Scripts").join("python.exe") } else { environment.join("bin").join("python") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_an_environment_one_line_says_what_makes_it() {
        let message =
            Peers::find(Path::new("nowhere"), Path::new("scripts"), None).expect_err("no environment").to_string();
        let expected = format!(
            "no columns of JAX and PyTorch: there is no {} (`cargo xtask peers` makes it)",
            python_of(Path::new("nowhere")).display()
        );
        assert_eq!(message, expected);
    }

    #[test]
    fn each_missing_framework_has_a_line() {
        let installed = BTreeMap::from([("jax".to_owned(), "1.0".to_owned())]);
        let peers = Peers {
            python: PathBuf::new(),
            scripts: PathBuf::new(),
            exchange: PathBuf::new(),
            instructions: None,
            installed,
        };
        assert_eq!(peers.missing(), ["no column of PyTorch: it is not installed (`cargo xtask peers --torch`)"]);
    }
}
