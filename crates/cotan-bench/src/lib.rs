//! Benchmarks on real input: the ADBench objectives, loops whose length depends on data, single operations, and
//! workloads of many kinds.
//!
//! Every benchmark is a program in `examples/`, an instance of its arguments, and the derivative entries that it gives;
//! [`measure()`] times both the function and its derivative by one method. The shell in `main.rs` reads files.

mod adbench;
mod cpp;
mod gpu;
mod hosts;
mod loops;
mod marks;
mod operations;
mod peak;
mod peers;
mod products;
mod random;
mod threads;
mod workloads;

pub use adbench::{HandModel, Objective, read_adbench};
pub use cotan_measure::{
    Beside, Block, BlockError, Found, Instance, Measured, NestFigures, Peak, Profile, Settings, Tolerance, Turn,
    agreement, compare_blocks, evaluate, evaluate_by_tape, measure, measure_beside, profile, profile_table,
};
pub use cpp::Cpp;
pub use gpu::{GPU_CASES, GpuFigures, Shaders, gpu_figures, gpu_program, gpu_table};
pub use hosts::{HostFigures, host_figures, host_table};
pub use loops::{LOOPS, loop_instance, newton};
pub use marks::{Mark, Marks, Recorded, Timed, recorded};
pub use operations::{Form, JudgedOperation, OPERATIONS, Operation, PeerTime, Work, judge, operation, operation_table};
pub use peak::measure_peak;
pub use peers::{Peer, PeerFigures, Peers};
pub use products::{PRODUCT_SIDES, ProductRates, product_chain, product_rates, product_table};
pub use threads::{Throughput, throughput, throughput_table};
pub use workloads::{
    CompileTimes, MECHANISMS, Sizes, Surroundings, Workload, WorkloadFigures, WorkloadRatios, measure_workload,
    slowest_nests, workload_instance, workload_table, workloads,
};
