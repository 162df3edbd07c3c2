//! Capabilities: which constructs of the core IR a device lacks, and the check of a module against them.

use cotan_ir::{Block, Elem, Function, Module, Op, Span};
use cotan_ops::{Evaluation, PRINT, tensor_row};
use std::fmt;

/// Something that a device may lack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Construct {
    /// Output.
    Output,
    /// Calls of functions.
    Calls,
    /// Routines of numerical libraries, such as factorisations and Fourier transforms.
    Routines,
    /// Loops whose number of iterations only the run knows.
    WhileLoops,
    /// Values of an element type.
    Elements(Elem),
}

impl fmt::Display for Construct {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Construct::Output => f.write_str("output"),
            Construct::Calls => f.write_str("calls of functions"),
            Construct::Routines => f.write_str("routines of numerical libraries"),
            Construct::WhileLoops => f.write_str("loops whose length only the run knows"),
            Construct::Elements(elem) => write!(f, "numbers of type {elem}"),
        }
    }
}

/// A construct that a device lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lack {
    /// The construct.
    pub construct: Construct,
    /// The nearest thing that works.
    pub nearest: &'static str,
}

/// What a device lacks; by default nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Capabilities {
    /// Each construct once.
    pub lacks: Vec<Lack>,
}

/// A construct of a program that a device lacks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsupported {
    /// The name of the device.
    pub device: &'static str,
    /// What it lacks.
    pub lack: Lack,
    /// The source text that needs it.
    pub span: Span,
}

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the device `{}` has no {}", self.device, self.lack.construct)
    }
}

impl std::error::Error for Unsupported {}

impl Capabilities {
    /// The first construct of a module that the device of this name lacks, in the order of its functions. Derivatives that
    /// are not written yet have no constructs of their own.
    pub fn check(&self, device: &'static str, module: &Module) -> Result<(), Unsupported> {
        if self.lacks.is_empty() {
            return Ok(());
        }
        let lacking = |(construct, span)| {
            let lack = *self.lacks.iter().find(|lack| lack.construct == construct)?;
            Some(Unsupported { device, lack, span })
        };
        let found = module.functions().find_map(|f| constructs(f).into_iter().find_map(lacking));
        found.map_or(Ok(()), Err)
    }
}

/// The constructs of a function, each with its place, in order.
fn constructs(f: &Function) -> Vec<(Construct, Span)> {
    let place = f.body.stmts.iter().map(|stmt| stmt.span).find(|span| span.is_some()).unwrap_or_default();
    let mut found: Vec<_> = f.params.iter().map(|param| (Construct::Elements(f.ty(*param).elem), place)).collect();
    collect(f, &f.body, &mut found);
    found
}

fn collect(f: &Function, block: &Block, found: &mut Vec<(Construct, Span)>) {
    for stmt in &block.stmts {
        let construct = match &stmt.op {
            Op::Call { .. } => Some(Construct::Calls),
            Op::Loop(l) if l.count.is_none() => Some(Construct::WhileLoops),
            Op::Tensor { op, .. } if *op == PRINT.op() => Some(Construct::Output),
            Op::Tensor { op, .. } if matches!(tensor_row(*op).evaluation, Evaluation::Routine(_)) => {
                Some(Construct::Routines)
            }
            Op::Prim { .. }
            | Op::Tensor { .. }
            | Op::Index { .. }
            | Op::Update { .. }
            | Op::AccAdd { .. }
            | Op::Par(_)
            | Op::Loop(_)
            | Op::Switch { .. }
            | Op::Check { .. } => None,
        };
        found.extend(construct.map(|construct| (construct, stmt.span)));
        found.extend(stmt.results.iter().map(|result| (Construct::Elements(f.ty(*result).elem), stmt.span)));
        stmt.op.blocks().iter().for_each(|inner| collect(f, inner, found));
    }
}
