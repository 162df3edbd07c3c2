//! Constant folding and algebraic identities, from the laws of the op table. All are exact to the bit.

use cotan_ir::{Atom, Const, Elem, Prim};
use cotan_ops::{Law, PrimRow};

/// Operands and constants that the primitive equals, element by element. `elems` are the element types of the operands,
/// `result` is that of the result. Whether a candidate has the shape of the result, the caller must ask.
pub(super) fn equals(prim: Prim, args: &[Atom], elems: &[Elem], result: Elem) -> impl Iterator<Item = Atom> {
    let row = cotan_ops::row(prim);
    let t = row.t_of(elems);
    let laws = row.identities.iter().filter(move |i| t.is_some_and(|t| i.on.has(t)));
    folded(row, args).into_iter().chain(laws.filter_map(move |i| by_law(i.law, args, result)))
}

fn folded(row: &'static PrimRow, args: &[Atom]) -> Option<Atom> {
    let constants: Vec<Const> = args.iter().map(|a| a.constant()).collect::<Option<_>>()?;
    // What makes a NaN is left to the run, which can tell where it came from.
    let is_made = |c: &Const| c.as_float().is_some_and(f64::is_nan);
    let any_is_nan = constants.iter().any(is_made);
    row.eval(&constants).ok().filter(|c| any_is_nan || !is_made(c)).map(Atom::Const)
}

fn by_law(law: Law, args: &[Atom], result: Elem) -> Option<Atom> {
    match law {
        Law::Neutral { operand, value, gives } => is_number(args[operand], value).then(|| args[gives]),
        Law::Absorbing { operand, value, result: number } => {
            is_number(args[operand], value).then(|| constant(result, number))
        }
        Law::Idempotent => {
            let (a, b) = (args[args.len() - 2], args[args.len() - 1]);
            (a == b).then_some(a)
        }
        Law::Same(number) => (args[0] == args[1]).then(|| constant(result, number)),
        Law::Commutative | Law::Associative | Law::Involution | Law::Projection => None,
    }
}

fn is_number(a: Atom, value: f64) -> bool {
    a.constant().is_some_and(|c| Atom::Const(c) == constant(c.elem(), value))
}

fn constant(elem: Elem, value: f64) -> Atom {
    let c = match elem {
        Elem::Bool => Const::bool(value != 0.0),
        Elem::F16 | Elem::BF16 | Elem::F32 | Elem::F64 => Const::float(elem, value),
        Elem::I8 | Elem::I16 | Elem::I32 | Elem::I64 | Elem::U8 | Elem::U16 | Elem::U32 | Elem::U64 => {
            Const::integer(elem, value as i128)
        }
    };
    c.into()
}
