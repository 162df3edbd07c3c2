//! The two tiers of the tests: what runs each time, and the campaign, `cargo xtask test --campaign`, which runs all of it.
//!
//! What rotates is spread over programs by a hash of their names, so that each of its forms occurs each time.

/// Whether everything is asked for.
pub fn is_campaign() -> bool {
    std::env::var_os("COTAN_CAMPAIGN").is_some()
}

/// The hash of a name (64-bit FNV-1a, and the final mixing of SplitMix64): the same on every machine and in every version.
pub fn hash(name: &str) -> u64 {
    let fnv = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let mut hash = name.bytes().fold(0xcbf2_9ce4_8422_2325, fnv);
    hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}

/// `n` of the forms, those of a name, in an order that depends on it; all of them in the campaign.
pub fn chosen<T: Copy>(forms: &[T], n: usize, name: &str) -> Vec<T> {
    let (start, all) = (hash(name) as usize % forms.len().max(1), forms.len());
    let n = if is_campaign() { all } else { n.min(all) };
    (0..n).map(|k| forms[(start + k) % all]).collect()
}

/// Whether a name is in the part, one of `of`, that runs each time; every name is in the campaign.
pub fn takes(name: &str, of: u64) -> bool {
    is_campaign() || hash(name).is_multiple_of(of)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_forms_of_many_names_are_all_forms_about_equally_often() {
        let mut counts = [0; 7];
        for k in 0..700 {
            for form in chosen(&[0, 1, 2, 3, 4, 5, 6], 2, &format!("loops/program_{k}.cot")) {
                counts[form] += 1;
            }
        }
        assert!(is_campaign() || counts.iter().all(|n| (150..250).contains(n)), "{counts:?}");
    }
}
