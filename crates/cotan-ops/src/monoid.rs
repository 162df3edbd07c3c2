//! The operations of monoids as functions on types: for loops over many values, into which they are compiled.

use crate::carrier::Scalar;
use crate::num::Ring;
use crate::scalar::extremes::Extremes;
use cotan_ir::{Elem, Monoid};
use std::ops::{BitAnd, BitOr};

/// What is to be done with the operation of some monoid.
pub trait WithOperation {
    /// What that gives.
    type Output;
    /// Does it, with an operation on values of type `T`.
    fn run<T: Scalar>(self, op: impl Fn(T, T) -> T + Copy) -> Self::Output;
}

/// Does something with the operation of a monoid on values of an element type: that of
/// [`monoid_row`](crate::reduce::monoid_row). `None` if the type has none.
pub fn with_operation<W: WithOperation>(monoid: Monoid, elem: Elem, work: W) -> Option<W::Output> {
    macro_rules! on {
        ($op:path, $($t:ident: $elem:ident)+) => {{
            $(
                if elem == Elem::$elem {
                    return Some(work.run::<$t>($op));
                }
            )+
            None
        }};
    }
    macro_rules! on_numbers {
        ($op:path) => {
            on!($op, f64: F64 f32: F32 i8: I8 i16: I16 i32: I32 i64: I64 u8: U8 u16: U16 u32: U32 u64: U64)
        };
    }
    macro_rules! on_bits {
        ($op:path) => {
            on!($op, bool: Bool i8: I8 i16: I16 i32: I32 i64: I64 u8: U8 u16: U16 u32: U32 u64: U64)
        };
    }
    match monoid {
        Monoid::Add => on_numbers!(Ring::add),
        Monoid::Mul => on_numbers!(Ring::mul),
        Monoid::Max => on_numbers!(Extremes::greater),
        Monoid::Min => on_numbers!(Extremes::smaller),
        Monoid::And => on_bits!(BitAnd::bitand),
        Monoid::Or => on_bits!(BitOr::bitor),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reduce::monoid_row;
    use crate::typed_number;

    struct Apply(u64, u64);

    impl WithOperation for Apply {
        type Output = u64;

        fn run<T: Scalar>(self, op: impl Fn(T, T) -> T + Copy) -> u64 {
            op(T::from_bits(self.0), T::from_bits(self.1)).to_bits()
        }
    }

    #[test]
    fn the_operation_is_that_of_the_row_on_every_type() {
        for monoid in Monoid::ALL {
            let row = monoid_row(monoid);
            for elem in Elem::ALL {
                for (a, b) in [(0.0, 1.0), (1.0, 1.0), (3.0, 2.0), (0.0, -0.0), (-0.0, 0.0)] {
                    let (a, b) = (typed_number(elem, a), typed_number(elem, b));
                    let expected = row.sig.domain.has(elem).then(|| row.eval(&[a, b]).unwrap().bits());
                    assert_eq!(with_operation(monoid, elem, Apply(a.bits(), b.bits())), expected, "{monoid:?} {elem}");
                }
            }
        }
    }
}
