//! Evaluators: one generic function per primitive, instantiated for every type that the primitive is defined on.
//!
//! A kernel works on the bits of [`cotan_ir::Const`], so that all of them have one Rust type. It is chosen once per
//! statement and then called once per element.

/// An evaluator for fixed types: bits of the operands to bits of the result.
pub type Kernel = fn(&[u64]) -> u64;

/// The next operand of a kernel.
pub(crate) fn next(args: &mut impl Iterator<Item = u64>) -> u64 {
    args.next().expect("invariant: a kernel is called with as many operands as its signature has")
}

/// `kernels!(f(T, i64) on float)`: the kernels of `f::<T>` for every `T` of a group of types. `kernels!(f(i64, i64))`:
/// that of an `f` that is not generic.
macro_rules! kernels {
    (@call $f:path, ($($a:ty),+), $args:ident) => {{
        let mut args = $args.iter().copied();
        let result = $f($(<$a as $crate::Scalar>::from_bits($crate::kernel::next(&mut args))),+);
        $crate::Scalar::to_bits(result)
    }};
    (@list $f:path, $operands:tt, [$($t:ty),+]) => {{
        fn choose(carrier: $crate::Carrier) -> Option<$crate::Kernel> {
            $(
                if carrier == <$t as $crate::Scalar>::CARRIER {
                    fn kernel(args: &[u64]) -> u64 {
                        type T = $t;
                        $crate::kernel::kernels!(@call $f, $operands, args)
                    }
                    return Some(kernel);
                }
            )+
            None
        }
        choose
    }};
    ($f:path, $operands:tt on float) => { $crate::kernel::kernels!(@list $f, $operands, [f32, f64]) };
    ($f:path, $operands:tt on field) => { $crate::kernel::kernels!(@list $f, $operands, [f32, f64, $crate::Mod61]) };
    ($f:path, $operands:tt on integer) => {
        $crate::kernel::kernels!(@list $f, $operands, [i8, i16, i32, i64, u8, u16, u32, u64])
    };
    ($f:path, $operands:tt on numeric) => {
        $crate::kernel::kernels!(@list $f, $operands, [f32, f64, i8, i16, i32, i64, u8, u16, u32, u64])
    };
    ($f:path, $operands:tt on ring) => {
        $crate::kernel::kernels!(@list $f, $operands, [f32, f64, i8, i16, i32, i64, u8, u16, u32, u64, $crate::Mod61])
    };
    ($f:path, $operands:tt on any) => {
        $crate::kernel::kernels!(
            @list $f, $operands,
            [f32, f64, i8, i16, i32, i64, u8, u16, u32, u64, bool, $crate::storage::F16, $crate::storage::BF16, $crate::Mod61]
        )
    };
    ($f:path, $operands:tt on stored) => {
        $crate::kernel::kernels!(
            @list $f, $operands,
            [f32, f64, i8, i16, i32, i64, u8, u16, u32, u64, bool, $crate::storage::F16, $crate::storage::BF16]
        )
    };
    ($f:path, $operands:tt on ordered) => {
        $crate::kernel::kernels!(@list $f, $operands, [f32, f64, i8, i16, i32, i64, u8, u16, u32, u64, bool])
    };
    ($f:path, $operands:tt on bits) => {
        $crate::kernel::kernels!(@list $f, $operands, [i8, i16, i32, i64, u8, u16, u32, u64, bool])
    };
    ($f:path, $operands:tt) => {{
        fn choose(_: $crate::Carrier) -> Option<$crate::Kernel> {
            fn kernel(args: &[u64]) -> u64 {
                $crate::kernel::kernels!(@call $f, $operands, args)
            }
            Some(kernel)
        }
        choose
    }};
}
pub(crate) use kernels;
