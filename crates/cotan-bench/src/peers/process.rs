//! A process that is asked by lines and answers by lines, within limits of time.

use anyhow::{Context, Result, bail};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

/// How long the end of what a stopped process had to say is waited for.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// A running process. It ends with this value.
#[derive(Debug)]
pub(super) struct Process {
    child: Child,
    questions: ChildStdin,
    answers: Receiver<String>,
    last_words: Receiver<String>,
}

impl Process {
    pub(super) fn start(mut command: Command) -> Result<Process> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let program = command.get_program().to_owned();
        let mut child = command.spawn().with_context(|| format!("running {}", program.display()))?;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(questions), Some(out), Some(err)) = pipes else { bail!("{} has no pipes", program.display()) };
        let (send, answers) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(out).lines().map_while(Result::ok) {
                if send.send(line).is_err() {
                    break;
                }
            }
        });
        let (send, last_words) = channel();
        std::thread::spawn(move || {
            // Nobody listens where the process is no longer of interest.
            let _ = send.send(last_line(err));
        });
        Ok(Process { child, questions, answers, last_words })
    }

    pub(super) fn ask(&mut self, line: &str, limit: Duration) -> Result<String> {
        if self.questions.write_all(line.as_bytes()).and_then(|()| self.questions.flush()).is_err() {
            bail!(self.stopped());
        }
        self.answer(limit)
    }

    /// The next line. A process that gives none is ended.
    pub(super) fn answer(&mut self, limit: Duration) -> Result<String> {
        match self.answers.recv_timeout(limit) {
            Ok(line) => Ok(line),
            Err(RecvTimeoutError::Timeout) => {
                self.end();
                bail!("gave no answer in {} s", limit.as_secs_f64())
            }
            Err(RecvTimeoutError::Disconnected) => bail!(self.stopped()),
        }
    }

    /// How it ended, and the last line of what it complained of.
    fn stopped(&mut self) -> String {
        let words = self.last_words.recv_timeout(LAST_WORDS).unwrap_or_default();
        self.end();
        let status = match self.child.wait() {
            Ok(status) => format!("stopped ({status})"),
            Err(_) => "stopped".to_owned(),
        };
        if words.is_empty() { status } else { format!("{status}: {words}") }
    }

    fn end(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end();
    }
}

fn last_line(pipe: impl Read) -> String {
    let mut last = String::new();
    for line in BufReader::new(pipe).split(b'\n').map_while(Result::ok) {
        let line = String::from_utf8_lossy(&line);
        if !line.trim().is_empty() {
            last = line.trim().to_owned();
        }
    }
    last
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn shell(script: &str) -> Process {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        Process::start(command).expect("a shell")
    }

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn lines_are_answered_in_turn() {
        let mut process = shell("while read line; do echo \"<$line>\"; done");
        assert_eq!(process.ask("one\n", LONG).expect("an answer"), "<one>");
        assert_eq!(process.ask("two\n", LONG).expect("an answer"), "<two>");
    }

    #[test]
    fn a_process_that_hangs_is_ended() {
        let mut process = shell("exec sleep 1000");
        let error = process.answer(Duration::from_millis(50)).expect_err("silence").to_string();
        assert_eq!(error, "gave no answer in 0.05 s");
        assert!(process.child.try_wait().expect("a process").is_some());
    }

    #[test]
    fn a_process_that_dies_leaves_its_last_words() {
        let mut process = shell("echo first >&2; echo 'no such module' >&2; exit 3");
        let error = process.answer(LONG).expect_err("an end").to_string();
        assert_eq!(error, "stopped (exit status: 3): no such module");
        assert!(process.ask("more\n", LONG).is_err());
    }
}
