//! `cotan grad --certify`: the certificate of a gradient at a point, put before a checker that is proved.

use crate::derivative_at::DerivativeAt;
use crate::diagnostics::Failure;
use crate::exit;
use crate::output;
use crate::terminal;
use cotan::certificate::{Certificate, certify};
use cotan::codes;
use cotan::diagnostics::visible_line;
use cotan::host::{Const, HostValue};
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// Seconds that the checker may take.
pub(crate) const CHECKER_SECONDS: u64 = 60;

/// What became of the certificate of a gradient.
pub(crate) enum Certified {
    /// There is none, and why.
    Without(String),
    /// The checker has read it.
    Checked { certificate: Certificate, verdict: Verdict },
}

/// What the checker says of a certificate.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The code computes the derivatives.
    Accepted,
    /// It may or may not, and why the checker can't tell.
    NotShown(String),
}

/// Writes the certificate of the compiled gradient at a point, and has it checked.
pub(crate) fn certified(point: &DerivativeAt, checker: &Path) -> Result<Certified, Failure> {
    let session = &point.session;
    let args = point.arguments()?;
    let primal = session.lower_to_derive(&point.resolved.primal())?;
    let gradient = session.lower(&point.resolved.request)?;
    let status = terminal::status("certificate");
    let written = certify(&primal, &gradient, &args, &point.wrt).map_err(|e| session.call_failure(&point.name, &e))?;
    let certified = match written {
        Err(none) => Ok(Certified::Without(none.to_string())),
        Ok(certificate) => match ask(checker, certificate.text.clone(), Duration::from_secs(CHECKER_SECONDS)) {
            Ok(verdict) => Ok(Certified::Checked { certificate, verdict }),
            Err(e) => {
                let message = format!("running the checker `{}`: {e}", checker.display());
                Err(Failure::plain(exit::USAGE, codes::UNREADABLE_FILE, message))
            }
        },
    };
    status.finish_and_clear();
    certified
}

/// Runs the checker on one certificate, for no longer than the limit.
fn ask(checker: &Path, text: String, limit: Duration) -> io::Result<Verdict> {
    let mut child = Command::new(checker).arg("certify").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
    let (sender, answer) = mpsc::channel();
    // Nobody waits for these two: what the checker leaves behind may hold its pipes open.
    thread::spawn(move || {
        // A checker that stops reading says so by its answer, or by the status that it ends with.
        let _ = stdin.map(|mut stdin| stdin.write_all(text.as_bytes()));
    });
    thread::spawn(move || {
        let mut line = Vec::new();
        let read = stdout.map_or(Ok(0), |stdout| BufReader::new(stdout).read_until(b'\n', &mut line));
        // There is nobody to tell once the time is up.
        let _ = sender.send(read.map(|_| line));
    });
    let Ok(line) = answer.recv_timeout(limit) else {
        child.kill()?;
        child.wait()?;
        return Ok(Verdict::NotShown(format!("the checker takes longer than {} s", limit.as_secs_f64())));
    };
    let line = line?;
    let status = child.wait()?;
    let line = String::from_utf8_lossy(&line);
    let line = line.trim_end();
    Ok(if !status.success() {
        Verdict::NotShown(format!("the checker ends with {status}"))
    } else if line == "accepted" {
        Verdict::Accepted
    } else if let Some(why) = line.strip_prefix("not shown: ") {
        Verdict::NotShown(why.to_owned())
    } else if let Some(why) = line.strip_prefix("refused ") {
        Verdict::NotShown(format!("the checker refuses the certificate: {why}"))
    } else {
        Verdict::NotShown(format!("the checker answers `{line}`"))
    })
}

impl Certified {
    /// Whether the gradient is confirmed.
    pub(crate) fn is_accepted(&self) -> bool {
        matches!(self, Certified::Checked { verdict: Verdict::Accepted, .. })
    }

    /// A line for people.
    pub(crate) fn text(&self) -> String {
        match self {
            Certified::Without(why) => format!("certificate: none: {}\n", visible_line(why)),
            Certified::Checked { certificate: Certificate { program, code, .. }, verdict: Verdict::Accepted } => {
                format!("certificate: accepted (program of {program} values, {code} lines of gradient code)\n")
            }
            Certified::Checked { verdict: Verdict::NotShown(why), .. } => {
                format!("certificate: not shown: {}\n", visible_line(why))
            }
        }
    }

    /// The same for tools.
    pub(crate) fn object(&self) -> HostValue {
        let word = |word: &str| HostValue::Enum { variant: word.to_owned(), payload: None };
        let (verdict, reason) = match self {
            Certified::Without(why) => ("none", Some(why)),
            Certified::Checked { verdict: Verdict::Accepted, .. } => ("accepted", None),
            Certified::Checked { verdict: Verdict::NotShown(why), .. } => ("not shown", Some(why)),
        };
        let mut parts = vec![("verdict", word(verdict))];
        if let Certified::Checked { certificate, .. } = self {
            let number = |n: usize| HostValue::Scalar(Const::i64(n as i64));
            parts.extend([("program", number(certificate.program)), ("code", number(certificate.code))]);
        }
        parts.extend(reason.map(|why| ("reason", word(why))));
        output::object(parts)
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    /// A checker that does what a line of shell says.
    fn verdict_of(script: &str, limit: Duration) -> Verdict {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("checker");
        std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("written");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("executable");
        ask(&path, "inputs 1\nend\n".to_owned(), limit).expect("an answer")
    }

    #[test]
    fn a_checker_is_held_to_its_words_and_its_time() {
        let minute = Duration::from_secs(60);
        let not_shown = |why: &str| Verdict::NotShown(why.to_owned());
        assert_eq!(verdict_of("cat > /dev/null; echo accepted", minute), Verdict::Accepted);
        assert_eq!(verdict_of("cat > /dev/null; echo not shown: value 3", minute), not_shown("value 3"));
        let refused = verdict_of("cat > /dev/null; echo refused no such line", minute);
        assert_eq!(refused, not_shown("the checker refuses the certificate: no such line"));
        assert_eq!(verdict_of("echo accepted, nearly", minute), not_shown("the checker answers `accepted, nearly`"));
        assert_eq!(verdict_of("exit 0", minute), not_shown("the checker answers ``"));
        assert_eq!(verdict_of("echo accepted; exit 7", minute), not_shown("the checker ends with exit status: 7"));
        let late = verdict_of("exec sleep 600", Duration::from_millis(250));
        assert_eq!(late, not_shown("the checker takes longer than 0.25 s"));
    }
}
