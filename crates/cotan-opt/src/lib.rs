//! Passes over the core IR.
