//! What can go wrong, by who can mend it.

use crate::backend::vulkan::NoDevice;
use crate::backend::{UnknownDevice, Unsupported};
use crate::host::ArgumentMisfit;
use crate::{CheckFailure, NanArgument, NanOrigin};
use cotan_ir::OutOfMemory;
use cotan_spirv::vulkan::DeviceError;
use cotan_syntax::Diagnostic;
use std::fmt;

/// Why there is no function to call.
#[derive(Clone, Debug)]
pub enum CompileError {
    /// The program has errors, or what was asked for makes no sense in it.
    Diagnostics(Vec<Diagnostic>),
    /// The request does not fit the program.
    Request(UnfitRequest),
    /// There is no such device.
    Device(UnknownDevice),
    /// There is no device of Vulkan that can run the program.
    NoDevice(NoDevice),
    /// The device lacks a construct that the program needs.
    Unsupported(Unsupported),
    /// A derivative that is too large or too deeply nested.
    Derivative(cotan_ad::Error),
    /// The backend gave up: a bug, or a lack of memory.
    Backend(String),
}

/// Why a call has no result.
#[derive(Clone, Debug, PartialEq)]
pub enum CallError {
    /// The arguments do not fit the signature; the program never started.
    Arguments(ArgumentMisfit),
    /// A check of the program failed.
    Check(CheckFailure),
    /// An operation made a NaN, under a compiler that traps them.
    Nan(Box<NanOrigin>),
    /// The result is NaN because an argument is, under a compiler that traps NaN.
    NanArgument(NanArgument),
    /// The call needs more memory than it may hold, or than there is.
    OutOfMemory(OutOfMemory),
    /// Another limit of the call was reached: steps, nesting.
    Limit(String),
    /// The time of the call is over.
    TimedOut,
    /// The call was cancelled.
    Cancelled,
    /// The device failed, or can't be opened anew, or has not the arrays of the call.
    Device(DeviceFailure),
    /// The engine that was asked for cannot run this program.
    Unsupported(String),
    /// A bug of Cotan.
    Bug(String),
}

/// What is wrong with a device, or with arrays on one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeviceFailure {
    /// There is none that can be opened.
    NoDevice(NoDevice),
    /// It failed: what it said, and what it was doing.
    Failed(String),
    /// It was lost, and an array with it.
    LostArray,
    /// An array lies on another device than the function.
    ArrayElsewhere,
}

impl DeviceFailure {
    /// What to do about it.
    pub fn help(&self) -> &'static str {
        match self {
            DeviceFailure::NoDevice(none) => none.help(),
            DeviceFailure::Failed(_) => "call it again: the device is opened anew; --backend cpu needs none",
            DeviceFailure::LostArray => "upload the array again: the device is opened anew",
            DeviceFailure::ArrayElsewhere => {
                "read the array, and upload it with the compiler that made the function: a compiler has one device"
            }
        }
    }

    /// Why an array can't be read.
    pub(crate) fn of_array(error: DeviceError) -> DeviceFailure {
        let is_lost = matches!(error, DeviceError::Lost { .. } | DeviceError::Hung { .. });
        if is_lost { DeviceFailure::LostArray } else { DeviceFailure::Failed(error.to_string()) }
    }
}

impl From<DeviceError> for DeviceFailure {
    fn from(error: DeviceError) -> DeviceFailure {
        DeviceFailure::Failed(error.to_string())
    }
}

impl From<NoDevice> for CallError {
    fn from(none: NoDevice) -> CallError {
        CallError::Device(DeviceFailure::NoDevice(none))
    }
}

impl From<DeviceFailure> for CallError {
    fn from(failure: DeviceFailure) -> CallError {
        CallError::Device(failure)
    }
}

impl fmt::Display for DeviceFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DeviceFailure::NoDevice(none) => none.fmt(f),
            DeviceFailure::Failed(message) => write!(f, "the device failed: {message}"),
            DeviceFailure::LostArray => f.write_str("the device of an array was lost, and the array with it"),
            DeviceFailure::ArrayElsewhere => f.write_str("an array lies on another device than the function"),
        }
    }
}

/// A request that does not fit the program: no such function, no such parameter, nothing to differentiate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnfitRequest {
    /// What was expected and found.
    pub message: String,
    /// What would fit.
    pub help: Option<String>,
}

impl UnfitRequest {
    pub(crate) fn new(message: String) -> UnfitRequest {
        UnfitRequest { message, help: None }
    }

    pub(crate) fn help(self, help: String) -> UnfitRequest {
        UnfitRequest { help: Some(help), ..self }
    }
}

impl fmt::Display for UnfitRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for UnfitRequest {}

impl fmt::Display for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CompileError::Diagnostics(all) => {
                let messages: Vec<&str> = all.iter().map(|d| d.message.as_str()).collect();
                f.write_str(&messages.join("\n"))
            }
            CompileError::Request(e) => e.fmt(f),
            CompileError::Device(e) => e.fmt(f),
            CompileError::NoDevice(e) => e.fmt(f),
            CompileError::Unsupported(e) => e.fmt(f),
            CompileError::Derivative(e) => e.fmt(f),
            CompileError::Backend(message) => f.write_str(message),
        }
    }
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CallError::Arguments(e) => e.fmt(f),
            CallError::Check(e) => e.fmt(f),
            CallError::OutOfMemory(e) => e.fmt(f),
            CallError::Nan(origin) => write!(f, "NaN from {}", origin.operation()),
            CallError::NanArgument(argument) => argument.fmt(f),
            CallError::Limit(message) | CallError::Unsupported(message) => f.write_str(message),
            CallError::Device(failure) => failure.fmt(f),
            CallError::TimedOut => f.write_str("the time of the call is over"),
            CallError::Cancelled => f.write_str("the call was cancelled"),
            CallError::Bug(message) => write!(f, "a bug of Cotan: {message}"),
        }
    }
}

impl std::error::Error for CompileError {}
impl std::error::Error for CallError {}

impl From<Unsupported> for CompileError {
    fn from(e: Unsupported) -> CompileError {
        CompileError::Unsupported(e)
    }
}

impl From<UnfitRequest> for CompileError {
    fn from(e: UnfitRequest) -> CompileError {
        CompileError::Request(e)
    }
}

impl From<cotan_ad::Error> for CompileError {
    fn from(e: cotan_ad::Error) -> CompileError {
        CompileError::Derivative(e)
    }
}

impl From<cotan_llvm::CompileError> for CompileError {
    fn from(e: cotan_llvm::CompileError) -> CompileError {
        CompileError::Backend(e.to_string())
    }
}

impl From<cotan_runtime::RuntimeError> for CallError {
    fn from(e: cotan_runtime::RuntimeError) -> CallError {
        use cotan_runtime::RuntimeError;
        match e {
            RuntimeError::Check { kind, args, span } => CallError::Check(CheckFailure { kind, args, span }),
            RuntimeError::OutOfMemory(e) => CallError::OutOfMemory(e),
            e @ RuntimeError::OutOfSteps => CallError::Limit(e.to_string()),
            RuntimeError::TimedOut => CallError::TimedOut,
            RuntimeError::Cancelled => CallError::Cancelled,
            RuntimeError::Argument(message) => CallError::Arguments(ArgumentMisfit::Operands(message)),
            e @ (RuntimeError::Bug(_) | RuntimeError::BadExtents(_)) => CallError::Bug(e.to_string()),
        }
    }
}

impl From<ArgumentMisfit> for CallError {
    fn from(e: ArgumentMisfit) -> CallError {
        match e {
            ArgumentMisfit::NoMemory { bytes, .. } => CallError::OutOfMemory(OutOfMemory::of_machine(bytes)),
            e @ (ArgumentMisfit::Missing { .. }
            | ArgumentMisfit::Twice { .. }
            | ArgumentMisfit::Unknown { .. }
            | ArgumentMisfit::Kind { .. }
            | ArgumentMisfit::Operands(_)
            | ArgumentMisfit::Extent { .. }
            | ArgumentMisfit::FlatExtent { .. }
            | ArgumentMisfit::UnknownSize { .. }
            | ArgumentMisfit::NegativeSize { .. }
            | ArgumentMisfit::SizeBelowZero { .. }
            | ArgumentMisfit::NegativeExtent { .. }
            | ArgumentMisfit::Elements { .. }) => CallError::Arguments(e),
        }
    }
}

impl From<cotan_interp::RuntimeError> for CallError {
    fn from(e: cotan_interp::RuntimeError) -> CallError {
        use cotan_interp::RuntimeError;
        match e {
            RuntimeError::Check(f) => CallError::Check(CheckFailure { kind: f.kind, args: f.args, span: f.span }),
            RuntimeError::Limit(cotan_interp::Limit::Stopped) => CallError::Cancelled,
            RuntimeError::Limit(limit) => CallError::Limit(limit.to_string()),
            RuntimeError::OutOfMemory(e) => CallError::OutOfMemory(*e),
            RuntimeError::Undefined(what) => CallError::Unsupported(what),
            RuntimeError::Argument(e) => CallError::Arguments(ArgumentMisfit::Operands(e.to_string())),
            e @ RuntimeError::Bug(_) => CallError::Bug(e.to_string()),
        }
    }
}
