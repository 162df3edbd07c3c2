//! Analyses that several passes share.

pub(crate) mod splats;
pub(crate) mod uses;
