//! Functions that can be called.

use crate::backend::vulkan::Ran;
use crate::backend::{CallContext, Executable, FlatOperand, MadeVersion};
use crate::host::{Arguments, HostValue, Leaves, NoMemory, Unbuilt, check_flat_extents, fit_arguments, rebuilt};
use crate::stopping::CallLimits;
use crate::{CallError, NanArgument, NanOrigin, ReadyModule};
use cotan_ir::{CheckKind, Module, OutOfMemory, VerifiedModule};
use cotan_lower::entry::{Entry, Signature};
use cotan_ops::{DEBUG_MARK, Value};
use cotan_opt::passes::trap_nan::Site;
use cotan_runtime::Statistics;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};

/// A piece of what a program writes while it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written<'t> {
    /// By `print`.
    Output(&'t str),
    /// By `debug`.
    Debug(&'t str),
}

impl<'t> Written<'t> {
    fn of(text: &'t str) -> Written<'t> {
        text.strip_prefix(DEBUG_MARK).map_or(Written::Output(text), Written::Debug)
    }
}

/// A function of a program, or a derivative of one, ready to be called from any thread.
#[derive(Clone, Debug)]
pub struct Function {
    pub(crate) entry: Entry,
    pub(crate) module: VerifiedModule,
    /// The places where it may make a NaN, if it traps those.
    pub(crate) traps: Option<Arc<[Site]>>,
    pub(crate) executable: Arc<dyn Executable>,
    /// The sizes and extents that were found to fit each other last.
    fitting: Arc<Mutex<Vec<Option<i64>>>>,
    /// How many of the compiler's threads may share the work of a call; `None` for all of them.
    pub(crate) threads: Option<NonZeroUsize>,
    /// What may stop its calls.
    pub(crate) limits: CallLimits,
    /// What is known of the leaves of its arguments.
    pub(crate) leaves: Arc<Leaves>,
    /// Whether its results are the leaves of the result, in order, and nothing else.
    pub(crate) has_leaves_alone: bool,
}

impl Function {
    pub(crate) fn new(ready: ReadyModule, executable: Arc<dyn Executable>, limits: CallLimits) -> Function {
        let ReadyModule { entry, module, traps } = ready;
        let leaves = Arc::new(Leaves::of(&entry));
        let n_results = module.function(&entry.symbol).map(|f| f.body.results.len());
        let has_leaves_alone = n_results == Some(entry.leaf_results.len())
            && entry.leaf_results.iter().copied().eq(0..entry.leaf_results.len());
        let fitting = Arc::default();
        Function { entry, module, traps, executable, fitting, threads: None, limits, leaves, has_leaves_alone }
    }

    /// The function with calls that use at most so many of the compiler's threads. Results are the same to the bit.
    pub fn on_threads(&self, most: NonZeroUsize) -> Function {
        Function { threads: Some(most), ..self.clone() }
    }

    /// The function with calls that these limits stop, in place of those that it had.
    pub fn limited(&self, limits: CallLimits) -> Function {
        Function { limits, ..self.clone() }
    }

    /// Names and types.
    pub fn signature(&self) -> &Signature {
        &self.entry.signature
    }

    /// How it is called with flat operands.
    pub fn entry(&self) -> &Entry {
        &self.entry
    }

    /// Whether this is machine code, and not the interpreter.
    pub fn is_compiled(&self) -> bool {
        self.executable.is_compiled()
    }

    /// What the last call of this thread took, or of another one if this one has not called it; `None` for the interpreter and
    /// before the first call. Calls on borrowed arrays ([`Self::call_into`], [`Self::call_leaves`]) do not look at the clock.
    pub fn statistics(&self) -> Option<Statistics> {
        self.executable.statistics()
    }

    /// Where the last call ran, of a function of [`Engine::VULKAN`](crate::Engine::VULKAN).
    pub fn ran(&self) -> Option<Ran> {
        self.executable.ran()
    }

    /// The versions for small sizes that compiled code has got so far, which calls of these sizes run.
    pub fn versions(&self) -> Vec<MadeVersion> {
        self.executable.versions()
    }

    /// The same before it was bound to an engine.
    pub fn lowered(&self) -> ReadyModule {
        ReadyModule { entry: self.entry.clone(), module: self.module.clone(), traps: self.traps.clone() }
    }

    /// The IR that runs.
    pub fn ir(&self) -> &Module {
        &self.module
    }

    /// Calls the function with arguments by name. Sizes follow from the extents of the arguments; a size that follows
    /// from none is given as an argument of its name.
    pub fn call(&self, args: &Arguments) -> Result<HostValue, CallError> {
        self.call_with_output(args, &mut |_| {})
    }

    /// Calls the function as [`Self::call`] does. What it prints goes to `output`, piece by piece as it happens;
    /// elsewhere it is dropped, and so is what `debug` writes.
    pub fn call_with_output(&self, args: &Arguments, output: &mut dyn FnMut(&str)) -> Result<HostValue, CallError> {
        self.call_written(args, &mut |written| match written {
            Written::Output(text) => output(text),
            Written::Debug(_) => {}
        })
    }

    /// Calls the function as [`Self::call`] does. All that it writes goes to `written`, piece by piece as it happens.
    pub fn call_written(&self, args: &Arguments, written: &mut dyn FnMut(Written<'_>)) -> Result<HostValue, CallError> {
        let args = fit_arguments(&self.entry, args)?;
        let results = self.call_flat_with_output(&args, &mut |text| written(Written::of(text)))?;
        self.rebuild(results)
    }

    /// Calls the function with the flat operands of its IR; see [`cotan_lower::entry`].
    pub fn call_flat(&self, args: &[Value]) -> Result<Vec<Value>, CallError> {
        self.call_flat_with_output(args, &mut |_| {})
    }

    /// Calls the function with flat operands, as [`Self::call_flat`] does. The results of an earlier call give their
    /// memory to those of this one. What the function prints is dropped.
    pub fn call_again(&self, args: &[Value], earlier: Vec<Value>) -> Result<Vec<Value>, CallError> {
        self.call_warm(args, earlier, 0)
    }

    /// The same, but compiled code runs so often before; [`Self::statistics`] then tells the time of the last run alone, on
    /// operands that are in caches as they are for a caller who has them in the code's layout.
    pub fn call_warm(&self, args: &[Value], earlier: Vec<Value>, warm_ups: u32) -> Result<Vec<Value>, CallError> {
        if self.traps.is_some() {
            return self.call_flat(args);
        }
        self.check_once(args)?;
        self.executable.call_again(args, self.context(), earlier, warm_ups)
    }

    /// Checks sizes and extents, unless they are those that fitted last: calls with equal ones need no memory for it.
    fn check_once(&self, args: &[Value]) -> Result<(), CallError> {
        let n_numbers = self.entry.signature.sizes.len() + self.entry.extents.len();
        let numbers = args.iter().take(n_numbers).map(|arg| arg.scalar().and_then(|c| c.as_i64()));
        let mut fitting = self.fitting.lock().unwrap_or_else(PoisonError::into_inner);
        if fitting.is_empty() || !fitting.iter().copied().eq(numbers.clone()) {
            check_flat_extents(&self.entry, args).map_err(CallError::Arguments)?;
            fitting.clear();
            fitting.extend(numbers);
        }
        Ok(())
    }

    /// What a call may use.
    pub(crate) fn context(&self) -> CallContext<'_> {
        CallContext { threads: self.threads, limits: &self.limits }
    }

    /// Calls a function that takes more flat operands than its entry tells: `n_told` of them are those of the entry. The
    /// others must be of the types of the IR. What the function prints is dropped.
    pub(crate) fn call_beyond(&self, args: &[Value], n_told: usize) -> Result<Vec<Value>, CallError> {
        self.run_flat(args, n_told, &mut |_| {})
    }

    fn call_flat_with_output(&self, args: &[Value], output: &mut dyn FnMut(&str)) -> Result<Vec<Value>, CallError> {
        self.run_flat(args, args.len(), output)
    }

    fn run_flat(&self, args: &[Value], n_told: usize, output: &mut dyn FnMut(&str)) -> Result<Vec<Value>, CallError> {
        let told = &args[..n_told];
        check_flat_extents(&self.entry, told).map_err(CallError::Arguments)?;
        let outcome = self.executable.call(args, self.context(), output);
        let Some(sites) = &self.traps else { return outcome };
        let results = outcome.map_err(|error| trapped(error, sites))?;
        self.expect_no_nan_of_arguments(told, &results)?;
        Ok(results)
    }

    /// Calls the function with flat operands of which arrays may lie on a device.
    pub(crate) fn call_flat_resident(
        &self,
        args: &[FlatOperand],
        output: &mut dyn FnMut(&str),
    ) -> Result<Vec<FlatOperand>, CallError> {
        let values = |of: &[FlatOperand]| of.iter().map(FlatOperand::to_value).collect::<Result<Vec<_>, CallError>>();
        let n_numbers = self.entry.signature.sizes.len() + self.entry.extents.len();
        let numbers = values(args.get(..n_numbers).unwrap_or_default())?;
        check_flat_extents(&self.entry, &numbers).map_err(CallError::Arguments)?;
        let outcome = self.executable.call_resident(args, self.context(), output);
        let Some(sites) = &self.traps else { return outcome };
        let results = outcome.map_err(|error| trapped(error, sites))?;
        self.expect_no_nan_of_arguments(&values(args)?, &values(&results)?)?;
        Ok(results)
    }

    /// An error if results are NaN because arguments are.
    fn expect_no_nan_of_arguments(&self, args: &[Value], results: &[Value]) -> Result<(), CallError> {
        match NanArgument::of(&self.entry, args, results) {
            Some(argument) => Err(CallError::NanArgument(argument)),
            None => Ok(()),
        }
    }

    /// The structured value of flat results.
    pub fn rebuild(&self, results: Vec<Value>) -> Result<HostValue, CallError> {
        let mut results: Vec<Option<Value>> = results.into_iter().map(Some).collect();
        let leaves = &self.entry.leaf_results;
        // The last one who asks for a result has it; those before get copies.
        let leaf = |(at, k): (usize, &usize)| {
            let result = results.get_mut(*k)?;
            if leaves[at + 1..].contains(k) { result.as_ref()?.try_clone() } else { result.take() }
        };
        rebuilt(&self.entry.signature.result, &mut leaves.iter().enumerate().map_while(leaf)).map_err(|unbuilt| {
            match unbuilt {
                Unbuilt::Misfit => CallError::Bug(format!("results of `{}` do not fit its type", self.entry.symbol)),
                Unbuilt::Memory(NoMemory(bytes)) => CallError::OutOfMemory(OutOfMemory::of_machine(bytes)),
            }
        })
    }
}

/// A failed check, with the place where a NaN was made if it is a trap for those.
fn trapped(error: CallError, sites: &[Site]) -> CallError {
    let CallError::Check(failure) = error else { return error };
    match NanOrigin::of(&failure, sites) {
        Some(origin) if failure.kind == CheckKind::Nan => CallError::Nan(Box::new(origin)),
        Some(_) | None => CallError::Check(failure),
    }
}
