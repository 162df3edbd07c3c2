//! The passes over the core IR, one per file, and the list of them.

pub mod accumulate_to_map;
pub mod batch_products;
pub mod compose_reads;
pub mod contract_fma;
pub mod cse;
pub mod dce;
pub mod delay_updates;
pub mod distribute_products;
pub mod drop_order;
pub mod eliminate_checks;
mod equal_dims;
pub mod flatten_reductions;
pub mod forward_accumulators;
pub mod forward_stores;
pub mod fuse;
pub mod guard_zeros;
mod identities;
pub mod inline;
pub mod licm;
pub mod merge_switches;
mod nested_sums;
pub mod one_hot;
pub mod reassociate;
pub mod recognize_matmul;
pub mod region_cse;
pub mod relax_products;
pub(crate) mod rename;
pub mod renumber;
pub mod scalar_replacement;
pub mod scatter_to_gather;
pub mod share_reciprocals;
mod small_tensors;
pub mod sum_before_map;
pub mod trap_nan;
pub mod unroll;
mod value_key;
pub mod vector_products;

use crate::pass::Pass;

/// Every pass over the core IR. Tests, pages and commands read this list.
pub static PASSES: &[&Pass] = &[
    &accumulate_to_map::PASS,
    &batch_products::PASS,
    &compose_reads::PASS,
    &contract_fma::PASS,
    &cse::PASS,
    &dce::PASS,
    &delay_updates::PASS,
    &distribute_products::PASS,
    &drop_order::PASS,
    &eliminate_checks::PASS,
    &flatten_reductions::PASS,
    &forward_accumulators::PASS,
    &forward_stores::PASS,
    &fuse::PASS,
    &guard_zeros::PASS,
    &inline::PASS,
    &licm::PASS,
    &licm::INTEGERS,
    &merge_switches::PASS,
    &one_hot::PASS,
    &reassociate::PASS,
    &recognize_matmul::PASS,
    &region_cse::PASS,
    &region_cse::iteration_values::PASS,
    &relax_products::PASS,
    &renumber::PASS,
    &scalar_replacement::PASS,
    &scatter_to_gather::PASS,
    &share_reciprocals::PASS,
    &sum_before_map::PASS,
    &trap_nan::PASS,
    &unroll::PASS,
    &vector_products::PASS,
];
