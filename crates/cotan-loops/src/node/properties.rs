//! Properties of single nodes that follow from their shape: inner lists, definitions, operands, buffers, effects.

use super::{Buffer, BufferUse, Effect, Expr, Local, LocalUse, Node, Operand, Part, PartMut};

impl Node {
    /// The inner lists.
    pub fn lists(&self) -> Vec<&[Node]> {
        let mut lists = Vec::new();
        self.each_part(&mut |part| {
            if let Part::List(list) = part {
                lists.push(&list[..]);
            }
        });
        lists
    }

    /// The inner lists, to change them.
    pub fn lists_mut(&mut self) -> Vec<&mut Vec<Node>> {
        let mut lists = Vec::new();
        self.each_part_mut(&mut |part| {
            if let PartMut::List(list) = part {
                lists.push(list);
            }
        });
        lists
    }

    /// Visits every operand that the node itself reads, notes, tests or combines into.
    pub fn each_operand(&self, see: &mut impl FnMut(Operand)) {
        self.each_part(&mut |part| match part {
            Part::Operand(operand, _) => see(*operand),
            Part::Local(local, LocalUse::Combine | LocalUse::Test | LocalUse::Note) => see((*local).into()),
            Part::Local(_, LocalUse::Define | LocalUse::Assign)
            | Part::Buffer(..)
            | Part::List(_)
            | Part::Effect(_) => {}
        });
    }

    /// Visits every local that the node itself defines, with the value if that is written there.
    pub fn each_definition<'n>(&'n self, see: &mut impl FnMut(Local, Option<&'n Expr>)) {
        let value = if let Node::Let(_, expr) = self { Some(expr) } else { None };
        self.each_part(&mut |part| {
            if let Part::Local(local, LocalUse::Define) = part {
                see(*local, value);
            }
        });
    }

    /// Visits every buffer that the node itself mentions.
    pub fn each_buffer(&self, see: &mut impl FnMut(Buffer, BufferUse)) {
        self.each_part(&mut |part| {
            if let Part::Buffer(buffer, usage) = part {
                see(*buffer, usage);
            }
        });
    }

    /// Whether the node itself has an effect.
    pub fn has(&self, effect: Effect) -> bool {
        let mut found = false;
        self.each_part(&mut |part| found |= matches!(part, Part::Effect(other) if other == effect));
        found
    }

    /// Whether the node itself has any effect.
    pub fn has_effect(&self) -> bool {
        let mut found = false;
        self.each_part(&mut |part| found |= matches!(part, Part::Effect(_)));
        found
    }

    /// Whether the node only defines locals and allocates buffers: without those that read them it could be left out.
    pub fn only_defines(&self) -> bool {
        let mut only_defines = true;
        self.each_part(&mut |part| {
            only_defines &= match part {
                Part::Local(_, usage) => usage == LocalUse::Define,
                Part::Operand(..) => true,
                Part::Buffer(_, usage) => matches!(usage, BufferUse::Read | BufferUse::Allocate),
                Part::List(_) | Part::Effect(_) => false,
            };
        });
        only_defines
    }

    /// What decides whether, or how often, the inner lists run: counts, a condition or a number.
    pub fn selectors(&self) -> Vec<Operand> {
        if let Node::While(go, _) = self {
            vec![(*go).into()]
        } else if let Node::For(l) = self {
            vec![l.count]
        } else if let Node::Reduce(reduction) = self {
            reduction.indices.iter().map(|(_, count)| *count).collect()
        } else if let Node::If(operand, ..) | Node::Switch(operand, _) = self {
            vec![*operand]
        } else {
            Vec::new()
        }
    }

    /// Whether records that the node makes are alive after it: what the body of a loop records ends with an iteration.
    pub fn leaves_records(&self) -> bool {
        let is_loop = matches!(self, Node::For(_) | Node::While(..));
        self.has(Effect::CountsRecord) || !is_loop && self.lists().into_iter().flatten().any(Node::leaves_records)
    }
}
