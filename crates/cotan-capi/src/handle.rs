//! Handles: a slot, and the generation that it had when the handle was made. A slot is never given back to the allocator, so
//! that a dead handle can be told; the next thing takes it over, in the next generation.

use crate::status::{Failure, Outcome, Status};
use crate::{compiler, function};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// What a handle stands for.
#[derive(Clone, Debug)]
pub(crate) enum Object {
    Compiler(Arc<compiler::State>),
    Program(Arc<compiler::ProgramState>),
    Function(Arc<function::State>),
}

/// `cotan_compiler`, `cotan_program` and `cotan_function`: values that C may copy.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Handle {
    slot: *const Slot,
    generation: u64,
}

/// A place for something.
#[derive(Debug, Default)]
pub(crate) struct Slot {
    /// Odd while something is here.
    generation: AtomicU64,
    object: Mutex<Option<Object>>,
}

/// The slots of a compiler, and of all that was made by it.
#[derive(Debug, Default)]
pub(crate) struct Slots {
    free: Mutex<Vec<&'static Slot>>,
}

impl Slots {
    /// A handle for something.
    pub(crate) fn handle(&self, object: Object) -> Handle {
        let free = self.free.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let slot: &'static Slot = free.unwrap_or_else(|| Box::leak(Box::default()));
        *slot.object.lock().unwrap_or_else(PoisonError::into_inner) = Some(object);
        let generation = slot.generation.fetch_add(1, Ordering::AcqRel) + 1;
        Handle { slot, generation }
    }

    fn take_back(&self, slot: &'static Slot) {
        self.free.lock().unwrap_or_else(PoisonError::into_inner).push(slot);
    }
}

fn dead(what: &str) -> Failure {
    Failure::new(Status::Handle, format!("the handle of {what} is zero, or was freed"))
}

impl Handle {
    /// The slot, if it is one.
    ///
    /// # Safety
    /// The handle is zero, or one that this library made.
    unsafe fn slot(self) -> Option<&'static Slot> {
        // SAFETY: slots are never given back to the allocator.
        unsafe { self.slot.as_ref() }
    }

    /// What it stands for; `what` is what was expected.
    ///
    /// # Safety
    /// The handle is zero, or one that this library made.
    unsafe fn object(self, what: &str) -> Outcome<Object> {
        // SAFETY: by this function's contract.
        let slot = unsafe { self.slot() }.ok_or_else(|| dead(what))?;
        let object = slot.object.lock().unwrap_or_else(PoisonError::into_inner);
        let is_alive = slot.generation.load(Ordering::Acquire) == self.generation;
        object.as_ref().filter(|_| is_alive).cloned().ok_or_else(|| dead(what))
    }

    /// # Safety
    /// As of [`Handle::object`].
    pub(crate) unsafe fn compiler(self) -> Outcome<Arc<compiler::State>> {
        // SAFETY: by this function's contract.
        match unsafe { self.object("a compiler") }? {
            Object::Compiler(state) => Ok(state),
            Object::Program(_) | Object::Function(_) => Err(other("a compiler")),
        }
    }

    /// # Safety
    /// As of [`Handle::object`].
    pub(crate) unsafe fn program(self) -> Outcome<Arc<compiler::ProgramState>> {
        // SAFETY: by this function's contract.
        match unsafe { self.object("a program") }? {
            Object::Program(state) => Ok(state),
            Object::Compiler(_) | Object::Function(_) => Err(other("a program")),
        }
    }

    /// # Safety
    /// As of [`Handle::object`].
    pub(crate) unsafe fn function(self) -> Outcome<Arc<function::State>> {
        // SAFETY: by this function's contract.
        match unsafe { self.object("a function") }? {
            Object::Function(state) => Ok(state),
            Object::Compiler(_) | Object::Program(_) => Err(other("a function")),
        }
    }

    /// Frees what it stands for, once those who use it just now are done.
    ///
    /// # Safety
    /// As of [`Handle::object`].
    pub(crate) unsafe fn free(self, what: &str, is_one: impl Fn(&Object) -> Option<Arc<Slots>>) -> Outcome<()> {
        // SAFETY: by this function's contract.
        let slot = unsafe { self.slot() }.ok_or_else(|| dead(what))?;
        let mut object = slot.object.lock().unwrap_or_else(PoisonError::into_inner);
        if slot.generation.load(Ordering::Acquire) != self.generation {
            return Err(dead(what));
        }
        let slots = object.as_ref().and_then(is_one).ok_or_else(|| other(what))?;
        let freed = object.take();
        slot.generation.fetch_add(1, Ordering::AcqRel);
        drop(object);
        slots.take_back(slot);
        drop(freed);
        Ok(())
    }
}

fn other(what: &str) -> Failure {
    Failure::new(Status::Handle, format!("expected {what}, found a handle of something else"))
}
