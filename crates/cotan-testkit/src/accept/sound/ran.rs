//! Commands that may wait for ever, and don't.

use std::io::Read;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Seconds after which a command counts as one that waits.
pub(super) const LIMIT: f64 = 10.0;

/// What a command did.
pub(super) struct Ran {
    /// The exit code; none where a signal ended it.
    pub(super) status: Option<i32>,
    pub(super) stdout: String,
    pub(super) stderr: String,
    pub(super) seconds: f64,
}

impl Ran {
    /// Status and both outputs, for a message.
    pub(super) fn shown(&self) -> String {
        format!("exit {:?}, stdout {:?}, stderr {:?}", self.status, self.stdout, self.stderr)
    }
}

/// Runs a command to its end, or until it has waited for too long.
pub(super) fn run(command: &mut Command) -> Result<Ran, String> {
    let start = Instant::now();
    let spawned = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = spawned.map_err(|e| format!("running the command: {e}"))?;
    let reader = |stream: Option<Box<dyn Read + Send>>| {
        thread::spawn(move || {
            let mut bytes = Vec::new();
            // What can't be read is not there.
            let _ = stream.map(|mut stream| stream.read_to_end(&mut bytes));
            String::from_utf8_lossy(&bytes).into_owned()
        })
    };
    let stdout = reader(child.stdout.take().map(|stream| Box::new(stream) as Box<dyn Read + Send>));
    let stderr = reader(child.stderr.take().map(|stream| Box::new(stream) as Box<dyn Read + Send>));
    let status = loop {
        if let Some(status) = child.try_wait().map_err(|e| e.to_string())? {
            break status.code();
        }
        if start.elapsed().as_secs_f64() > LIMIT {
            child.kill().map_err(|e| e.to_string())?;
            child.wait().map_err(|e| e.to_string())?;
            break None;
        }
        thread::sleep(Duration::from_millis(1));
    };
    let seconds = start.elapsed().as_secs_f64();
    let text = |reader: thread::JoinHandle<String>| reader.join().map_err(|_| "a reader panicked".to_owned());
    Ok(Ran { status, stdout: text(stdout)?, stderr: text(stderr)?, seconds })
}
