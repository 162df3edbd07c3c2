//! What the description of nodes says of single kinds, and what follows from it.

use cotan_ir::{Elem, Monoid};
use cotan_loops::node::{BufferUse, Effect, LocalUse, OperandUse, Part, any, count, each_definition, rename_buffers};
use cotan_loops::{
    Argument, Buffer, CallResult, Expr, For, Independence, Local, Node, Operand, Place, Reduce, Sharing, Sum, Target,
    Tensor, Threads,
};

fn local(n: u32) -> Operand {
    Local(n).into()
}

fn place(buffer: u32, offset: u32) -> Place {
    Place { buffer: Buffer(buffer), offset: local(offset) }
}

fn vector(buffer: u32, offset: u32, extent: u32) -> Tensor {
    Tensor { place: place(buffer, offset), elem: Elem::F64, dims: vec![local(extent)] }
}

fn counted(body: Vec<Node>, threads: Threads) -> Node {
    let (index, count, independence) = (Local(10), local(11), Independence::None);
    Node::For(Box::new(For { index, count, threads, independence, lanes: 1, may_flush: false, body }))
}

fn locals(node: &Node) -> Vec<(u32, LocalUse)> {
    let mut found = Vec::new();
    node.each_part(&mut |part| {
        if let Part::Local(local, usage) = part {
            found.push((local.0, usage));
        }
    });
    found
}

fn operands(node: &Node, wanted: OperandUse) -> Vec<Operand> {
    let mut found = Vec::new();
    node.each_part(&mut |part| {
        if let Part::Operand(operand, usage) = part
            && usage == wanted
        {
            found.push(*operand);
        }
    });
    found
}

fn buffers(node: &Node) -> Vec<(u32, BufferUse)> {
    let mut found = Vec::new();
    node.each_buffer(&mut |buffer, usage| found.push((buffer.0, usage)));
    found
}

#[test]
fn a_copy_reads_one_buffer_and_writes_another() {
    let copy = Node::Copy { from: place(0, 1), to: place(1, 2), count: local(3) };
    assert_eq!(buffers(&copy), [(0, BufferUse::Read), (1, BufferUse::Write)]);
    assert_eq!(operands(&copy, OperandUse::Read), [local(1), local(2), local(3)]);
    assert!(!copy.only_defines() && !copy.has_effect());
}

#[test]
fn a_call_defines_scalars_and_receives_memory() {
    let args = vec![Argument::Scalar(local(1)), Argument::Tensor(vector(0, 2, 3))];
    let results = vec![CallResult::Scalar(Local(4)), CallResult::Into(vector(1, 5, 6)), CallResult::New(Buffer(2), 1)];
    let call = Node::Call { callee: "g".into(), args, results };
    assert_eq!(locals(&call), [(4, LocalUse::Define)]);
    assert_eq!(buffers(&call), [(0, BufferUse::Read), (1, BufferUse::Write), (2, BufferUse::Receive)]);
    assert!(call.has(Effect::Calls) && !call.has(Effect::Prints) && !call.only_defines());
}

#[test]
fn estimates_and_sums_of_a_loop_are_notes() {
    let sum = Sum { monoid: Monoid::Add, target: Target::Element(place(3, 1)), extents: vec![local(2)] };
    let scalar = Sum { monoid: Monoid::Add, target: Target::Local(Local(4)), extents: Vec::new() };
    let forked = counted(Vec::new(), Threads::May(Sharing { steps: local(5), sums: vec![sum, scalar] }));
    assert_eq!(operands(&forked, OperandUse::Read), [local(11)]);
    assert_eq!(operands(&forked, OperandUse::Note), [local(5), local(1), local(2)]);
    assert_eq!(locals(&forked), [(10, LocalUse::Define), (4, LocalUse::Note)]);
    assert_eq!(buffers(&forked), [(3, BufferUse::Note)]);
    assert_eq!(forked.selectors(), [local(11)]);
}

#[test]
fn a_reduction_combines_into_its_sums() {
    let array = Sum { monoid: Monoid::Max, target: Target::Element(place(3, 1)), extents: vec![local(2)] };
    let scalar = Sum { monoid: Monoid::Add, target: Target::Local(Local(4)), extents: Vec::new() };
    let indices = vec![(Local(5), local(6)), (Local(7), local(8))];
    let reduction = Node::Reduce(Box::new(Reduce { indices, sums: vec![array, scalar], body: Vec::new() }));
    assert_eq!(operands(&reduction, OperandUse::Read), [local(6), local(8), local(1), local(2)]);
    assert_eq!(locals(&reduction), [(5, LocalUse::Define), (7, LocalUse::Define), (4, LocalUse::Combine)]);
    assert_eq!(buffers(&reduction), [(3, BufferUse::Update)]);
    assert_eq!(reduction.selectors(), [local(6), local(8)]);
    assert!(reduction.has_loop() && !reduction.has_effect());
}

#[test]
fn extents_of_a_printed_value_are_notes_but_where_they_lie_is_read() {
    let print = Node::Print { text: Vec::new(), value: Some(vector(0, 1, 2)), extents: Some(place(1, 3)) };
    assert_eq!(operands(&print, OperandUse::Read), [local(1), local(3)]);
    assert_eq!(operands(&print, OperandUse::Note), [local(2)]);
    assert!(print.has(Effect::Prints));
}

#[test]
fn loads_and_allocations_only_define() {
    let load = Node::Load(Local(0), place(0, 1));
    let alloc = Node::Alloc { buffer: Buffer(1), extents: vec![local(1)] };
    let assignment = Node::Set(Local(2), local(1));
    assert!(load.only_defines() && alloc.only_defines() && !assignment.only_defines());
    assert!(!Node::Scope(vec![load]).only_defines(), "a list may hold anything");
}

#[test]
fn visitors_reach_every_depth() {
    let define = Node::Let(Local(1), Expr::Copy(local(0)));
    let test = Node::While(Local(2), vec![define, Node::Store(place(0, 1), local(1))]);
    let branches = Node::If(local(3), Vec::new(), vec![counted(vec![test], Threads::One)]);
    let mut nodes = vec![Node::Scope(vec![branches])];
    assert_eq!(count(&nodes), 6);
    let mut defined = Vec::new();
    each_definition(&nodes, &mut |local, expr| defined.push((local.0, expr.is_some())));
    assert_eq!(defined, [(10, false), (1, true)]);
    rename_buffers(&mut nodes, &mut |_| Buffer(7));
    assert!(any(&nodes, &mut |node| matches!(node, Node::Store(to, _) if to.buffer == Buffer(7))));
    let Node::Scope(body) = &nodes[0] else { panic!("a scope stays one") };
    assert!(body[0].has_loop() && body[0].lists().len() == 2);
}
