//! Analyses that several passes share.

pub(crate) mod integer_facts;
pub(crate) mod splats;
pub(crate) mod uses;
