//! Algebraic identities and constant folding, from the laws of the op table. All are exact to the bit.

use cotan_ir::{Atom, Const, Elem, Prim, Ty};
use cotan_ops::{Law, PrimRow};

/// An operand or constant that the primitive equals for these operands; `result` is the type of its result.
///
/// A tensor operand of a primitive with a tensor result may stand for it, a constant may not: it has no shape.
pub(super) fn simpler(prim: Prim, args: &[Atom], tys: &[Ty], result: &Ty) -> Option<Atom> {
    let row = cotan_ops::row(prim);
    if let Some(constants) = args.iter().map(|a| a.constant()).collect::<Option<Vec<Const>>>() {
        return row.eval(&constants).ok().map(Atom::Const);
    }
    let laws = row.identities.iter().filter(|i| tys.iter().all(|t| t.elem == Elem::Bool || i.on.has(t.elem)));
    laws.filter_map(|i| by_law(i.law, row, args, tys, result)).find(|a| fits(*a, tys, args, result))
}

/// Whether an operand or constant has the shape of the result.
fn fits(a: Atom, tys: &[Ty], args: &[Atom], result: &Ty) -> bool {
    match a {
        Atom::Const(_) => result.is_scalar(),
        Atom::Var(_) => args.iter().zip(tys).any(|(arg, ty)| *arg == a && ty == result),
    }
}

fn by_law(law: Law, row: &PrimRow, args: &[Atom], tys: &[Ty], result: &Ty) -> Option<Atom> {
    match law {
        Law::Neutral { operand, value, gives } => is_number(args[operand], value).then(|| args[gives]),
        Law::Absorbing { operand, value, result: number } => {
            is_number(args[operand], value).then(|| constant(result.elem, number))
        }
        Law::Idempotent => {
            let (a, b) = (args[row.sig.operands.len() - 2], args[row.sig.operands.len() - 1]);
            (a == b).then_some(a)
        }
        Law::Same(number) => {
            (args.len() == 2 && args[0] == args[1] && tys[0] == tys[1]).then(|| constant(result.elem, number))
        }
        Law::Commutative | Law::Associative | Law::Involution | Law::Projection => None,
    }
}

fn is_number(a: Atom, value: f64) -> bool {
    a.constant().is_some_and(|c| Atom::Const(c) == constant(c.elem(), value))
}

fn constant(elem: Elem, value: f64) -> Atom {
    let c = match elem {
        Elem::Bool => Const::bool(value != 0.0),
        Elem::F32 | Elem::F64 => Const::float(elem, value),
        Elem::I8 | Elem::I16 | Elem::I32 | Elem::I64 | Elem::U8 | Elem::U16 | Elem::U32 | Elem::U64 => {
            Const::integer(elem, value as i128)
        }
    };
    c.into()
}
