//! Capabilities: which constructs of the core IR a device lacks, and the check of a module against them.

use cotan_ir::{Elem, Function, Module, Op, Span};
use cotan_ops::{Evaluation, tensor_row};
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
    for stmt in f.body.walk() {
        found.extend(construct(&stmt.op).map(|construct| (construct, stmt.span)));
        found.extend(stmt.results.iter().map(|result| (Construct::Elements(f.ty(*result).elem), stmt.span)));
    }
    found
}

/// The construct that an operation is, if it is one that a device may lack.
fn construct(op: &Op) -> Option<Construct> {
    let effects = op.effects();
    let is_routine =
        matches!(op, Op::Tensor { op, .. } if matches!(tensor_row(*op).evaluation, Evaluation::Routine(_)));
    let constructs = [
        (effects.calls.is_some(), Construct::Calls),
        (effects.may_not_end, Construct::WhileLoops),
        (effects.prints, Construct::Output),
        (is_routine, Construct::Routines),
    ];
    constructs.into_iter().find_map(|(is_so, construct)| is_so.then_some(construct))
}
