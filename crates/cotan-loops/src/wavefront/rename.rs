//! Other operands in the place of those that nodes read.

use crate::nest::{CallResult, Expr, Node, Operand, Piece, Sharing, Target, Tensor, Threads, Wave};

/// Visits every operand that nodes read, to change it. What nodes define, assign to, or combine into stays.
pub(super) fn each_operand_mut(nodes: &mut [Node], see: &mut dyn FnMut(&mut Operand)) {
    for node in nodes {
        of_node(node, see);
        node.lists_mut().into_iter().for_each(|list| each_operand_mut(list, see));
    }
}

fn of_node(node: &mut Node, see: &mut dyn FnMut(&mut Operand)) {
    match node {
        Node::Let(_, expr) => of_expr(expr, see),
        Node::Set(_, value) => see(value),
        Node::Load(_, place) | Node::Bind { buffer: _, to: place } => see(&mut place.offset),
        Node::Store(to, value) => [&mut to.offset, value].into_iter().for_each(see),
        Node::LoadLanes { to: _, from, mask } => std::iter::once(&mut from.offset).chain(mask).for_each(see),
        Node::StoreLanes { to, value, mask } => [&mut to.offset, value].into_iter().chain(mask).for_each(see),
        Node::Combine { monoid: _, target, value } => {
            see(value);
            of_target(target, see);
        }
        Node::Copy { from, to, count } => [&mut from.offset, &mut to.offset, count].into_iter().for_each(see),
        Node::Blocks(blocks) => {
            [&mut blocks.lanes.offset, &mut blocks.size, &mut blocks.number].into_iter().for_each(see);
        }
        Node::Alloc { buffer: _, extents } | Node::CountRecord(_, extents) => extents.iter_mut().for_each(see),
        Node::StackOpen(_) | Node::Scope(_) | Node::Segment(_) | Node::While(..) => {}
        Node::StackExtend(_, count) => see(count),
        Node::For(l) => {
            see(&mut l.count);
            match &mut l.threads {
                Threads::One | Threads::Each => {}
                Threads::May(Sharing { steps, sums }) => {
                    see(steps);
                    for sum in sums {
                        sum.extents.iter_mut().for_each(&mut *see);
                        of_target(&mut sum.target, see);
                    }
                }
                Threads::Wave(Wave { stages, slots }) => [stages, slots].into_iter().for_each(see),
            }
        }
        Node::If(operand, ..) | Node::Switch(operand, _) => see(operand),
        Node::Check { cond, kind: _, args, span: _ } => std::iter::once(cond).chain(args).for_each(see),
        Node::Product(product) => {
            for view in [&mut product.to, &mut product.left, &mut product.right] {
                see(&mut view.place.offset);
                view.strides.iter_mut().for_each(&mut *see);
            }
            product.extents.iter_mut().for_each(see);
        }
        Node::Routine(routine) => routine.arrays_mut().for_each(|array| of_tensor(array, see)),
        Node::Print { text: _, value, extents } => {
            value.iter_mut().for_each(|value| of_tensor(value, see));
            extents.iter_mut().for_each(|place| see(&mut place.offset));
        }
        Node::Call { callee: _, args, results } => {
            args.iter_mut().for_each(|arg| match arg {
                Piece::Scalar(operand) => see(operand),
                Piece::Tensor(tensor) => of_tensor(tensor, see),
            });
            results.iter_mut().for_each(|result| match result {
                CallResult::Scalar(_) | CallResult::New(..) => {}
                CallResult::Into(tensor) => of_tensor(tensor, see),
            });
        }
    }
}

fn of_tensor(tensor: &mut Tensor, see: &mut dyn FnMut(&mut Operand)) {
    see(&mut tensor.place.offset);
    tensor.dims.iter_mut().for_each(see);
}

fn of_target(target: &mut Target, see: &mut dyn FnMut(&mut Operand)) {
    match target {
        Target::Element(place) => see(&mut place.offset),
        Target::Local(_) => {}
    }
}

/// Visits the operands of the value of a definition, to change them.
pub(super) fn of_expr(expr: &mut Expr, see: &mut dyn FnMut(&mut Operand)) {
    match expr {
        Expr::Copy(operand) | Expr::Iota(operand) | Expr::Any(operand) | Expr::First(operand) => see(operand),
        Expr::Fold(_, operand) => see(operand),
        Expr::Native { args, .. } | Expr::Host { args, .. } => args.iter_mut().for_each(see),
        Expr::Lane(args) => args.iter_mut().for_each(see),
    }
}
