//! Questions about a source function, answered before and during its transform; nothing here changes code.

pub(crate) mod accumulators;
pub(crate) mod activity;
pub(crate) mod closed_form;
pub(crate) mod lineage;
pub(crate) mod linearity;
pub(crate) mod region_cost;
