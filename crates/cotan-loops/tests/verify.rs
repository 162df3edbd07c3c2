//! One refusal per rule of the verifier of loop nests, and what it must not refuse. A test quotes the beginning of its rule;
//! that every rule has one is a test of `cotan-testkit`.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use cotan_ir::{CheckKind, Const, Elem, Monoid, Span, parse_function};
use cotan_loops::*;
use cotan_ops::{CHOLESKY, Instruction, Registry, SIN, SLICE};

/// A function under construction.
struct Draft(LoopFunction);

impl Draft {
    fn new() -> Draft {
        Draft(LoopFunction {
            name: "f".into(),
            locals: Vec::new(),
            buffers: Vec::new(),
            params: Vec::new(),
            body: Vec::new(),
            results: Vec::new(),
            regroups_sums: false,
            watched: Vec::new(),
        })
    }

    fn local_of(&mut self, elem: Elem, is_mutable: bool, lanes: u32) -> Local {
        let name = format!("l{}", self.0.locals.len()).as_str().into();
        self.0.locals.push(LocalInfo { name, elem, is_mutable, lanes });
        Local(self.0.locals.len() as u32 - 1)
    }

    fn local(&mut self, elem: Elem) -> Local {
        self.local_of(elem, false, 1)
    }

    fn variable(&mut self, elem: Elem) -> Local {
        self.local_of(elem, true, 1)
    }

    fn buffer(&mut self, elem: Elem, kind: BufferKind) -> Buffer {
        let name = format!("b{}", self.0.buffers.len()).as_str().into();
        self.0.buffers.push(BufferInfo { name, elem, kind, span: Span::NONE, is_record: false });
        Buffer(self.0.buffers.len() as u32 - 1)
    }

    /// An array of ten in the arena, with the node that allocates it.
    fn array(&mut self, elem: Elem) -> (Buffer, Node) {
        let buffer = self.buffer(elem, BufferKind::Allocated(Home::Arena));
        (buffer, Node::Alloc { buffer, extents: vec![Operand::i64(10)] })
    }

    /// A parameter of ten f64.
    fn param(&mut self) -> Buffer {
        let position = self.0.params.len();
        let buffer = self.buffer(Elem::F64, BufferKind::Param(position));
        let tensor = Tensor { place: at(buffer), elem: Elem::F64, dims: vec![Operand::i64(10)] };
        self.0.params.push(Param::Tensor(tensor));
        buffer
    }

    fn count(&mut self, n: i64, threads: Threads, body: Vec<Node>) -> Node {
        let index = self.local(Elem::I64);
        let independence = Independence::None;
        Node::For(Box::new(For {
            index,
            count: Operand::i64(n),
            threads,
            independence,
            lanes: 1,
            may_flush: false,
            body,
        }))
    }

    fn reduce(&mut self, n: Operand, sums: Vec<Sum>, body: Vec<Node>) -> Node {
        let index = self.local(Elem::I64);
        Node::Reduce(Box::new(Reduce { indices: vec![(index, n)], sums, body }))
    }

    fn message(mut self, body: Vec<Node>) -> Option<String> {
        self.0.body = body;
        verify(&self.0).err().map(|e| e.message)
    }

    fn accepted(self, body: Vec<Node>) {
        assert_eq!(self.message(body), None);
    }

    #[track_caller]
    fn refused(self, body: Vec<Node>, expected: &str) {
        assert_eq!(self.message(body).as_deref(), Some(expected));
    }
}

fn at(buffer: Buffer) -> Place {
    Place { buffer, offset: Operand::i64(0) }
}

fn f64s(x: f64) -> Operand {
    Operand::Const(Const::f64(x))
}

fn truth() -> Operand {
    Operand::Const(Const::bool(true))
}

fn define(local: Local, value: Operand) -> Node {
    Node::Let(local, Expr::Copy(value))
}

fn native(instruction: Instruction, elem: Elem, args: &[Operand]) -> Expr {
    Expr::Native { instruction, elem, args: args.to_vec() }
}

fn may_fork(sums: Vec<Sum>) -> Threads {
    Threads::May(Sharing { steps: f64s(1.0), sums })
}

fn sum(monoid: Monoid, target: Target) -> Sum {
    Sum { monoid, target, extents: Vec::new() }
}

/// A sum into a buffer from an element on.
fn sum_of(buffer: Buffer, offset: i64) -> Sum {
    sum(Monoid::Add, Target::Element(Place { buffer, offset: Operand::i64(offset) }))
}

#[test]
fn lowered_functions_are_accepted() {
    let text = "fn f(n: i64, x: f64[n], c: f64) {
        y: f64[n] = par i < n (stack) {
          a: f64 = x[i]
          b: f64 = mul a, c
          yield b
        }
        s: f64 = par j < n (add from 0.0) {
          e: f64 = y[j]
          yield e
        }
        return y, s
      }";
    for target in [&CPU, &DEVICE] {
        let mut nest = lower(&parse_function(text, Registry::standard()).unwrap(), target);
        assert_eq!(verify(&nest), Ok(()));
        contract(&mut nest);
        assert_eq!(verify(&nest), Ok(()));
        assert_eq!(verify_nests(&[nest]), Ok(()));
    }
}

#[test]
fn an_error_names_the_function_and_the_node() {
    let mut d = Draft::new();
    let a = d.local(Elem::I64);
    d.0.body = vec![define(a, f64s(1.0))];
    let error = verify(&d.0).unwrap_err();
    assert_eq!(error.to_string(), "in the nest of `f`: f64 where i64 is expected\n  l0 = 1.0");
}

// ---- names and scopes

/// Rule: "Locals and buffers are in the tables".
#[test]
fn names_are_in_the_tables() {
    Draft::new().refused(vec![define(Local(3), f64s(1.0))], "local 3 is not in the table");
    let d = Draft::new();
    d.refused(vec![Node::Store(at(Buffer(2)), f64s(1.0))], "buffer 2 is not in the table");
}

/// Rule: "A local is defined once".
#[test]
fn locals_are_defined_once() {
    let mut d = Draft::new();
    let a = d.local(Elem::F64);
    d.refused(vec![define(a, f64s(1.0)), define(a, f64s(2.0))], "`l0` is defined twice");
    let mut d = Draft::new();
    let a = d.variable(Elem::F64);
    d.refused(vec![define(a, f64s(1.0))], "`l0` is mutable, and defined");
    let mut d = Draft::new();
    let a = d.local(Elem::F64);
    d.refused(vec![Node::Set(a, f64s(1.0))], "`l0` is not mutable, and set");
}

/// Rule: "An operand is a constant or a local that is defined before".
#[test]
fn operands_are_defined_on_every_way() {
    let mut d = Draft::new();
    let (a, b) = (d.local(Elem::F64), d.local(Elem::F64));
    let arm = vec![define(a, f64s(1.0))];
    d.refused(vec![Node::If(truth(), arm, Vec::new()), define(b, a.into())], "`l0` is not defined here");
    let mut d = Draft::new();
    let (a, b) = (d.local(Elem::F64), d.local(Elem::F64));
    d.accepted(vec![Node::Scope(vec![define(a, f64s(1.0))]), define(b, a.into())]);
}

/// Rule: "A mutable local is read by a plain copy alone".
#[test]
fn variables_are_read_by_copies_alone_and_set_before() {
    let mut d = Draft::new();
    let (a, b) = (d.variable(Elem::F64), d.local(Elem::F64));
    let negated = Node::Let(b, native(Instruction::Neg, Elem::F64, &[a.into()]));
    d.refused(vec![Node::Set(a, f64s(1.0)), negated], "`l0` is mutable, and read by more than a copy");
    let mut d = Draft::new();
    let (a, b) = (d.variable(Elem::F64), d.local(Elem::F64));
    d.refused(vec![define(b, a.into())], "`l0` is read before it is set");
}

/// Rule: "A buffer is allocated, or opened as a stack, once".
#[test]
fn buffers_are_allocated_once_and_mentioned_in_their_list() {
    let mut d = Draft::new();
    let (b, alloc) = d.array(Elem::F64);
    d.refused(vec![Node::Store(at(b), f64s(1.0)), alloc], "`b0` has no memory here");
    let mut d = Draft::new();
    let (_, alloc) = d.array(Elem::F64);
    d.refused(vec![alloc.clone(), alloc], "`b0` is defined twice");
    let mut d = Draft::new();
    let (b, alloc) = d.array(Elem::F64);
    d.refused(vec![Node::Scope(vec![alloc]), Node::Store(at(b), f64s(1.0))], "`b0` has no memory here");
    let mut d = Draft::new();
    let (b, alloc) = d.array(Elem::F64);
    d.accepted(vec![Node::Segment(vec![alloc]), Node::Store(at(b), f64s(1.0))]);
    let mut d = Draft::new();
    let b = d.buffer(Elem::F64, BufferKind::Stack);
    d.refused(vec![Node::StackOpen(b), Node::StackOpen(b)], "`b0` is defined twice");
}

/// Rule: "A bound name is bound before it is mentioned".
#[test]
fn bound_names_are_bound_on_every_way() {
    let body = |d: &mut Draft, both: bool| {
        let (b, alloc) = d.array(Elem::F64);
        let name = d.buffer(Elem::F64, BufferKind::Bound);
        let bind = vec![Node::Bind { buffer: name, to: at(b) }];
        let branch = Node::If(truth(), bind.clone(), if both { bind } else { Vec::new() });
        vec![alloc, branch, Node::Store(at(name), f64s(1.0))]
    };
    let mut d = Draft::new();
    let nodes = body(&mut d, false);
    d.refused(nodes, "`b1` has no memory here");
    let mut d = Draft::new();
    let nodes = body(&mut d, true);
    d.accepted(nodes);
}

/// Rule: "Iterations that threads share in any order".
#[test]
fn iterations_that_threads_share_set_variables_of_their_own() {
    let mut d = Draft::new();
    let a = d.variable(Elem::F64);
    let l = d.count(3, Threads::Each, vec![Node::Set(a, f64s(2.0))]);
    d.refused(vec![Node::Set(a, f64s(1.0)), l], "`l0` is set by iterations that threads share, and outside of them");
    let mut d = Draft::new();
    let (a, b) = (d.variable(Elem::F64), d.local(Elem::F64));
    let l = d.count(3, may_fork(Vec::new()), vec![Node::Set(a, f64s(2.0))]);
    d.refused(vec![l, define(b, a.into())], "`l0` is set by iterations that threads share, and read outside of them");
}

// ---- types and lanes

/// Rule: "Lanes are a power of two".
#[test]
fn lanes_are_a_power_of_two_and_agree() {
    let mut d = Draft::new();
    d.local_of(Elem::F64, false, 3);
    d.refused(Vec::new(), "`l0` has 3 lanes");
    let mut d = Draft::new();
    let (a, b) = (d.local_of(Elem::F64, false, 4), d.local_of(Elem::F64, false, 8));
    let body = vec![define(a, f64s(1.0)), define(b, a.into())];
    d.refused(body, "an operand has 4 lanes where there are 8");
}

/// Rule: "An instruction has the operands and the result of its signature".
#[test]
fn instructions_have_the_types_of_their_signatures() {
    let mut d = Draft::new();
    let a = d.local(Elem::F64);
    let expr = native(Instruction::Add, Elem::F64, &[f64s(1.0)]);
    d.refused(vec![Node::Let(a, expr)], "1 operands of an instruction that takes 2");
    let mut d = Draft::new();
    let a = d.local(Elem::F64);
    let expr = native(Instruction::Lt, Elem::F64, &[f64s(1.0), f64s(2.0)]);
    d.refused(vec![Node::Let(a, expr)], "f64 where bool is expected");
    let mut d = Draft::new();
    let a = d.local(Elem::F32);
    let expr = Expr::Host { prim: SIN.prim(), elem: Elem::F64, args: vec![f64s(1.0)] };
    d.refused(vec![Node::Let(a, expr)], "f32 where f64 is expected");
}

/// Rule: "Offsets, extents and counts are i64 without lanes".
#[test]
fn offsets_extents_and_counts_are_i64() {
    let mut d = Draft::new();
    let (b, alloc) = d.array(Elem::F64);
    let place = Place { buffer: b, offset: f64s(1.0) };
    d.refused(vec![alloc, Node::Store(place, f64s(1.0))], "f64 where i64 is expected");
    let mut d = Draft::new();
    let b = d.buffer(Elem::F64, BufferKind::Allocated(Home::Arena));
    d.refused(vec![Node::Alloc { buffer: b, extents: vec![truth()] }], "bool where i64 is expected");
    let mut d = Draft::new();
    let (index, lanes) = (d.local(Elem::I64), d.local_of(Elem::I64, false, 4));
    let l = For {
        index,
        count: lanes.into(),
        threads: Threads::One,
        independence: Independence::None,
        lanes: 1,
        may_flush: false,
        body: Vec::new(),
    };
    let body = vec![define(lanes, Operand::i64(3)), Node::For(Box::new(l))];
    d.refused(body, "an operand has 4 lanes where there are 1");
}

/// Rule: "A condition is a bool without lanes".
#[test]
fn conditions_are_bools_and_switches_have_arms() {
    Draft::new().refused(vec![Node::If(f64s(1.0), Vec::new(), Vec::new())], "f64 where bool is expected");
    Draft::new().refused(vec![Node::Switch(Operand::i64(1), Vec::new())], "a switch without arms");
    let mut d = Draft::new();
    let go = d.local(Elem::Bool);
    d.refused(vec![define(go, truth()), Node::While(go, Vec::new())], "`l0` can't end a loop");
}

/// Rule: "What is loaded, stored, copied or combined".
#[test]
fn elements_have_the_type_of_their_buffer() {
    let mut d = Draft::new();
    let (b, alloc) = d.array(Elem::F32);
    d.refused(vec![alloc, Node::Store(at(b), f64s(1.0))], "f64 where f32 is expected");
    let mut d = Draft::new();
    let ((a, first), (b, second)) = (d.array(Elem::F32), d.array(Elem::F64));
    let copy = Node::Copy { from: at(a), to: at(b), count: Operand::i64(1) };
    d.refused(vec![first, second, copy], "f64 where f32 is expected");
    let mut d = Draft::new();
    let a = d.variable(Elem::F32);
    d.refused(vec![Node::Set(a, f64s(1.0))], "f64 where f32 is expected");
    let mut d = Draft::new();
    let (b, alloc) = d.array(Elem::F32);
    let combine = Node::Combine { monoid: Monoid::Add, target: Target::Element(at(b)), value: f64s(1.0) };
    d.refused(vec![alloc, combine], "f64 where f32 is expected");
    let mut d = Draft::new();
    let ((b, alloc), a) = (d.array(Elem::F32), d.local(Elem::F64));
    d.refused(vec![alloc, Node::Load(a, at(b))], "f64 where f32 is expected");
}

/// Rule: "A monoid is defined on the type that it combines".
#[test]
fn monoids_are_defined_on_what_they_combine() {
    let mut d = Draft::new();
    let (b, alloc) = d.array(Elem::F64);
    let node = Node::Combine { monoid: Monoid::And, target: Target::Element(at(b)), value: f64s(1.0) };
    d.refused(vec![alloc, node], "`and` is not defined on f64");
}

/// Rule: "A mask is of bools".
#[test]
fn what_is_about_lanes_has_the_types_of_lanes() {
    let mut d = Draft::new();
    let (lanes, first) = (d.local_of(Elem::F64, false, 4), d.local(Elem::I64));
    let body = vec![define(lanes, f64s(1.0)), Node::Let(first, Expr::First(lanes.into()))];
    d.refused(body, "f64 where bool is expected");
    let mut d = Draft::new();
    let numbers = d.local(Elem::I64);
    let body = vec![Node::Let(numbers, Expr::Iota(Operand::i64(0)))];
    d.refused(body, "numbers of lanes in a value without lanes");
    let mut d = Draft::new();
    let sum = d.local_of(Elem::F64, false, 4);
    let body = vec![Node::Let(sum, Expr::Fold(Monoid::Add, f64s(1.0)))];
    d.refused(body, "one value of all lanes in 4 lanes");
}

/// Rule: "A check reports numbers".
#[test]
fn checks_report_numbers() {
    let args = vec![Operand::Const(Const::integer(Elem::I32, 3))];
    let check = Node::Check { cond: truth(), kind: CheckKind::IndexRange, args, span: Span::NONE };
    Draft::new().refused(vec![check], "i32 is not reported");
}

// ---- memory

/// Rule: "Each kind of buffer gets its memory from its own kind of node".
#[test]
fn buffers_get_their_memory_as_their_kind_says() {
    let mut d = Draft::new();
    let b = d.buffer(Elem::F64, BufferKind::Stack);
    d.refused(vec![Node::Alloc { buffer: b, extents: Vec::new() }], "`b0` gets its memory otherwise");
    let mut d = Draft::new();
    let (b, _) = d.array(Elem::F64);
    d.refused(vec![Node::StackOpen(b)], "`b0` gets its memory otherwise");
}

/// Rule: "An array in the frame has extents that are known".
#[test]
fn arrays_in_the_frame_have_a_known_size() {
    let mut d = Draft::new();
    let n = d.local(Elem::I64);
    let b = d.buffer(Elem::F64, BufferKind::Allocated(Home::Frame));
    let body = vec![define(n, Operand::i64(3)), Node::Alloc { buffer: b, extents: vec![n.into()] }];
    d.refused(body, "`b0` lies in the frame, and has no known size");
}

/// Rule: "Nothing is written to a parameter".
#[test]
fn parameters_are_not_written_to() {
    let mut d = Draft::new();
    let x = d.param();
    d.refused(vec![Node::Store(at(x), f64s(1.0))], "`b0` is a parameter, and written to");
    let mut d = Draft::new();
    let x = d.param();
    let name = d.buffer(Elem::F64, BufferKind::Bound);
    let body = vec![Node::Bind { buffer: name, to: at(x) }, Node::Store(at(name), f64s(1.0))];
    d.refused(body, "`b1` is a parameter, and written to");
}

/// Rule: "Nothing that a product or a routine reads".
#[test]
fn products_and_routines_do_not_read_what_they_write() {
    let mut d = Draft::new();
    let (b, alloc) = d.array(Elem::F64);
    let matrix = Tensor { place: at(b), elem: Elem::F64, dims: vec![Operand::i64(3); 2] };
    let routine = Routine { op: CHOLESKY.op(), attrs: Vec::new(), to: matrix.clone(), from: vec![matrix] };
    d.refused(vec![alloc, Node::Routine(Box::new(routine))], "`b0` is read and written to at once");
}

/// Rule: "Memory of a result is that of a tensor".
#[test]
fn a_result_lies_in_its_own_memory() {
    let mut d = Draft::new();
    let b = d.buffer(Elem::F64, BufferKind::Allocated(Home::Result(0)));
    d.refused(
        vec![Node::Alloc { buffer: b, extents: Vec::new() }],
        "`b0` lies in the memory of result 0, which has none",
    );
    let mut d = Draft::new();
    let (b, alloc) = d.array(Elem::F64);
    d.0.results.push(Argument::Tensor(Tensor { place: at(b), elem: Elem::F64, dims: vec![Operand::i64(10)] }));
    d.refused(vec![alloc], "result 0 does not lie in memory of its own, but in `b0`");
}

/// Rule: "Watched buffers are results of floats".
#[test]
fn watched_buffers_are_results_of_floats() {
    let mut d = Draft::new();
    let (b, alloc) = d.array(Elem::F64);
    d.0.watched.push(b);
    d.refused(vec![alloc], "`b0` is watched and no result of floats");
}

// ---- loops on threads

/// Rule: "The sums of a loop are whole buffers".
#[test]
fn iterations_do_nothing_with_a_sum_but_combine() {
    let mut d = Draft::new();
    let ((b, alloc), x) = (d.array(Elem::F64), d.local(Elem::F64));
    let sums = vec![sum(Monoid::Add, Target::Element(at(b)))];
    let l = d.count(3, may_fork(sums), vec![Node::Load(x, at(b))]);
    d.refused(vec![alloc, l], "`b0`, a sum of a loop around, is used for more than sums");
    let mut d = Draft::new();
    let (b, alloc) = d.array(Elem::F64);
    let sums = vec![sum(Monoid::Add, Target::Element(at(b)))];
    let node = Node::Combine { monoid: Monoid::Max, target: Target::Element(at(b)), value: f64s(1.0) };
    let l = d.count(3, may_fork(sums), vec![node]);
    d.refused(vec![alloc, l], "`max` into a sum by `add`");
    let mut d = Draft::new();
    let (b, alloc) = d.array(Elem::F64);
    let place = Place { buffer: b, offset: Operand::i64(1) };
    let l = d.count(3, may_fork(vec![sum(Monoid::Add, Target::Element(place))]), Vec::new());
    d.refused(vec![alloc, l], "a sum is no whole buffer");
}

// ---- reductions

/// A variable that a reduction sums up into, with what sets it.
fn total(d: &mut Draft) -> (Local, Node, Sum) {
    let total = d.variable(Elem::F64);
    (total, Node::Set(total, f64s(0.0)), sum(Monoid::Add, Target::Local(total)))
}

fn added(to: Local, value: Operand) -> Node {
    Node::Combine { monoid: Monoid::Add, target: Target::Local(to), value }
}

/// Rule: "A reduction has an index and a sum".
#[test]
fn reductions_have_indices_and_sums() {
    let mut d = Draft::new();
    let node = d.reduce(Operand::i64(3), Vec::new(), Vec::new());
    d.refused(vec![node], "a reduction without indices, or without sums");
    let mut d = Draft::new();
    let (_, set, sum) = total(&mut d);
    let node = d.reduce(f64s(3.0), vec![sum], Vec::new());
    d.refused(vec![set, node], "f64 where i64 is expected");
    let mut d = Draft::new();
    let (_, set, sum) = total(&mut d);
    let index = d.local_of(Elem::I64, false, 4);
    let reduction = Reduce { indices: vec![(index, Operand::i64(3))], sums: vec![sum], body: Vec::new() };
    d.refused(vec![set, Node::Reduce(Box::new(reduction))], "a reduction counts in lanes");
}

/// Rule: "Its sums are whole buffers, or mutable locals, that its iterations do nothing with but combine".
#[test]
fn iterations_of_a_reduction_do_nothing_with_its_sums_but_combine() {
    let mut d = Draft::new();
    let ((to, set, sum), x) = (total(&mut d), d.local(Elem::F64));
    let node = d.reduce(Operand::i64(3), vec![sum], vec![added(to, f64s(1.0))]);
    d.accepted(vec![set, node, define(x, to.into())]);
    let mut d = Draft::new();
    let ((to, set, sum), x) = (total(&mut d), d.local(Elem::F64));
    let node = d.reduce(Operand::i64(3), vec![sum], vec![define(x, to.into())]);
    d.refused(vec![set, node], "`l0`, a sum, is read");
    let mut d = Draft::new();
    let (to, set, sum) = total(&mut d);
    let value = Node::Combine { monoid: Monoid::Mul, target: Target::Local(to), value: f64s(1.0) };
    let node = d.reduce(Operand::i64(3), vec![sum], vec![value]);
    d.refused(vec![set, node], "`mul` into a sum by `add`");
    let mut d = Draft::new();
    let (to, _, sum) = total(&mut d);
    let node = d.reduce(Operand::i64(3), vec![sum], vec![added(to, f64s(1.0))]);
    d.refused(vec![node], "`l0` is a sum before it is set");
    let mut d = Draft::new();
    let (b, alloc) = d.array(Elem::F64);
    let sums = vec![sum_of(b, 1)];
    let node = d.reduce(Operand::i64(3), sums, Vec::new());
    d.refused(vec![alloc, node], "a sum is no whole buffer");
}

#[test]
fn what_else_a_reduction_combines_into_is_free() {
    let mut d = Draft::new();
    let ((to, set, sum), (other, first, _)) = (total(&mut d), total(&mut d));
    let node = d.reduce(Operand::i64(3), vec![sum], vec![added(to, f64s(1.0)), added(other, f64s(1.0))]);
    d.accepted(vec![set, first, node]);
}

/// Rule: "The numbers of a wavefront are i64".
#[test]
fn the_numbers_of_loops_on_threads_have_their_types() {
    let mut d = Draft::new();
    let l = d.count(3, Threads::Wave(Wave { stages: f64s(1.0), slots: Operand::i64(1) }), Vec::new());
    d.refused(vec![l], "f64 where i64 is expected");
    let mut d = Draft::new();
    let l = d.count(3, Threads::May(Sharing { steps: Operand::i64(1), sums: Vec::new() }), Vec::new());
    d.refused(vec![l], "i64 where f64 is expected");
}

// ---- operations

/// Rule: "A product stands in the second arm of a branch".
#[test]
fn products_stand_beside_loops() {
    let product = |d: &mut Draft, elem| {
        let (left, right, (to, alloc)) = (d.param(), d.param(), d.array(Elem::F64));
        let view = |buffer| View { place: at(buffer), strides: [Operand::i64(1); 2] };
        let extents = [Operand::i64(2); 3];
        let product = Product { elem, to: view(to), left: view(left), right: view(right), extents };
        (alloc, Node::Product(Box::new(product)))
    };
    let mut d = Draft::new();
    let (alloc, node) = product(&mut d, Elem::F64);
    d.refused(vec![alloc, node], "a product without loops that do the same");
    let mut d = Draft::new();
    let (alloc, node) = product(&mut d, Elem::I64);
    d.refused(vec![alloc, Node::If(truth(), Vec::new(), vec![node])], "a product of i64");
    let mut d = Draft::new();
    let (alloc, node) = product(&mut d, Elem::F64);
    d.accepted(vec![alloc, Node::If(truth(), Vec::new(), vec![node])]);
}

/// Rule: "A routine is an operation of the op table".
#[test]
fn routines_are_operations_that_one_computes() {
    let mut d = Draft::new();
    let (b, alloc) = d.array(Elem::F64);
    let to = Tensor { place: at(b), elem: Elem::F64, dims: vec![Operand::i64(10)] };
    let routine = Routine { op: SLICE.op(), attrs: Vec::new(), to, from: Vec::new() };
    d.refused(vec![alloc, Node::Routine(Box::new(routine))], "`slice` is no routine");
}

/// Rule: "A value of some rank is printed with its extents".
#[test]
fn tensors_are_printed_with_extents() {
    let mut d = Draft::new();
    let x = d.param();
    let value = Some(Tensor { place: at(x), elem: Elem::F64, dims: vec![Operand::i64(10)] });
    let node = Node::Print { text: Vec::new(), value, extents: None };
    d.refused(vec![node], "a tensor is printed without extents");
}

/// Rule: "A callee exists".
#[test]
fn callees_exist_and_take_what_they_are_given() {
    let call = |args: Vec<Argument>| {
        let mut d = Draft::new();
        d.0.body = vec![Node::Call { callee: "g".into(), args, results: Vec::new() }];
        d.0
    };
    let messages = |nests: &[LoopFunction]| verify_nests(nests).err().map(|e| e.message);
    assert_eq!(messages(&[call(Vec::new())]).as_deref(), Some("there is no function `g`"));
    let mut g = Draft::new();
    let x = g.local(Elem::F64);
    g.0.name = "g".into();
    g.0.params.push(Param::Scalar(x));
    let given = |value| [call(vec![Argument::Scalar(value)]), Draft(g.0.clone()).0];
    assert_eq!(messages(&given(Operand::i64(1))).as_deref(), Some("arguments that `g` does not take"));
    assert_eq!(messages(&given(f64s(1.0))), None);
    g.0.results.push(Argument::Scalar(x.into()));
    let given = [call(vec![Argument::Scalar(f64s(1.0))]), g.0];
    assert_eq!(messages(&given).as_deref(), Some("results that `g` does not give"));
}
