//! Running out of memory, as every engine reports it.

use crate::{Function, Span, Stmt, Symbol, Var};
use std::fmt;

/// Who asks for memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllocationSite {
    /// The name of the tensor.
    pub name: Symbol,
    /// The source text of the statement that makes it: of a record, that of its loop.
    pub span: Span,
    /// Whether it is a record that a loop keeps for its reverse sweep.
    pub is_record: bool,
}

impl AllocationSite {
    /// The place of a result of a statement.
    pub fn of(f: &Function, result: Var, span: Span) -> AllocationSite {
        let info = &f.vars[result.index()];
        AllocationSite { name: info.name.clone(), span, is_record: info.record.is_some() }
    }

    /// The place of a statement, by the result that most likely is large.
    pub fn of_statement(f: &Function, s: &Stmt) -> Option<AllocationSite> {
        let record = s.results.iter().find(|v| f.vars[v.index()].record.is_some());
        let tensor = s.results.iter().find(|v| f.ty(**v).rank() > 0);
        let result = record.or(tensor).or(s.results.first())?;
        Some(AllocationSite::of(f, *result, s.span))
    }
}

/// A call needs more memory than it may hold, or than the machine has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutOfMemory {
    /// Bytes that the tensor or record that does not fit needs so far.
    pub wanted: u64,
    /// Bytes that the call holds, what the record has already among them.
    pub held: u64,
    /// Bytes that the call may hold; none if the machine refused what the limit allows.
    pub limit: Option<u64>,
    /// Who asked.
    pub site: Option<AllocationSite>,
}

impl OutOfMemory {
    /// The machine has no memory for so many bytes outside of what the program computes.
    pub fn of_machine(wanted: usize) -> OutOfMemory {
        OutOfMemory { wanted: wanted as u64, held: 0, limit: None, site: None }
    }

    /// What to do about it.
    pub fn remedy(&self) -> &'static str {
        let is_record = self.site.as_ref().is_some_and(|site| site.is_record);
        match (is_record, self.limit) {
            (true, Some(_)) => {
                "`@checkpoint(sqrt)` in front of this loop makes it record less; or raise the limit (`--memory-limit`)"
            }
            (true, None) => "`@checkpoint(sqrt)` in front of this loop makes it record less",
            (false, Some(_)) => "make the input smaller, or raise the limit (`--memory-limit`)",
            (false, None) => "make the input smaller",
        }
    }
}

impl fmt::Display for OutOfMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("out of memory: ")?;
        match &self.site {
            Some(AllocationSite { name, is_record: true, .. }) => {
                // The record of `y` is called `ys`.
                let recorded = name.strip_suffix('s').unwrap_or(name);
                write!(f, "the record of `{recorded}` in this loop needs")?;
            }
            Some(AllocationSite { name, is_record: false, .. }) => write!(f, "`{name}` needs")?,
            None => f.write_str("the call needs")?,
        }
        write!(f, " {} bytes; {} bytes are held", self.wanted, self.held)?;
        match self.limit {
            Some(limit) => write!(f, ", and the limit is {limit} bytes"),
            None => f.write_str(", and the machine has no more"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_names_who_asked_and_the_remedy_fits_it() {
        let site = |is_record| Some(AllocationSite { name: "xs".into(), span: Span::NONE, is_record });
        let error = OutOfMemory { wanted: 800, held: 640, limit: Some(700), site: site(true) };
        let expected = "out of memory: the record of `x` in this loop needs 800 bytes; 640 bytes are held, and the limit is 700 bytes";
        assert_eq!(error.to_string(), expected);
        assert!(error.remedy().contains("@checkpoint"));
        let error = OutOfMemory { wanted: 8, held: 0, limit: None, site: site(false) };
        let expected = "out of memory: `xs` needs 8 bytes; 0 bytes are held, and the machine has no more";
        assert_eq!((error.to_string().as_str(), error.remedy()), (expected, "make the input smaller"));
    }
}
