//! Writing nodes.

use cotan_ir::{Const, Elem};
use cotan_loops::node::{Definitions, Expr, Local, LocalInfo, LoopFunction, Node, Operand};
use cotan_ops::Instruction;
use rustc_hash::{FxHashMap, FxHashSet};

/// Nodes that are written into a function.
pub(super) struct Writer<'a> {
    pub(super) f: &'a mut LoopFunction,
    definitions: &'a Definitions,
    /// What the nest defines.
    inside: &'a FxHashSet<Local>,
    /// What is computed in front of the nest already.
    hoisted: FxHashMap<Local, Operand>,
    /// The lists that are being written, innermost last.
    open: Vec<Vec<Node>>,
}

impl<'a> Writer<'a> {
    pub(super) fn new(
        f: &'a mut LoopFunction,
        definitions: &'a Definitions,
        inside: &'a FxHashSet<Local>,
    ) -> Writer<'a> {
        Writer { f, definitions, inside, hoisted: FxHashMap::default(), open: Vec::new() }
    }

    pub(super) fn push(&mut self, node: Node) {
        self.open.last_mut().expect("invariant: a list is open").push(node);
    }

    /// Begins a list of nodes.
    pub(super) fn open(&mut self) {
        self.open.push(Vec::new());
    }

    /// Ends the list that was begun last.
    pub(super) fn close(&mut self) -> Vec<Node> {
        self.open.pop().expect("invariant: a list is open")
    }

    pub(super) fn local(&mut self, name: &str, elem: Elem) -> Local {
        self.f.locals.push(LocalInfo { name: name.into(), elem, is_mutable: false, lanes: 1 });
        Local(self.f.locals.len() as u32 - 1)
    }

    /// A local like another one.
    pub(super) fn local_like(&mut self, local: Local) -> Local {
        let info = self.f.locals[local.index()].clone();
        self.local(&info.name, info.elem)
    }

    pub(super) fn define(&mut self, name: &str, elem: Elem, expr: Expr) -> Operand {
        let local = self.local(name, elem);
        self.push(Node::Let(local, expr));
        local.into()
    }

    // ---- numbers

    /// Defines an i64 that has a name.
    pub(super) fn define_as(&mut self, local: Local, instruction: Instruction, a: Operand, b: Operand) {
        self.push(Node::Let(local, Expr::Native { instruction, elem: Elem::I64, args: vec![a, b] }));
    }

    pub(super) fn i64(&mut self, instruction: Instruction, a: Operand, b: Operand) -> Operand {
        let folded = match (instruction, a.as_i64(), b.as_i64()) {
            (Instruction::Add, Some(a), Some(b)) => a.checked_add(b),
            (Instruction::Sub, Some(a), Some(b)) => a.checked_sub(b),
            (Instruction::Mul, Some(a), Some(b)) => a.checked_mul(b),
            (Instruction::Min, Some(a), Some(b)) => Some(a.min(b)),
            (Instruction::Max, Some(a), Some(b)) => Some(a.max(b)),
            _ => None,
        };
        match (folded, instruction, a.as_i64(), b.as_i64()) {
            (Some(n), ..) => Operand::i64(n),
            (_, Instruction::Add, Some(0), _) | (_, Instruction::Mul, Some(1), _) => b,
            (_, Instruction::Add | Instruction::Sub, _, Some(0)) | (_, Instruction::Mul, _, Some(1)) => a,
            _ => self.define("n", Elem::I64, Expr::Native { instruction, elem: Elem::I64, args: vec![a, b] }),
        }
    }

    pub(super) fn f64(&mut self, instruction: Instruction, a: Operand, b: Operand) -> Operand {
        let folded = match (instruction, float(a), float(b)) {
            (Instruction::Add, Some(a), Some(b)) => Some(a + b),
            (Instruction::Mul, Some(a), Some(b)) => Some(a * b),
            (Instruction::Div, Some(a), Some(b)) => Some(a / b),
            (Instruction::Max, Some(a), Some(b)) => Some(a.max(b)),
            _ => None,
        };
        match (folded, instruction, float(a), float(b)) {
            (Some(x), ..) => number(x),
            (_, Instruction::Add, Some(0.0), _) | (_, Instruction::Mul, Some(1.0), _) => b,
            (_, Instruction::Add, _, Some(0.0)) | (_, Instruction::Mul, _, Some(1.0)) => a,
            _ => self.define("w", Elem::F64, Expr::Native { instruction, elem: Elem::F64, args: vec![a, b] }),
        }
    }

    /// An i64 as an f64.
    pub(super) fn float_of(&mut self, n: Operand) -> Operand {
        let cast = Instruction::Cast(Elem::F64);
        match n.as_i64() {
            Some(n) => number(n as f64),
            None => self.define("w", Elem::F64, Expr::Native { instruction: cast, elem: Elem::I64, args: vec![n] }),
        }
    }

    /// An f64 as an i64; what is no number is zero.
    pub(super) fn int_of(&mut self, x: Operand) -> Operand {
        let cast = Instruction::Cast(Elem::I64);
        self.define("n", Elem::I64, Expr::Native { instruction: cast, elem: Elem::F64, args: vec![x] })
    }

    pub(super) fn is(&mut self, instruction: Instruction, a: Operand, b: Operand) -> Operand {
        self.define("is", Elem::Bool, Expr::Native { instruction, elem: Elem::I64, args: vec![a, b] })
    }

    pub(super) fn definition(&self, local: Local) -> Option<Expr> {
        self.definitions.get(&local).cloned()
    }

    /// A fixed number of the nest, in front of it; nothing if it is not fixed.
    pub(super) fn hoisted(&mut self, operand: Operand) -> Option<Operand> {
        let Operand::Local(local) = operand else { return Some(operand) };
        if let Some(known) = self.hoisted.get(&local) {
            return Some(*known);
        }
        if self.f.locals[local.index()].is_mutable {
            return None;
        }
        if !self.inside.contains(&local) {
            return Some(operand);
        }
        let hoisted = match self.definitions.get(&local)? {
            Expr::Copy(from) => self.hoisted(*from)?,
            Expr::Native { instruction, elem, args } => {
                let args = args.iter().map(|arg| self.hoisted(*arg)).collect::<Option<Vec<Operand>>>()?;
                let info = self.f.locals[local.index()].clone();
                self.define(&info.name, info.elem, Expr::Native { instruction: *instruction, elem: *elem, args })
            }
            Expr::Host { .. } | Expr::Iota(_) | Expr::Any(_) | Expr::First(_) | Expr::Fold(..) | Expr::Lane(_) => {
                return None;
            }
        };
        self.hoisted.insert(local, hoisted);
        Some(hoisted)
    }
}

pub(super) fn number(x: f64) -> Operand {
    Operand::Const(Const::float(Elem::F64, x))
}

fn float(operand: Operand) -> Option<f64> {
    match operand {
        Operand::Const(c) => c.as_float(),
        Operand::Local(_) => None,
    }
}
