//! Use counts: how often code mentions each local and buffer.

use super::{Buffer, BufferUse, Local, LocalUse, Node, Operand, OperandUse, Part, walk};
use rustc_hash::FxHashMap;

/// How often some nodes read, assign to or combine into each local, and touch each buffer. What defines a local or
/// allocates a buffer does not count, and neither does what no code evaluates.
#[derive(Debug, Default)]
pub struct Mentions {
    locals: FxHashMap<Local, usize>,
    buffers: FxHashMap<Buffer, usize>,
}

impl Mentions {
    /// Those of a list and of the lists in it.
    pub fn of(nodes: &[Node]) -> Mentions {
        let mut mentions = Mentions::default();
        walk(nodes, &mut |node| node.each_part(&mut |part| mentions.part(&part)));
        mentions
    }

    fn part(&mut self, part: &Part<'_>) {
        match *part {
            Part::Local(&local, LocalUse::Assign | LocalUse::Combine | LocalUse::Test)
            | Part::Operand(&Operand::Local(local), OperandUse::Read) => *self.locals.entry(local).or_default() += 1,
            Part::Buffer(_, BufferUse::Allocate | BufferUse::Note) => {}
            Part::Buffer(&buffer, _) => *self.buffers.entry(buffer).or_default() += 1,
            Part::Local(_, LocalUse::Define | LocalUse::Note) | Part::Operand(..) | Part::List(_) | Part::Effect(_) => {
            }
        }
    }

    /// Whether all mentions of a local that `whole` counts are among these.
    pub fn has_all_of_local(&self, local: Local, whole: &Mentions) -> bool {
        self.locals.get(&local) == whole.locals.get(&local)
    }

    /// Whether all mentions of a buffer that `whole` counts are among these.
    pub fn has_all_of_buffer(&self, buffer: Buffer, whole: &Mentions) -> bool {
        self.buffers.get(&buffer) == whole.buffers.get(&buffer)
    }
}
