//! Certificates of gradients before the proved checker: of random straight-line programs, of random programs of every
//! kind, and of functions that people wrote; and broken ones.

mod broken;
mod straight_line;

pub use broken::{Broken, broken};
pub use straight_line::straight_line;

use crate::case::{Case, function, lengths};
use crate::model::{answers, executable};
use cotan::certificate::{Certificate, Claim, NoCertificate, certificate};
use cotan_ir::Mode;

/// The certificate of the reverse derivative of a case, with a cotangent for each float result.
pub fn of_case(case: &Case) -> Result<Result<Certificate, NoCertificate>, String> {
    let subject = &case.subject;
    let f = function(&subject.module, &subject.name)?;
    let lengths = lengths(f, &case.outs, &case.cotangents);
    let derivative = case.first(Mode::Vjp).canonical_name();
    let mut shipped = subject.module.clone();
    shipped.insert(cotan_opt::finish(function(&shipped, &derivative)?.clone()));
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
    /// That was not shown.
    NotShown,
    /// It is no certificate.
    Refused(String),
}

/// The verdicts on certificates, as the checker prints them.
pub fn verdicts(texts: &[String]) -> Result<Vec<Verdict>, String> {
    let checker = executable().ok_or("the checker is not built: run `cargo xtask proofs` first")?;
    let answers = answers(&checker, "certify", &texts.concat())?;
    let verdicts: Vec<Verdict> = answers
        .lines()
        .map(|line| match line {
            "accepted" => Verdict::Accepted,
            "not shown" => Verdict::NotShown,
            other => Verdict::Refused(other.to_owned()),
        })
        .collect();
    if verdicts.len() != texts.len() {
        return Err(format!("{} verdicts on {} certificates", verdicts.len(), texts.len()));
    }
    Ok(verdicts)
}
