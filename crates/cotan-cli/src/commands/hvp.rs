//! `cotan hvp`: value and the product of the Hessian with a direction.

use super::jacobian::deliver;
use crate::args::JvpArgs;
use crate::derivative_at::DerivativeAt;
use crate::diagnostics::Failure;
use crate::input;
use cotan::DerivativeForm;

pub(crate) fn run(args: &JvpArgs) -> Result<u8, Failure> {
    let point = DerivativeAt::open(&args.derivative, DerivativeForm::Hvp)?;
    let value = point.value()?;
    let tangents = input::read_sources(&args.tangent, &point.wrt[0])?;
    let products = point.parts(point.evaluate_along(tangents)?);
    deliver(&args.derivative, value, "hvp", "Hessian product", products)
}
