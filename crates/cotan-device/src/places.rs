//! Binding-time analysis: where each scalar outside of kernels lies. On the host are the integers and conditions that
//! follow from parameters and from what else is there; all else is on the device, and so is every name of memory that a
//! kernel binds.

use crate::parallel::Role;
use cotan_loops::node::{BufferUse, LocalUse, Part, walk};
use cotan_loops::{Buffer, Local, LoopFunction, Node, Operand};
use rustc_hash::FxHashSet;

/// What lies on the device; all else is on the host.
#[derive(Debug, Default)]
pub(crate) struct OnDevice {
    pub(crate) locals: FxHashSet<Local>,
    pub(crate) names: FxHashSet<Buffer>,
}

impl OnDevice {
    /// Of a function without calls. It starts with all on the host, and moves what can't stay until nothing moves.
    pub(crate) fn of(f: &LoopFunction) -> OnDevice {
        let mut found = OnDevice::default();
        loop {
            let before = (found.locals.len(), found.names.len());
            found.list(f, &f.body);
            if before == (found.locals.len(), found.names.len()) {
                return found;
            }
        }
    }

    /// Whether the host knows an operand.
    pub(crate) fn has(&self, operand: Operand) -> bool {
        matches!(operand, Operand::Local(local) if self.locals.contains(&local))
    }

    fn list(&mut self, f: &LoopFunction, nodes: &[Node]) {
        for node in nodes {
            match Role::of(f, node) {
                Role::Thread => self.thread(f, node),
                Role::Kernel => self.inside(node),
                Role::Control => node.lists().into_iter().for_each(|list| self.list(f, list)),
                Role::Host => {}
            }
        }
    }

    fn thread(&mut self, f: &LoopFunction, node: &Node) {
        if let Node::Let(to, expr) = node {
            if f.elem(*to).is_float() || expr.operands().iter().any(|operand| self.has(*operand)) {
                self.locals.insert(*to);
            }
        } else if let Node::Set(to, value) = node {
            if f.elem(*to).is_float() || self.has(*value) {
                self.locals.insert(*to);
            }
        } else if let Node::Segment(body) = node {
            self.list(f, body);
        } else if !matches!(node, Node::Bind { .. }) {
            self.inside(node);
        }
    }

    /// Everything that a kernel defines or changes is on the device.
    fn inside(&mut self, node: &Node) {
        walk(std::slice::from_ref(node), &mut |node| {
            node.each_part(&mut |part| match part {
                Part::Local(local, LocalUse::Define | LocalUse::Assign | LocalUse::Combine) => {
                    self.locals.insert(*local);
                }
                Part::Buffer(buffer, BufferUse::Bind) => {
                    self.names.insert(*buffer);
                }
                Part::Local(_, LocalUse::Test | LocalUse::Note)
                | Part::Buffer(
                    _,
                    BufferUse::Allocate
                    | BufferUse::Read
                    | BufferUse::Write
                    | BufferUse::Update
                    | BufferUse::OpenStack
                    | BufferUse::ExtendStack
                    | BufferUse::Alias
                    | BufferUse::Receive
                    | BufferUse::Note,
                )
                | Part::Operand(..)
                | Part::List(_)
                | Part::Effect(_) => {}
            });
        });
    }
}
