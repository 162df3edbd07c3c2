//! `cotan grad`: value and gradient, and the check of a gradient.

use super::certify::{Certified, certified};
use super::check_table;
use crate::args::{GradArgs, GradientEngine, Mode};
use crate::derivative_at::DerivativeAt;
use crate::diagnostics::{self, Failure};
use crate::environment;
use crate::exit;
use crate::look::{Look, norm};
use crate::output;
use crate::terminal;
use cotan::host::{Arguments, HostValue};
use cotan::{
    CallError, DerivativeForm, DerivativeMode, Function, GradientCheck, Subject, check_gradient, codes, tape_gradient,
};

pub(crate) fn run(args: &GradArgs) -> Result<u8, Failure> {
    expect_options_that_go_together(args)?;
    let checker = if args.certify { Some(environment::checker()?) } else { None };
    let point = DerivativeAt::open(&args.derivative, DerivativeForm::ValueAndGrad)?;
    let Gradient { value, gradient, aux } = match args.engine {
        GradientEngine::Vjp => compiled(&point)?,
        GradientEngine::Tape => taped(&point)?,
    };
    let check = if args.check { Some(checked(&point, &gradient, args.tolerance)?) } else { None };
    let certified = checker.map(|checker| certified(&point, &checker)).transpose()?;
    let named: Vec<(String, HostValue)> = point.wrt.iter().cloned().zip(gradient).collect();
    let mut parts = vec![("value", value.clone()), ("grad", output::object(named.clone()))];
    if !aux.is_empty() {
        parts.push(("aux", HostValue::Tuple(aux)));
    }
    let arrays = output::object(parts.clone());
    let sources = &point.session.program.sources;
    if let Some(check) = &check {
        parts.push(("check", check_table::object(check, sources)));
    }
    if let Some(certified) = &certified {
        parts.push(("certificate", certified.object()));
    }
    let judged = check.as_ref().map(|check| check_table::text(check, sources));
    let verdicts = judged.into_iter().chain(certified.as_ref().map(Certified::text)).collect::<String>();
    let json = || output::json(&output::object(parts.clone()));
    // What checks say is no array, so it goes into no file of arrays.
    output::deliver_as(&args.derivative.call, &json, &arrays, || {
        let (look, mut text) = (Look::new(&args.derivative.call), String::new());
        if args.value || args.check {
            text += &look.summary("value", &value);
        }
        for (name, g) in &named {
            text += &look.summary(&format!("gradient of `{name}`"), g);
        }
        if args.check {
            let entries: Vec<f64> = named.iter().flat_map(|(_, g)| g.floats()).collect();
            text += &format!("gradient norm = {}\n", look.number(norm(&entries)));
        }
        text + &verdicts
    })?;
    if args.derivative.call.out.is_some() && !args.derivative.call.json {
        // The file has the gradient; what a check says of it is for whoever asked for one.
        verdicts.lines().for_each(diagnostics::eprint);
    }
    let is_ok = check.is_none_or(|c| c.is_ok()) && certified.as_ref().is_none_or(Certified::is_accepted);
    Ok(if is_ok { exit::DONE } else { exit::PROGRAM })
}

/// Fails where an option asks for what the engine or the mode does not have.
fn expect_options_that_go_together(args: &GradArgs) -> Result<(), Failure> {
    let options = [("--trap-nan", args.derivative.call.engine.trap_nan), ("--certify", args.certify)];
    let given = options.into_iter().find_map(|(option, is_given)| is_given.then_some(option));
    let (needed, wrong) = match (given, args.derivative.mode) {
        (Some(option), _) if args.engine == GradientEngine::Tape => {
            (format!("`{option}` needs the gradient that is compiled from the program"), "--engine tape")
        }
        (_, Some(Mode::Forward)) if args.certify => {
            ("`--certify` needs the gradient in reverse mode".to_owned(), "--mode forward")
        }
        (Some(_) | None, Some(Mode::Forward | Mode::Reverse) | None) => return Ok(()),
    };
    let help = format!("leave out `{wrong}`");
    Err(Failure::plain(exit::USAGE, codes::UNSUPPORTED_OPTION, needed).help(&help))
}

/// What a gradient command finds at a point.
struct Gradient {
    value: HostValue,
    /// One for each parameter.
    gradient: Vec<HostValue>,
    /// What the function gives beside the value that is differentiated.
    aux: Vec<HostValue>,
}

/// Value and gradients by the derivative of the program.
fn compiled(point: &DerivativeAt) -> Result<Gradient, Failure> {
    let result = point.evaluate()?;
    Ok(split(point, result))
}

/// `(value, gradients.., aux..)` taken apart.
fn split(point: &DerivativeAt, result: HostValue) -> Gradient {
    let mut parts = result.into_parts().into_iter();
    let value = parts.next().unwrap_or_else(HostValue::unit);
    let gradient = parts.by_ref().take(point.wrt.len()).collect();
    Gradient { value, gradient, aux: parts.collect() }
}

/// Value and gradients by the tape engine.
fn taped(point: &DerivativeAt) -> Result<Gradient, Failure> {
    let args = point.arguments()?;
    let primal = point.session.lower_to_derive(&point.resolved.primal())?;
    let compiler = &point.session.compiler;
    let (value, gradient) = tape_gradient(&primal, &args, &point.wrt, compiler.memory(), compiler.call_limits())
        .map_err(|e| point.session.call_failure(&point.name, &e))?;
    let HostValue::Tuple(parts) = value else { return Ok(Gradient { value, gradient, aux: Vec::new() }) };
    let mut parts = parts.into_iter();
    let value = parts.next().unwrap_or_else(HostValue::unit);
    Ok(Gradient { value, gradient, aux: parts.collect() })
}

/// Holds the gradient against finite differences and the other mode.
fn checked(point: &DerivativeAt, gradient: &[HostValue], tolerance: Option<f64>) -> Result<GradientCheck, Failure> {
    let session = &point.session;
    let function = point.function()?;
    let args = point.arguments()?;
    let mut other_mode = OtherMode::new(point, &args)?;
    let mut bar = None;
    let subject = Subject {
        function: &function,
        args: &args,
        wrt: &point.wrt,
        gradient,
        other_mode: &mut |tangents| other_mode.along(tangents),
    };
    let check = check_gradient(subject, tolerance, &mut |done, all| {
        bar.get_or_insert_with(|| terminal::bar(all, "finite differences")).set_position(done as u64);
    });
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
    check.map_err(|e| session.call_failure(&point.name, &e))
}

/// The derivative along a direction by the mode that did not make the gradient.
enum OtherMode {
    /// One tangent, called at the point and a direction.
    Forward { function: Box<Function>, args: Arguments, names: Vec<String> },
    /// The gradient by reverse mode.
    Reverse(Vec<f64>),
}

impl OtherMode {
    fn new(point: &DerivativeAt, args: &Arguments) -> Result<OtherMode, Failure> {
        let session = &point.session;
        if point.mode == Some(DerivativeMode::Forward) {
            let request = point.request(DerivativeForm::ValueAndGrad, Some(DerivativeMode::Reverse));
            let result = session.call(&point.name, &session.function(&request)?, &point.raw)?;
            let Gradient { gradient, .. } = split(point, result);
            return Ok(OtherMode::Reverse(gradient.iter().flat_map(HostValue::floats).collect()));
        }
        let function = session.function(&point.request(DerivativeForm::Jvp, None))?;
        let names = point.resolved.directions(function.signature()).into_iter().map(str::to_owned).collect();
        Ok(OtherMode::Forward { function: Box::new(function), args: args.clone(), names })
    }

    fn along(&mut self, tangents: &[HostValue]) -> Result<f64, CallError> {
        match self {
            OtherMode::Forward { function, args, names } => {
                args.extend(names.iter().cloned().zip(tangents.iter().cloned()));
                // The tangent of the value follows the value, each with what the function gives beside it.
                let result = function.call(args)?;
                Ok(result.into_parts().last().and_then(|tangent| tangent.floats().first().copied()).unwrap_or(f64::NAN))
            }
            OtherMode::Reverse(gradient) => {
                let direction = tangents.iter().flat_map(HostValue::floats);
                Ok(gradient.iter().zip(direction).filter(|(_, v)| *v != 0.0).map(|(g, v)| g * v).sum())
            }
        }
    }
}
