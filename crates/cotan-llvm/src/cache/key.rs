//! The name of a cache entry: a hash of everything that the object depends on.

/// The name of one entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key(blake3::Hash);

impl Key {
    /// The key in letters and digits.
    pub(crate) fn to_text(self) -> String {
        self.0.to_hex().to_string()
    }

    /// The key that this text stands for.
    pub(crate) fn from_text(text: &[u8]) -> Option<Key> {
        blake3::Hash::from_hex(text).ok().map(Key)
    }

    /// The file name of the entry.
    pub(super) fn file_name(&self) -> String {
        format!("{}.{}", self.0.to_hex(), super::EXTENSION)
    }
}

/// Collects the fields of a key.
#[derive(Clone, Debug, Default)]
pub struct KeyBuilder(blake3::Hasher);

impl KeyBuilder {
    /// A key without fields.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a field. Its length goes first, so that text cannot move from one field to the next.
    #[must_use]
    pub fn field(mut self, text: &str) -> Self {
        self.0.update(&(text.len() as u64).to_le_bytes());
        self.0.update(text.as_bytes());
        self
    }

    /// The key of the fields so far.
    #[must_use]
    pub fn finish(&self) -> Key {
        Key(self.0.finalize())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_that_moves_between_fields_changes_the_key() {
        let key = |a, b| KeyBuilder::new().field(a).field(b).finish();
        assert_ne!(key("ab", "c"), key("a", "bc"));
        assert_eq!(key("ab", "c"), key("ab", "c"));
    }
}
