//! From an object file to callable code: LLVM's just-in-time linker with a closed set of symbols.
//!
//! The linker (JITLink with its in-process memory manager) maps pages writable, copies the code in,
//! and flips them to read and execute before anything runs: no page is ever both. A test watches it.

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::ptr;
use std::sync::{Arc, mpsc};

use super::error::JitError;
use super::owned::Owned;
use super::symbols::HostSymbols;
use super::target::c_string;
use crate::load::Llvm;
use crate::load::api::{Error, ExecutionSession, JitDylib, LlJit, LookupElement, SearchOrderElement, SymbolMapPair};

/// Code in memory. It is unmapped when this is dropped.
pub struct CompiledModule {
    addresses: BTreeMap<String, usize>,
    /// Declared before the messages it writes to, so that it is dropped first.
    _linker: Linker,
    _messages: Box<Messages>,
}

// SAFETY: after linking nothing here changes; the code has no globals, and the linker is touched
// again only by `drop`, which has exclusive access.
unsafe impl Send for CompiledModule {}
// SAFETY: as above; shared access reads `addresses` only.
unsafe impl Sync for CompiledModule {}

impl CompiledModule {
    /// Where the exported function `name` starts, valid until the module is dropped.
    #[must_use]
    pub fn address(&self, name: &str) -> Option<*const ()> {
        self.addresses.get(name).map(|address| *address as *const ())
    }
}

impl std::fmt::Debug for CompiledModule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CompiledModule").field("exports", &self.addresses.keys()).finish_non_exhaustive()
    }
}

/// Links `objects` together and looks up `exports`, so that nothing is left to do, or to fail, at a call.
pub(super) fn link(
    llvm: &Arc<Llvm>,
    objects: &[Vec<u8>],
    exports: &[String],
    symbols: &HostSymbols,
) -> Result<CompiledModule, JitError> {
    let messages = Box::new(Messages::new(llvm));
    let linker = Linker::new(llvm, &messages)?;
    linker
        .define(symbols)
        .and_then(|()| objects.iter().try_for_each(|object| linker.add(object)))
        .and_then(|()| linker.look_up(exports))
        .map_err(|error| JitError::Link(messages.explain(error)))
        .map(|addresses| CompiledModule { addresses, _linker: linker, _messages: messages })
}

/// What the linker reports beside its results, such as the names of missing symbols.
struct Messages {
    llvm: Arc<Llvm>,
    sender: mpsc::Sender<String>,
    receiver: mpsc::Receiver<String>,
}

impl Messages {
    fn new(llvm: &Arc<Llvm>) -> Self {
        let (sender, receiver) = mpsc::channel();
        Self { llvm: Arc::clone(llvm), sender, receiver }
    }

    /// Adds what was reported to the error that a call returned.
    fn explain(&self, error: String) -> String {
        let mut lines: Vec<String> = self.receiver.try_iter().collect();
        lines.push(error);
        lines.join("; ")
    }
}

/// # Safety
/// `messages` points to the live [`Messages`] of this session, and `error` is owned here.
unsafe extern "C" fn report(messages: *mut c_void, error: *mut Error) {
    // SAFETY: by this function's contract.
    unsafe {
        let messages = &*messages.cast_const().cast::<Messages>();
        if let Err(text) = messages.llvm.take_error(error) {
            // The receiver lives as long as the sender.
            drop(messages.sender.send(text));
        }
    }
}

/// One linking session with a library of its own.
struct Linker {
    llvm: Arc<Llvm>,
    jit: *mut LlJit,
    session: *mut ExecutionSession,
    /// A bare library: unlike the main one of the session it does not fall back on the process.
    library: *mut JitDylib,
}

impl Linker {
    /// The session reports to `messages`, which must outlive it.
    fn new(llvm: &Arc<Llvm>, messages: &Messages) -> Result<Self, JitError> {
        let api = &llvm.api;
        let mut jit = ptr::null_mut();
        // SAFETY: a null builder asks for the defaults; the session belongs to the linker, and the
        // library to the session.
        unsafe {
            llvm.take_error((api.OrcCreateLLJIT)(&mut jit, ptr::null_mut())).map_err(JitError::Link)?;
            let session = (api.OrcLLJITGetExecutionSession)(jit);
            (api.OrcExecutionSessionSetErrorReporter)(session, report, ptr::from_ref(messages).cast_mut().cast());
            Ok(Self {
                llvm: Arc::clone(llvm),
                jit,
                session,
                library: (api.OrcExecutionSessionCreateBareJITDylib)(session, c"cotan".as_ptr()),
            })
        }
    }

    /// Makes the host's functions known under their names.
    fn define(&self, symbols: &HostSymbols) -> Result<(), String> {
        const EXPORTED_AND_CALLABLE: u8 = 1 | 4;
        let api = &self.llvm.api;
        let mut pairs = symbols
            .iter()
            .map(|(name, address)| {
                let name = c_string(name).map_err(|error| error.to_string())?;
                Ok(SymbolMapPair {
                    // SAFETY: the name is copied into the session's pool.
                    name: unsafe { (api.OrcLLJITMangleAndIntern)(self.jit, name.as_ptr()) },
                    address: address as u64,
                    generic_flags: EXPORTED_AND_CALLABLE,
                    target_flags: 0,
                })
            })
            .collect::<Result<Vec<_>, String>>()?;
        // SAFETY: the unit takes the interned names over, and the library the unit unless it fails.
        unsafe {
            let unit = (api.OrcAbsoluteSymbols)(pairs.as_mut_ptr(), pairs.len());
            let unit = Owned::new(unit, api.OrcDisposeMaterializationUnit);
            self.llvm.take_error((api.OrcJITDylibDefine)(self.library, unit.get()))?;
            unit.into_raw();
        }
        Ok(())
    }

    /// Hands the object over; it is linked at the first look-up.
    fn add(&self, object: &[u8]) -> Result<(), String> {
        let api = &self.llvm.api;
        // SAFETY: LLVM copies the bytes, and the linker takes the copy over.
        unsafe {
            let buffer =
                (api.CreateMemoryBufferWithMemoryRangeCopy)(object.as_ptr().cast(), object.len(), c"cotan".as_ptr());
            let error = (api.OrcLLJITAddObjectFile)(self.jit, self.library, buffer);
            self.llvm.take_error(error)
        }
    }

    /// The addresses of `names`, all of which must be defined.
    fn look_up(&self, names: &[String]) -> Result<BTreeMap<String, usize>, String> {
        const STATIC: i32 = 0;
        const MATCH_ALL: i32 = 1;
        const REQUIRED: i32 = 0;
        let api = &self.llvm.api;
        let order = SearchOrderElement { dylib: self.library, flags: MATCH_ALL };
        // The answer pairs addresses with interned names, which are equal by pointer.
        let mut interned = Vec::new();
        for name in names {
            let text = c_string(name).map_err(|error| error.to_string())?;
            // SAFETY: the name is copied into the session's pool.
            interned.push(unsafe { (api.OrcLLJITMangleAndIntern)(self.jit, text.as_ptr()) });
        }
        let elements: Vec<LookupElement> =
            interned.iter().map(|&name| LookupElement { name, flags: REQUIRED }).collect();
        let (sender, receiver) = mpsc::channel::<LookupAnswer>();
        let mut answer = LookupState { llvm: Arc::clone(&self.llvm), sender };
        // SAFETY: the look-up takes the interned names over and calls back exactly once; `answer`
        // lives until that happened, because the receiver is waited for below.
        unsafe {
            (api.OrcExecutionSessionLookup)(
                self.session,
                STATIC,
                &order,
                1,
                elements.as_ptr(),
                elements.len(),
                receive_lookup,
                (&raw mut answer).cast(),
            );
        }
        let found = receiver.recv().map_err(|_| "the linker did not answer".to_owned())??;
        names
            .iter()
            .zip(interned)
            .map(|(name, interned)| {
                let address = found.get(&(interned as usize));
                let address = address.ok_or_else(|| format!("`{name}` was not linked"))?;
                Ok((name.clone(), *address))
            })
            .collect()
    }
}

impl Drop for Linker {
    fn drop(&mut self) {
        // SAFETY: the linker is owned here. Unmapping has no failure that anyone could act on.
        unsafe {
            let error = (self.llvm.api.OrcDisposeLLJIT)(self.jit);
            drop(self.llvm.take_error(error));
        }
    }
}

/// Interned names (as addresses of their pool entries) and what they stand for.
type LookupAnswer = Result<BTreeMap<usize, usize>, String>;

struct LookupState {
    llvm: Arc<Llvm>,
    sender: mpsc::Sender<LookupAnswer>,
}

/// # Safety
/// `state` points to a live [`LookupState`]; `pairs` has `count` elements; `error` is owned here.
unsafe extern "C" fn receive_lookup(error: *mut Error, pairs: *const SymbolMapPair, count: usize, state: *mut c_void) {
    // SAFETY: by this function's contract; `pairs` is not read after a failure, when it is null.
    unsafe {
        let state = &*state.cast_const().cast::<LookupState>();
        let answer = state.llvm.take_error(error).map(|()| {
            (0..count).map(|index| &*pairs.add(index)).map(|pair| (pair.name as usize, pair.address as usize)).collect()
        });
        // The receiver waits for this message.
        drop(state.sender.send(answer));
    }
}
