//! Dead kernel elimination: kernels of one thread that leave nothing, as the scalars that they define are read nowhere else.

use crate::plan::{Kernel, KernelId, PlanParts, Shape, Step};
use cotan_loops::Node;
use cotan_loops::node::{BufferUse, Effect, any};

/// Takes out kernels that leave nothing, with their launches.
pub(super) fn remove_dead_kernels(plan: &mut PlanParts) {
    let mut numbers = Vec::new();
    let mut n_kept = 0;
    for kernel in &plan.kernels {
        let is_kept = leaves_something(kernel);
        numbers.push(is_kept.then_some(KernelId(n_kept)));
        n_kept += u32::from(is_kept);
    }
    plan.kernels.retain(leaves_something);
    renumber(&mut plan.steps, &numbers);
}

fn leaves_something(kernel: &Kernel) -> bool {
    kernel.shape != Shape::One
        || !kernel.writes.is_empty()
        || !kernel.writes_names.is_empty()
        || any(&kernel.body, &mut acts)
}

/// Whether a node does more than to define scalars. A loop that may have no end is kept.
fn acts(node: &Node) -> bool {
    let mut acts = node.has(Effect::Fails) || matches!(node, Node::While(..));
    node.each_buffer(&mut |_, usage| acts |= !matches!(usage, BufferUse::Read | BufferUse::Note));
    acts
}

fn renumber(steps: &mut Vec<Step>, numbers: &[Option<KernelId>]) {
    steps.retain_mut(|step| {
        if let Step::Launch(id) = step {
            let Some(number) = numbers[id.index()] else { return false };
            *id = number;
        }
        step.lists_mut().into_iter().for_each(|list| renumber(list, numbers));
        true
    });
}
