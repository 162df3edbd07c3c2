//! Comparisons, logic and choice.
//!
//! `eq ne lt le gt ge` are IEEE comparisons (a NaN is unequal to everything) and give `bool`. `and or xor not` work on
//! truth values and on the bits of integers. `select(a0, a1, a2)` is `a1` where `a0` holds and `a2` elsewhere; both
//! are values already, so it chooses between results, not between computations.

use crate::formula::{INF, term};
use crate::kernel::kernels;
use crate::num::Num;
use crate::row::{Codegen, Group, Identity, Kinks, Law, Partial, Proof, Sample};
use crate::signature::{BINARY, CHOICE, UNARY, giving, same};
use crate::{ABS, Instruction, Known, PrimRow, RealDenotation, Word, WordElems};
use cotan_ir::{Elem, ElemSet};

const ANY: ElemSet = ElemSet::ANY;
const BITS: ElemSet = ElemSet::INTEGER.or(ElemSet::BOOL);
const FLAT: Partial = Partial::zero("a truth value is piecewise constant");
const DISCRETE: Partial = Partial::zero("integers and truth values carry no derivative");
const WIDE: Sample = Sample::Span(-3.0, 3.0);
const WHOLE: Sample = Sample::Whole(-3, 3);

macro_rules! comparison {
    ($row:ident, $name:literal, $instruction:ident, $operator:tt, $denotation:expr, $doc:literal, $same:expr) => {
        #[doc = $doc]
        pub static $row: PrimRow = PrimRow {
            sig: giving(&$row, $name, BINARY, ElemSet::ORDERED, Elem::Bool),
            group: Group::Comparison,
            doc: $doc,
            words: &[],
            kernels: {
                fn compare<S: PartialOrd>(x: S, y: S) -> bool {
                    x $operator y
                }
                kernels!(compare, (T, T) on ordered)
            },
            denotation: $denotation,
            codegen: Codegen::Native(Instruction::$instruction),
            fits: None,
            partials: &[FLAT, FLAT],
            kinks: Kinks::Flat,
            domain: &[],
            samples: &[WIDE, WIDE],
            expressions: &[],
            identities: &[Identity { on: BITS, law: Law::Same($same) }],
            edge_points: &[],
            proof: Proof::Nothing,
        };
    };
}

comparison!(EQ, "eq", Eq, ==, RealDenotation::Known(Known::Equal), "Whether `a0` equals `a1`.", 1.0);
comparison!(NE, "ne", Ne, !=, RealDenotation::Term(term!(!(a0 == a1))), "Whether `a0` differs from `a1`.", 0.0);
comparison!(LT, "lt", Lt, <, RealDenotation::Known(Known::Less), "Whether `a0` is less than `a1`.", 0.0);
comparison!(LE, "le", Le, <=, RealDenotation::Known(Known::AtMost), "Whether `a0` is at most `a1`.", 1.0);
comparison!(GT, "gt", Gt, >, RealDenotation::Term(term!(a1 < a0)), "Whether `a0` is greater than `a1`.", 0.0);
comparison!(GE, "ge", Ge, >=, RealDenotation::Term(term!(a1 <= a0)), "Whether `a0` is at least `a1`.", 1.0);

/// Logical and, bit by bit on integers.
pub static AND: PrimRow = PrimRow {
    sig: same(&AND, "and", BINARY, BITS),
    group: Group::Logic,
    doc: "Logical and, bit by bit on integers.",
    words: &[Word::new("bit_and", WordElems::Integer)],
    kernels: {
        fn and_bits<S: std::ops::BitAnd<Output = S>>(x: S, y: S) -> S {
            x & y
        }
        kernels!(and_bits, (T, T) on bits)
    },
    denotation: RealDenotation::Known(Known::And),
    codegen: Codegen::Native(Instruction::And),
    fits: None,
    partials: &[DISCRETE, DISCRETE],
    kinks: Kinks::Flat,
    domain: &[],
    samples: &[WHOLE, WHOLE],
    expressions: &[],
    identities: &[
        Identity { on: BITS, law: Law::Commutative },
        Identity { on: BITS, law: Law::Associative },
        Identity { on: BITS, law: Law::Idempotent },
        Identity { on: ElemSet::BOOL, law: Law::Neutral { operand: 0, value: 1.0, gives: 1 } },
        Identity { on: ElemSet::BOOL, law: Law::Neutral { operand: 1, value: 1.0, gives: 0 } },
        Identity { on: BITS, law: Law::Absorbing { operand: 0, value: 0.0, result: 0.0 } },
        Identity { on: BITS, law: Law::Absorbing { operand: 1, value: 0.0, result: 0.0 } },
    ],
    edge_points: &[],
    proof: Proof::Nothing,
};

/// Logical or, bit by bit on integers.
pub static OR: PrimRow = PrimRow {
    sig: same(&OR, "or", BINARY, BITS),
    group: Group::Logic,
    doc: "Logical or, bit by bit on integers.",
    words: &[Word::new("bit_or", WordElems::Integer)],
    kernels: {
        fn or_bits<S: std::ops::BitOr<Output = S>>(x: S, y: S) -> S {
            x | y
        }
        kernels!(or_bits, (T, T) on bits)
    },
    denotation: RealDenotation::Known(Known::Or),
    codegen: Codegen::Native(Instruction::Or),
    fits: None,
    partials: &[DISCRETE, DISCRETE],
    kinks: Kinks::Flat,
    domain: &[],
    samples: &[WHOLE, WHOLE],
    expressions: &[],
    identities: &[
        Identity { on: BITS, law: Law::Commutative },
        Identity { on: BITS, law: Law::Associative },
        Identity { on: BITS, law: Law::Idempotent },
        Identity { on: BITS, law: Law::Neutral { operand: 0, value: 0.0, gives: 1 } },
        Identity { on: BITS, law: Law::Neutral { operand: 1, value: 0.0, gives: 0 } },
        Identity { on: ElemSet::BOOL, law: Law::Absorbing { operand: 0, value: 1.0, result: 1.0 } },
        Identity { on: ElemSet::BOOL, law: Law::Absorbing { operand: 1, value: 1.0, result: 1.0 } },
    ],
    edge_points: &[],
    proof: Proof::Nothing,
};

/// Exclusive or, bit by bit on integers.
pub static XOR: PrimRow = PrimRow {
    sig: same(&XOR, "xor", BINARY, BITS),
    group: Group::Logic,
    doc: "Exclusive or, bit by bit on integers.",
    words: &[Word::new("bit_xor", WordElems::Integer)],
    kernels: {
        fn xor_bits<S: std::ops::BitXor<Output = S>>(x: S, y: S) -> S {
            x ^ y
        }
        kernels!(xor_bits, (T, T) on bits)
    },
    denotation: RealDenotation::Other,
    codegen: Codegen::Native(Instruction::Xor),
    fits: None,
    partials: &[DISCRETE, DISCRETE],
    kinks: Kinks::Flat,
    domain: &[],
    samples: &[WHOLE, WHOLE],
    expressions: &[],
    identities: &[
        Identity { on: BITS, law: Law::Commutative },
        Identity { on: BITS, law: Law::Associative },
        Identity { on: BITS, law: Law::Neutral { operand: 0, value: 0.0, gives: 1 } },
        Identity { on: BITS, law: Law::Neutral { operand: 1, value: 0.0, gives: 0 } },
        Identity { on: BITS, law: Law::Same(0.0) },
    ],
    edge_points: &[],
    proof: Proof::Nothing,
};

/// Logical negation, bit by bit on integers.
pub static NOT: PrimRow = PrimRow {
    sig: same(&NOT, "not", UNARY, BITS),
    group: Group::Logic,
    doc: "Logical negation, bit by bit on integers.",
    words: &[],
    kernels: kernels!(std::ops::Not::not, (T) on bits),
    denotation: RealDenotation::Known(Known::Not),
    codegen: Codegen::Native(Instruction::Not),
    fits: None,
    partials: &[DISCRETE],
    kinks: Kinks::Flat,
    domain: &[],
    samples: &[WHOLE],
    expressions: &[],
    identities: &[Identity { on: BITS, law: Law::Involution }],
    edge_points: &[],
    proof: Proof::Nothing,
};

/// Choice between two values.
pub static SELECT: PrimRow = PrimRow {
    sig: same(&SELECT, "select", CHOICE, ANY),
    group: Group::Logic,
    doc: "`a1` where `a0` holds, else `a2`.",
    words: &[Word::new("select", WordElems::Any), Word::new("where", WordElems::Any)],
    kernels: {
        fn select<S>(condition: bool, x: S, y: S) -> S {
            if condition { x } else { y }
        }
        kernels!(select, (bool, T, T) on any)
    },
    denotation: RealDenotation::Known(Known::Select),
    codegen: Codegen::Native(Instruction::Select),
    fits: None,
    partials: &[DISCRETE, Partial::term(term!(if a0 { 1 } else { 0 })), Partial::term(term!(if a0 { 0 } else { 1 }))],
    kinks: Kinks::Smooth,
    domain: &[],
    samples: &[Sample::Truth, WIDE, WIDE],
    expressions: &["select(_ < $, _, 0.5 * $)"],
    identities: &[
        Identity { on: ANY, law: Law::Neutral { operand: 0, value: 1.0, gives: 1 } },
        Identity { on: ANY, law: Law::Neutral { operand: 0, value: 0.0, gives: 2 } },
        Identity { on: ANY, law: Law::Idempotent },
    ],
    edge_points: &[],
    proof: Proof::Proved,
};

/// Whether a float is NaN.
pub static ISNAN: PrimRow = PrimRow {
    sig: giving(&ISNAN, "isnan", UNARY, ElemSet::FLOAT, Elem::Bool),
    group: Group::Comparison,
    doc: "Whether `a0` is not a number.",
    words: &[Word::new("isnan", WordElems::Float)],
    kernels: kernels!(Num::is_nan, (T) on float),
    denotation: RealDenotation::Always(false),
    codegen: Codegen::Native(Instruction::IsNan),
    fits: None,
    partials: &[FLAT],
    kinks: Kinks::Flat,
    domain: &[],
    samples: &[WIDE],
    expressions: &[],
    identities: &[],
    edge_points: &[],
    proof: Proof::Nothing,
};

/// Whether a float is neither infinite nor NaN.
pub static ISFINITE: PrimRow = PrimRow {
    sig: giving(&ISFINITE, "isfinite", UNARY, ElemSet::FLOAT, Elem::Bool),
    group: Group::Comparison,
    doc: "Whether `a0` is neither infinite nor NaN.",
    words: &[Word::new("isfinite", WordElems::Float)],
    kernels: {
        fn is_finite<S: Num>(x: S) -> bool {
            x.abs().to_f64() < f64::INFINITY
        }
        kernels!(is_finite, (T) on float)
    },
    denotation: RealDenotation::Always(true),
    codegen: Codegen::Term(term!(ABS(a0) < INF)),
    fits: None,
    partials: &[FLAT],
    kinks: Kinks::Flat,
    domain: &[],
    samples: &[WIDE],
    expressions: &[],
    identities: &[],
    edge_points: &[],
    proof: Proof::Nothing,
};

/// The rows of this file, in the order of the reference.
pub(crate) static ROWS: &[&PrimRow] =
    &[&AND, &OR, &XOR, &NOT, &SELECT, &ISNAN, &ISFINITE, &EQ, &NE, &LT, &LE, &GT, &GE];
