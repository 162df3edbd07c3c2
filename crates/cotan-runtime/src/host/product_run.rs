//! Runs of matrix products: what a library does of a block at a time, and ways to do it.

/// One run of a block: factors with their strides, rows and columns and terms, and whether it adds to what there is.
pub(super) struct Run<T> {
    pub(super) to: (*mut T, [isize; 2]),
    pub(super) left: (*const T, [isize; 2]),
    pub(super) right: (*const T, [isize; 2]),
    pub(super) extents: [usize; 3],
    pub(super) adds: bool,
}

/// A way to do a run.
pub(super) trait Runs<T> {
    /// Whether it packs the factors into memory of its own.
    const PACKS: bool;

    /// Does a run.
    ///
    /// # Safety
    /// The matrices have that many rows and columns, and nothing else uses what is written.
    unsafe fn run(run: &Run<T>);
}
