//! Legalization of vector widths: lanes in pieces of a width of one's own choice.
//!
//! The number of lanes belongs to a loop and decides about bits; how many of them an operation of the machine works on
//! does not. Here a value of more lanes becomes several values of at most the width, and what was said of it is said of
//! each. With a width of 1 no lane is left: the text is scalar code, for machines without vectors.

use cotan_ir::{Const, Elem, Monoid, bug};
use cotan_loops::node::{Expr, Local, LocalInfo, LoopFunction, Node, Operand, Place, Target, combining};
use cotan_loops::{NestPass, Width};
use cotan_ops::Instruction;
use rustc_hash::FxHashMap;

/// The record of this pass.
pub(crate) static PASS: NestPass = NestPass {
    name: "legalize_width",
    doc: "Cuts lanes into pieces of the width that an operation works on.",
    run: |f, context| {
        if let Some(width) = context.width {
            legalize_width(f, width);
        }
    },
};

/// Cuts values with more lanes than the width into pieces. The last thing that is done to a nest, so that nothing else
/// depends on the width.
pub fn legalize_width(f: &mut LoopFunction, width: Width) {
    let body = std::mem::take(&mut f.body);
    f.body = legalize_list(f, body, width, 1);
}

/// The same for nodes whose locals no other nodes mention, in a loop with so many lanes.
pub(crate) fn legalize_list(f: &mut LoopFunction, nodes: Vec<Node>, width: Width, loop_lanes: u32) -> Vec<Node> {
    Legalize { f, width: width.lanes(), loop_lanes, pieces: FxHashMap::default(), nodes: Vec::new() }.list(nodes)
}

struct Legalize<'a> {
    f: &'a mut LoopFunction,
    width: u32,
    /// The lanes of the loop around.
    loop_lanes: u32,
    /// What became of locals with more lanes than the width.
    pieces: FxHashMap<Local, Vec<Local>>,
    /// The list that is being written.
    nodes: Vec<Node>,
}

impl Legalize<'_> {
    fn list(&mut self, nodes: Vec<Node>) -> Vec<Node> {
        let outside = std::mem::take(&mut self.nodes);
        nodes.into_iter().for_each(|node| self.node(node));
        std::mem::replace(&mut self.nodes, outside)
    }

    fn node(&mut self, mut node: Node) {
        if let Node::Let(to, expr) = node {
            return self.definition(to, expr);
        }
        if let Node::StoreLanes { to, value, mask } = node {
            return self.store(to, value, mask);
        }
        if let Node::Set(to, value) = node {
            return self.each_piece(to, |w, k, to| {
                let value = w.piece(value, k);
                w.nodes.push(Node::Set(to, value));
            });
        }
        if let Node::Combine { monoid, target: Target::Local(to), value } = node {
            return self.each_piece(to, |w, k, to| {
                let value = w.piece(value, k);
                w.nodes.push(Node::Combine { monoid, target: Target::Local(to), value });
            });
        }
        if let Node::LoadLanes { to, from, mask } = node {
            return self.each_piece(to, |w, k, to| {
                let from = w.place(from, k);
                let mask = mask.map(|mask| w.piece(mask, k));
                w.load(to, from, mask);
            });
        }
        // The operands of other nodes have no lanes.
        let outside = self.loop_lanes;
        if let Node::For(l) = &node {
            self.loop_lanes = outside.max(l.lanes);
        }
        node.map_lists(|list| self.list(list));
        self.loop_lanes = outside;
        self.nodes.push(node);
    }

    fn definition(&mut self, to: Local, expr: Expr) {
        if self.is_wide(to.into()) {
            return self.each_piece(to, |w, k, to| {
                let expr = w.of_piece(&expr, k);
                w.nodes.push(Node::Let(to, expr));
            });
        }
        let has_lanes = expr.operands().iter().any(|operand| self.is_wide(*operand));
        let expr = if has_lanes { self.of_all_lanes(expr) } else { expr };
        self.nodes.push(Node::Let(to, expr));
    }

    // ---- pieces

    fn is_wide(&self, operand: Operand) -> bool {
        self.f.lanes(operand) > self.width
    }

    fn pieces(&mut self, local: Local) -> Vec<Local> {
        if let Some(pieces) = self.pieces.get(&local) {
            return pieces.clone();
        }
        let info = self.f.locals[local.index()].clone();
        let n_pieces = info.lanes / self.width;
        let pieces: Vec<Local> =
            (0..n_pieces).map(|_| self.local(LocalInfo { lanes: self.width, ..info.clone() })).collect();
        self.pieces.insert(local, pieces.clone());
        pieces
    }

    /// Writes what is done to a local, for each piece, or once if it is one.
    fn each_piece(&mut self, local: Local, mut write: impl FnMut(&mut Self, usize, Local)) {
        let pieces = if self.is_wide(local.into()) { self.pieces(local) } else { vec![local] };
        pieces.into_iter().enumerate().for_each(|(k, piece)| write(self, k, piece));
    }

    /// A piece of an operand; all pieces of what is the same in all lanes are the same.
    fn piece(&mut self, operand: Operand, number: usize) -> Operand {
        match operand {
            Operand::Local(local) if self.is_wide(operand) => self.pieces(local)[number].into(),
            Operand::Local(_) | Operand::Const(_) => operand,
        }
    }

    /// Where the lanes of a piece lie.
    fn place(&mut self, place: Place, number: usize) -> Place {
        let offset = if self.is_wide(place.offset) {
            self.piece(place.offset, number)
        } else {
            self.first_lane(place.offset, number)
        };
        Place { offset, ..place }
    }

    /// The value in the first lane of a piece, of lanes that count up from a first one.
    fn first_lane(&mut self, first: Operand, number: usize) -> Operand {
        let before = i64::from(self.width) * number as i64;
        match (before, first.as_i64()) {
            (0, _) => first,
            (_, Some(first)) => Operand::i64(first.wrapping_add(before)),
            (_, None) => self.native(Instruction::Add, Elem::I64, Elem::I64, [first, Operand::i64(before)]),
        }
    }

    // ---- definitions

    /// A value with lanes, in one piece.
    fn of_piece(&mut self, expr: &Expr, number: usize) -> Expr {
        match expr {
            Expr::Copy(operand) => Expr::Copy(self.piece(*operand, number)),
            Expr::Native { instruction, elem, args } => {
                let args = args.iter().map(|arg| self.piece(*arg, number)).collect();
                Expr::Native { instruction: *instruction, elem: *elem, args }
            }
            Expr::Host { prim, elem, args } => {
                let args = args.iter().map(|arg| self.piece(*arg, number)).collect();
                Expr::Host { prim: *prim, elem: *elem, args }
            }
            Expr::Iota(first) => {
                let first = self.first_lane(*first, number);
                if self.width == 1 { Expr::Copy(first) } else { Expr::Iota(first) }
            }
            Expr::Any(_) | Expr::First(_) | Expr::Fold(..) | Expr::Lane(_) => {
                bug!("legalize_width", self.f, "what all lanes have in common has no lanes: {expr:?}")
            }
        }
    }

    /// What the lanes of an operand have in common, from its pieces.
    fn of_all_lanes(&mut self, expr: Expr) -> Expr {
        match expr {
            Expr::Any(mask) => {
                let mask = self.halves(Monoid::Or, mask);
                if self.width == 1 { Expr::Copy(mask) } else { Expr::Any(mask) }
            }
            Expr::Fold(monoid, lanes) => {
                let piece = self.halves(monoid, lanes);
                if self.width == 1 { Expr::Copy(piece) } else { Expr::Fold(monoid, piece) }
            }
            Expr::First(mask) => Expr::Copy(self.first(mask)),
            Expr::Lane([lanes, number]) => Expr::Copy(self.lane(lanes, number)),
            Expr::Copy(_) | Expr::Native { .. } | Expr::Host { .. } | Expr::Iota(_) => {
                bug!("legalize_width", self.f, "a value without lanes is of all lanes: {expr:?}")
            }
        }
    }

    /// Halves combined pairwise until one piece is left, as a fold goes on inside it.
    fn halves(&mut self, monoid: Monoid, lanes: Operand) -> Operand {
        let elem = self.f.operand_elem(lanes);
        let mut pieces = self.all_pieces(lanes);
        while let [_, _, ..] = pieces[..] {
            let high = pieces.split_off(pieces.len() / 2);
            for (low, high) in pieces.iter_mut().zip(high) {
                *low = self.native_lanes(combining(monoid), elem, elem, vec![*low, high], self.width);
            }
        }
        pieces[0]
    }

    /// The number of the first lane that is true: that of its piece, where one before has any.
    fn first(&mut self, mask: Operand) -> Operand {
        let pieces = self.all_pieces(mask);
        let width = Operand::i64(self.width.into());
        let mut first = Operand::i64(0);
        for piece in pieces.into_iter().rev() {
            let behind = self.native(Instruction::Add, Elem::I64, Elem::I64, [width, first]);
            let (any, here) = if self.width == 1 {
                (piece, Operand::i64(0))
            } else {
                (self.define(Elem::Bool, 1, Expr::Any(piece)), self.define(Elem::I64, 1, Expr::First(piece)))
            };
            first = self.native_lanes(Instruction::Select, Elem::I64, Elem::I64, vec![any, here, behind], 1);
        }
        first
    }

    fn lane(&mut self, lanes: Operand, number: Operand) -> Operand {
        let elem = self.f.operand_elem(lanes);
        let bits = Operand::i64(self.width.trailing_zeros().into());
        let within = Operand::i64(i64::from(self.width) - 1);
        let at = self.native(Instruction::Shr, Elem::I64, Elem::I64, [number, bits]);
        let within = self.native(Instruction::And, Elem::I64, Elem::I64, [number, within]);
        let mut found = None;
        for (k, piece) in self.all_pieces(lanes).into_iter().enumerate() {
            let here = if self.width == 1 { piece } else { self.define(elem, 1, Expr::Lane([piece, within])) };
            found = Some(match found {
                None => here,
                Some(before) => {
                    let is_here = self.native(Instruction::Eq, Elem::I64, Elem::Bool, [at, Operand::i64(k as i64)]);
                    self.native_lanes(Instruction::Select, elem, elem, vec![is_here, here, before], 1)
                }
            });
        }
        found.expect("invariant: what is wide has pieces")
    }

    fn all_pieces(&mut self, lanes: Operand) -> Vec<Operand> {
        let n_pieces = self.f.lanes(lanes) / self.width;
        (0..n_pieces as usize).map(|k| self.piece(lanes, k)).collect()
    }

    // ---- memory

    fn load(&mut self, to: Local, from: Place, mask: Option<Operand>) {
        if self.width > 1 {
            return self.nodes.push(Node::LoadLanes { to, from, mask });
        }
        let Some(mask) = mask else { return self.nodes.push(Node::Load(to, from)) };
        let info = self.f.locals[to.index()].clone();
        let zero = Const::zero(info.elem);
        let found = self.local(LocalInfo { is_mutable: true, ..info.clone() });
        let element = self.local(info);
        let load = vec![Node::Load(element, from), Node::Set(found, element.into())];
        self.nodes.extend([
            Node::Set(found, Operand::Const(zero)),
            Node::If(mask, load, Vec::new()),
            Node::Let(to, Expr::Copy(found.into())),
        ]);
    }

    fn store(&mut self, to: Place, value: Operand, mask: Option<Operand>) {
        let operands = [Some(to.offset), Some(value), mask];
        let most = operands.into_iter().flatten().map(|operand| self.f.lanes(operand)).max();
        // The same value at consecutive places has the lanes of the loop.
        let lanes = most.filter(|lanes| *lanes > 1).unwrap_or(self.loop_lanes);
        if lanes <= self.width {
            return self.nodes.push(Node::StoreLanes { to, value, mask });
        }
        for k in 0..(lanes / self.width) as usize {
            let to = self.place(to, k);
            let value = self.piece(value, k);
            let mask = mask.map(|mask| self.piece(mask, k));
            match mask {
                _ if self.width > 1 => {
                    let value = self.in_lanes(value);
                    self.nodes.push(Node::StoreLanes { to, value, mask });
                }
                None => self.nodes.push(Node::Store(to, value)),
                Some(mask) => self.nodes.push(Node::If(mask, vec![Node::Store(to, value)], Vec::new())),
            }
        }
    }

    // ---- nodes

    fn in_lanes(&mut self, value: Operand) -> Operand {
        if self.f.lanes(value) > 1 {
            return value;
        }
        self.define(self.f.operand_elem(value), self.width, Expr::Copy(value))
    }

    fn native(&mut self, instruction: Instruction, elem: Elem, result: Elem, args: [Operand; 2]) -> Operand {
        self.native_lanes(instruction, elem, result, args.to_vec(), 1)
    }

    fn native_lanes(
        &mut self,
        instruction: Instruction,
        elem: Elem,
        result: Elem,
        args: Vec<Operand>,
        lanes: u32,
    ) -> Operand {
        self.define(result, lanes, Expr::Native { instruction, elem, args })
    }

    fn define(&mut self, elem: Elem, lanes: u32, expr: Expr) -> Operand {
        let to = self.local(LocalInfo { name: "piece".into(), elem, is_mutable: false, lanes });
        self.nodes.push(Node::Let(to, expr));
        to.into()
    }

    fn local(&mut self, info: LocalInfo) -> Local {
        self.f.locals.push(info);
        Local(self.f.locals.len() as u32 - 1)
    }
}
