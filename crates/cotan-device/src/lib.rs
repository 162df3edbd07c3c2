//! Plans for devices: a program as steps of a host and kernels of a device (host-device partitioning), and the host that
//! takes the steps.
//!
//! [`plan`] cuts the nests of a program into [`Kernel`]s, each of which a device runs by one launch, and [`Step`]s: memory,
//! copies, launches, control that decides which kernels run, and what a device has not (numerical routines, output).
//! [`run`](fn@run) takes the steps on a [`Device`], and [`run_call`] those of a call whose arrays lie there already. Nothing here knows of an API: a Vulkan device and the reference device of
//! `cotan-nest`, which runs kernels thread by thread, are two implementations of one trait.

mod capacity;
mod cost;
mod cut;
mod device;
mod inline;
mod parallel;
mod places;
mod plan;
mod print;
mod run;
mod summary;

pub use capacity::{Capacities, Need};
pub use cut::{plan, plan_watching};
pub use device::{ArrayAt, Device, Launch, RunError, Until};
pub use plan::{Cell, Cells, Kernel, KernelId, Plan, PlanError, PlanParts, Region, Rounds, Shape, Size, Step};
pub use run::{Call, Found, Given, Limits, Results, run, run_call};
pub use summary::{ArraySummary, HostSummary, KernelSummary};
