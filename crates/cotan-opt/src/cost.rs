//! What passes and derivatives take for cheap: the cost model by which they choose between keeping a result and computing
//! it again. All of it is the table [`COSTS`] and the sum over statements below.
//!
//! A unit is about one addition. The figures are rough on purpose: what they decide is whether an elementary function
//! is worth eight bytes (it is) and whether a few products are (they are not).

use cotan_ir::{Atom, Block, Dim, Loop, Op, Prim, Stmt, Ty, VarInfo};
use cotan_ops::{Codegen, Instruction, Term, Work};
use std::fmt;

/// The figures of the cost model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Costs {
    /// One operation that every machine has: an addition, a product, a comparison, a read.
    pub step: u64,
    /// A division, a remainder or a square root.
    pub division: u64,
    /// An elementary function.
    pub function: u64,
    /// A call of a function of the program that was not inlined.
    pub call: u64,
    /// What a derivative adds for one operand, beside its partial: a product and a sum.
    pub product: u64,
    /// One element, written by the forward sweep and read by the reverse sweep, and a byte of it.
    pub entry: u64,
    /// See [`Costs::entry`].
    pub byte: u64,
    /// One element of what is recorded for the iteration behind, read once more.
    pub shifted: u64,
    /// The extent of an axis, and the number of iterations of a loop, that only the run knows.
    pub unknown_extent: u64,
    /// How many times the bytes of the plain record of a loop, which is that of its carried values, it may record.
    pub growth: u64,
    /// What the records of a loop may take in all, where that is known, whatever the plain record takes.
    pub small_record: u64,
}

/// The figures in use.
pub const COSTS: Costs = Costs {
    step: 1,
    division: 8,
    function: 30,
    call: 400,
    product: 2,
    entry: 8,
    byte: 1,
    shifted: 8,
    unknown_extent: 64,
    growth: 2,
    small_record: 64 * 1024,
};

impl fmt::Display for Costs {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "an addition, a product, a comparison, a read: {}", self.step)?;
        writeln!(out, "a division, a remainder, a square root: {}", self.division)?;
        writeln!(out, "an elementary function: {}", self.function)?;
        writeln!(out, "a call: {}", self.call)?;
        writeln!(out, "a tangent or cotangent, for each operand: {}", self.product)?;
        writeln!(out, "a recorded element: {}, and {} for each byte", self.entry, self.byte)?;
        writeln!(out, "an element recorded for another iteration: {}", self.shifted)?;
        writeln!(out, "assumed of extents and trip counts that only the run knows: {}", self.unknown_extent)?;
        writeln!(out, "a loop records at most {} times its carried values,", self.growth)?;
        writeln!(out, "or {} bytes in all where that is known", self.small_record)
    }
}

/// The number that an operand is, if it is known before the run.
pub fn known(n: Atom) -> Option<u64> {
    n.constant().and_then(|c| c.as_i64()).map(|n| n.max(0).unsigned_abs())
}

/// The number that an operand is, or what is assumed of those that only the run knows.
pub fn extent(n: Atom) -> u64 {
    known(n).unwrap_or(COSTS.unknown_extent)
}

/// The number of elements of a type, about.
pub fn elements(ty: &Ty) -> u64 {
    ty.dims.iter().fold(1, |n, d| n.saturating_mul(extent(d.atom())))
}

/// How much a record takes in an iteration, about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Size {
    /// Elements.
    pub elements: u64,
    /// Bytes of them.
    pub bytes: u64,
}

impl Size {
    /// That of a value.
    pub fn of(ty: &Ty) -> Size {
        let elements = elements(ty);
        Size { elements, bytes: elements.saturating_mul(ty.elem.bytes() as u64) }
    }

    /// Both together.
    pub fn plus(self, other: Size) -> Size {
        let elements = self.elements.saturating_add(other.elements);
        Size { elements, bytes: self.bytes.saturating_add(other.bytes) }
    }

    /// So many of these.
    pub fn times(self, n: u64) -> Size {
        Size { elements: self.elements.saturating_mul(n), bytes: self.bytes.saturating_mul(n) }
    }

    /// What recording it costs.
    pub fn cost(self) -> u64 {
        self.elements.saturating_mul(COSTS.entry).saturating_add(self.bytes.saturating_mul(COSTS.byte))
    }
}

/// What computing a statement costs, once. `vars` is the table of the function that it belongs to.
pub fn stmt(vars: &[VarInfo], s: &Stmt) -> u64 {
    let size = |k: usize| s.results.get(k).map_or(1, |v| elements(&vars[v.index()].ty));
    match &s.op {
        Op::Prim { prim, .. } => primitive(*prim).saturating_mul(size(0)),
        Op::Tensor { args, .. } => {
            let operands = args.iter().filter_map(|a| a.var()).map(|v| &vars[v.index()].ty);
            let types = operands.chain(s.results.iter().map(|r| &vars[r.index()].ty));
            product_of_axes(types).saturating_mul(COSTS.step)
        }
        // A sub-tensor is a view.
        Op::Index { .. } | Op::Check { .. } => COSTS.step,
        Op::Update { value, .. } | Op::AccAdd { value, .. } => {
            let written = value.var().map_or(1, |v| elements(&vars[v.index()].ty));
            written.saturating_mul(COSTS.step)
        }
        Op::Par(p) => {
            let n = p.extents.iter().fold(1u64, |n, e| n.saturating_mul(extent(*e)));
            n.saturating_mul(block(vars, &p.body))
        }
        Op::Loop(l) => trips(l).saturating_mul(block(vars, &l.body)),
        Op::Switch { arms, .. } => arms.iter().map(|arm| block(vars, arm)).max().unwrap_or(0) + COSTS.step,
        Op::Call { .. } => COSTS.call,
    }
}

/// The iterations of a loop, about.
pub fn trips(l: &Loop) -> u64 {
    l.count.map_or(COSTS.unknown_extent, extent)
}

/// Every iteration of a region costs a step of its own.
fn block(vars: &[VarInfo], b: &Block) -> u64 {
    b.stmts.iter().map(|s| stmt(vars, s)).fold(COSTS.step, u64::saturating_add)
}

/// The product of the different axes of some types: what a product of matrices costs, and more than enough for what
/// only moves elements.
fn product_of_axes<'a>(types: impl Iterator<Item = &'a Ty>) -> u64 {
    let mut axes: Vec<Dim> = Vec::new();
    for d in types.flat_map(|ty| &ty.dims) {
        if !axes.contains(d) {
            axes.push(*d);
        }
    }
    axes.iter().fold(1, |n, d| n.saturating_mul(extent(d.atom())))
}

fn primitive(prim: Prim) -> u64 {
    lowered(&cotan_ops::row(prim).codegen)
}

fn lowered(codegen: &Codegen) -> u64 {
    match codegen {
        Codegen::Native(instruction) | Codegen::NativeOrHost(instruction) => instruction_cost(*instruction),
        Codegen::Host | Codegen::Power | Codegen::Expansion(_) => COSTS.function,
        Codegen::Term(term) => term_cost(term),
    }
}

fn term_cost(term: &Term) -> u64 {
    match term {
        Term::Arg(_) | Term::Result | Term::Number(_) | Term::Named(..) | Term::Int(_) => 0,
        Term::ToT(inner) => COSTS.step + term_cost(inner),
        Term::Apply(row, operands) => lowered(&row.codegen) + operands.iter().map(term_cost).sum::<u64>(),
    }
}

fn instruction_cost(instruction: Instruction) -> u64 {
    match instruction.traits().work {
        Work::Step => COSTS.step,
        Work::Division => COSTS.division,
        Work::ZeroProduct => 5 * COSTS.step,
    }
}
