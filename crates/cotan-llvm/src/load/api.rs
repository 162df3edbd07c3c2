//! The part of LLVM's C API that Cotan uses, as a table of function pointers.
//!
//! Field names are the C names without the `LLVM` prefix, so that each can be looked up in LLVM's
//! headers (`llvm-c/*.h`). All of them exist with the same signature from LLVM 19 on.

use std::ffi::{c_char, c_int, c_uint, c_void};

use libloading::Library;

/// Declares one opaque C type for each name; values exist only behind pointers.
macro_rules! opaque {
    ($($name:ident)*) => { $(pub(crate) enum $name {})* };
}

opaque! {
    Context MemoryBuffer Module Target TargetMachine TargetData PassBuilderOptions Error
    DiagnosticInfo
}

/// `LLVMDiagnosticHandler`.
pub(crate) type DiagnosticHandler = unsafe extern "C" fn(*mut DiagnosticInfo, *mut c_void);
/// `LLVMFatalErrorHandler`.
pub(crate) type FatalErrorHandler = unsafe extern "C" fn(*const c_char);

/// Declares the table and the function that fills it from a library.
macro_rules! api {
    ($($name:ident($($argument:ty),*) $(-> $result:ty)?;)*) => {
        /// The bound functions.
        #[allow(non_snake_case, reason = "the names are those of the C headers")]
        pub(crate) struct Api {
            $(pub(crate) $name: unsafe extern "C" fn($($argument),*) $(-> $result)?,)*
        }

        impl Api {
            /// Looks every function up; the error names the first one that is missing.
            ///
            /// # Safety
            /// `library` is a libLLVM, and the table is not used after the library is unloaded.
            pub(crate) unsafe fn bind(library: &Library) -> Result<Self, libloading::Error> {
                Ok(Self {
                    // SAFETY: the signatures are those of LLVM's C headers.
                    $($name: unsafe {
                        *library.get(concat!("LLVM", stringify!($name), "\0").as_bytes())?
                    },)*
                })
            }
        }
    };
}

api! {
    // Messages and errors.
    DisposeMessage(*mut c_char);
    GetErrorMessage(*mut Error) -> *mut c_char;
    DisposeErrorMessage(*mut c_char);
    InstallFatalErrorHandler(FatalErrorHandler);
    GetDiagInfoDescription(*mut DiagnosticInfo) -> *mut c_char;
    GetDiagInfoSeverity(*mut DiagnosticInfo) -> c_int;
    // Contexts, buffers, modules.
    ContextCreate() -> *mut Context;
    ContextDispose(*mut Context);
    ContextSetDiagnosticHandler(*mut Context, DiagnosticHandler, *mut c_void);
    CreateMemoryBufferWithMemoryRangeCopy(*const c_char, usize, *const c_char) -> *mut MemoryBuffer;
    DisposeMemoryBuffer(*mut MemoryBuffer);
    GetBufferStart(*mut MemoryBuffer) -> *const c_char;
    GetBufferSize(*mut MemoryBuffer) -> usize;
    ParseIRInContext(*mut Context, *mut MemoryBuffer, *mut *mut Module, *mut *mut c_char) -> c_int;
    VerifyModule(*mut Module, c_int, *mut *mut c_char) -> c_int;
    SetTarget(*mut Module, *const c_char);
    SetModuleDataLayout(*mut Module, *mut TargetData);
    DisposeModule(*mut Module);
    // Targets.
    GetDefaultTargetTriple() -> *mut c_char;
    GetHostCPUName() -> *mut c_char;
    GetHostCPUFeatures() -> *mut c_char;
    GetTargetFromTriple(*const c_char, *mut *mut Target, *mut *mut c_char) -> c_int;
    CreateTargetMachine(
        *mut Target, *const c_char, *const c_char, *const c_char, c_int, c_int, c_int
    ) -> *mut TargetMachine;
    DisposeTargetMachine(*mut TargetMachine);
    CreateTargetDataLayout(*mut TargetMachine) -> *mut TargetData;
    DisposeTargetData(*mut TargetData);
    // Passes and code generation.
    CreatePassBuilderOptions() -> *mut PassBuilderOptions;
    DisposePassBuilderOptions(*mut PassBuilderOptions);
    RunPasses(
        *mut Module, *const c_char, *mut TargetMachine, *mut PassBuilderOptions
    ) -> *mut Error;
    TargetMachineEmitToMemoryBuffer(
        *mut TargetMachine, *mut Module, c_int, *mut *mut c_char, *mut *mut MemoryBuffer
    ) -> c_int;
}

/// `LLVMGetVersion`, looked up before the rest: a library too old is refused by its version and not
/// by a missing function.
pub(crate) type GetVersion = unsafe extern "C" fn(*mut c_uint, *mut c_uint, *mut c_uint);

/// The functions that make the host's code generator known to LLVM.
pub(crate) const TARGET_INITIALIZERS: &[&str] = if cfg!(target_arch = "aarch64") {
    &[
        "LLVMInitializeAArch64TargetInfo",
        "LLVMInitializeAArch64Target",
        "LLVMInitializeAArch64TargetMC",
        "LLVMInitializeAArch64AsmPrinter",
    ]
} else {
    &[
        "LLVMInitializeX86TargetInfo",
        "LLVMInitializeX86Target",
        "LLVMInitializeX86TargetMC",
        "LLVMInitializeX86AsmPrinter",
    ]
};
