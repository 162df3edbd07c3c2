//! The shape of a node: the locals, operands and buffers that it mentions, its inner lists, and its effects.
//!
//! One match on all kinds of nodes says it, for reading ([`Node::each_part`]) and for changing ([`Node::each_part_mut`]).
//! What else is asked about nodes follows from it: which locals a list defines, what it writes, whether it prints.

use super::{
    Argument, Buffer, CallResult, Expr, For, Local, Node, Operand, Place, Product, Routine, Sharing, Sum, Target,
    Tensor, Threads, View, Wave,
};
use crate::partial_sums::PartialSums;

/// What a node does with a local.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LocalUse {
    /// Defines it.
    Define,
    /// Assigns to it: it is mutable.
    Assign,
    /// Combines it with a value in place: it is mutable.
    Combine,
    /// Tests it before each iteration: it is mutable.
    Test,
    /// Says something of it that no code evaluates: a loop combines values into it.
    Note,
}

/// What a node does with an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperandUse {
    /// Reads it.
    Read,
    /// Says something of it that no code evaluates: an estimate for passes, or a size for the text form.
    Note,
}

/// What a node does with a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BufferUse {
    /// Gives it memory.
    Allocate,
    /// Reads elements.
    Read,
    /// Writes elements.
    Write,
    /// Combines elements with values in place.
    Update,
    /// Makes it an empty stack.
    OpenStack,
    /// Makes it a longer stack.
    ExtendStack,
    /// Makes it a name of memory of another buffer.
    Bind,
    /// Gives its memory a second name.
    Alias,
    /// Makes it a name of the memory that a callee allocated.
    Receive,
    /// Says something of it that no code evaluates: a loop combines values into it.
    Note,
}

/// What a node does beside defining locals and touching buffers. That memory for an array may be missing is none of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// May end the call with an error.
    Fails,
    /// Writes to the output of the call.
    Prints,
    /// Calls a function of the module, which may do anything of this.
    Calls,
    /// Calls a library.
    UsesLibrary,
    /// Counts among the records of loops.
    CountsRecord,
}

/// Defines what a visitor of parts sees, and the visitor: to read, or with `mut` to change.
macro_rules! parts {
    ($(#[$doc:meta])* $Part:ident, $(#[$visit_doc:meta])* $visit:ident, $operands:ident $(, $mutable:tt)?) => {
        $(#[$doc])*
        #[derive(Debug)]
        pub enum $Part<'n> {
            /// A local.
            Local(&'n $($mutable)? Local, LocalUse),
            /// An operand.
            Operand(&'n $($mutable)? Operand, OperandUse),
            /// A buffer. Where elements of it lie is an operand.
            Buffer(&'n $($mutable)? Buffer, BufferUse),
            /// An inner list.
            List(&'n $($mutable)? Vec<Node>),
            /// An effect.
            Effect(Effect),
        }

        impl<'n> $Part<'n> {
            fn read(operand: &'n $($mutable)? Operand) -> Self {
                $Part::Operand(operand, OperandUse::Read)
            }

            fn note(operand: &'n $($mutable)? Operand) -> Self {
                $Part::Operand(operand, OperandUse::Note)
            }

            fn define(local: &'n $($mutable)? Local) -> Self {
                $Part::Local(local, LocalUse::Define)
            }

            fn place(place: &'n $($mutable)? Place, usage: BufferUse, see: &mut impl FnMut(Self)) {
                let Place { buffer, offset } = place;
                see($Part::Buffer(buffer, usage));
                see($Part::read(offset));
            }

            fn tensor(tensor: &'n $($mutable)? Tensor, usage: BufferUse, see: &mut impl FnMut(Self)) {
                let Tensor { place, elem: _, dims } = tensor;
                $Part::place(place, usage, see);
                dims.into_iter().for_each(|dim| see($Part::read(dim)));
            }

            fn view(view: &'n $($mutable)? View, usage: BufferUse, see: &mut impl FnMut(Self)) {
                let View { place, strides } = view;
                $Part::place(place, usage, see);
                strides.into_iter().for_each(|stride| see($Part::read(stride)));
            }

            fn sum(sum: &'n $($mutable)? Sum, see: &mut impl FnMut(Self)) {
                let Sum { monoid: _, target, extents } = sum;
                match target {
                    Target::Local(local) => see($Part::Local(local, LocalUse::Note)),
                    Target::Element(Place { buffer, offset }) => {
                        see($Part::Buffer(buffer, BufferUse::Note));
                        see($Part::note(offset));
                    }
                }
                extents.into_iter().for_each(|extent| see($Part::note(extent)));
            }

            fn threads(threads: &'n $($mutable)? Threads, see: &mut impl FnMut(Self)) {
                match threads {
                    Threads::One | Threads::Each => {}
                    Threads::May(Sharing { steps, sums }) => {
                        see($Part::note(steps));
                        sums.into_iter().for_each(|sum| $Part::sum(sum, see));
                    }
                    Threads::Wave(Wave { stages, slots }) => [stages, slots].into_iter().for_each(|n| see($Part::read(n))),
                }
            }
        }

        impl Node {
            $(#[$visit_doc])*
            pub fn $visit<'n>(&'n $($mutable)? self, see: &mut impl FnMut($Part<'n>)) {
                match self {
                    Node::Let(local, expr) => {
                        see($Part::define(local));
                        expr.$operands().into_iter().for_each(|operand| see($Part::read(operand)));
                    }
                    Node::Set(local, value) => {
                        see($Part::Local(local, LocalUse::Assign));
                        see($Part::read(value));
                    }
                    Node::Load(to, from) => {
                        see($Part::define(to));
                        $Part::place(from, BufferUse::Read, see);
                    }
                    Node::Store(to, value) => {
                        $Part::place(to, BufferUse::Write, see);
                        see($Part::read(value));
                    }
                    Node::LoadLanes { to, from, mask } => {
                        see($Part::define(to));
                        $Part::place(from, BufferUse::Read, see);
                        mask.into_iter().for_each(|mask| see($Part::read(mask)));
                    }
                    Node::StoreLanes { to, value, mask } => {
                        $Part::place(to, BufferUse::Write, see);
                        see($Part::read(value));
                        mask.into_iter().for_each(|mask| see($Part::read(mask)));
                    }
                    Node::Combine { monoid: _, target, value } => {
                        match target {
                            Target::Local(local) => see($Part::Local(local, LocalUse::Combine)),
                            Target::Element(place) => $Part::place(place, BufferUse::Update, see),
                        }
                        see($Part::read(value));
                    }
                    Node::Copy { from, to, count } => {
                        $Part::place(from, BufferUse::Read, see);
                        $Part::place(to, BufferUse::Write, see);
                        see($Part::read(count));
                    }
                    Node::PartialSums(PartialSums { work: _, monoid: _, lanes, size, stride: _, number }) => {
                        $Part::place(lanes, BufferUse::Update, see);
                        [size, number].into_iter().for_each(|n| see($Part::read(n)));
                    }
                    Node::Alloc { buffer, extents } => {
                        see($Part::Buffer(buffer, BufferUse::Allocate));
                        extents.into_iter().for_each(|extent| see($Part::read(extent)));
                    }
                    Node::CountRecord(_, extents) => {
                        extents.into_iter().for_each(|extent| see($Part::read(extent)));
                        see($Part::Effect(Effect::CountsRecord));
                    }
                    Node::StackOpen(buffer) => see($Part::Buffer(buffer, BufferUse::OpenStack)),
                    Node::StackExtend(buffer, count) => {
                        see($Part::Buffer(buffer, BufferUse::ExtendStack));
                        see($Part::read(count));
                    }
                    Node::Bind { buffer, to } => {
                        see($Part::Buffer(buffer, BufferUse::Bind));
                        $Part::place(to, BufferUse::Alias, see);
                    }
                    Node::Scope(body) | Node::Segment(body) => see($Part::List(body)),
                    Node::For(l) => {
                        let For { index, count, threads, independence: _, lanes: _, may_flush: _, body } =
                            &$($mutable)? **l;
                        see($Part::define(index));
                        see($Part::read(count));
                        $Part::threads(threads, see);
                        see($Part::List(body));
                    }
                    Node::While(go, body) => {
                        see($Part::Local(go, LocalUse::Test));
                        see($Part::List(body));
                    }
                    Node::If(cond, yes, no) => {
                        see($Part::read(cond));
                        [yes, no].into_iter().for_each(|arm| see($Part::List(arm)));
                    }
                    Node::Switch(number, arms) => {
                        see($Part::read(number));
                        arms.into_iter().for_each(|arm| see($Part::List(arm)));
                    }
                    Node::Check { cond, kind: _, args, span: _ } => {
                        see($Part::read(cond));
                        args.into_iter().for_each(|arg| see($Part::read(arg)));
                        see($Part::Effect(Effect::Fails));
                    }
                    Node::Product(product) => {
                        let Product { elem: _, to, left, right, extents } = &$($mutable)? **product;
                        $Part::view(to, BufferUse::Write, see);
                        [left, right].into_iter().for_each(|factor| $Part::view(factor, BufferUse::Read, see));
                        extents.into_iter().for_each(|extent| see($Part::read(extent)));
                        see($Part::Effect(Effect::UsesLibrary));
                    }
                    Node::Routine(routine) => {
                        let Routine { op: _, attrs: _, to, from } = &$($mutable)? **routine;
                        $Part::tensor(to, BufferUse::Write, see);
                        from.into_iter().for_each(|array| $Part::tensor(array, BufferUse::Read, see));
                        see($Part::Effect(Effect::UsesLibrary));
                    }
                    Node::Print { text: _, value, extents } => {
                        if let Some(Tensor { place, elem: _, dims }) = value {
                            $Part::place(place, BufferUse::Read, see);
                            dims.into_iter().for_each(|dim| see($Part::note(dim)));
                        }
                        extents.into_iter().for_each(|place| $Part::place(place, BufferUse::Read, see));
                        see($Part::Effect(Effect::Prints));
                    }
                    Node::Call { callee: _, args, results } => {
                        for arg in args {
                            match arg {
                                Argument::Scalar(operand) => see($Part::read(operand)),
                                Argument::Tensor(tensor) => $Part::tensor(tensor, BufferUse::Read, see),
                            }
                        }
                        for result in results {
                            match result {
                                CallResult::Scalar(local) => see($Part::define(local)),
                                CallResult::Into(tensor) => $Part::tensor(tensor, BufferUse::Write, see),
                                CallResult::New(buffer, _) => see($Part::Buffer(buffer, BufferUse::Receive)),
                            }
                        }
                        see($Part::Effect(Effect::Calls));
                    }
                }
            }
        }
    };
}

parts! {
    /// Something that a node mentions.
    Part,
    /// Visits what the node itself mentions, in the order of its text, not what the nodes in it mention.
    each_part, operands
}

parts! {
    /// Something that a node mentions, to change it.
    PartMut,
    /// The same as [`Node::each_part`], to change it.
    each_part_mut, operands_mut, mut
}

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

    /// What decides whether, or how often, the inner lists run: a count, a condition or a number.
    pub fn selector(&self) -> Option<Operand> {
        if let Node::While(go, _) = self {
            Some((*go).into())
        } else if let Node::For(l) = self {
            Some(l.count)
        } else if let Node::If(operand, ..) | Node::Switch(operand, _) = self {
            Some(*operand)
        } else {
            None
        }
    }
}
