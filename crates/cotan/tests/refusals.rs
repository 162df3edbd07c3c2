//! A device that refuses: for every step that a driver may refuse there is an error, nothing of the device's memory is left
//! behind, and the next call works. Where there is no device, the tests say so.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::vulkan::compiler;
use cotan::host::{Arguments, HostValue};
use cotan::resident::DeviceArguments;
use cotan::vulkan::{DeviceOptions, OpenOptions};
use cotan::{
    CallError, CompileError, Compiler, Config, DerivativeForm, DeviceFailure, Engine, Function, Request, codes,
    derivative,
};
use cotan_spirv::vulkan::{Meter, Refusable};
use std::sync::Arc;

const TEXT: &str = "fn sum[N](x: f64[N]) -> f64 = +/tabulate(N, |i| x[i] * x[i])

fn halved[N](x: f64[N]) -> f64[N] {
  let mut y = x
  let mut left = 1.0
  while left > 0.1 {
    y = tabulate(N, |i| 0.5 * y[N - 1 - i])
    left = +/y
  }
  y
}

fn slow[N](x: f64[N]) -> f64[N] = tabulate(N, |i| {
  let mut v = x[i]
  while v > 0.01 { v = 0.5 * v * v }
  v
})
";

/// What is called: a sum with its gradient, a loop that the host decides, and records that grow.
fn requests() -> [Request; 3] {
    let gradient = |name| derivative(name, DerivativeForm::Grad, &["x"]);
    let jacobian = derivative("slow", DerivativeForm::Vjp, &["x"]);
    [gradient("sum"), Request::function("halved"), jacobian]
}

fn arguments(f: &Function) -> Arguments {
    let x = HostValue::f64s(&[4], &[0.5, 0.25, 0.125, 0.9]);
    f.signature().params.iter().map(|param| (param.name.clone(), x.clone())).collect()
}

/// A compiler whose device has its memory reached by copies, or by the host itself.
fn compiler_of(is_staged: bool) -> Option<Compiler> {
    let open = OpenOptions { is_staged, ..OpenOptions::default() };
    compiler(Config { device: DeviceOptions { open, ..DeviceOptions::default() }, ..Config::default() })
}

fn meter(compiler: &Compiler) -> Arc<Meter> {
    compiler.device().unwrap().device.meter()
}

fn function(compiler: &Compiler, request: &Request) -> Result<Function, CompileError> {
    let program = compiler.check("refusals.cot", TEXT);
    assert!(!program.has_errors(), "{:?}", program.diagnostics);
    compiler.function(&program, request, Engine::VULKAN)
}

/// Has the compiler open another device, of which nothing is used yet.
fn renew(compiler: &Compiler, f: &Function) {
    meter(compiler).refuse(Refusable::Wait, 0);
    assert!(f.call(&arguments(f)).is_err());
}

/// What a call gives, with plain arguments or with arrays on the device.
fn called(compiler: &Compiler, f: &Function, is_resident: bool) -> Result<HostValue, CallError> {
    let args = arguments(f);
    if !is_resident {
        return f.call(&args);
    }
    let upload = |(name, value): (String, HostValue)| Ok((name, compiler.upload(&value)?));
    let args = args.into_iter().map(upload).collect::<Result<DeviceArguments, CallError>>()?;
    f.call_on_device(&args)?.read()
}

/// Whether a failure is that of a step.
fn is_of(step: Refusable, error: &CallError) -> bool {
    match (step, error) {
        (Refusable::Allocation, CallError::OutOfMemory(_)) => true,
        (Refusable::Allocation, CallError::Device(DeviceFailure::Failed(text))) => text.contains("bytes of memory"),
        (Refusable::Submission, CallError::Device(DeviceFailure::Failed(text))) => text.contains("takes no work"),
        (Refusable::Wait, CallError::Device(DeviceFailure::Failed(text))) => text.contains("the device is lost"),
        (Refusable::Wait, CallError::Device(DeviceFailure::LostArray)) => true,
        (_, _) => false,
    }
}

/// Has every step of a kind refused in turn that a first call asks for.
fn every_step(step: Refusable, is_staged: bool, is_resident: bool) {
    let Some(compiler) = compiler_of(is_staged) else { return };
    let mut meters = vec![meter(&compiler)];
    for request in requests() {
        let mut f = function(&compiler, &request).unwrap();
        let expected = called(&compiler, &f, is_resident).unwrap();
        for after in 0.. {
            renew(&compiler, &f);
            f = function(&compiler, &request).unwrap();
            let meter = meter(&compiler);
            meters.push(Arc::clone(&meter));
            meter.refuse(step, after);
            let found = called(&compiler, &f, is_resident);
            let was_refused = !meter.refuse_nothing();
            match found {
                Err(error) => assert!(was_refused && is_of(step, &error), "{after}: {error}"),
                Ok(found) => assert_eq!(found, expected, "{after}"),
            }
            assert_eq!(called(&compiler, &f, is_resident).as_ref(), Ok(&expected), "{step:?} {after}");
            if !was_refused {
                break;
            }
            assert!(after < 200, "there are ever more steps");
        }
    }
    drop(compiler);
    assert!(meters.iter().all(|meter| meter.alive() == (0, 0)));
}

#[test]
fn a_refused_allocation_is_an_error_and_leaves_nothing_behind() {
    every_step(Refusable::Allocation, false, false);
    every_step(Refusable::Allocation, true, true);
}

#[test]
fn a_refused_submission_is_an_error_and_leaves_nothing_behind() {
    every_step(Refusable::Submission, false, true);
    every_step(Refusable::Submission, true, false);
}

#[test]
fn a_device_that_is_lost_is_an_error_and_the_next_call_opens_another_one() {
    every_step(Refusable::Wait, false, false);
    every_step(Refusable::Wait, true, true);
}

#[test]
fn a_refused_pipeline_names_the_kernel_and_needs_no_driver() {
    let Some(compiler) = compiler_of(false) else { return };
    let meter = meter(&compiler);
    for request in requests() {
        for after in 0.. {
            meter.refuse(Refusable::Pipeline, after);
            let found = function(&compiler, &request);
            let was_refused = !meter.refuse_nothing();
            assert_eq!(found.is_err(), was_refused);
            let Err(error) = found else { break };
            let text = error.to_string();
            assert!(text.starts_with("kernel ") && text.contains("the driver can't compile the kernel"), "{text}");
            let program = compiler.check("refusals.cot", TEXT);
            let [told] = <[_; 1]>::try_from(error.diagnostics(&program, "sum")).unwrap();
            assert_eq!(told.code, codes::DEVICE_FAILED);
            assert!(told.help[0].contains("explain --backend vulkan") && !told.help[0].contains("install"));
            assert!(function(&compiler, &request).is_ok());
        }
    }
    drop(compiler);
    assert_eq!(meter.alive(), (0, 0));
}

#[test]
fn a_failed_submission_names_the_kernel() {
    let Some(compiler) = compiler_of(false) else { return };
    let f = function(&compiler, &Request::function("sum")).unwrap();
    meter(&compiler).refuse(Refusable::Submission, 0);
    let error = f.call(&arguments(&f)).unwrap_err();
    assert!(error.to_string().starts_with("the device failed: kernel 0 ("), "{error}");
}

#[test]
fn arrays_of_a_lost_device_are_lost_and_say_so() {
    let Some(compiler) = compiler_of(false) else { return };
    let f = function(&compiler, &Request::function("sum")).unwrap();
    let x = compiler.upload(&arguments(&f)["x"]).unwrap();
    let args: DeviceArguments = [("x".to_owned(), x.clone())].into();
    let before = f.call_on_device(&args).unwrap().read();
    meter(&compiler).refuse(Refusable::Wait, 0);
    assert!(f.call_on_device(&args).is_err());
    let lost = CallError::Device(DeviceFailure::LostArray);
    assert_eq!(f.call_on_device(&args).unwrap_err(), lost);
    assert_eq!(x.read(), Err(lost));
    let again = compiler.upload(&arguments(&f)["x"]).unwrap();
    assert_eq!(f.call_on_device(&[("x".to_owned(), again)].into()).unwrap().read(), before);
}
