//! Instrumentation: probes around the outermost loop nests of a function. While it runs, the host is told when each nest
//! begins and ends, or what each computes.
//!
//! A probe writes to the output of the call, so nothing below this knows of it. [`insert_probes`] comes right after the
//! lowering: whatever later becomes of a nest stays between its probes.

use crate::context::Probe;
use crate::node::{Buffer, BufferInfo, BufferKind, Expr, Home, Local, LocalInfo, LoopFunction};
use crate::node::{Node, Operand, Place, Target, Tensor, any, walk};
use crate::pass::NestPass;
use cotan_ir::{Const, Elem, Monoid, Span};
use cotan_ops::Instruction;

/// The record of this pass.
pub static PASS: NestPass = NestPass {
    name: "insert_probes",
    doc: "Tells the host when nests begin and end, or what they compute.",
    run: |f, context| {
        if let Some(probe) = context.probe {
            insert_probes(f, probe);
        }
    },
};

/// What a probe wrote to the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProbeEvent<'a> {
    /// A nest begins: its outermost loop and the names of what it writes to.
    Begin(&'a str),
    /// It ends.
    End,
    /// It had so many operations on floats: one for each sum, product, quotient, root, minimum and maximum, and each call of
    /// a function of the host, two for a fused product and sum.
    Flops(i64),
    /// It loaded and stored so many bytes, but for tensors in the frame of the function, which are small.
    Bytes(i64),
}

const BEGIN: &str = "\u{1}begin ";
const END: &str = "\u{1}end";
const FLOPS: &str = "\u{1}flops ";
const BYTES: &str = "\u{1}bytes ";

impl ProbeEvent<'_> {
    /// Reads a piece of output; `None` if the program wrote it.
    pub fn read(text: &str) -> Option<ProbeEvent<'_>> {
        let number = |digits: &str| digits.trim().parse().ok();
        if let Some(label) = text.strip_prefix(BEGIN) {
            Some(ProbeEvent::Begin(label))
        } else if let Some(digits) = text.strip_prefix(FLOPS) {
            number(digits).map(ProbeEvent::Flops)
        } else if let Some(digits) = text.strip_prefix(BYTES) {
            number(digits).map(ProbeEvent::Bytes)
        } else {
            (text == END).then_some(ProbeEvent::End)
        }
    }
}

/// Puts probes around the outermost nests: loops, copies, and branches with such in them, also those within scopes. A nest that
/// calls a function counts nothing of what that does.
pub fn insert_probes(f: &mut LoopFunction, probe: Probe) {
    let counts = match probe {
        Probe::Times => None,
        Probe::Counts => Some(Counts::new(f)),
    };
    let mut body = std::mem::take(&mut f.body);
    around_nests(f, &mut body, counts);
    if let Some(counts) = counts {
        body.splice(0..0, counts.open());
    }
    f.body = body;
}

fn around_nests(f: &mut LoopFunction, nodes: &mut Vec<Node>, counts: Option<Counts>) {
    let mut all = Vec::new();
    for mut node in std::mem::take(nodes) {
        if !is_nest(&node) {
            all.push(node);
        } else if let Node::Scope(body) = &mut node {
            around_nests(f, body, counts);
            all.push(node);
        } else {
            all.push(write(&format!("{BEGIN}{}", label(f, &node)), None));
            let mut nest = vec![node];
            if let Some(counts) = counts {
                counts.count(f, &mut nest);
            }
            all.extend(nest);
            all.push(write(END, None));
            if let Some(counts) = counts {
                all.extend(counts.tell());
            }
        }
    }
    *nodes = all;
}

/// Whether a node runs a loop; a copy of elements is one.
fn is_nest(node: &Node) -> bool {
    any(std::slice::from_ref(node), &mut |node| matches!(node, Node::For(_) | Node::While(..) | Node::Copy { .. }))
}

fn write(text: &str, value: Option<Tensor>) -> Node {
    Node::Print { text: text.as_bytes().to_vec(), extents: value.as_ref().map(|value| value.place), value }
}

/// How many names a label has at most.
const NAMES: usize = 4;

fn label(f: &LoopFunction, node: &Node) -> String {
    let head = if let Node::For(l) = node {
        format!("for {}", f.locals[l.index.index()].name)
    } else if matches!(node, Node::While(..)) {
        "while".to_owned()
    } else if matches!(node, Node::Copy { .. }) {
        "copy".to_owned()
    } else {
        "branches".to_owned()
    };
    let mut written = Vec::new();
    let mut own = Vec::new();
    targets(std::slice::from_ref(node), &mut written, &mut own);
    written.retain(|buffer| !own.contains(buffer));
    let mut names: Vec<&str> = Vec::new();
    for buffer in written {
        let name = &*f.buffers[buffer.index()].name;
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let more = if names.len() > NAMES { ", .." } else { "" };
    names.truncate(NAMES);
    if names.is_empty() { head } else { format!("{head}: {}{more}", names.join(", ")) }
}

/// The buffers that nodes write to, and those that they make.
fn targets(nodes: &[Node], written: &mut Vec<Buffer>, own: &mut Vec<Buffer>) {
    walk(nodes, &mut |node| {
        if let Node::Store(place, _)
        | Node::Copy { to: place, .. }
        | Node::Combine { target: Target::Element(place), .. } = node
        {
            written.push(place.buffer);
        }
        if let Node::Alloc { buffer, .. } | Node::Bind { buffer, .. } = node {
            own.push(*buffer);
        }
    });
}

/// Where a function counts: two numbers in its frame.
#[derive(Clone, Copy)]
struct Counts {
    cells: Buffer,
}

/// What one run of some nodes adds up to.
#[derive(Clone, Copy, Debug, Default)]
struct Cost {
    flops: i64,
    bytes: i64,
}

impl Counts {
    fn new(f: &mut LoopFunction) -> Counts {
        let cells = Buffer(f.buffers.len() as u32);
        f.buffers.push(BufferInfo {
            name: "counts".into(),
            elem: Elem::I64,
            kind: BufferKind::Allocated(Home::Frame),
            span: Span::NONE,
            is_record: false,
        });
        Counts { cells }
    }

    fn flops(self) -> Place {
        Place { buffer: self.cells, offset: Operand::i64(0) }
    }

    fn bytes(self) -> Place {
        Place { buffer: self.cells, offset: Operand::i64(1) }
    }

    fn open(self) -> Vec<Node> {
        let mut nodes = vec![Node::Alloc { buffer: self.cells, extents: vec![Operand::i64(2)] }];
        nodes.extend(self.reset());
        nodes
    }

    fn reset(self) -> [Node; 2] {
        [self.flops(), self.bytes()].map(|place| Node::Store(place, Operand::i64(0)))
    }

    /// Writes both numbers and begins anew.
    fn tell(self) -> Vec<Node> {
        let scalar = |place| Some(Tensor { place, elem: Elem::I64, dims: Vec::new() });
        let mut nodes = vec![write(FLOPS, scalar(self.flops())), write(BYTES, scalar(self.bytes()))];
        nodes.extend(self.reset());
        nodes
    }

    /// Makes a list of nodes, and those in it, count themselves whenever they run.
    fn count(self, f: &mut LoopFunction, nodes: &mut Vec<Node>) {
        let mut cost = Cost::default();
        let mut counting = Vec::new();
        for mut node in std::mem::take(nodes) {
            cost.add(f, &node);
            node.lists_mut().into_iter().for_each(|list| self.count(f, list));
            if let Node::Copy { from, count, .. } = &node {
                // Each element is loaded and stored.
                let bytes = 2 * f.buffers[from.buffer.index()].elem.bytes() as i64;
                let (local, define) = product(f, *count, bytes);
                counting.push(define);
                counting.push(self.more(self.bytes(), local.into()));
            }
            counting.push(node);
        }
        let own = [(self.flops(), cost.flops), (self.bytes(), cost.bytes)];
        let own = own.into_iter().filter(|(_, n)| *n > 0).map(|(place, n)| self.more(place, Operand::i64(n)));
        nodes.extend(own.chain(counting));
    }

    fn more(self, place: Place, by: Operand) -> Node {
        Node::Combine { monoid: Monoid::Add, target: Target::Element(place), value: by }
    }
}

/// A new local with a count times a number.
fn product(f: &mut LoopFunction, count: Operand, by: i64) -> (Local, Node) {
    let local = Local(f.locals.len() as u32);
    f.locals.push(LocalInfo { name: "copied".into(), elem: Elem::I64, is_mutable: false, lanes: 1 });
    let args = vec![count, Operand::Const(Const::i64(by))];
    (local, Node::Let(local, Expr::Native { instruction: Instruction::Mul, elem: Elem::I64, args }))
}

impl Cost {
    /// Adds a node, without those in it. No loop has lanes yet.
    fn add(&mut self, f: &LoopFunction, node: &Node) {
        if let Node::Let(_, Expr::Native { instruction, elem, .. }) = node
            && elem.is_float()
        {
            self.flops += instruction.traits().flops;
        }
        if let Node::Let(_, Expr::Host { elem, .. }) = node
            && elem.is_float()
        {
            self.flops += 1;
        }
        if let Node::Load(_, place) | Node::Store(place, _) = node {
            self.bytes += bytes(f, *place);
        }
        if let Node::Combine { target, value, .. } = node {
            self.flops += i64::from(f.operand_elem(*value).is_float());
            if let Target::Element(place) = target {
                self.bytes += 2 * bytes(f, *place);
            }
        }
    }
}

/// The bytes of an element, unless it lies in the frame.
fn bytes(f: &LoopFunction, place: Place) -> i64 {
    let info = &f.buffers[place.buffer.index()];
    if info.kind == BufferKind::Allocated(Home::Frame) { 0 } else { info.elem.bytes() as i64 }
}
