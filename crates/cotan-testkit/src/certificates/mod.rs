//! Certificates of gradients before the proved checker: of random straight-line programs, of random programs of every
//! kind, and of functions that people wrote; and broken ones.

mod broken;
mod straight_line;

pub use broken::{Broken, broken};
pub use straight_line::straight_line;

use crate::derived_case::{Case, function, lengths};
use crate::model::executable;
use cotan::certificate::{Certificate, Claim, NoCertificate, certificate};
use cotan_ir::Mode;
use cotan_opt::{BEFORE_CODE, PassContext};
use std::io::Write;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The certificate of the reverse derivative of a case, with a cotangent for each float result.
pub fn of_case(case: &Case) -> Result<Result<Certificate, NoCertificate>, String> {
    let subject = &case.subject;
    let f = function(&subject.module, &subject.name)?;
    let lengths = lengths(f, &case.outs, &case.cotangents);
    let derivative = case.first(Mode::Vjp).canonical_name();
    let mut shipped = subject.module.clone();
    shipped.insert(BEFORE_CODE.run(function(&shipped, &derivative)?.clone(), &PassContext::default()));
    let outs: Vec<_> = case.outs.iter().copied().zip(case.cotangents.iter().cloned().map(Some)).collect();
    let first = case.results.len();
    let wrt: Vec<_> = case.wrt.iter().enumerate().map(|(k, param)| (*param, first + k)).collect();
    Ok(certificate(&Claim {
        function: (&subject.module, &subject.name),
        gradient: (&shipped, &derivative),
        args: &subject.args,
        lengths: &lengths,
        outs: &outs,
        wrt: &wrt,
    }))
}

/// What the checker says of a certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The code computes the derivatives.
    Accepted,
    /// That was not shown, and where.
    NotShown(String),
    /// It is no certificate.
    Refused(String),
}

/// The checker is given so long.
const LIMIT: Duration = Duration::from_secs(20);

/// The verdict on a certificate. What takes too long is not shown.
pub fn verdict(text: &str) -> Result<Verdict, String> {
    let checker = executable().ok_or("the checker is not built: run `cargo xtask proofs` first")?;
    let fails = |e: std::io::Error| format!("running {}: {e}", checker.display());
    let mut child =
        Command::new(&checker).arg("certify").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().map_err(fails)?;
    // It answers when it has read all.
    let mut stdin = child.stdin.take().ok_or("no standard input")?;
    stdin.write_all(text.as_bytes()).map_err(fails)?;
    drop(stdin);
    let start = Instant::now();
    while child.try_wait().map_err(fails)?.is_none() {
        if start.elapsed() > LIMIT {
            child.kill().map_err(fails)?;
            child.wait().map_err(fails)?;
            return Ok(Verdict::NotShown(format!("within {} s", LIMIT.as_secs())));
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    let output = child.wait_with_output().map_err(fails)?;
    let said = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    Ok(match said.strip_prefix("not shown: ") {
        _ if said == "accepted" => Verdict::Accepted,
        Some(where_) => Verdict::NotShown(where_.to_owned()),
        None => Verdict::Refused(said),
    })
}
