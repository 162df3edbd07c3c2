//! The shape of a node: the locals, operands and buffers that it mentions, its inner lists, and its effects.
//!
//! One match on all kinds of nodes says it, for reading ([`Node::each_part`]) and for changing ([`Node::each_part_mut`]).
//! What else is asked about nodes follows from it: which locals a list defines, what it writes, whether it prints.

use super::{
    Argument, Buffer, CallResult, For, Local, Node, Operand, Place, Product, Reduce, Routine, Sharing, Sum, Target,
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
                $Part::read_all(dims, see);
            }

            fn view(view: &'n $($mutable)? View, usage: BufferUse, see: &mut impl FnMut(Self)) {
                let View { place, strides } = view;
                $Part::place(place, usage, see);
                $Part::read_all(strides, see);
            }

            fn read_all(
                operands: impl IntoIterator<Item = &'n $($mutable)? Operand>,
                see: &mut impl FnMut(Self),
            ) {
                operands.into_iter().for_each(|operand| see($Part::read(operand)));
            }

            fn target(target: &'n $($mutable)? Target, see: &mut impl FnMut(Self)) {
                match target {
                    Target::Local(local) => see($Part::Local(local, LocalUse::Combine)),
                    Target::Element(place) => $Part::place(place, BufferUse::Update, see),
                }
            }

            fn partial_sums(sums: &'n $($mutable)? PartialSums, see: &mut impl FnMut(Self)) {
                let PartialSums { work: _, monoid: _, lanes, size, stride: _, number } = sums;
                $Part::place(lanes, BufferUse::Update, see);
                $Part::read_all([size, number], see);
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
                    Threads::Wave(Wave { stages, slots }) => $Part::read_all([stages, slots], see),
                }
            }

            fn counted(l: &'n $($mutable)? For, see: &mut impl FnMut(Self)) {
                let For { index, count, threads, independence: _, lanes: _, may_flush: _, body } = l;
                see($Part::define(index));
                see($Part::read(count));
                $Part::threads(threads, see);
                see($Part::List(body));
            }

            fn reduction(reduction: &'n $($mutable)? Reduce, see: &mut impl FnMut(Self)) {
                let Reduce { indices, sums, body } = reduction;
                for (index, count) in indices {
                    see($Part::define(index));
                    see($Part::read(count));
                }
                for Sum { monoid: _, target, extents } in sums {
                    $Part::target(target, see);
                    $Part::read_all(extents, see);
                }
                see($Part::List(body));
            }

            fn product(product: &'n $($mutable)? Product, see: &mut impl FnMut(Self)) {
                let Product { elem: _, to, left, right, extents } = product;
                $Part::view(to, BufferUse::Write, see);
                [left, right].into_iter().for_each(|factor| $Part::view(factor, BufferUse::Read, see));
                $Part::read_all(extents, see);
                see($Part::Effect(Effect::UsesLibrary));
            }

            fn routine(routine: &'n $($mutable)? Routine, see: &mut impl FnMut(Self)) {
                let Routine { op: _, attrs: _, to, from } = routine;
                $Part::tensor(to, BufferUse::Write, see);
                from.into_iter().for_each(|array| $Part::tensor(array, BufferUse::Read, see));
                see($Part::Effect(Effect::UsesLibrary));
            }

            fn print(
                value: &'n $($mutable)? Option<Tensor>,
                extents: &'n $($mutable)? Option<Place>,
                see: &mut impl FnMut(Self),
            ) {
                if let Some(Tensor { place, elem: _, dims }) = value {
                    $Part::place(place, BufferUse::Read, see);
                    dims.into_iter().for_each(|dim| see($Part::note(dim)));
                }
                extents.into_iter().for_each(|place| $Part::place(place, BufferUse::Read, see));
                see($Part::Effect(Effect::Prints));
            }

            fn call(
                args: &'n $($mutable)? Vec<Argument>,
                results: &'n $($mutable)? Vec<CallResult>,
                see: &mut impl FnMut(Self),
            ) {
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

        impl Node {
            $(#[$visit_doc])*
            pub fn $visit<'n>(&'n $($mutable)? self, see: &mut impl FnMut($Part<'n>)) {
                match self {
                    Node::Let(local, expr) => {
                        see($Part::define(local));
                        $Part::read_all(expr.$operands(), see);
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
                        $Part::read_all(mask, see);
                    }
                    Node::StoreLanes { to, value, mask } => {
                        $Part::place(to, BufferUse::Write, see);
                        see($Part::read(value));
                        $Part::read_all(mask, see);
                    }
                    Node::Combine { monoid: _, target, value } => {
                        $Part::target(target, see);
                        see($Part::read(value));
                    }
                    Node::Copy { from, to, count } => {
                        $Part::place(from, BufferUse::Read, see);
                        $Part::place(to, BufferUse::Write, see);
                        see($Part::read(count));
                    }
                    Node::PartialSums(sums) => $Part::partial_sums(sums, see),
                    Node::Alloc { buffer, extents } => {
                        see($Part::Buffer(buffer, BufferUse::Allocate));
                        $Part::read_all(extents, see);
                    }
                    Node::CountRecord(_, extents) => {
                        $Part::read_all(extents, see);
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
                    Node::For(l) => $Part::counted(l, see),
                    Node::Reduce(reduction) => $Part::reduction(reduction, see),
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
                        $Part::read_all(std::iter::once(cond).chain(args), see);
                        see($Part::Effect(Effect::Fails));
                    }
                    Node::Product(product) => $Part::product(product, see),
                    Node::Routine(routine) => $Part::routine(routine, see),
                    Node::Print { text: _, value, extents } => $Part::print(value, extents, see),
                    Node::Call { callee: _, args, results } => $Part::call(args, results, see),
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
