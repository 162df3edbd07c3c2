//! Peers: frameworks that differentiate, timed in turn with us on the same arguments.
//!
//! They live in a Python environment that `cargo xtask peers` makes. One process for each framework and instance runs
//! `benches/peers/serve.py`, which holds the objectives written for each framework; it is asked for one sample at a time,
//! so that a disturbance meets all. A peer that dies, hangs, is wrong or uses more than one thread is a line of the
//! report and nothing else.

mod process;
mod protocol;
mod timing;

pub use timing::{Peer, PeerFigures};

use crate::Instance;
use anyhow::{Context, Result, bail};
use cotan::host::{HostValue, write_npz};
use process::Process;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// The frameworks, as the environment and as their makers call them, with what installs them.
const FRAMEWORKS: [(&str, &str, &str); 2] =
    [("jax", "JAX", "cargo xtask peers"), ("torch", "PyTorch", "cargo xtask peers --torch")];

/// The file of the arguments.
const ARGUMENTS: &str = "arguments.npz";

/// How long the names of what is installed are waited for.
const VERSIONS: Duration = Duration::from_secs(20);

/// The environment of peers.
#[derive(Debug)]
pub struct Peers {
    python: PathBuf,
    scripts: PathBuf,
    /// Where arguments and entries are handed over.
    exchange: PathBuf,
    /// Version by framework.
    installed: BTreeMap<String, String>,
}

impl Peers {
    /// The environment in a folder; `scripts` is the folder of `serve.py`. The error says in one line what to do.
    pub fn find(environment: &Path, scripts: &Path) -> Result<Peers> {
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
        Ok(Peers { python, scripts: scripts.to_owned(), exchange: environment.join("exchange"), installed })
    }

    /// One line for each framework that is not installed.
    pub fn missing(&self) -> Vec<String> {
        let absent = FRAMEWORKS.iter().filter(|(key, ..)| !self.installed.contains_key(*key));
        absent.map(|(_, name, install)| format!("no column of {name}: it is not installed (`{install}`)")).collect()
    }

    /// Starts every installed framework on an instance. An instance without a gradient has no peers.
    pub fn start(&self, instance: &Instance) -> Vec<Peer> {
        let installed = FRAMEWORKS.iter().filter(|(key, ..)| self.installed.contains_key(*key));
        let handed_over = self.hand_over(instance);
        let start = |(key, ..): &(&'static str, _, _)| match &handed_over {
            Ok(folder) => {
                let entries = folder.0.join(format!("{key}.npy"));
                let mut command = Command::new(&self.python);
                command.arg(self.scripts.join("serve.py")).args([*key, &instance.objective]);
                command.arg(folder.0.join(ARGUMENTS)).arg(&entries);
                Peer::start(key, command, &entries, instance)
            }
            Err(error) => Peer::failed(key, error),
        };
        if instance.gradient.is_some() { installed.map(start).collect() } else { Vec::new() }
    }

    /// Writes the arguments of an instance.
    fn hand_over(&self, instance: &Instance) -> Result<Exchange> {
        let folder = Exchange::make(&self.exchange)?;
        let mut arguments = Vec::new();
        for (name, value) in &instance.args {
            flatten(name, value, &mut arguments);
        }
        let bytes = write_npz(&arguments).context("expected arguments that are tensors, scalars or structs of them")?;
        let file = folder.0.join(ARGUMENTS);
        std::fs::write(&file, bytes).with_context(|| format!("writing {}", file.display()))?;
        Ok(folder)
    }
}

/// The interpreter of an environment that `python3 -m venv` made.
fn python_of(environment: &Path) -> PathBuf {
    if cfg!(windows) { environment.join("Scripts").join("python.exe") } else { environment.join("bin").join("python") }
}

/// Structs are handed over field by field, `model.parent` for the field of an argument.
fn flatten(name: &str, value: &HostValue, out: &mut Vec<(String, HostValue)>) {
    if let HostValue::Struct(fields) = value {
        for (field, value) in fields {
            flatten(&format!("{name}.{field}"), value, out);
        }
    } else {
        out.push((name.to_owned(), value.clone()));
    }
}

/// A folder of this process, removed with this value.
struct Exchange(PathBuf);

impl Exchange {
    fn make(within: &Path) -> Result<Exchange> {
        let folder = within.join(std::process::id().to_string());
        std::fs::create_dir_all(&folder).with_context(|| format!("making {}", folder.display()))?;
        Ok(Exchange(folder))
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        // What cannot be removed lies in the target folder.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_an_environment_one_line_says_what_makes_it() {
        let message = Peers::find(Path::new("nowhere"), Path::new("scripts")).expect_err("no environment").to_string();
        let expected = format!(
            "no columns of JAX and PyTorch: there is no {} (`cargo xtask peers` makes it)",
            python_of(Path::new("nowhere")).display()
        );
        assert_eq!(message, expected);
    }

    #[test]
    fn each_missing_framework_has_a_line() {
        let installed = BTreeMap::from([("jax".to_owned(), "1.0".to_owned())]);
        let peers = Peers { python: PathBuf::new(), scripts: PathBuf::new(), exchange: PathBuf::new(), installed };
        assert_eq!(peers.missing(), ["no column of PyTorch: it is not installed (`cargo xtask peers --torch`)"]);
    }

    #[test]
    fn fields_are_handed_over_under_the_name_of_their_struct() {
        let model = HostValue::Struct(vec![("size".to_owned(), HostValue::i64(3))]);
        let mut found = Vec::new();
        flatten("model", &model, &mut found);
        assert_eq!(found, [("model.size".to_owned(), HostValue::i64(3))]);
    }
}
