//! "Did you mean": the known name that is closest to a misspelt one.

/// The candidate that is closest to `name`, if one is close enough to be meant.
pub fn closest<'n>(name: &str, candidates: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let longest = name.chars().count();
    let most = if longest <= 2 { 1 } else { longest.div_ceil(3).min(3) };
    candidates
        .filter(|candidate| *candidate != name && !candidate.is_empty())
        .filter(|candidate| candidate.chars().count().abs_diff(longest) <= most)
        .map(|candidate| (distance(name, candidate), candidate.chars().count().abs_diff(longest), candidate))
        .filter(|(distance, _, candidate)| *distance <= most && *distance < candidate.chars().count().max(longest))
        .min()
        .map(|(_, _, candidate)| candidate)
}

/// The candidate that a name is surely a misspelling of: one slip away, with no other as near. Short names are near to
/// everything.
pub(crate) fn surely<'n>(name: &str, candidates: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    if name.chars().count() < SHORTEST {
        return None;
    }
    let length = name.chars().count();
    let is_near = |candidate: &&str| candidate.chars().count().abs_diff(length) <= 1 && distance(name, candidate) == 1;
    let mut near = candidates.filter(|candidate| *candidate != name).filter(is_near);
    let first = near.next()?;
    near.all(|other| other == first).then_some(first)
}

/// The number of characters to insert, delete or replace, or to swap with a neighbour
/// (F. J. Damerau 1964, in the variant that edits no substring twice).
fn distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.to_lowercase().chars().take(MAX_LENGTH).collect();
    let b: Vec<char> = b.to_lowercase().chars().take(MAX_LENGTH).collect();
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replaced = above[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = replaced.min(above[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(before[j - 2] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut above, row);
    }
    above[b.len()]
}

/// Names with fewer characters are not surely misspelt.
const SHORTEST: usize = 4;

/// Longer names are compared by their beginnings: nobody mistypes more than that, and the work
/// stays bounded.
const MAX_LENGTH: usize = 64;

#[cfg(test)]
mod tests {
    use super::{closest, surely};

    #[test]
    fn a_misspelt_name_finds_the_one_that_was_meant() {
        let names = ["weights", "bias", "tabulate", "x"];
        let near = |name| closest(name, names.into_iter());
        assert_eq!(near("wieghts"), Some("weights"));
        assert_eq!(near("tabulat"), Some("tabulate"));
        assert_eq!(near("Bias"), Some("bias"));
        assert_eq!(near("momentum"), None);
        assert_eq!(near("y"), None, "one letter says nothing");
    }

    #[test]
    fn one_slip_in_a_long_name_is_surely_one() {
        let names = ["relu", "elu", "selu"];
        assert_eq!(surely("rleu", names.into_iter()), Some("relu"));
        assert_eq!(surely("gelu", names.into_iter()), None, "three names are as near");
        assert_eq!(surely("eul", names.into_iter()), None, "the name is short");
    }
}
