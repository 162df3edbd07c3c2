//! A call while it runs, with whatever may stop it.

use super::{CallLimits, CancelToken, Deadline, timer};
use crate::CallError;
use cotan_interp::Options as InterpOptions;
use cotan_ops::stop::Reason;
use cotan_runtime::Watch;
use std::sync::Arc;
use std::time::Instant;

/// A call under limits, until it is dropped.
pub(crate) struct Running {
    watch: Option<Arc<Watch>>,
    cancel: Option<CancelToken>,
}

impl CallLimits {
    /// Begins a call.
    pub(crate) fn start(&self) -> Running {
        let CallLimits { steps, deadline, cancel } = self;
        if steps.is_none() && deadline.is_none() && cancel.is_none() {
            return Running { watch: None, cancel: None };
        }
        let steps = steps.map(|steps| i64::try_from(steps).unwrap_or(i64::MAX));
        let watch = Arc::new(Watch::new(steps));
        if let Some(token) = cancel {
            token.attach(&watch);
        }
        let now = Instant::now();
        let at = deadline.and_then(|deadline| match deadline {
            Deadline::At(at) => Some(at),
            // A time that is never reached is no deadline.
            Deadline::After(time) => now.checked_add(time),
        });
        if let Some(at) = at
            && (at <= now || !timer::stop_at(at, &watch))
        {
            // Without a timer nothing would end the call, so it does not begin.
            watch.stop(Reason::TimedOut);
        }
        Running { watch: Some(watch), cancel: cancel.clone() }
    }
}

impl CallLimits {
    /// The same with the time at which it has to be over, if it begins now.
    pub(crate) fn starting_now(&self) -> CallLimits {
        let at = |deadline| match deadline {
            Deadline::After(time) => Instant::now().checked_add(time).map(Deadline::At),
            at @ Deadline::At(_) => Some(at),
        };
        CallLimits { deadline: self.deadline.and_then(at), ..self.clone() }
    }

    /// How the interpreter runs under these limits.
    pub(crate) fn interpreter(&self, mut options: InterpOptions) -> InterpOptions {
        let most = options.limits.steps;
        options.limits.steps = self.steps.map_or(most, |steps| steps.min(most));
        options
    }
}

impl Running {
    /// An error if the call is to stop before it begins: short code never looks.
    pub(crate) fn begin(&self) -> Result<(), CallError> {
        match self.watch.as_ref().and_then(|watch| watch.stopping().reason()) {
            None | Some(Reason::Superseded) => Ok(()),
            Some(Reason::TimedOut) => Err(CallError::TimedOut),
            Some(Reason::Cancelled) => Err(CallError::Cancelled),
        }
    }

    /// Why it was stopped.
    pub(crate) fn reason(&self) -> CallError {
        match self.watch.as_ref().and_then(|watch| watch.stopping().reason()) {
            Some(Reason::TimedOut) => CallError::TimedOut,
            Some(Reason::Cancelled | Reason::Superseded) | None => CallError::Cancelled,
        }
    }

    /// Why the interpreter gave no result: it knows that it was asked to stop, and not why.
    pub(crate) fn error(&self, error: cotan_interp::RuntimeError) -> CallError {
        let reason = self.watch.as_ref().and_then(|watch| watch.stopping().reason());
        match (CallError::from(error), reason) {
            (CallError::Cancelled, Some(Reason::TimedOut)) => CallError::TimedOut,
            (error, _) => error,
        }
    }

    /// What stops the call; nothing of a call without limits.
    pub(crate) fn watch(&self) -> Option<&Arc<Watch>> {
        self.watch.as_ref()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let (Some(watch), Some(token)) = (&self.watch, &self.cancel) {
            token.detach(watch);
        }
    }
}
