//! The layout of an entry: what it is, how long it is, a hash, and the payload.
//!
//! The hash covers the key, the length and the payload, so an entry is bound to its name: a file that was cut, damaged, or
//! put under the name of another one is no entry.

use super::key::Key;

/// Starts every entry.
const MAGIC: &[u8; 8] = b"cotan\0\0\x02";
/// The magic, the length of the payload, and the hash.
pub(super) const HEADER_BYTES: usize = MAGIC.len() + size_of::<u64>() + blake3::OUT_LEN;

/// What stands in front of the payload that is stored under a key.
pub(super) fn header(key: &Key, payload: &[u8]) -> [u8; HEADER_BYTES] {
    let length = (payload.len() as u64).to_le_bytes();
    let mut hasher = blake3::Hasher::new();
    for part in [key.as_bytes().as_slice(), &length, payload] {
        hasher.update(part);
    }
    let mut header = [0; HEADER_BYTES];
    let (magic, rest) = header.split_at_mut(MAGIC.len());
    let (bytes, hash) = rest.split_at_mut(length.len());
    magic.copy_from_slice(MAGIC);
    bytes.copy_from_slice(&length);
    hash.copy_from_slice(hasher.finalize().as_bytes());
    header
}

/// The payload of a file that was stored under a key, and `None` of any other file.
pub(super) fn payload(key: &Key, mut file: Vec<u8>) -> Option<Vec<u8>> {
    let (found, payload) = file.split_first_chunk::<HEADER_BYTES>()?;
    if *found != header(key, payload) {
        return None;
    }
    file.drain(..HEADER_BYTES);
    Some(file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache::KeyBuilder;

    fn key(text: &str) -> Key {
        KeyBuilder::new().field(text).finish()
    }

    fn file(key: &Key, payload: &[u8]) -> Vec<u8> {
        [&header(key, payload), payload].concat()
    }

    #[test]
    fn an_entry_gives_its_payload_under_its_own_key_only() {
        for content in [&b""[..], b"object", &[0; 1000]] {
            assert_eq!(payload(&key("a"), file(&key("a"), content)).as_deref(), Some(content));
            assert_eq!(payload(&key("b"), file(&key("a"), content)), None);
        }
    }

    #[test]
    fn every_damaged_bit_cut_and_added_byte_is_noticed() {
        let whole = file(&key("a"), b"object");
        for position in 0..whole.len() {
            for bit in 0..8 {
                let mut damaged = whole.clone();
                damaged[position] ^= 1 << bit;
                assert_eq!(payload(&key("a"), damaged), None);
            }
            assert_eq!(payload(&key("a"), whole[..position].to_vec()), None);
        }
        assert_eq!(payload(&key("a"), [&whole[..], &[0]].concat()), None);
    }
}
