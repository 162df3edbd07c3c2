//! Elements in their native width: slices of the machine's numbers, one kind for each.
//!
//! A [`Value`](crate::Value) has a word for every element; routines, and arrays that a host lends, have these.

use cotan_ir::Elem;

/// Defines the kinds of elements: those that are read, those that are written, and those of a value.
macro_rules! elements {
    ($($kind:ident $number:ident: $($elem:ident)|+,)*) => {
        /// Elements that are read, as they lie in memory: `bool` as bytes, floats of 16 bits as their bits.
        #[derive(Clone, Copy, Debug)]
        #[expect(missing_docs, reason = "the names are those of the element types")]
        pub enum Elements<'a> {
            $($kind(&'a [$number]),)*
        }

        /// Elements that are written.
        #[derive(Debug)]
        #[expect(missing_docs, reason = "the names are those of the element types")]
        pub enum ElementsMut<'a> {
            $($kind(&'a mut [$number]),)*
        }

        $(
            impl<'a> From<&'a [$number]> for Elements<'a> {
                fn from(elements: &'a [$number]) -> Elements<'a> {
                    Elements::$kind(elements)
                }
            }

            impl<'a> From<&'a mut [$number]> for ElementsMut<'a> {
                fn from(elements: &'a mut [$number]) -> ElementsMut<'a> {
                    ElementsMut::$kind(elements)
                }
            }
        )*

        impl Elements<'_> {
            /// The number of elements.
            pub fn len(&self) -> usize {
                match self {
                    $(Elements::$kind(x) => x.len(),)*
                }
            }

            /// Where they lie.
            pub fn as_ptr(&self) -> *const u8 {
                match self {
                    $(Elements::$kind(x) => x.as_ptr().cast(),)*
                }
            }

            /// Whether they may be of an element type.
            pub(crate) fn are(&self, elem: Elem) -> bool {
                match self {
                    $(Elements::$kind(_) => matches!(elem, $(Elem::$elem)|+),)*
                }
            }

            /// The bits of one of them.
            pub(crate) fn word(&self, k: usize) -> Option<u64> {
                match self {
                    $(Elements::$kind(x) => x.get(k).map(|x| x.bits()),)*
                }
            }

            /// Adds their bits, a word for each.
            pub(crate) fn widen(&self, bits: &mut Vec<u64>) {
                match self {
                    $(Elements::$kind(x) => bits.extend(x.iter().map(|x| x.bits())),)*
                }
            }
        }

        impl ElementsMut<'_> {
            /// Where they lie.
            pub fn as_mut_ptr(&mut self) -> *mut u8 {
                match self {
                    $(ElementsMut::$kind(x) => x.as_mut_ptr().cast(),)*
                }
            }

            /// The same elements, for reading.
            pub fn as_ref(&self) -> Elements<'_> {
                match self {
                    $(ElementsMut::$kind(x) => Elements::$kind(x),)*
                }
            }

            /// The same elements, for a shorter time.
            pub(crate) fn reborrow(&mut self) -> ElementsMut<'_> {
                match self {
                    $(ElementsMut::$kind(x) => ElementsMut::$kind(x),)*
                }
            }

            /// Writes elements whose bits have a word each.
            pub(crate) fn narrow(&mut self, bits: &[u64]) {
                match self {
                    $(ElementsMut::$kind(x) => x.iter_mut().zip(bits).for_each(|(x, b)| *x = $number::of_bits(*b)),)*
                }
            }
        }

        /// Elements of a value.
        pub(crate) enum Owned {
            $($kind(Vec<$number>),)*
        }

        impl Owned {
            pub(crate) fn of(elem: Elem, bits: &[u64]) -> Owned {
                match elem {
                    $($(Elem::$elem)|+ => Owned::$kind(bits.iter().map(|b| $number::of_bits(*b)).collect()),)*
                }
            }

            pub(crate) fn copy_of(elements: Elements<'_>) -> Owned {
                match elements {
                    $(Elements::$kind(x) => Owned::$kind(x.to_vec()),)*
                }
            }

            /// Room for as many elements.
            pub(crate) fn like(elements: &ElementsMut<'_>) -> Owned {
                match elements {
                    $(ElementsMut::$kind(x) => Owned::$kind(vec![$number::default(); x.len()]),)*
                }
            }

            /// Writes the elements to others of the same kind and number.
            pub(crate) fn copy_to(&self, to: &mut ElementsMut<'_>) -> bool {
                match (self, to) {
                    $((Owned::$kind(x), ElementsMut::$kind(to)) if x.len() == to.len() => {
                        to.copy_from_slice(x);
                        true
                    })*
                    (_, _) => false,
                }
            }

            pub(crate) fn elements(&self) -> Elements<'_> {
                match self {
                    $(Owned::$kind(x) => Elements::$kind(x),)*
                }
            }

            pub(crate) fn elements_mut(&mut self) -> ElementsMut<'_> {
                match self {
                    $(Owned::$kind(x) => ElementsMut::$kind(x),)*
                }
            }

            pub(crate) fn bits(&self) -> Vec<u64> {
                match self {
                    $(Owned::$kind(x) => x.iter().map(|x| x.bits()).collect(),)*
                }
            }
        }
    };
}

elements! {
    F32 f32: F32,
    F64 f64: F64,
    I8 i8: I8,
    I16 i16: I16,
    I32 i32: I32,
    I64 i64: I64,
    U8 u8: U8 | Bool,
    U16 u16: U16 | F16 | BF16,
    U32 u32: U32,
    U64 u64: U64,
}

impl<'a> Elements<'a> {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The elements, if they are `f32`.
    pub fn f32s(self) -> Option<&'a [f32]> {
        if let Elements::F32(x) = self { Some(x) } else { None }
    }

    /// The elements, if they are `f64`.
    pub fn f64s(self) -> Option<&'a [f64]> {
        if let Elements::F64(x) = self { Some(x) } else { None }
    }
}

/// A number of the machine, of which values hold the bits.
trait Number: Copy {
    fn of_bits(bits: u64) -> Self;
    fn bits(self) -> u64;
}

impl Number for f32 {
    fn of_bits(bits: u64) -> f32 {
        f32::from_bits(bits as u32)
    }

    fn bits(self) -> u64 {
        self.to_bits().into()
    }
}

impl Number for f64 {
    fn of_bits(bits: u64) -> f64 {
        f64::from_bits(bits)
    }

    fn bits(self) -> u64 {
        self.to_bits()
    }
}

/// Integers: values hold them with their sign in all bits.
macro_rules! integers {
    ($($int:ident)*) => {$(
        impl Number for $int {
            fn of_bits(bits: u64) -> $int {
                bits as $int
            }

            fn bits(self) -> u64 {
                self as u64
            }
        }
    )*};
}
integers!(i8 i16 i32 i64 u8 u16 u32 u64);
