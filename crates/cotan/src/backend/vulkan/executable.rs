//! Functions on a device, with a host for what it does not do.

use super::opened::Opener;
use crate::backend::{Backend, CallContext, Executable};
use crate::host::ArgumentMisfit;
use crate::{CallError, CheckFailure, CompileError, ReadyModule, Statistics};
use cotan_device::{Limits, Plan, RunError};
use cotan_ops::Value;
use cotan_spirv::runner::{CallLimits, CallStatistics, LoadedPlan};
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

/// A function on a device.
#[derive(Debug)]
pub(super) struct OnDevice {
    /// The plan as the driver has it, or why the host runs the function.
    place: Result<Mutex<Arc<LoadedPlan>>, String>,
    opener: Arc<Opener>,
    host: HostFunction,
    memory: Option<u64>,
    last: Mutex<Option<Ran>>,
}

impl OnDevice {
    pub(super) fn new(
        loaded: Result<LoadedPlan, String>,
        opener: Arc<Opener>,
        host: HostFunction,
        memory: Option<u64>,
    ) -> OnDevice {
        let place = loaded.map(|loaded| Mutex::new(Arc::new(loaded)));
        OnDevice { place, opener, host, memory, last: Mutex::default() }
    }

    fn note(&self, ran: Ran) {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(ran);
    }

    fn on_host(
        &self,
        why: &str,
        args: &[Value],
        context: CallContext<'_>,
        output: &mut dyn FnMut(&str),
    ) -> Result<Vec<Value>, CallError> {
        self.note(Ran::OnHost(why.to_owned()));
        self.host.executable()?.call(args, context, output)
    }

    /// The plan on a device that can be used: once the device was lost, on one that is opened anew.
    fn loaded(&self, place: &Mutex<Arc<LoadedPlan>>) -> Result<Arc<LoadedPlan>, CallError> {
        let mut loaded = place.lock().unwrap_or_else(PoisonError::into_inner);
        if !loaded.device().is_usable() {
            let opened = self.opener.device().map_err(|error| CallError::Device(error.to_string()))?;
            let plan: Plan = loaded.plan().clone();
            let again = LoadedPlan::new(&opened.device, &opened.numbers, plan);
            *loaded = Arc::new(again.map_err(|error| CallError::Device(error.to_string()))?);
        }
        Ok(Arc::clone(&loaded))
    }
}

impl Executable for OnDevice {
    fn call(
        &self,
        args: &[Value],
        context: CallContext<'_>,
        output: &mut dyn FnMut(&str),
    ) -> Result<Vec<Value>, CallError> {
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
        let host = Limits { stop, ..Limits::default() };
        let may = CallLimits { host, bytes: self.memory.unwrap_or(u64::MAX) };
        let loaded = self.loaded(place)?;
        let mut n_written = 0;
        let mut write = |text: &str| {
            n_written += text.len();
            output(text);
        };
        let error = match loaded.call(args, &may, &mut write) {
            Ok(called) => {
                self.note(Ran::OnDevice(called.statistics));
                return Ok(called.values);
            }
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
            RunError::Device(message) => Err(CallError::Device(message)),
            error @ (RunError::Needs(_) | RunError::Bug(_)) => Err(CallError::Bug(error.to_string())),
        }
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
