//! The CPU backend: textual LLVM IR, compiled in process by an LLVM found at run time.
