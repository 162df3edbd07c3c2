//! What a loop records for its reverse sweep, and as what.

/// What a record holds. Like [`crate::Kept`], it tells readers and counters; values and derivatives are the same
/// whatever it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Record {
    /// A carried value, once per iteration.
    Value,
    /// A scalar that was read from a carried array, once per iteration.
    Read,
    /// What updates of a carried array overwrote, once per update.
    Old,
    /// Where they did.
    Place,
    /// Where the part of the two that belongs to an iteration begins, once per iteration.
    Start,
}

impl Record {
    /// Every kind.
    pub const ALL: [Record; 5] = [Record::Value, Record::Read, Record::Old, Record::Place, Record::Start];

    /// The word for it in the text form.
    pub fn name(self) -> &'static str {
        match self {
            Record::Value => "value",
            Record::Read => "read",
            Record::Old => "old",
            Record::Place => "place",
            Record::Start => "start",
        }
    }
}
