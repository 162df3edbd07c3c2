//! How a function runs on a device: its kernels and threads, and what the host does.

use crate::ReadyModule;
use crate::device_plan::device_plan;
use cotan_device::{ArraySummary, HostSummary, KernelSummary, Plan};
use serde_json::{Value as Json, json};
use std::fmt;

/// How a function runs on a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceExplanation {
    /// The kernels, in the order of the plan.
    pub kernels: Vec<KernelSummary>,
    /// What the host does between them.
    pub host: Vec<HostSummary>,
}

impl DeviceExplanation {
    /// That of lowered IR. The error says why there is no plan.
    pub fn of(ready: &ReadyModule) -> Result<DeviceExplanation, String> {
        let plan: Plan = device_plan(&ready.module, &ready.entry.symbol)?;
        Ok(DeviceExplanation { kernels: plan.kernel_summaries(), host: plan.host_summaries() })
    }

    /// Whether any kernel has more than one thread. Without one the CPU runs the function.
    pub fn is_parallel(&self) -> bool {
        self.kernels.iter().any(|kernel| kernel.is_parallel)
    }

    /// As JSON.
    pub fn to_json(&self) -> Json {
        let array = |array: &ArraySummary| json!({"name": array.name, "bytes": array.bytes});
        let kernels: Vec<Json> = self
            .kernels
            .iter()
            .map(|kernel| {
                let arrays: Vec<Json> = kernel.arrays.iter().map(array).collect();
                json!({"threads": kernel.threads, "parallel": kernel.is_parallel, "arrays": arrays})
            })
            .collect();
        let host: Vec<Json> = self.host.iter().map(|step| json!({"step": step.step, "why": step.why})).collect();
        json!({"kernels": kernels, "host": host, "parallel": self.is_parallel()})
    }
}

impl fmt::Display for DeviceExplanation {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.is_parallel() {
            out.write_str("No loop has independent iterations, so the CPU runs it whole.\n\n")?;
        }
        for (number, kernel) in self.kernels.iter().enumerate() {
            writeln!(out, "kernel {number}: {}", kernel.threads)?;
            for array in &kernel.arrays {
                match &array.bytes {
                    Some(bytes) => writeln!(out, "  `{}` of each thread: {bytes} bytes", array.name)?,
                    None => writeln!(out, "  `{}` of each thread: as long as the run needs", array.name)?,
                }
            }
        }
        for step in &self.host {
            writeln!(out, "host: {} ({})", step.step, step.why)?;
        }
        Ok(())
    }
}
