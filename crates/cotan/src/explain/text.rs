//! Explanations as text and as JSON.

use super::{CheckpointCost, ExplainedLoop, ExplainedRecord, Explanation, Formula, Place};
use cotan_ad::{ForwardLoop, Refusal, Restored};
use cotan_ir::{Checkpoint, Record};
use serde_json::{Value as Json, json};
use std::fmt;

impl fmt::Display for Explanation {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for l in &self.loops {
            writeln!(out, "{l}")?;
        }
        if self.peak.is_zero() {
            return out.write_str("Nothing is recorded: what the reverse sweep needs, it computes again.\n");
        }
        let peak = with_number(&self.peak, self.counts.map(|counts| counts.peak));
        writeln!(out, "At any one time there are at most {peak} bytes of records.")
    }
}

/// A formula, and what it comes to.
fn with_number(formula: &Formula, number: Option<i64>) -> String {
    match number {
        Some(number) if formula.to_string() != number.to_string() => format!("{formula} = {number}"),
        Some(_) | None => formula.to_string(),
    }
}

impl fmt::Display for ExplainedLoop {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place.line {
            0 => writeln!(out, "{}", self.place.file)?,
            _ => writeln!(out, "{}: {}", self.place, self.place.text)?,
        }
        if let Some(forward_loop) = &self.forward {
            writeln!(out, "  differentiated forward, with {}", tangents(forward_loop))?;
        }
        if let Some(reason) = &self.refused {
            writeln!(out, "  not differentiated forward, as asked: {}", why_refused(reason))?;
        }
        if self.records.is_empty() {
            writeln!(out, "  records nothing")?;
        }
        for record in &self.records {
            let bytes = with_number(&record.all_bytes(), record.all_largest());
            writeln!(out, "  records `{}`: {bytes} bytes, {}{}", record.value, record.each(), record.life(self))?;
        }
        for (value, how) in &self.unrecorded {
            writeln!(out, "  not `{value}`: {}", why_not(*how))?;
        }
        for checkpoint in &self.checkpoints {
            writeln!(out, "  with {checkpoint}")?;
        }
        Ok(())
    }
}

impl ExplainedRecord {
    /// What one entry is, and why it is there.
    fn each(&self) -> String {
        let element = match self.copies {
            1 => self.element.clone(),
            n => format!("{n} {}", self.element),
        };
        match self.how {
            Record::Value => format!("{element} for each iteration, as the next one replaces what its reverse reads"),
            Record::Read => format!("{element} for each iteration, which reads it from a carried array"),
            Record::Old => format!("{element} and its place for each update, to undo it"),
            Record::Place => "where an update was".to_owned(),
            Record::Start => "where the part of each iteration begins".to_owned(),
            Record::Kept { recompute, store } => {
                format!("{element} for each iteration, at a cost of {store} instead of {recompute} to compute it again")
            }
            Record::State => format!("{element} for each state that is stored, to run the loop again from there"),
            Record::Inner => format!("{element} for each iteration of a loop inside, which is not run again"),
        }
    }

    /// The bytes of all copies.
    fn all_bytes(&self) -> Formula {
        self.bytes.times(&Formula::number(self.copies as f64))
    }

    /// The same in numbers.
    fn all_largest(&self) -> Option<i64> {
        self.largest.map(|bytes| bytes.saturating_mul(self.copies as i64))
    }

    fn life(&self, l: &ExplainedLoop) -> String {
        match self.within.last() {
            None => String::new(),
            Some(around) if *around == l.place => "; while one segment is reversed".to_owned(),
            Some(around) if around.line == 0 => "; while the loop around is in one iteration".to_owned(),
            Some(around) => format!("; during one iteration of {}:{}", around.line, around.column),
        }
    }
}

/// The tangents that a loop carries, and why.
fn tangents(forward_loop: &ForwardLoop) -> String {
    let names: Vec<String> = forward_loop.inputs.iter().map(|name| format!("`{name}`")).collect();
    let number = if names.len() == 1 { "a tangent" } else { "tangents" };
    let names = names.join(", ");
    let ForwardLoop { forward, reverse, is_asked_for, .. } = forward_loop;
    match is_asked_for {
        true => format!("{number} for {names}, as asked: an iteration costs {forward}, and {reverse} in reverse"),
        false => format!("{number} for {names}: an iteration costs {forward} instead of {reverse}"),
    }
}

/// Why a loop is not differentiated forward.
fn why_refused(reason: &Refusal) -> String {
    match reason {
        Refusal::Array(name) => format!("derivatives flow through `{name}`, which is no scalar"),
        Refusal::Rule(name) => format!("it calls `{name}`, which has a rule of its own"),
    }
}

/// Why a value is not recorded.
fn why_not(how: Restored) -> &'static str {
    match how {
        Restored::Unread => "the reverse of an iteration does not read it",
        Restored::Unchanged => "it is the same in all iterations",
        Restored::Counted => "it is computed from the number of the iteration",
        Restored::Reads => "the scalars that an iteration reads from it are enough",
        Restored::Replaced => "what is made of it is recorded in its place",
        Restored::Undone => "the updates of an iteration are undone",
        Restored::Recorded => "it is recorded",
        Restored::Replayed => "the loop is run again from a stored state",
    }
}

impl fmt::Display for CheckpointCost {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let often = match self.extra_runs {
            1 => "once".to_owned(),
            2 => "twice".to_owned(),
            n => format!("{n} times"),
        };
        write!(out, "@checkpoint({}): about {} bytes, and the body runs {often} more", scheme(self.scheme), self.bytes)
    }
}

/// A scheme as the source writes it.
fn scheme(checkpoint: Checkpoint) -> String {
    match checkpoint {
        Checkpoint::Every(n) => format!("every = {n}"),
        Checkpoint::Sqrt => "sqrt".to_owned(),
        Checkpoint::Levels(n) => format!("levels = {n}"),
        Checkpoint::Budget(bytes) => format!("budget = {bytes}"),
        Checkpoint::All => "all".to_owned(),
    }
}

impl fmt::Display for Place {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:{}:{}", self.file, self.line, self.column)
    }
}

impl Explanation {
    /// The same as one object.
    pub fn to_json(&self) -> Json {
        let loops: Vec<Json> = self.loops.iter().map(ExplainedLoop::to_json).collect();
        let (peak, written) = (self.counts.map(|counts| counts.peak), self.counts.map(|counts| counts.written));
        json!({"loops": loops, "peak": self.peak.to_string(), "peak_bytes": peak, "written_bytes": written})
    }
}

impl ExplainedLoop {
    fn to_json(&self) -> Json {
        let record = |r: &ExplainedRecord| {
            let within: Vec<Json> = r.within.iter().map(Place::to_json).collect();
            json!({
                "value": r.value, "how": r.how.name(), "element": r.element, "bytes": r.all_bytes().to_string(),
                "copies": r.copies, "largest_bytes": r.all_largest(), "within": within,
            })
        };
        let unrecorded = |(value, how): &(String, Restored)| json!({"value": value, "why": why_not(*how)});
        let checkpoint = |c: &CheckpointCost| json!({"scheme": scheme(c.scheme), "bytes": c.bytes.to_string(), "extra_runs": c.extra_runs});
        let forward = self.forward.as_ref().map(|forward_loop| {
            let inputs: Vec<&str> = forward_loop.inputs.iter().map(|name| &**name).collect();
            json!({
                "tangents": inputs, "cost": forward_loop.forward, "reverse_cost": forward_loop.reverse,
                "asked": forward_loop.is_asked_for,
            })
        });
        json!({
            "place": self.place.to_json(),
            "forward": forward,
            "not_forward": self.refused.as_ref().map(why_refused),
            "records": self.records.iter().map(record).collect::<Vec<_>>(),
            "unrecorded": self.unrecorded.iter().map(unrecorded).collect::<Vec<_>>(),
            "checkpoints": self.checkpoints.iter().map(checkpoint).collect::<Vec<_>>(),
        })
    }
}

impl Place {
    fn to_json(&self) -> Json {
        json!({"file": self.file, "line": self.line, "column": self.column, "text": self.text})
    }
}
