//! Program shapes, each checked up to third order. A shape is a function of `shapes/*.cir`; the comment above it gives
//! the arguments and, for some, the gradient in closed form.
#![allow(clippy::print_stdout, reason = "a failure shows at which shape it was")]

use crate::oracle;

use cotan_ir::{Block, Checkpoint, Function, Module, Op, ReversePolicy};
use cotan_ops::Value;
use oracle::{check, close, floats, gradient, module};

struct Shape {
    name: String,
    args: Vec<Value>,
    gradient: Option<Vec<f64>>,
    /// The point lies on a kink: differences are no oracle there.
    is_kinked: bool,
}

fn value(text: &str) -> Value {
    let whole = |t: &str| t.parse::<i64>().ok();
    let float = |t: &str| t.parse::<f64>().unwrap_or_else(|e| panic!("{t}: {e}"));
    let Some(inner) = text.strip_prefix('[') else {
        return whole(text).map_or_else(|| oracle::scalar(float(text)), oracle::int);
    };
    let (dims, elements) = inner.trim_end_matches(']').split_once(';').expect("dims; elements");
    let dims: Vec<i64> = dims.split('x').map(|d| whole(d).expect("a dim")).collect();
    let elements: Vec<&str> = elements.split_whitespace().collect();
    match elements.iter().map(|t| whole(t)).collect::<Option<Vec<i64>>>() {
        Some(integers) if !integers.is_empty() => Value::i64s(&dims, &integers),
        _ => Value::f64s(&dims, &elements.into_iter().map(float).collect::<Vec<_>>()),
    }
}

fn shapes(text: &str) -> Vec<Shape> {
    let mut shapes = Vec::new();
    let (mut args, mut gradient, mut is_kinked) = (None, None, false);
    for line in text.lines() {
        if let Some(list) = line.strip_prefix("// args: ") {
            args = Some(list.split(", ").map(value).collect());
        } else if let Some(list) = line.strip_prefix("// gradient: ") {
            gradient = Some(list.split(' ').map(|t| t.parse().expect("a number")).collect());
        } else if line == "// kinked" {
            is_kinked = true;
        } else if let Some(rest) = line.strip_prefix("fn ")
            && let Some(args) = args.take()
        {
            let name = rest.split('(').next().unwrap_or_default().to_owned();
            shapes.push(Shape { name, args, gradient: gradient.take(), is_kinked: std::mem::take(&mut is_kinked) });
        }
    }
    shapes
}

fn check_file(text: &str, n_shapes: usize) {
    let source: Module = module(text);
    let shapes = shapes(text);
    assert_eq!(shapes.len(), n_shapes);
    for shape in shapes {
        println!("{}", shape.name);
        check(&mut source.clone(), &shape.name, &shape.args, 1, 2, !shape.is_kinked);
        check(&mut source.clone(), &shape.name, &shape.args, 2, 3, false);
        if let Some(expected) = shape.gradient {
            let (found, _) = gradient(&mut source.clone(), &shape.name, &shape.args);
            let found: Vec<f64> = found.iter().flat_map(floats).collect();
            for (a, b) in found.iter().zip(&expected) {
                close(*a, *b, 0.0, 1e-12, &shape.name);
            }
        }
    }
}

#[test]
fn recurrences_hold_at_every_order() {
    check_file(include_str!("shapes/recurrences.cir"), 15);
}

#[test]
fn data_dependent_bounds_hold_at_every_order() {
    check_file(include_str!("shapes/bounds.cir"), 7);
}

#[test]
fn branches_hold_at_every_order() {
    check_file(include_str!("shapes/branches.cir"), 6);
}

#[test]
fn while_loops_hold_at_every_order() {
    check_file(include_str!("shapes/whiles.cir"), 8);
}

#[test]
fn in_place_updates_hold_at_every_order() {
    check_file(include_str!("shapes/in_place.cir"), 13);
}

#[test]
fn accumulation_holds_at_every_order() {
    check_file(include_str!("shapes/accumulation.cir"), 9);
}

#[test]
fn models_hold_at_every_order() {
    check_file(include_str!("shapes/models.cir"), 6);
}

#[test]
fn calls_and_edges_hold_at_every_order() {
    check_file(include_str!("shapes/functions.cir"), 8);
}

/// The checkpoints under which every shape is differentiated again.
const SCHEMES: [Checkpoint; 9] = [
    Checkpoint::Every(1),
    Checkpoint::Every(3),
    Checkpoint::Every(i64::MAX),
    Checkpoint::Sqrt,
    Checkpoint::Levels(2),
    Checkpoint::Levels(4),
    Checkpoint::Budget(1),
    Checkpoint::Budget(90),
    Checkpoint::Budget(i64::MAX),
];

/// Sets checkpoints at every loop, inner ones included.
fn set_checkpoints(block: &mut Block, checkpoint: Checkpoint) {
    for s in &mut block.stmts {
        if let Op::Loop(l) = &mut s.op {
            l.kept = ReversePolicy { checkpoint: Some(checkpoint), ..l.kept };
        }
        s.op.blocks_mut().iter_mut().for_each(|b| set_checkpoints(b, checkpoint));
    }
}

fn with_checkpoints(source: &Module, checkpoint: Checkpoint) -> Module {
    let mut module = source.clone();
    let functions: Vec<Function> = source.functions().map(|f| Function::clone(f)).collect();
    for mut f in functions {
        set_checkpoints(&mut f.body, checkpoint);
        module.insert(f);
    }
    module
}

/// The bits of the gradient stay, and those of the tangent of the gradient; the derivatives hold at second order.
fn check_checkpoints(text: &str) {
    let source: Module = module(text);
    for shape in shapes(text) {
        let (plain, _) = gradient(&mut source.clone(), &shape.name, &shape.args);
        for checkpoint in SCHEMES {
            println!("{} checkpoint {checkpoint}", shape.name);
            let mut module = with_checkpoints(&source, checkpoint);
            let (found, _) = gradient(&mut module, &shape.name, &shape.args);
            let bits = |all: &[Value]| all.iter().map(|v| v.bits.clone()).collect::<Vec<_>>();
            assert_eq!(bits(&found), bits(&plain), "{} checkpoint {checkpoint}", shape.name);
        }
        for checkpoint in [Checkpoint::Every(2), Checkpoint::Budget(90)] {
            println!("{} checkpoint {checkpoint}, second order", shape.name);
            check(&mut with_checkpoints(&source, checkpoint), &shape.name, &shape.args, 1, 2, false);
        }
    }
}

#[test]
fn checkpoints_keep_the_bits_of_recurrences() {
    check_checkpoints(include_str!("shapes/recurrences.cir"));
}

#[test]
fn checkpoints_keep_the_bits_of_data_dependent_bounds() {
    check_checkpoints(include_str!("shapes/bounds.cir"));
}

#[test]
fn checkpoints_keep_the_bits_of_branches() {
    check_checkpoints(include_str!("shapes/branches.cir"));
}

#[test]
fn checkpoints_keep_the_bits_of_while_loops() {
    check_checkpoints(include_str!("shapes/whiles.cir"));
}

#[test]
fn checkpoints_keep_the_bits_of_in_place_updates() {
    check_checkpoints(include_str!("shapes/in_place.cir"));
}

#[test]
fn checkpoints_keep_the_bits_of_accumulation() {
    check_checkpoints(include_str!("shapes/accumulation.cir"));
}

#[test]
fn checkpoints_keep_the_bits_of_models() {
    check_checkpoints(include_str!("shapes/models.cir"));
}

#[test]
fn checkpoints_keep_the_bits_of_calls_and_edges() {
    check_checkpoints(include_str!("shapes/functions.cir"));
}
