//! Several pieces of data as one entry of the cache.

/// Each piece after its length.
pub(crate) fn packed<T: AsRef<[u8]>>(pieces: &[T]) -> Vec<u8> {
    let mut entry = Vec::new();
    for piece in pieces.iter().map(AsRef::as_ref) {
        entry.extend((piece.len() as u64).to_le_bytes());
        entry.extend(piece);
    }
    entry
}

/// The pieces of an entry; of one that is cut short, which a whole entry never is, what is left of them.
pub(crate) fn unpacked(mut entry: &[u8]) -> Vec<Vec<u8>> {
    let mut pieces = Vec::new();
    while let Some((length, rest)) = entry.split_first_chunk() {
        let length = usize::try_from(u64::from_le_bytes(*length)).unwrap_or(usize::MAX);
        let (piece, rest) = rest.split_at(length.min(rest.len()));
        pieces.push(piece.to_vec());
        entry = rest;
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_come_out_as_they_went_in() {
        for pieces in [vec![], vec![vec![]], vec![vec![1, 2, 3], vec![], vec![4; 1000]]] {
            assert_eq!(unpacked(&packed::<Vec<u8>>(&pieces)), pieces);
        }
    }

    #[test]
    fn an_entry_that_is_cut_short_gives_what_is_left() {
        let entry = packed(&[vec![1, 2], vec![3, 4]]);
        assert_eq!(unpacked(&entry[..entry.len() - 1]), [vec![1, 2], vec![3]]);
        assert_eq!(unpacked(&entry[..12]), [vec![1, 2]]);
    }
}
