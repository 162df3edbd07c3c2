//! Functions on a device, with a host for what it does not do.

use super::opened::Opener;
use crate::backend::{Backend, CallContext, Executable, FlatOperand};
use crate::device_plan::device_plan;
use crate::host::ArgumentMisfit;
use crate::{CallError, CheckFailure, CompileError, DeviceFailure, ReadyModule, Statistics};
use cotan_device::{Limits, Plan, RunError};
use cotan_ops::Value;
use cotan_ops::stop::Stop;
use cotan_spirv::runner::{Argument, Array, CallLimits, CallStatistics, LoadPlanError, LoadedPlan};
use cotan_spirv::turn::Turn;
use cotan_syntax::on_deep_stack;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Where a call ran.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ran {
    /// On the device.
    OnDevice(CallStatistics),
    /// On the host, for this reason.
    OnHost(String),
}

/// A function of the host's backend, compiled when it is first called.
#[derive(Debug)]
pub(super) struct HostFunction {
    backend: Arc<dyn Backend>,
    ready: ReadyModule,
    executable: OnceLock<Result<Arc<dyn Executable>, CompileError>>,
}

impl HostFunction {
    pub(super) fn new(backend: Arc<dyn Backend>, ready: ReadyModule) -> HostFunction {
        HostFunction { backend, ready, executable: OnceLock::new() }
    }

    fn executable(&self) -> Result<&Arc<dyn Executable>, CallError> {
        let executable = self.executable.get_or_init(|| self.backend.compile(&self.ready));
        executable.as_ref().map_err(|error| CallError::Bug(error.to_string()))
    }
}

/// A plan as the driver has it, or why the host runs the function.
type Place = Result<Turn<Arc<LoadedPlan>>, String>;

/// The plan in which an exact zero wins over a factor that is infinite or NaN. It is made when it is first wanted.
#[derive(Debug)]
pub(super) struct ExactProducts {
    ready: ReadyModule,
    place: OnceLock<Place>,
}

impl ExactProducts {
    pub(super) fn new(ready: ReadyModule) -> ExactProducts {
        ExactProducts { ready, place: OnceLock::new() }
    }

    fn place(&self, opener: &Opener) -> Result<&Place, CallError> {
        if let Some(place) = self.place.get() {
            return Ok(place);
        }
        let opened = opener.device()?;
        let plan = on_deep_stack(|| device_plan(&self.ready.module, &self.ready.entry.symbol));
        let place = match plan.map(|plan| opener.load(&opened, plan)) {
            Ok(Ok(loaded)) => Ok(Turn::new(Arc::new(loaded))),
            Ok(Err(LoadPlanError::Unsupported(what))) => Err(what.to_string()),
            Ok(Err(LoadPlanError::Device(refused))) => return Err(DeviceFailure::Failed(refused.to_string()).into()),
            Err(why) => Err(why),
        };
        Ok(self.place.get_or_init(|| place))
    }
}

/// A function on a device.
#[derive(Debug)]
pub(super) struct OnDevice {
    /// The plan that runs first.
    place: Place,
    /// What is called where a result of that is NaN; nothing if it has the exact products.
    exact: Option<ExactProducts>,
    opener: Arc<Opener>,
    host: HostFunction,
    memory: Option<u64>,
    last: Mutex<Option<Ran>>,
}

/// Operands of a call, and whether the arrays that it gives stay on the device.
trait Operands {
    /// What it gives.
    type Found;

    /// The operands as values of the host.
    fn on_host<T>(&self, run: impl FnOnce(&[Value]) -> Result<T, CallError>) -> Result<T, CallError>;

    /// Calls a plan on its device.
    fn on_device(
        &self,
        loaded: &LoadedPlan,
        limits: &CallLimits,
        output: &mut dyn FnMut(&str),
    ) -> Result<(Self::Found, CallStatistics), RunError>;

    /// Whether one of the scalars is NaN. Kernels watch arrays.
    fn has_nan(found: &Self::Found) -> bool;

    /// What the host has computed.
    fn found(&self, values: Vec<Value>, opener: &Opener) -> Result<Self::Found, CallError>;
}

impl Operands for &[Value] {
    type Found = Vec<Value>;

    fn on_host<T>(&self, run: impl FnOnce(&[Value]) -> Result<T, CallError>) -> Result<T, CallError> {
        run(self)
    }

    fn on_device(
        &self,
        loaded: &LoadedPlan,
        limits: &CallLimits,
        output: &mut dyn FnMut(&str),
    ) -> Result<(Vec<Value>, CallStatistics), RunError> {
        let called = loaded.call(self, limits, output)?;
        Ok((called.values, called.statistics))
    }

    fn has_nan(found: &Vec<Value>) -> bool {
        found.iter().any(is_nan)
    }

    fn found(&self, values: Vec<Value>, _opener: &Opener) -> Result<Vec<Value>, CallError> {
        Ok(values)
    }
}

impl Operands for &[FlatOperand] {
    type Found = Vec<FlatOperand>;

    fn on_host<T>(&self, run: impl FnOnce(&[Value]) -> Result<T, CallError>) -> Result<T, CallError> {
        run(&self.iter().map(FlatOperand::to_value).collect::<Result<Vec<Value>, CallError>>()?)
    }

    fn on_device(
        &self,
        loaded: &LoadedPlan,
        limits: &CallLimits,
        output: &mut dyn FnMut(&str),
    ) -> Result<(Vec<FlatOperand>, CallStatistics), RunError> {
        let args: Vec<Argument<'_>> = self.iter().map(FlatOperand::argument).collect();
        let (found, statistics) = loaded.call_resident(&args, limits, output)?;
        Ok((found.into_iter().map(FlatOperand::from).collect(), statistics))
    }

    fn has_nan(found: &Vec<FlatOperand>) -> bool {
        found.iter().any(|operand| matches!(operand, FlatOperand::Value(value) if is_nan(value)))
    }

    fn found(&self, values: Vec<Value>, opener: &Opener) -> Result<Vec<FlatOperand>, CallError> {
        let opened = opener.device()?;
        let upload = |value: Value| match value.dims.is_empty() {
            true => Ok(FlatOperand::Value(value)),
            false => Ok(FlatOperand::Array(Array::upload(&opened.device, &value).map_err(DeviceFailure::from)?)),
        };
        values.into_iter().map(upload).collect()
    }
}

/// Whether a value is a float that is NaN.
fn is_nan(value: &Value) -> bool {
    value.scalar().and_then(|number| number.as_float()).is_some_and(f64::is_nan)
}

impl OnDevice {
    pub(super) fn new(
        loaded: Result<LoadedPlan, String>,
        exact: Option<ExactProducts>,
        opener: Arc<Opener>,
        host: HostFunction,
        memory: Option<u64>,
    ) -> OnDevice {
        let place = loaded.map(|loaded| Turn::new(Arc::new(loaded)));
        OnDevice { place, exact, opener, host, memory, last: Mutex::default() }
    }

    fn note(&self, ran: Ran) {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(ran);
    }

    fn on_host<O: Operands>(
        &self,
        why: &str,
        args: &O,
        context: CallContext<'_>,
        output: &mut dyn FnMut(&str),
    ) -> Result<O::Found, CallError> {
        self.note(Ran::OnHost(why.to_owned()));
        let values = args.on_host(|args| self.host.executable()?.call(args, context, output))?;
        args.found(values, &self.opener)
    }

    /// The plan on a device that can be used: once the device was lost, on one that is opened anew. Whether it was; `None` where
    /// the caller is to stop before another one has done that.
    fn loaded(
        &self,
        place: &Turn<Arc<LoadedPlan>>,
        stop: Option<&Stop>,
    ) -> Result<Option<(Arc<LoadedPlan>, bool)>, CallError> {
        let Some(mut loaded) = place.take(stop) else { return Ok(None) };
        let is_lost = !loaded.device().is_usable();
        if is_lost {
            let opened = self.opener.device()?;
            let plan: Plan = loaded.plan().clone();
            let again = self.opener.load(&opened, plan).map_err(|error| DeviceFailure::Failed(error.to_string()));
            *loaded = Arc::new(again?);
        }
        Ok(Some((Arc::clone(&loaded), is_lost)))
    }

    fn run<O: Operands>(
        &self,
        args: &O,
        context: CallContext<'_>,
        output: &mut dyn FnMut(&str),
    ) -> Result<O::Found, CallError> {
        let place = match &self.place {
            Ok(place) => place,
            Err(why) => return self.on_host(why, args, context, output),
        };
        if context.limits.steps.is_some() {
            return self.on_host("its steps are counted", args, context, output);
        }
        // What the host does for the device falls into the same time.
        let limits = context.limits.starting_now();
        let context = CallContext { limits: &limits, ..context };
        let running = limits.start();
        running.begin()?;
        let stop = running.watch().map(|watch| watch.stopping().clone());
        let may = CallLimits { host: Limits { stop, ..Limits::default() }, bytes: self.memory.unwrap_or(u64::MAX) };
        let mut n_written = 0;
        let mut write = |text: &str| {
            n_written += text.len();
            output(text);
        };
        let Some(outcome) = self.outcome(place, args, &may, &mut write)? else { return Err(running.reason()) };
        let error = match outcome {
            Ok(found) => return Ok(found),
            Err(error) => error,
        };
        match error {
            RunError::ForHost => {
                // What the device has written is not written twice.
                let mut write = |text: &str| {
                    let n_again = n_written.min(text.len());
                    n_written -= n_again;
                    if let Some(new) = text.get(n_again..).filter(|new| !new.is_empty()) {
                        output(new);
                    }
                };
                self.on_host("it comes to what the device has no code for", args, context, &mut write)
            }
            RunError::Arguments(message) => Err(ArgumentMisfit::Operands(message).into()),
            RunError::Check { kind, args, span } => Err(CallError::Check(CheckFailure { kind, args, span })),
            RunError::OutOfMemory(error) => Err(CallError::OutOfMemory(*error)),
            RunError::Stopped => Err(running.reason()),
            error @ RunError::OutOfSteps => Err(CallError::Limit(error.to_string())),
            RunError::Device(message) => Err(CallError::Device(DeviceFailure::Failed(message))),
            error @ (RunError::Needs(_) | RunError::Bug(_)) => Err(CallError::Bug(error.to_string())),
        }
    }

    /// What the plan gives that runs first, or where a result is NaN that with the exact products.
    fn outcome<O: Operands>(
        &self,
        place: &Turn<Arc<LoadedPlan>>,
        args: &O,
        may: &CallLimits,
        output: &mut dyn FnMut(&str),
    ) -> Result<Option<Result<O::Found, RunError>>, CallError> {
        let Some(first) = self.on_place(place, args, may, output)? else { return Ok(None) };
        let is_nan = match &first {
            Ok(found) => O::has_nan(found),
            Err(error) => matches!(error, RunError::ForHost),
        };
        let Some(exact) = self.exact.as_ref().filter(|_| is_nan) else { return Ok(Some(first)) };
        match exact.place(&self.opener)? {
            Ok(place) => self.on_place(place, args, may, output),
            Err(_) => Ok(Some(Err(RunError::ForHost))),
        }
    }

    /// Calls a plan; nothing where the caller is to stop before there is a device.
    fn on_place<O: Operands>(
        &self,
        place: &Turn<Arc<LoadedPlan>>,
        args: &O,
        may: &CallLimits,
        output: &mut dyn FnMut(&str),
    ) -> Result<Option<Result<O::Found, RunError>>, CallError> {
        let Some((loaded, is_new)) = self.loaded(place, may.host.stop.as_ref())? else { return Ok(None) };
        Ok(Some(args.on_device(&loaded, may, output).map(|(found, mut statistics)| {
            statistics.pipelines = if is_new { loaded.n_pipelines() as u64 } else { 0 };
            self.note(Ran::OnDevice(statistics));
            found
        })))
    }

    /// An error where an array is on a device that the function has not.
    fn check_places(&self, args: &[FlatOperand]) -> Result<(), CallError> {
        let arrays = || args.iter().filter_map(FlatOperand::array);
        if arrays().any(|array| !array.device().is_usable()) {
            return Err(CallError::Device(DeviceFailure::LostArray));
        }
        if arrays().next().is_none() {
            return Ok(());
        }
        let opened = self.opener.device()?;
        match arrays().all(|array| array.device().is_same(&opened.device)) {
            true => Ok(()),
            false => Err(CallError::Device(DeviceFailure::ArrayElsewhere)),
        }
    }
}

impl Executable for OnDevice {
    fn call(
        &self,
        args: &[Value],
        context: CallContext<'_>,
        output: &mut dyn FnMut(&str),
    ) -> Result<Vec<Value>, CallError> {
        self.run(&args, context, output)
    }

    fn call_resident(
        &self,
        args: &[FlatOperand],
        context: CallContext<'_>,
        output: &mut dyn FnMut(&str),
    ) -> Result<Vec<FlatOperand>, CallError> {
        self.check_places(args)?;
        self.run(&args, context, output)
    }

    fn statistics(&self) -> Option<Statistics> {
        match Executable::ran(self)? {
            Ran::OnDevice(_) => None,
            Ran::OnHost(_) => self.host.executable().ok()?.statistics(),
        }
    }

    fn ran(&self) -> Option<Ran> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
