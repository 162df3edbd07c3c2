//! Procedure integration (inlining): every call stands as what it calls, so that a plan cuts the whole program at once.
//! Functions call no function that calls them, so this ends.

use crate::PlanError;
use cotan_ir::Symbol;
use cotan_loops::node::{any, walk_mut};
use cotan_loops::{
    Argument, Buffer, BufferKind, CallResult, Expr, Home, Local, LoopFunction, Node, Operand, Param, Place, Tensor,
    node::PartMut,
};
use rustc_hash::FxHashMap;

/// Functions that may be called, by name.
type Functions<'f> = FxHashMap<&'f str, &'f LoopFunction>;

/// A function in which no call is left.
pub(crate) fn inlined(functions: &[LoopFunction], name: &str) -> Result<LoopFunction, PlanError> {
    let functions: Functions<'_> = functions.iter().map(|f| (&*f.name, f)).collect();
    Inliner { functions, around: Vec::new() }.whole(&name.into())
}

struct Inliner<'f> {
    functions: Functions<'f>,
    /// The functions whose bodies are being written.
    around: Vec<Symbol>,
}

impl Inliner<'_> {
    fn whole(&mut self, name: &Symbol) -> Result<LoopFunction, PlanError> {
        if self.around.contains(name) {
            return Err(PlanError::Recursion(name.clone()));
        }
        let Some(f) = self.functions.get(&**name).copied() else {
            return Err(PlanError::NoFunction(name.clone()));
        };
        let mut f = f.clone();
        if any(&f.body, &mut |node| matches!(node, Node::Call { .. })) {
            self.around.push(name.clone());
            let body = std::mem::take(&mut f.body);
            f.body = self.list(&mut f, body)?;
            self.around.pop();
        }
        Ok(f)
    }

    fn list(&mut self, f: &mut LoopFunction, nodes: Vec<Node>) -> Result<Vec<Node>, PlanError> {
        let mut list = Vec::with_capacity(nodes.len());
        for mut node in nodes {
            if let Node::Call { callee, args, results } = &node {
                let callee = self.whole(callee)?;
                list.extend(called(f, callee, args, results));
                continue;
            }
            for inner in node.lists_mut() {
                *inner = self.list(f, std::mem::take(inner))?;
            }
            list.push(node);
        }
        Ok(list)
    }
}

/// What stands for a call: the parameters named, the body, the results named.
fn called(f: &mut LoopFunction, callee: LoopFunction, args: &[Argument], results: &[CallResult]) -> Vec<Node> {
    let LoopFunction { locals, buffers, params, mut body, results: found, .. } = callee;
    let (n_locals, n_buffers) = (f.locals.len() as u32, f.buffers.len() as u32);
    let local = |local: Local| Local(local.0 + n_locals);
    let buffer = |buffer: Buffer| Buffer(buffer.0 + n_buffers);
    f.locals.extend(locals);
    f.buffers.extend(buffers);
    walk_mut(&mut body, &mut |node| {
        node.each_part_mut(&mut |part| match part {
            PartMut::Local(name, _) | PartMut::Operand(Operand::Local(name), _) => *name = local(*name),
            PartMut::Buffer(name, _) => *name = buffer(*name),
            PartMut::Operand(Operand::Const(_), _) | PartMut::List(_) | PartMut::Effect(_) => {}
        });
    });
    let mut nodes = Vec::new();
    for (param, arg) in params.iter().zip(args) {
        match (param, arg) {
            (Param::Scalar(param), Argument::Scalar(value)) => nodes.push(Node::Let(local(*param), Expr::Copy(*value))),
            (Param::Tensor(param), Argument::Tensor(tensor)) => {
                nodes.push(bind(f, buffer(param.place.buffer), tensor.place));
            }
            (Param::Scalar(_), Argument::Tensor(_)) | (Param::Tensor(_), Argument::Scalar(_)) => {}
        }
    }
    settle_results(f, n_buffers as usize, results, &mut body);
    nodes.extend(body);
    let renamed = |operand: Operand| match operand {
        Operand::Local(name) => local(name).into(),
        Operand::Const(_) => operand,
    };
    for (result, piece) in results.iter().zip(&found) {
        match (result, piece) {
            (CallResult::Scalar(to), Argument::Scalar(value)) => {
                nodes.push(Node::Let(*to, Expr::Copy(renamed(*value))));
            }
            (CallResult::New(to, _), Argument::Tensor(Tensor { place, .. })) => {
                let place = Place { buffer: buffer(place.buffer), offset: renamed(place.offset) };
                nodes.push(Node::Bind { buffer: *to, to: place });
            }
            // It lies there.
            (CallResult::Into(_), _)
            | (CallResult::Scalar(_), Argument::Tensor(_))
            | (CallResult::New(..), Argument::Scalar(_)) => {}
        }
    }
    nodes
}

/// Results that the caller has memory for lie there; others are arrays like those of the caller.
fn settle_results(f: &mut LoopFunction, first: usize, results: &[CallResult], body: &mut [Node]) {
    let mut places: FxHashMap<Buffer, Place> = FxHashMap::default();
    for at in first..f.buffers.len() {
        let BufferKind::Allocated(Home::Result(k)) = f.buffers[at].kind else { continue };
        match &results[k] {
            CallResult::Into(tensor) => {
                f.buffers[at].kind = BufferKind::Bound;
                places.insert(Buffer(at as u32), tensor.place);
            }
            CallResult::Scalar(_) | CallResult::New(..) => f.buffers[at].kind = BufferKind::Allocated(Home::Arena),
        }
    }
    walk_mut(body, &mut |node| {
        if let Node::Alloc { buffer, .. } = node
            && let Some(to) = places.get(buffer)
        {
            *node = Node::Bind { buffer: *buffer, to: *to };
        }
    });
}

/// Names memory of the caller.
fn bind(f: &mut LoopFunction, buffer: Buffer, to: Place) -> Node {
    f.buffers[buffer.index()].kind = BufferKind::Bound;
    Node::Bind { buffer, to }
}
