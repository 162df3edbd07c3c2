//! `cotan hessian`: value and Hessian; of several parameters one block for each pair.

use super::jacobian::deliver;
use super::sparse;
use crate::args::MatrixArgs;
use crate::derivative_at::DerivativeAt;
use crate::diagnostics::Failure;
use crate::output;
use cotan::DerivativeForm;

pub(crate) fn run(args: &MatrixArgs) -> Result<u8, Failure> {
    let point = DerivativeAt::open(&args.derivative, DerivativeForm::Hessian)?;
    if args.sparse || args.spy.is_some() {
        return sparse::hessian(args, &point);
    }
    let value = point.value()?;
    let mut blocks = point.parts(point.evaluate()?);
    if point.wrt.len() > 1 {
        for (_, row) in &mut blocks {
            *row = output::object(point.parts(row.clone()));
        }
    }
    deliver(&args.derivative, value, "hessian", "Hessian", blocks)
}
