//! The reference interpreter of the core IR, and the tape engine.
