//! What peers are asked and what they answer: `benches/peers/serve.py` is the other side.

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// Which calls are timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Calls {
    Function,
    Derivative,
}

impl Calls {
    /// The line that asks for a sample of so many calls.
    pub(super) fn request(self, repeats: u32) -> String {
        let which = match self {
            Calls::Function => "function",
            Calls::Derivative => "derivative",
        };
        format!("{which} {repeats}\n")
    }
}

/// The first answer: the peer is ready.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Ready {
    pub(super) version: String,
    /// Which of the formulations of the objective was the fastest one.
    pub(super) formulation: String,
    pub(super) value: f64,
    /// The first calls of function and derivative, in which they are compiled, in seconds.
    pub(super) compile_s: f64,
}

/// The answer to a request for a sample.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Sample {
    pub(super) seconds: f64,
    /// The same on the clocks of all threads together.
    pub(super) cpu_seconds: f64,
    /// What all samples so far computed, in sum.
    pub(super) checksum: f64,
}

/// Reads an answer.
pub(super) fn read<T: DeserializeOwned>(line: &str) -> Result<T> {
    match serde_json::from_str(line) {
        Ok(answer) => Ok(answer),
        Err(error) => Err(error).with_context(|| format!("expected an answer, found `{}`", shortened(line))),
    }
}

/// Seconds that can be compared: clocks give no others.
pub(super) fn positive(sample: Sample) -> Result<Sample> {
    if sample.seconds > 0.0 && sample.cpu_seconds >= 0.0 {
        return Ok(sample);
    }
    bail!("expected seconds above zero, found {} and {}", sample.seconds, sample.cpu_seconds)
}

fn shortened(line: &str) -> String {
    line.trim().chars().take(80).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_name_the_calls_and_their_number() {
        assert_eq!(Calls::Function.request(1), "function 1\n");
        assert_eq!(Calls::Derivative.request(64), "derivative 64\n");
    }

    #[test]
    fn answers_are_read() {
        let ready: Ready =
            read(r#"{"version": "1.2", "formulation": "scan", "value": -3.5, "compile_s": 0.25}"#).expect("an answer");
        let expected =
            Ready { version: "1.2".to_owned(), formulation: "scan".to_owned(), value: -3.5, compile_s: 0.25 };
        assert_eq!(ready, expected);
        let sample: Sample = read(r#"{"seconds": 2e-3, "cpu_seconds": 1e-3, "checksum": 7.0}"#).expect("an answer");
        assert_eq!(sample, Sample { seconds: 2e-3, cpu_seconds: 1e-3, checksum: 7.0 });
    }

    #[test]
    fn what_is_no_answer_is_named() {
        let message = |line: &str| read::<Sample>(line).expect_err("no answer").to_string();
        assert_eq!(message("Killed\n"), "expected an answer, found `Killed`");
        assert_eq!(message(r#"{"seconds": 1.0}"#), r#"expected an answer, found `{"seconds": 1.0}`"#);
        assert!(read::<Sample>(r#"{"seconds": NaN, "cpu_seconds": 1.0, "checksum": 0.0}"#).is_err());
    }

    #[test]
    fn no_sample_takes_no_time() {
        for seconds in [0.0, -1.0] {
            let sample = Sample { seconds, cpu_seconds: 0.0, checksum: 0.0 };
            assert!(positive(sample).is_err());
        }
    }
}
