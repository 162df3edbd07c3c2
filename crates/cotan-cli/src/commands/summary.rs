//! Values as text for people: type, norm, the first entries.

use cotan::host::HostValue;

/// More entries than this are cut.
const SHOWN: usize = 8;

/// A line with the value if it is a scalar; else type and norm, and a line with the first entries.
pub(crate) fn summary(label: &str, value: &HostValue) -> String {
    if value.as_scalar().is_some() {
        return format!("{label} = {}\n", crate::output::json(value));
    }
    let entries = value.floats();
    if entries.is_empty() {
        return format!("{label}: {}\n", crate::output::json(value));
    }
    let mut shown: Vec<String> = Vec::new();
    value.each_scalar(&mut |c| {
        if shown.len() < SHOWN && c.elem().is_float() {
            shown.push(crate::output::json(&HostValue::Scalar(c)));
        }
    });
    let more = if entries.len() > SHOWN { format!(" ... {} more", entries.len() - SHOWN) } else { String::new() };
    format!("{label}: {}, norm {}\n  {}{more}\n", value.describe(), norm(&entries), shown.join(" "))
}

/// The 2-norm, scaled so that large entries do not overflow.
pub(crate) fn norm(entries: &[f64]) -> f64 {
    let largest = entries.iter().fold(0.0, |m: f64, x| if x.abs() > m || x.is_nan() { x.abs() } else { m });
    if largest == 0.0 || !largest.is_finite() {
        return largest;
    }
    // A power of two: the scaling itself rounds nothing.
    let scale = largest.log2().floor().exp2();
    scale * entries.iter().map(|x| (x / scale).powi(2)).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_values_are_cut() {
        let entries: Vec<f64> = (0..10).map(f64::from).collect();
        let text = summary("gradient of w", &HostValue::f64s(&[2, 5], &entries));
        assert_eq!(
            text,
            "gradient of w: f64[2, 5], norm 16.881943016134134\n  0.0 1.0 2.0 3.0 4.0 5.0 6.0 7.0 ... 2 more\n"
        );
    }

    #[test]
    fn scalars_take_one_line() {
        assert_eq!(summary("value", &HostValue::f64(2.0)), "value = 2.0\n");
    }

    #[test]
    fn norms_neither_overflow_nor_hide_nan() {
        let huge = 600f64.exp2();
        assert_eq!(norm(&[3.0 * huge, 4.0 * huge]), 5.0 * huge);
        assert_eq!(norm(&[]), 0.0);
        assert!(norm(&[1.0, f64::NAN]).is_nan());
    }
}
