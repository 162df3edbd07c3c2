//! From textual IR to an object file or to assembly text: parse, verify, run passes, emit.

use std::cell::RefCell;
use std::ffi::{c_char, c_void};
use std::ptr;

use super::error::JitError;
use super::options::OptLevel;
use super::owned::Owned;
use super::target::{Target, c_string};
use crate::load::Llvm;
use crate::load::api::{Context, DiagnosticInfo, MemoryBuffer, Module, TargetMachine};

/// What code generation writes: `LLVMCodeGenFileType`.
#[derive(Clone, Copy)]
pub(super) enum Output {
    Assembly = 0,
    Object = 1,
}

/// Compiles one module. A thread may use a machine for one module after the other.
pub(super) fn compile(
    llvm: &Llvm,
    target: &Target,
    machine: &Owned<TargetMachine>,
    ir: &str,
    level: OptLevel,
    output: Output,
) -> Result<Vec<u8>, JitError> {
    let diagnostics = Diagnostics::new(llvm);
    let context = diagnostics.context();
    let module = parse(llvm, &context, ir)?;
    prepare(llvm, target, &module, machine)?;
    if let Some(passes) = level.passes() {
        run_passes(llvm, passes, &module, machine)?;
    }
    let buffer = emit(llvm, &module, machine, output)?;
    diagnostics.check()?;
    // SAFETY: the buffer is live and has the length that it says.
    Ok(unsafe {
        let start = (llvm.api.GetBufferStart)(buffer.get()).cast::<u8>();
        std::slice::from_raw_parts(start, (llvm.api.GetBufferSize)(buffer.get())).to_vec()
    })
}

fn parse(llvm: &Llvm, context: &Owned<Context>, ir: &str) -> Result<Owned<Module>, JitError> {
    let api = &llvm.api;
    let mut module = ptr::null_mut();
    let mut message = ptr::null_mut();
    // SAFETY: LLVM copies the text into a buffer, which the parser takes over; it then fills
    // `module` or `message`.
    unsafe {
        let text = (api.CreateMemoryBufferWithMemoryRangeCopy)(ir.as_ptr().cast(), ir.len(), c"cotan".as_ptr());
        if (api.ParseIRInContext)(context.get(), text, &mut module, &mut message) != 0 {
            return Err(JitError::InvalidIr(llvm.take_message(message)));
        }
        Ok(Owned::new(module, api.DisposeModule))
    }
}

/// Gives the module its target and verifies it.
fn prepare(
    llvm: &Llvm,
    target: &Target,
    module: &Owned<Module>,
    machine: &Owned<TargetMachine>,
) -> Result<(), JitError> {
    const RETURN_STATUS: i32 = 2;
    let api = &llvm.api;
    let triple = c_string(&target.triple)?;
    let mut message = ptr::null_mut();
    // SAFETY: module and machine are live; the module copies triple and layout. The verifier
    // allocates a message in every case.
    unsafe {
        (api.SetTarget)(module.get(), triple.as_ptr());
        let layout = Owned::new((api.CreateTargetDataLayout)(machine.get()), api.DisposeTargetData);
        (api.SetModuleDataLayout)(module.get(), layout.get());
        let broken = (api.VerifyModule)(module.get(), RETURN_STATUS, &mut message) != 0;
        let message = llvm.take_message(message);
        if broken {
            return Err(JitError::InvalidIr(message));
        }
    }
    Ok(())
}

fn run_passes(
    llvm: &Llvm,
    passes: &str,
    module: &Owned<Module>,
    machine: &Owned<TargetMachine>,
) -> Result<(), JitError> {
    let api = &llvm.api;
    let passes = c_string(passes)?;
    // SAFETY: all four objects are live during the call.
    unsafe {
        let options = Owned::new((api.CreatePassBuilderOptions)(), api.DisposePassBuilderOptions);
        let error = (api.RunPasses)(module.get(), passes.as_ptr(), machine.get(), options.get());
        llvm.take_error(error).map_err(JitError::CodeGeneration)
    }
}

fn emit(
    llvm: &Llvm,
    module: &Owned<Module>,
    machine: &Owned<TargetMachine>,
    output: Output,
) -> Result<Owned<MemoryBuffer>, JitError> {
    let api = &llvm.api;
    let mut message: *mut c_char = ptr::null_mut();
    let mut buffer = ptr::null_mut();
    // SAFETY: module and machine are live; LLVM fills `buffer` or `message`.
    unsafe {
        let failed = (api.TargetMachineEmitToMemoryBuffer)(
            machine.get(),
            module.get(),
            output as i32,
            &mut message,
            &mut buffer,
        ) != 0;
        if failed {
            return Err(JitError::CodeGeneration(llvm.take_message(message)));
        }
        Ok(Owned::new(buffer, api.DisposeMemoryBuffer))
    }
}

/// The errors that LLVM reports beside its results. Without a handler of its own a context prints
/// them and ends the process.
struct Diagnostics<'a> {
    llvm: &'a Llvm,
    errors: RefCell<Vec<String>>,
}

impl<'a> Diagnostics<'a> {
    fn new(llvm: &'a Llvm) -> Self {
        Self { llvm, errors: RefCell::default() }
    }

    /// A context that reports here; it must be dropped first.
    fn context(&self) -> Owned<Context> {
        let api = &self.llvm.api;
        // SAFETY: the context is owned by the result, and `self` outlives it in `compile`.
        unsafe {
            let context = (api.ContextCreate)();
            let this = ptr::from_ref(self).cast_mut().cast();
            (api.ContextSetDiagnosticHandler)(context, collect, this);
            Owned::new(context, api.ContextDispose)
        }
    }

    fn check(&self) -> Result<(), JitError> {
        let errors = self.errors.borrow();
        if errors.is_empty() {
            return Ok(());
        }
        Err(JitError::CodeGeneration(errors.join("; ")))
    }
}

/// # Safety
/// `diagnostics` points to the live `Diagnostics` that the context was made with.
unsafe extern "C" fn collect(info: *mut DiagnosticInfo, diagnostics: *mut c_void) {
    const SEVERITY_ERROR: i32 = 0;
    // SAFETY: by this function's contract; LLVM calls it on the compiling thread.
    unsafe {
        let diagnostics = &*diagnostics.cast_const().cast::<Diagnostics<'_>>();
        let api = &diagnostics.llvm.api;
        if (api.GetDiagInfoSeverity)(info) == SEVERITY_ERROR {
            let text = (api.GetDiagInfoDescription)(info);
            let text = diagnostics.llvm.take_message(text);
            diagnostics.errors.borrow_mut().push(text);
        }
    }
}
