//! What a launch reports: the check that failed first, and what had too little room.

use crate::kernels::Report;
use crate::vulkan::DeviceError;
use cotan_device::{Kernel, Need, Plan, RunError, Shape};
use cotan_ir::{AllocationSite, Const, OutOfMemory};
use cotan_loops::node::walk;
use cotan_loops::{BufferInfo, Node};
use cotan_ops::reduce::{BLOCK, LANES};

/// Memory that a device has not.
pub(super) fn no_memory(info: &BufferInfo, bytes: u64, error: DeviceError) -> RunError {
    if let DeviceError::Refused { .. } = error {
        let site = AllocationSite { name: info.name.clone(), span: info.span, is_record: info.is_record };
        let error = OutOfMemory { wanted: bytes, held: 0, limit: None, site: Some(site) };
        return RunError::OutOfMemory(Box::new(error));
    }
    super::failed(error)
}

/// More memory than the call may have.
pub(super) fn over_limit(info: &BufferInfo, wanted: u64, held: u64, limit: u64) -> RunError {
    let site = AllocationSite { name: info.name.clone(), span: info.span, is_record: info.is_record };
    RunError::OutOfMemory(Box::new(OutOfMemory { wanted, held, limit: Some(limit), site: Some(site) }))
}

/// Whether a launch failed. An array with too little room comes first: a thread that left there has checked nothing more.
pub(super) fn outcome(
    plan: &Plan,
    kernel: &Kernel,
    report: &[u64],
    threads: u64,
    numbers: impl FnOnce(u64) -> Result<Vec<u64>, RunError>,
) -> Result<(), RunError> {
    if report[Report::LAUNCH] == u64::MAX {
        return Ok(());
    }
    if report[Report::HOST] != u64::MAX {
        return Err(RunError::ForHost);
    }
    let needs = report[Report::NEEDS..].iter().enumerate().filter(|(_, elements)| **elements > 0);
    let needs: Vec<Need> = needs.map(|(number, elements)| Need { number, elements: *elements as i64 }).collect();
    if !needs.is_empty() {
        return Err(RunError::Needs(needs));
    }
    let (iteration, check) = (report[Report::CHECK] >> 16, report[Report::CHECK] & 0xffff);
    let thread = match kernel.shape {
        Shape::Each(_) => iteration % threads,
        Shape::Reduce { .. } => (iteration / BLOCK as u64 * LANES as u64 + iteration % LANES as u64) % threads,
        Shape::One | Shape::InOrder { .. } => 0,
    };
    let numbers = numbers(thread)?;
    let mut checks = Vec::new();
    walk(&kernel.body, &mut |node| {
        if let Node::Check { kind, args, span, .. } = node {
            checks.push((*kind, args, *span));
        }
    });
    let Some((kind, args, span)) = checks.get(check as usize) else {
        return Err(RunError::Bug(format!("check {check} of a kernel that has {}", checks.len())));
    };
    let shown = args.iter().zip(numbers).map(|(arg, bits)| {
        let constant = Const::from_bits(plan.function.operand_elem(*arg), bits);
        constant.as_integer().unwrap_or(constant.bits().into())
    });
    Err(RunError::Check { kind: *kind, args: shown.collect(), span: *span })
}
