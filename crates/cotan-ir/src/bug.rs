//! Internal errors: a rule of Cotan's own is broken.

/// Panics because a rule of Cotan's own is broken: names the pass or phase, the rule, and the entity that breaks it, in its
/// text form. User input never reaches it.
///
/// ```should_panic
/// # use cotan_ir::bug;
/// bug!("licm", "y: f64 = sin x", "the operand of {} is bound behind the loop", "y");
/// ```
#[macro_export]
macro_rules! bug {
    ($phase:expr, $entity:expr, $($rule:tt)+) => {
        ::core::panic!("bug: {}: {}\n{}", $phase, ::core::format_args!($($rule)+), $entity)
    };
}
