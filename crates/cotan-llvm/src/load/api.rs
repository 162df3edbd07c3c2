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
    DiagnosticInfo LlJit LlJitBuilder ExecutionSession JitDylib SymbolName MaterializationUnit
}

/// `LLVMDiagnosticHandler`.
pub(crate) type DiagnosticHandler = unsafe extern "C" fn(*mut DiagnosticInfo, *mut c_void);
/// `LLVMFatalErrorHandler`.
pub(crate) type FatalErrorHandler = unsafe extern "C" fn(*const c_char);
/// `LLVMOrcErrorReporterFunction`.
pub(crate) type ErrorReporter = unsafe extern "C" fn(*mut c_void, *mut Error);
/// `LLVMOrcExecutionSessionLookupHandleResultFunction`.
pub(crate) type LookupHandler = unsafe extern "C" fn(*mut Error, *const SymbolMapPair, usize, *mut c_void);

/// `LLVMOrcCSymbolMapPair`: a name and the address it stands for.
#[repr(C)]
pub(crate) struct SymbolMapPair {
    pub(crate) name: *mut SymbolName,
    pub(crate) address: u64,
    /// `LLVMJITSymbolGenericFlags`: 1 exported, 4 callable.
    pub(crate) generic_flags: u8,
    pub(crate) target_flags: u8,
}

/// `LLVMOrcCJITDylibSearchOrderElement`.
#[repr(C)]
pub(crate) struct SearchOrderElement {
    pub(crate) dylib: *mut JitDylib,
    /// 1: hidden symbols match too.
    pub(crate) flags: c_int,
}

/// `LLVMOrcCLookupSetElement`.
#[repr(C)]
pub(crate) struct LookupElement {
    pub(crate) name: *mut SymbolName,
    /// 0: the symbol is required.
    pub(crate) flags: c_int,
}

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
    // The just-in-time linker.
    OrcCreateLLJIT(*mut *mut LlJit, *mut LlJitBuilder) -> *mut Error;
    OrcDisposeLLJIT(*mut LlJit) -> *mut Error;
    OrcLLJITGetExecutionSession(*mut LlJit) -> *mut ExecutionSession;
    OrcLLJITMangleAndIntern(*mut LlJit, *const c_char) -> *mut SymbolName;
    OrcLLJITAddObjectFile(*mut LlJit, *mut JitDylib, *mut MemoryBuffer) -> *mut Error;
    OrcExecutionSessionCreateBareJITDylib(*mut ExecutionSession, *const c_char) -> *mut JitDylib;
    OrcExecutionSessionSetErrorReporter(*mut ExecutionSession, ErrorReporter, *mut c_void);
    OrcExecutionSessionLookup(
        *mut ExecutionSession, c_int, *const SearchOrderElement, usize,
        *const LookupElement, usize, LookupHandler, *mut c_void
    );
    OrcAbsoluteSymbols(*mut SymbolMapPair, usize) -> *mut MaterializationUnit;
    OrcDisposeMaterializationUnit(*mut MaterializationUnit);
    OrcJITDylibDefine(*mut JitDylib, *mut MaterializationUnit) -> *mut Error;
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
