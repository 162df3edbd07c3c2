//! The functions that terms are made of: known over the real numbers, and with a stand-in over the residues modulo a prime.
//!
//! The first is what proofs speak of. The second lets whole programs and their derivatives be run exactly. That reverse
//! mode is the adjoint of forward mode holds whatever the functions are, so on residues a function that is no ring
//! operation may be any fixed one, as long as all engines have the same: a cubic polynomial, another one for each.
//! Comparisons are those of the representatives.

use crate::num::Ring;
use crate::{Kernel, Mod61, Scalar};

/// The functions that terms are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are those of the rows, which are documented")]
pub enum Known {
    Add,
    Sub,
    Mul,
    Div,
    Neg,
    Exp,
    Log,
    Sqrt,
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Sinh,
    Cosh,
    Tanh,
    Erf,
    Floor,
    /// The real power of a positive number.
    Power,
    /// The whole power.
    PowerInt,
    LogGamma,
    Digamma,
    Polygamma,
    Less,
    AtMost,
    Equal,
    And,
    Or,
    Not,
    Select,
}

impl Known {
    /// What stands for the function on residues.
    pub(crate) fn in_field(self) -> Kernel {
        match self {
            Known::Add => |a| residue(a[0]).add(residue(a[1])).to_bits(),
            Known::Sub => |a| residue(a[0]).sub(residue(a[1])).to_bits(),
            Known::Mul => |a| residue(a[0]).mul(residue(a[1])).to_bits(),
            Known::Div => |a| residue(a[0]).div(residue(a[1])).to_bits(),
            Known::Neg => |a| residue(a[0]).neg().to_bits(),
            Known::Exp => cubic::<1>,
            Known::Log => cubic::<2>,
            Known::Sqrt => cubic::<3>,
            Known::Sin => cubic::<4>,
            Known::Cos => cubic::<5>,
            Known::Tan => cubic::<6>,
            Known::Asin => cubic::<7>,
            Known::Acos => cubic::<8>,
            Known::Atan => cubic::<9>,
            Known::Sinh => cubic::<10>,
            Known::Cosh => cubic::<11>,
            Known::Tanh => cubic::<12>,
            Known::Erf => cubic::<13>,
            Known::Floor => cubic::<14>,
            Known::Power => |a| residue(a[0]).fma(residue(a[1]), residue(a[0])).add(Mod61::ONE).to_bits(),
            Known::PowerInt => |a| {
                let power = residue(a[0]).power((a[1] as i64).unsigned_abs());
                if (a[1] as i64) < 0 { power.inverse().to_bits() } else { power.to_bits() }
            },
            Known::LogGamma => |a| gamma(-1, a[0]),
            Known::Digamma => |a| gamma(0, a[0]),
            Known::Polygamma => |a| gamma(a[1] as i64, a[0]),
            Known::Less => |a| (a[0] < a[1]).into(),
            Known::AtMost => |a| (a[0] <= a[1]).into(),
            Known::Equal => |a| (a[0] == a[1]).into(),
            Known::And => |a| a[0] & a[1],
            Known::Or => |a| a[0] | a[1],
            Known::Not => |a| (a[0] == 0).into(),
            Known::Select => |a| if a[0] != 0 { a[1] } else { a[2] },
        }
    }
}

fn residue(bits: u64) -> Mod61 {
    Mod61::from_bits(bits)
}

/// `x (x^2 + n + 1) + n`.
fn cubic<const N: u64>(operands: &[u64]) -> u64 {
    cubic_of(N.into(), operands[0])
}

fn cubic_of(n: i128, x: u64) -> u64 {
    let x = residue(x);
    x.mul(x.mul(x).add(Mod61::new(n + 1))).add(Mod61::new(n)).to_bits()
}

/// The members of the gamma family follow the other functions.
fn gamma(order: i64, x: u64) -> u64 {
    cubic_of(16 + i128::from(order), x)
}
