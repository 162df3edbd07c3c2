//! `cotan jacobian`: value and Jacobian.

use super::sparse;
use crate::args::{DerivativeArgs, MatrixArgs};
use crate::derivative_at::DerivativeAt;
use crate::diagnostics::Failure;
use crate::exit;
use crate::look::Look;
use crate::output;
use cotan::DerivativeForm;
use cotan::host::HostValue;

pub(crate) fn run(args: &MatrixArgs) -> Result<u8, Failure> {
    let point = DerivativeAt::open(&args.derivative, DerivativeForm::Jacobian)?;
    if args.sparse || args.spy.is_some() {
        return sparse::jacobian(args, &point);
    }
    let value = point.value()?;
    let jacobians = point.parts(point.evaluate()?);
    deliver(&args.derivative, value, "jacobian", "Jacobian", jacobians)
}

/// A value and one matrix of derivatives for each parameter.
pub(super) fn deliver(
    args: &DerivativeArgs,
    value: HostValue,
    key: &str,
    label: &str,
    matrices: Vec<(String, HostValue)>,
) -> Result<u8, Failure> {
    let look = Look::new(&args.call);
    let mut text = look.summary("value", &value);
    for (name, matrix) in &matrices {
        text += &look.summary(&format!("{label} of `{name}`"), matrix);
    }
    output::deliver(&args.call, &output::object([("value", value), (key, output::object(matrices))]), || text)?;
    Ok(exit::DONE)
}
