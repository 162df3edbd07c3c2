//! Programs that compute the same by other statements.

use super::Verdict;
use super::comparison::same_bits;
use super::engines::close_all;
use crate::derived_case::{Case, Subject};
use crate::generate::source::Program;
use crate::tier;
use crate::tolerances::Property;
use cotan_ops::Value;

/// How a variant compares with the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Agreement {
    /// In every bit.
    Bits,
    /// Up to rounding: products and sums contract across what was a border.
    Rounding,
}

/// Dead code, other names, loops written out, and functions of elements in place of whole vectors change neither
/// values nor derivatives. Two of the four, by the program's name; all in the campaign.
pub fn metamorphic(case: &Case) -> Verdict {
    let Some(generated) = &case.subject.source else {
        return Verdict::Unusable("not made from source".to_owned());
    };
    let program = &generated.program;
    let variants = [
        ("with dead code", program.with_dead_code(), Agreement::Bits),
        ("renamed", program.renamed(), Agreement::Bits),
        ("unrolled", program.unrolled(), Agreement::Rounding),
        ("scalarised", program.scalarised(), Agreement::Rounding),
    ];
    Verdict::of((|| {
        let cotangents = case.run_vjp()?.1;
        for k in tier::chosen(&[0, 1, 2, 3], 2, &case.subject.label) {
            let (what, variant, agreement) = &variants[k];
            if variant != program {
                let other = derived(case, variant).map_err(|e| format!("{what}: {e}"))?;
                agree(&other.results, &case.results, *agreement, case, &format!("value {what}"))?;
                agree(&other.run_vjp()?.1, &cotangents, *agreement, case, &format!("gradient {what}"))?;
            }
        }
        Ok(())
    })())
}

/// The case of a variant of the program.
fn derived(case: &Case, variant: &Program) -> Result<Case, String> {
    let Some(generated) = &case.subject.source else { return Err("not made from source".to_owned()) };
    let (entry, module) = generated.lowered(variant)?;
    let args = generated.arguments_for(&entry)?;
    Case::new(Subject { module, name: entry.symbol, args, ..case.subject.clone() })
}

fn agree(found: &[Value], expected: &[Value], agreement: Agreement, case: &Case, what: &str) -> Result<(), String> {
    match agreement {
        Agreement::Bits => same_bits(found, expected, what),
        Agreement::Rounding => close_all(found, expected, Property::Rewritten, case, what),
    }
}
