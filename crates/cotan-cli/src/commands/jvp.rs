//! `cotan jvp`: value and tangent.

use crate::args::JvpArgs;
use crate::derivative_at::DerivativeAt;
use crate::diagnostics::Failure;
use crate::exit;
use crate::input;
use crate::look::Look;
use crate::output;
use cotan::host::HostValue;
use cotan::{DerivativeForm, DerivativeMode};

pub(crate) fn run(args: &JvpArgs) -> Result<u8, Failure> {
    let point = DerivativeAt::open(&args.derivative, DerivativeForm::Jvp)?;
    point.expect_mode("jvp", DerivativeMode::Forward)?;
    let tangents = input::read_sources(&args.tangent, &point.wrt[0])?;
    let result = point.evaluate_along(tangents)?;
    let mut parts = result.into_parts().into_iter();
    let mut next = || parts.next().unwrap_or_else(HostValue::unit);
    let (value, tangent) = (next(), next());
    let look = Look::new(&args.derivative.call);
    let text = look.summary("value", &value) + &look.summary("tangent", &tangent);
    output::deliver(&args.derivative.call, &output::object([("value", value), ("tangent", tangent)]), || text)?;
    Ok(exit::DONE)
}
