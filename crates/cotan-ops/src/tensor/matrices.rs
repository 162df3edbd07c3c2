//! Shapes of operations on matrices: leading axes are a batch, the last two the rows and columns.

use super::Shapes;

/// The batch, rows and columns of operands that are matrices of one float type.
pub(super) fn matrix<'a>(shapes: &Shapes<'a>, operand: usize) -> Result<(&'a [i64], i64, i64), String> {
    let (elem, dims) = shapes.args[operand];
    match dims {
        [batch @ .., m, n] if elem.is_float() && elem == shapes.args[0].0 => Ok((batch, *m, *n)),
        _ => Err(format!("expected matrices of floats as operand {operand}, found {elem} of dims {dims:?}")),
    }
}

/// The batch and the side of an operand that is a square matrix.
pub(super) fn square<'a>(shapes: &Shapes<'a>, operand: usize) -> Result<(&'a [i64], i64), String> {
    match matrix(shapes, operand)? {
        (batch, m, n) if m == n => Ok((batch, n)),
        (_, m, n) => Err(format!("expected a square matrix as operand {operand}, found {m} x {n}")),
    }
}

/// The result has the element type of the first operand, its batch, and these dims after it.
pub(super) fn result(shapes: &Shapes, batch: &[i64], inner: &[i64]) -> Result<(), String> {
    shapes.same_elem()?;
    shapes.result_dims(&[batch, inner].concat())
}

/// The operands have one batch shape.
pub(super) fn same_batch(a: &[i64], b: &[i64]) -> Result<(), String> {
    if a == b { Ok(()) } else { Err(format!("expected batches of one shape, found {a:?} and {b:?}")) }
}

/// The extents of the last two axes.
pub(super) fn last_two(dims: &[i64]) -> (usize, usize) {
    match dims {
        [.., m, n] => (*m as usize, *n as usize),
        _ => (0, 0),
    }
}

/// Whether an element type is one that routines on matrices compute with.
pub(super) const FLOATS: cotan_ir::ElemSet = cotan_ir::ElemSet::FLOAT;

/// Calls a generic routine for the float type that the first operand has.
macro_rules! by_float {
    ($call:expr, |$args:ident, $to:ident| $body:expr) => {{
        let call: &mut $crate::RoutineCall = $call;
        if let $crate::ElementsMut::F32($to) = &mut call.result {
            let $args: Vec<&[f32]> = call.args.iter().filter_map(|array| array.elements.f32s()).collect();
            $body
        } else if let $crate::ElementsMut::F64($to) = &mut call.result {
            let $args: Vec<&[f64]> = call.args.iter().filter_map(|array| array.elements.f64s()).collect();
            $body
        }
    }};
}
pub(super) use by_float;

#[cfg(test)]
mod tests {
    use super::*;
    use cotan_ir::Elem;

    #[test]
    fn what_is_no_square_matrix_is_an_error() {
        let shapes = |dims: &'static [i64]| [(Elem::F64, dims)];
        let of = |args: &[(Elem, &[i64])]| {
            let shapes = Shapes { args, attrs: &[], result: (Elem::F64, &[]) };
            square(&shapes, 0).map(|(batch, n)| (batch.to_vec(), n))
        };
        assert_eq!(of(&shapes(&[5, 3, 3])), Ok((vec![5], 3)));
        assert_eq!(of(&shapes(&[2, 3])), Err("expected a square matrix as operand 0, found 2 x 3".to_owned()));
        assert!(of(&shapes(&[3])).is_err());
    }
}
