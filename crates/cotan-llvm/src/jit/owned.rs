//! Owning pointers to LLVM objects.

/// A C object that is disposed of when its owner goes out of scope.
pub(super) struct Owned<T> {
    pointer: *mut T,
    dispose: unsafe extern "C" fn(*mut T),
}

impl<T> Owned<T> {
    /// # Safety
    /// `pointer` is owned by the caller, and `dispose` is its destructor.
    pub(super) unsafe fn new(pointer: *mut T, dispose: unsafe extern "C" fn(*mut T)) -> Self {
        Self { pointer, dispose }
    }

    /// The pointer, for calls that borrow the object.
    pub(super) fn get(&self) -> *mut T {
        self.pointer
    }

    /// The pointer, for calls that take the object over.
    pub(super) fn into_raw(self) -> *mut T {
        let pointer = self.pointer;
        std::mem::forget(self);
        pointer
    }
}

impl<T> Drop for Owned<T> {
    fn drop(&mut self) {
        // SAFETY: by the contract of `new`; a pointer given away went through `into_raw`.
        unsafe { (self.dispose)(self.pointer) }
    }
}
