//! Kernels with their iterations in another order: the parallel loops of a program become sequential ones that run
//! through a permutation. What a kernel accumulates in a storage type is accumulated in the type that it is computed in,
//! and narrowed after.
//!
//! Number `t` of `n` iterations becomes number `(stride * t + start) % n`. Strides are primes, so that this is a
//! permutation for every `n` that is no multiple of one.

use cotan_sema::dims::LocalId;
use cotan_sema::typed::{
    Accumulated, AssignOp, BinaryOp, Block, Body, Chain, Expr, ExprKind, For, FunctionBody, Iterable, Link, Literal,
    Local, Pattern, PatternKind, Place, Program, Range, Sharing, Stmt, StmtKind, Target,
};
use cotan_sema::types::{Scalar, Type};

/// An order of iterations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Order {
    stride: i128,
    start: i128,
}

impl Order {
    /// From the first to the last.
    pub const SEQUENTIAL: Order = Order { stride: 1, start: 0 };

    /// Orders that have little in common.
    pub const SHUFFLED: [Order; 3] = [
        Order { stride: 7919, start: 3 },
        Order { stride: 104_729, start: 1 },
        Order { stride: 6_700_417, start: 1_000 },
    ];
}

/// Whether a program has parallel loops.
pub fn has_parallel_loops(program: &Program) -> bool {
    let mut program = program.clone();
    let mut found = false;
    each_body(&mut program, &mut |body| each_parallel(&mut body.value, &mut |_| found = true));
    found
}

/// The program with its parallel loops run one iteration after the other, in this order. Over a tensor a loop runs
/// backwards for every order but the sequential one.
pub fn shuffled(program: &Program, order: Order) -> Program {
    let mut program = program.clone();
    each_body(&mut program, &mut |body| {
        let locals = &mut body.locals;
        each_parallel(&mut body.value, &mut |e| reorder(e, order, locals));
    });
    program
}

fn each_body(program: &mut Program, f: &mut dyn FnMut(&mut Body)) {
    for function in &mut program.functions {
        if let FunctionBody::Source(body) = &mut function.body {
            f(body);
        }
    }
}

/// Calls `f` for each parallel loop that is a statement, in the blocks of branches and other loops too.
fn each_parallel(e: &mut Expr, f: &mut dyn FnMut(&mut Expr)) {
    if let ExprKind::For(it) = &mut e.kind {
        match it.parallel {
            Some(_) => f(e),
            None => each_parallel(&mut it.body, f),
        }
    } else if let ExprKind::While(it) = &mut e.kind {
        each_parallel(&mut it.body, f);
    } else if let ExprKind::If(it) = &mut e.kind {
        it.arms.iter_mut().for_each(|(_, body)| each_parallel(body, f));
        it.otherwise.iter_mut().for_each(|body| each_parallel(body, f));
    } else if let ExprKind::Block(block) = &mut e.kind {
        for statement in &mut block.statements {
            match &mut statement.kind {
                StmtKind::Let { value, .. } | StmtKind::Assign { value, .. } | StmtKind::Expr(value) => {
                    each_parallel(value, f);
                }
            }
        }
        block.value.iter_mut().for_each(|value| each_parallel(value, f));
    }
}

fn reorder(e: &mut Expr, order: Order, locals: &mut Vec<Local>) {
    let ExprKind::For(it) = &mut e.kind else { return };
    let sharing = it.parallel.take();
    let narrow: Vec<LocalId> = sharing.map_or_else(Vec::new, |it| narrow_sums(&it, locals));
    let widened: Vec<(LocalId, LocalId)> =
        narrow.into_iter().map(|root| (root, widened_local(root, &mut it.body, locals))).collect();
    match &mut it.iterable {
        Iterable::Tensor { reversed, .. } => *reversed ^= order != Order::SEQUENTIAL,
        Iterable::Range { range, reversed } if order != Order::SEQUENTIAL => {
            *reversed = false;
            let bounds = std::mem::replace(range, empty(range));
            *e = through(it, bounds, order, locals);
        }
        Iterable::Range { .. } => {}
    }
    for (root, wide) in widened {
        around(e, root, wide, locals);
    }
}

/// Variables of storage types to which a loop adds, or of which it takes extremes: a kernel accumulates them wide.
fn narrow_sums(sharing: &Sharing, locals: &[Local]) -> Vec<LocalId> {
    let is_narrow = |it: &&Accumulated| {
        let elem = locals[it.root.0 as usize].ty.scalar();
        let is_stored = matches!(elem, Some(Scalar::Of(elem)) if elem.storage().is_some());
        is_stored && it.path.is_empty() && it.op != AssignOp::Binary(BinaryOp::Mul)
    };
    sharing.accumulated.iter().filter(is_narrow).map(|it| it.root).collect()
}

/// A wide variable that the body writes in place of a narrow one.
fn widened_local(root: LocalId, body: &mut Expr, locals: &mut Vec<Local>) -> LocalId {
    let mut local = Local { name: "$wide".to_owned(), mutable: true, ..locals[root.0 as usize].clone() };
    widen(&mut local.ty);
    locals.push(local);
    let wide = LocalId(locals.len() as u32 - 1);
    each_place(body, &mut |place| {
        if place.root == root {
            place.root = wide;
            widen(&mut place.ty);
            place.steps.iter_mut().for_each(|step| widen(&mut step.ty));
        }
    });
    wide
}

fn widen(ty: &mut Type) {
    ty.each_scalar_mut(&mut |scalar| {
        if let Scalar::Of(elem) = scalar {
            *elem = elem.computed();
        }
    });
}

/// `{ let wide = root as f32; e; root = wide as f16 }`
fn around(e: &mut Expr, root: LocalId, wide: LocalId, locals: &[Local]) {
    let span = e.span;
    let cast = |from: LocalId, to: LocalId| {
        let ty = |local: LocalId| locals[local.0 as usize].ty.clone();
        let read = Expr { span, ty: ty(from), kind: ExprKind::Local(from) };
        Expr { span, ty: ty(to), kind: ExprKind::Cast(Box::new(read)) }
    };
    let ty = locals[wide.0 as usize].ty.clone();
    let pattern = Pattern { span, ty, kind: PatternKind::Local(wide) };
    let place = Place { span, ty: locals[root.0 as usize].ty.clone(), root, steps: Vec::new() };
    let unit = Expr { span, ty: Type::UNIT, kind: ExprKind::Tuple(Vec::new()) };
    let statements = [
        StmtKind::Let { pattern, value: cast(root, wide) },
        StmtKind::Expr(std::mem::replace(e, unit)),
        StmtKind::Assign { target: Target::Place(place), op: AssignOp::Set, value: cast(wide, root) },
    ];
    let statements = statements.into_iter().map(|kind| Stmt { span, kind }).collect();
    let block = Block { statements, value: None, recompute: false, mode: None };
    *e = Expr { span, ty: Type::UNIT, kind: ExprKind::Block(Box::new(block)) };
}

/// Calls `f` for each place that is assigned, in branches and inner loops too.
fn each_place(e: &mut Expr, f: &mut dyn FnMut(&mut Place)) {
    if let ExprKind::For(it) = &mut e.kind {
        each_place(&mut it.body, f);
    } else if let ExprKind::While(it) = &mut e.kind {
        each_place(&mut it.body, f);
    } else if let ExprKind::If(it) = &mut e.kind {
        it.arms.iter_mut().map(|(_, body)| body).chain(&mut it.otherwise).for_each(|body| each_place(body, f));
    } else if let ExprKind::Match(it) = &mut e.kind {
        it.arms.iter_mut().for_each(|arm| each_place(&mut arm.body, f));
    } else if let ExprKind::Block(block) = &mut e.kind {
        for statement in &mut block.statements {
            match &mut statement.kind {
                StmtKind::Assign { target: Target::Place(place), .. } => f(place),
                StmtKind::Assign { target: Target::Tuple(_), .. } => {}
                StmtKind::Let { value, .. } | StmtKind::Expr(value) => each_place(value, f),
            }
        }
        block.value.iter_mut().for_each(|value| each_place(value, f));
    }
}

fn empty(range: &Range) -> Range {
    Range { lo: range.lo.clone(), hi: range.lo.clone(), inclusive: false }
}

/// `{ let lo = ..; let hi = ..; for t in lo..hi { let i = lo + (stride * (t - lo) + start) % (hi - lo); body } }`
fn through(it: &mut For, bounds: Range, order: Order, locals: &mut Vec<Local>) -> Expr {
    let (span, ty) = (bounds.lo.span, bounds.lo.ty.clone());
    let mut local = |name: &str| {
        locals.push(Local { name: name.to_owned(), span, ty: ty.clone(), mutable: false });
        LocalId(locals.len() as u32 - 1)
    };
    let (lo, hi, turn) = (local("$lo"), local("$hi"), local("$turn"));
    let number = |kind| Expr { span, ty: ty.clone(), kind };
    let read = |local| number(ExprKind::Local(local));
    let literal = |value| number(ExprKind::Literal(Literal::Int(value)));
    let binary = |first: Expr, op, operand: Expr| {
        let rest = vec![Link { op, op_span: span, operand, span, ty: ty.clone() }];
        number(ExprKind::Chain(Box::new(Chain { first, rest })))
    };
    let bind = |local, value| {
        let pattern = Pattern { span, ty: ty.clone(), kind: PatternKind::Local(local) };
        Stmt { span, kind: StmtKind::Let { pattern, value } }
    };
    let unit = |statements, value| Expr {
        span,
        ty: Type::UNIT,
        kind: ExprKind::Block(Box::new(Block { statements, value, recompute: false, mode: None })),
    };
    let past = match bounds.inclusive {
        true => binary(bounds.hi, BinaryOp::Add, literal(1)),
        false => bounds.hi,
    };
    let passed = binary(read(turn), BinaryOp::Sub, read(lo));
    let strides = binary(binary(passed, BinaryOp::Mul, literal(order.stride)), BinaryOp::Add, literal(order.start));
    let place = binary(strides, BinaryOp::Rem, binary(read(hi), BinaryOp::Sub, read(lo)));
    let value = binary(read(lo), BinaryOp::Add, place);
    let body = std::mem::replace(&mut it.body, unit(Vec::new(), None));
    let pattern = std::mem::replace(&mut it.pattern, Pattern { span, ty: ty.clone(), kind: PatternKind::Local(turn) });
    let iteration = unit(vec![Stmt { span, kind: StmtKind::Let { pattern, value } }], Some(body));
    let range = Range { lo: read(lo), hi: read(hi), inclusive: false };
    let it = For {
        pattern: it.pattern.clone(),
        iterable: Iterable::Range { range, reversed: false },
        body: iteration,
        parallel: None,
        checkpoint: None,
    };
    let shuffled = Expr { kind: ExprKind::For(Box::new(it)), ..unit(Vec::new(), None) };
    unit(vec![bind(lo, bounds.lo), bind(hi, past)], Some(shuffled))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::derived_case::options;
    use crate::frontend::lower_tree;
    use cotan::Request;
    use cotan_ops::Value;

    /// What a kernel that the race check rejects gives for four elements, in an order of iterations.
    fn in_order(source: &str, order: Order) -> Vec<Value> {
        let program = cotan::Program::check("kernel.cot", source, &cotan_sema::Limits::default());
        assert!(program.has_errors(), "the race check rejects the program");
        let tree = shuffled(&program.checked.program, order);
        let lowered = lower_tree(&tree, &Request::function("f")).expect("lowers");
        let args = [Value::i64s(&[], &[4]), Value::f64s(&[4], &[1.0, 2.0, 3.0, 5.0])];
        cotan_interp::run(&lowered.module, &lowered.entry.symbol, &args, &options()).expect("runs")
    }

    #[test]
    fn a_loop_with_a_race_does_not_keep_its_bits() {
        let racing = [
            "kernel f[N](v: f64[N]) -> f64[N] { let mut w = v\n for i in 1..N { w[i] = w[i - 1] }\n w }",
            "kernel f[N](v: f64[N]) -> f64[N] { let mut w = v\n for i in 0..N { w[i / 2] = v[i] }\n w }",
            "kernel f[N](v: f64[N]) -> f64[N] { let mut w = v\n for i in 0..N { w[0] = v[i] }\n w }",
            "kernel f[N](v: f64[N]) -> f64[N] { let mut w = v\n for x in v { w[0] -= w[0] * x }\n for x in v { w[1] = x }\n w }",
        ];
        for source in racing {
            let expected = in_order(source, Order::SEQUENTIAL);
            let differs = Order::SHUFFLED.iter().any(|order| in_order(source, *order) != expected);
            assert!(differs, "{source} gives {expected:?} in every order");
        }
    }
}
