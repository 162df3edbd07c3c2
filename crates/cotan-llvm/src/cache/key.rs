//! The name of a cache entry: a hash of everything that the object depends on.

/// Ends the file name of every entry.
const EXTENSION: &str = ".obj";
/// The first field of every key. It changes when the layout of an entry does, so that entries of another layout lie under
/// other names.
const LAYOUT: &str = "2";

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

    /// The bytes of the key.
    pub(super) fn as_bytes(&self) -> &[u8; blake3::OUT_LEN] {
        self.0.as_bytes()
    }

    /// The file name of the entry.
    pub(super) fn file_name(&self) -> String {
        format!("{}{EXTENSION}", self.0.to_hex())
    }
}

/// Whether a file name is that of an entry.
pub(super) fn is_file_name(name: &str) -> bool {
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    let digits = name.strip_suffix(EXTENSION).unwrap_or_default();
    digits.len() == 2 * blake3::OUT_LEN && digits.bytes().all(is_digit)
}

/// Collects the fields of a key.
#[derive(Clone, Debug)]
pub struct KeyBuilder(blake3::Hasher);

impl Default for KeyBuilder {
    fn default() -> Self {
        Self::new()
    }
}

impl KeyBuilder {
    /// A key without fields.
    #[must_use]
    pub fn new() -> Self {
        Self(blake3::Hasher::new()).field(LAYOUT)
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

    #[test]
    fn the_name_of_an_entry_is_told_from_others() {
        let name = KeyBuilder::new().field("a").finish().file_name();
        assert!(is_file_name(&name));
        for other in [&name[1..], &name.to_uppercase(), &format!("{name}~"), &format!("0{name}"), ".obj", "notes.obj"] {
            assert!(!is_file_name(other), "{other}");
        }
    }
}
