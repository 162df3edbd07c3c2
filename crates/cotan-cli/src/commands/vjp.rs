//! `cotan vjp`: value and cotangents.

use crate::args::VjpArgs;
use crate::derivative_at::DerivativeAt;
use crate::diagnostics::Failure;
use crate::exit;
use crate::input;
use crate::look::Look;
use crate::output;
use cotan::host::{Const, HostType, HostValue};
use cotan::{DerivativeForm, DerivativeMode};

/// The name of the cotangent among the parameters of the derivative.
const COTANGENT: &str = "cotangent";

pub(crate) fn run(args: &VjpArgs) -> Result<u8, Failure> {
    let point = DerivativeAt::open(&args.derivative, DerivativeForm::Vjp)?;
    point.expect_mode("vjp", DerivativeMode::Reverse)?;
    let function = point.derivative()?;
    // The last parameter, whatever it is called.
    let directions = point.resolved.directions(function.signature());
    let name = directions.last().copied().unwrap_or(COTANGENT).to_owned();
    let mut raw = point.raw.clone();
    raw.absorb(
        input::read_sources(&args.cotangent, COTANGENT)?,
        |given| {
            if given == COTANGENT { name.clone() } else { given }
        },
    );
    match (&point.resolved.function.result, raw.has(&name)) {
        (HostType::Scalar(elem), false) if elem.is_float() => {
            raw.insert(&name, HostValue::Scalar(Const::number(*elem, 1)));
        }
        (_, _) => {}
    }
    let result = point.session.call(&point.name, &function, &raw)?;
    let mut cotangents = result.into_parts().into_iter();
    let value = cotangents.next().unwrap_or_else(HostValue::unit);
    let named: Vec<(String, HostValue)> = point.wrt.iter().cloned().zip(cotangents).collect();
    let look = Look::new(&args.derivative.call);
    let mut text = look.summary("value", &value);
    for (name, cotangent) in &named {
        text += &look.summary(&format!("cotangent of `{name}`"), cotangent);
    }
    let object = output::object([("value", value), (COTANGENT, output::object(named))]);
    output::deliver(&args.derivative.call, &object, || text)?;
    Ok(exit::DONE)
}
