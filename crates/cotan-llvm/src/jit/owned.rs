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
}

impl<T> Drop for Owned<T> {
    fn drop(&mut self) {
        // SAFETY: by the contract of `new`.
        unsafe { (self.dispose)(self.pointer) }
    }
}
