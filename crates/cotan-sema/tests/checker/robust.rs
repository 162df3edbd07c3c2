//! Programs of any kind and size.
