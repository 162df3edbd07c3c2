//! Contributions, added to their destinations.
//!
//! Few are added one after the other. Those to a number are a reduction. Those to a small array are cut into groups, each of
//! which adds to a copy of the array (privatisation), and copies are combined in their order. For a large array they are
//! sorted by destination, by a stable counting sort in two passes, and each destination takes up its run. So an element of a
//! large array takes up its contributions in the order of iterations; how others are grouped follows from sizes alone.

use super::scattered::Contributions;
use super::writer::{Writer, counted, store};
use cotan_ir::{Const, Elem};
use cotan_loops::node::rounds;
use cotan_loops::{Buffer, Expr, Independence, Local, Node, Operand, Place, Reduce, Sum, Target, combining};
use cotan_ops::Instruction;
use cotan_ops::reduce::neutral;

/// So many contributions are added one after the other.
pub(super) const FEW: i64 = 1024;

/// An array of so many elements is copied, and a larger one where there are [`SHARE`] times as many contributions as elements.
const SMALL: i64 = 64;
pub(super) const SHARE: i64 = 128;

/// Copies at most, and parts of contributions that are counted apart.
const GROUPS: i64 = 1024;

/// Contributions of a group, if there are as many.
const GROUP: i64 = 256;

/// The most values of a digit.
const LARGEST_RADIX: u32 = 31;

impl Contributions {
    /// What changes nothing.
    pub(super) fn neutral(&self) -> Operand {
        Operand::Const(neutral(self.monoid, self.elem))
    }
}

/// Contributions, cut into groups that lie one behind the other.
#[derive(Clone, Copy)]
struct Groups {
    count: Operand,
    /// Contributions of a group, but of the last one.
    each: Operand,
    n_contributions: Operand,
}

/// Keys and values.
#[derive(Clone, Copy)]
struct Pairs {
    keys: Buffer,
    values: Buffer,
}

/// A digit of keys: their rest in this radix, or what is left of them without it.
#[derive(Clone, Copy)]
struct Digit {
    radix: Operand,
    instruction: Instruction,
}

fn zero() -> Operand {
    Operand::i64(0)
}

fn one() -> Operand {
    Operand::i64(1)
}

impl Writer<'_> {
    /// Adds so many contributions to their target.
    pub(super) fn add_up(&mut self, c: &Contributions, count: Operand, nodes: &mut Vec<Node>) {
        let are_few = self.test(Instruction::Le, count, Operand::i64(FEW), nodes);
        let in_order = self.in_order(c, count);
        let mut many = Vec::new();
        match c.keys {
            None => {
                self.f.regroups_sums |= rounds(c.monoid, c.elem);
                many.push(self.reduction_of_all(c, count));
            }
            Some(keys) => match c.size.as_i64() {
                Some(size) if size <= SMALL => self.by_copies(c, count, &mut many),
                Some(_) | None => {
                    let share = self.int(Instruction::Div, count, Operand::i64(SHARE), &mut many);
                    let most = self.int(Instruction::Max, share, Operand::i64(SMALL), &mut many);
                    let is_small = self.test(Instruction::Le, c.size, most, &mut many);
                    let (mut copied, mut sorted) = (Vec::new(), Vec::new());
                    self.by_copies(c, count, &mut copied);
                    self.by_sorting(c, keys, count, &mut sorted);
                    many.push(Node::If(is_small, vec![Node::Scope(copied)], vec![Node::Scope(sorted)]));
                }
            },
        }
        nodes.push(Node::If(are_few, in_order, many));
    }

    fn in_order(&mut self, c: &Contributions, count: Operand) -> Vec<Node> {
        let k = self.local("k", Elem::I64);
        let mut body = Vec::new();
        self.if_there(c, k.into(), &mut body, |_, key, value, nodes| {
            let target = match c.target {
                Target::Local(_) => c.target,
                Target::Element(place) => Target::Element(Place { offset: key, ..place }),
            };
            nodes.push(Node::Combine { monoid: c.monoid, target, value });
        });
        vec![counted(k, count, Independence::None, body)]
    }

    /// What is done with a contribution, if it is one.
    fn if_there(
        &mut self,
        c: &Contributions,
        at: Operand,
        nodes: &mut Vec<Node>,
        inside: impl FnOnce(&mut Self, Operand, Operand, &mut Vec<Node>),
    ) {
        let Some(keys) = c.keys else {
            let value = self.load(c.values, at, nodes);
            return inside(self, zero(), value, nodes);
        };
        let key = self.load(keys, at, nodes);
        let is_there = self.test(Instruction::Lt, key, c.size, nodes);
        let mut body = Vec::new();
        let value = self.load(c.values, at, &mut body);
        inside(self, key, value, &mut body);
        nodes.push(Node::If(is_there, body, Vec::new()));
    }

    fn reduction_of_all(&mut self, c: &Contributions, count: Operand) -> Node {
        let k = self.local("k", Elem::I64);
        let mut body = Vec::new();
        let value = self.load(c.values, k.into(), &mut body);
        body.push(Node::Combine { monoid: c.monoid, target: c.target, value });
        let sums = vec![Sum { monoid: c.monoid, target: c.target, extents: Vec::new() }];
        Node::Reduce(Box::new(Reduce { indices: vec![(k, count)], sums, body }))
    }

    fn combined(&mut self, c: &Contributions, a: Operand, b: Operand, nodes: &mut Vec<Node>) -> Operand {
        self.define("sum", c.elem, combining(c.monoid), c.elem, vec![a, b], nodes)
    }

    // ---- copies

    fn by_copies(&mut self, c: &Contributions, count: Operand, nodes: &mut Vec<Node>) {
        let Target::Element(place) = c.target else { return };
        self.f.regroups_sums |= rounds(c.monoid, c.elem);
        // No more elements than contributions, so that clearing copies and combining them takes no longer than adding.
        let most = self.int(Instruction::Max, c.size, one(), nodes);
        let most = self.int(Instruction::Div, count, most, nodes);
        let most = self.int(Instruction::Max, most, one(), nodes);
        let most = self.int(Instruction::Min, most, Operand::i64(GROUPS), nodes);
        let groups = self.groups(count, most, nodes);
        let copies = self.array("copies", c.elem, &[c.size, groups.count], nodes);
        let g = self.local("g", Elem::I64);
        let mut body = Vec::new();
        let e = self.local("e", Elem::I64);
        let mut clear = Vec::new();
        let at = self.place_of(e.into(), g, groups, &mut clear);
        clear.push(store(copies, at, c.neutral()));
        body.push(counted(e, c.size, Independence::None, clear));
        self.each_of_group(groups, g, &mut body, |out, k, inner| {
            out.if_there(c, k, inner, |out, key, value, inner| {
                let offset = out.place_of(key, g, groups, inner);
                out.update(Place { buffer: copies, offset }, c.monoid, value, inner);
            });
        });
        nodes.push(counted(g, groups.count, Independence::All, body));
        // The copies of an element, in their order.
        let (e, g) = (self.local("e", Elem::I64), self.local("g", Elem::I64));
        let mut body = Vec::new();
        let total = self.mutable("total", c.elem);
        let start = self.load(place.buffer, e.into(), &mut body);
        body.push(Node::Set(total, start));
        let mut inner = Vec::new();
        let at = self.place_of(e.into(), g, groups, &mut inner);
        let copy = self.load(copies, at, &mut inner);
        let sum = self.combined(c, total.into(), copy, &mut inner);
        inner.push(Node::Set(total, sum));
        body.push(counted(g, groups.count, Independence::None, inner));
        body.push(store(place.buffer, e.into(), total.into()));
        nodes.push(counted(e, c.size, Independence::All, body));
    }

    /// Cuts contributions into groups.
    fn groups(&mut self, n_contributions: Operand, most: Operand, nodes: &mut Vec<Node>) -> Groups {
        let each = self.ratio_up(n_contributions, most, nodes);
        let each = self.int(Instruction::Max, each, Operand::i64(GROUP), nodes);
        Groups { count: self.ratio_up(n_contributions, each, nodes), each, n_contributions }
    }

    /// Does something with each contribution of a group, in their order.
    fn each_of_group(
        &mut self,
        groups: Groups,
        number: Local,
        nodes: &mut Vec<Node>,
        inside: impl FnOnce(&mut Self, Operand, &mut Vec<Node>),
    ) {
        let first = self.int(Instruction::Mul, number.into(), groups.each, nodes);
        let left = self.int(Instruction::Sub, groups.n_contributions, first, nodes);
        let count = self.int(Instruction::Min, left, groups.each, nodes);
        let k = self.local("k", Elem::I64);
        let mut body = Vec::new();
        let at = self.int(Instruction::Add, first, k.into(), &mut body);
        inside(self, at, &mut body);
        nodes.push(counted(k, count, Independence::None, body));
    }

    // ---- sorting

    fn by_sorting(&mut self, c: &Contributions, keys: Buffer, count: Operand, nodes: &mut Vec<Node>) {
        let Target::Element(place) = c.target else { return };
        let radix = self.radix(c.size, nodes);
        let most = self.int(Instruction::Div, count, radix, nodes);
        let most = self.int(Instruction::Max, most, one(), nodes);
        let most = self.int(Instruction::Min, most, Operand::i64(GROUPS), nodes);
        let groups = self.groups(count, most, nodes);
        let places = self.array("places", Elem::I64, &[radix, groups.count], nodes);
        let totals = self.array("totals", Elem::I64, &[radix], nodes);
        let other = Pairs {
            keys: self.array("keys", Elem::I64, &[count], nodes),
            values: self.array("values", c.elem, &[count], nodes),
        };
        let pairs = Pairs { keys, values: c.values };
        let low = Digit { radix, instruction: Instruction::Rem };
        let high = Digit { radix, instruction: Instruction::Div };
        for (from, to, digit) in [(pairs, other, low), (other, pairs, high)] {
            self.count_digits(from.keys, digit, groups, places, nodes);
            self.sum_counts(digit, groups, places, totals, nodes);
            self.scatter(from, to, digit, groups, places, nodes);
        }
        self.take_up_runs(c, pairs, place.buffer, count, nodes);
    }

    /// A power of two whose square is above a number.
    fn radix(&mut self, number: Operand, nodes: &mut Vec<Node>) -> Operand {
        let mut radix = Operand::i64(1 << 4);
        for exponent in 4..LARGEST_RADIX {
            let square = Operand::i64(1 << (2 * exponent));
            let next = Operand::i64(1 << (exponent + 1));
            radix = match number.as_i64() {
                Some(number) if number >= 1 << (2 * exponent) => next,
                Some(_) => radix,
                None => {
                    let is_larger = self.test(Instruction::Ge, number, square, nodes);
                    let args = vec![is_larger, next, radix];
                    self.define("radix", Elem::I64, Instruction::Select, Elem::I64, args, nodes)
                }
            };
        }
        radix
    }

    /// How often each digit is in each group.
    fn count_digits(&mut self, keys: Buffer, digit: Digit, groups: Groups, places: Buffer, nodes: &mut Vec<Node>) {
        let (g, b) = (self.local("g", Elem::I64), self.local("b", Elem::I64));
        let mut body = Vec::new();
        let mut clear = Vec::new();
        let at = self.place_of(b.into(), g, groups, &mut clear);
        clear.push(store(places, at, zero()));
        body.push(counted(b, digit.radix, Independence::None, clear));
        self.each_of_group(groups, g, &mut body, |out, k, inner| {
            let key = out.load(keys, k, inner);
            let value = out.int(digit.instruction, key, digit.radix, inner);
            let at = out.place_of(value, g, groups, inner);
            let before = out.load(places, at, inner);
            let after = out.int(Instruction::Add, before, one(), inner);
            inner.push(store(places, at, after));
        });
        nodes.push(counted(g, groups.count, Independence::All, body));
    }

    /// Where the first contribution of each digit and group goes: behind those of smaller digits, and of the groups before.
    fn sum_counts(&mut self, digit: Digit, groups: Groups, places: Buffer, totals: Buffer, nodes: &mut Vec<Node>) {
        let b = self.local("b", Elem::I64);
        let sum = self.mutable("sum", Elem::I64);
        let mut body = vec![Node::Set(sum, zero())];
        self.each_count(b, sum, groups, places, &mut body, |_, _, _| {});
        body.push(store(totals, b.into(), sum.into()));
        nodes.push(counted(b, digit.radix, Independence::All, body));

        let (b, a) = (self.local("b", Elem::I64), self.local("a", Elem::I64));
        let sum = self.mutable("sum", Elem::I64);
        let mut body = vec![Node::Set(sum, zero())];
        let mut inner = Vec::new();
        let total = self.load(totals, a.into(), &mut inner);
        let next = self.int(Instruction::Add, sum.into(), total, &mut inner);
        inner.push(Node::Set(sum, next));
        body.push(counted(a, b.into(), Independence::None, inner));
        self.each_count(b, sum, groups, places, &mut body, |at, before, inner| {
            inner.push(store(places, at, before));
        });
        nodes.push(counted(b, digit.radix, Independence::All, body));
    }

    /// Adds the counts of a digit in all groups to a sum. What is done with each place is told the sum before.
    fn each_count(
        &mut self,
        b: Local,
        sum: Local,
        groups: Groups,
        places: Buffer,
        nodes: &mut Vec<Node>,
        inside: impl FnOnce(Operand, Operand, &mut Vec<Node>),
    ) {
        let g = self.local("g", Elem::I64);
        let mut body = Vec::new();
        let at = self.place_of(b.into(), g, groups, &mut body);
        let count = self.load(places, at, &mut body);
        let before = self.local("before", Elem::I64);
        body.push(Node::Let(before, Expr::Copy(sum.into())));
        inside(at, before.into(), &mut body);
        let after = self.int(Instruction::Add, before.into(), count, &mut body);
        body.push(Node::Set(sum, after));
        nodes.push(counted(g, groups.count, Independence::None, body));
    }

    /// Brings contributions to their places.
    fn scatter(&mut self, from: Pairs, to: Pairs, digit: Digit, groups: Groups, places: Buffer, nodes: &mut Vec<Node>) {
        let g = self.local("g", Elem::I64);
        let mut body = Vec::new();
        self.each_of_group(groups, g, &mut body, |out, k, inner| {
            let key = out.load(from.keys, k, inner);
            let contribution = out.load(from.values, k, inner);
            let value = out.int(digit.instruction, key, digit.radix, inner);
            let at = out.place_of(value, g, groups, inner);
            let place = out.load(places, at, inner);
            let next = out.int(Instruction::Add, place, one(), inner);
            inner.push(store(places, at, next));
            inner.push(store(to.keys, place, key));
            inner.push(store(to.values, place, contribution));
        });
        nodes.push(counted(g, groups.count, Independence::All, body));
    }

    fn place_of(&mut self, digit: Operand, group: Local, groups: Groups, nodes: &mut Vec<Node>) -> Operand {
        let row = self.int(Instruction::Mul, digit, groups.count, nodes);
        self.int(Instruction::Add, row, group.into(), nodes)
    }

    /// The first of the contributions of a destination adds all of them to it.
    fn take_up_runs(
        &mut self,
        c: &Contributions,
        sorted: Pairs,
        target: Buffer,
        count: Operand,
        nodes: &mut Vec<Node>,
    ) {
        let j = self.local("j", Elem::I64);
        let mut body = Vec::new();
        let key = self.load(sorted.keys, j.into(), &mut body);
        let before = self.int(Instruction::Sub, j.into(), one(), &mut body);
        let before = self.int(Instruction::Max, before, zero(), &mut body);
        let before = self.load(sorted.keys, before, &mut body);
        let begins = self.test(Instruction::Eq, j.into(), zero(), &mut body);
        let differs = self.test(Instruction::Ne, key, before, &mut body);
        let is_first = self.test(Instruction::Or, begins, differs, &mut body);
        let is_there = self.test(Instruction::Lt, key, c.size, &mut body);
        let takes_up = self.test(Instruction::And, is_first, is_there, &mut body);

        let (total, at) = (self.mutable("total", c.elem), self.mutable("at", Elem::I64));
        let goes_on = self.mutable("goes_on", Elem::Bool);
        let mut run = Vec::new();
        let start = self.load(target, key, &mut run);
        run.extend([Node::Set(total, start), Node::Set(at, j.into())]);
        run.push(Node::Set(goes_on, Operand::Const(Const::bool(true))));
        let mut inner = Vec::new();
        let value = self.load(sorted.values, at.into(), &mut inner);
        let sum = self.combined(c, total.into(), value, &mut inner);
        inner.push(Node::Set(total, sum));
        let next = self.int(Instruction::Add, at.into(), one(), &mut inner);
        inner.push(Node::Set(at, next));
        let last = self.int(Instruction::Sub, count, one(), &mut inner);
        let safe = self.int(Instruction::Min, next, last, &mut inner);
        let other = self.load(sorted.keys, safe, &mut inner);
        let is_same = self.test(Instruction::Eq, other, key, &mut inner);
        let is_inside = self.test(Instruction::Lt, next, count, &mut inner);
        let both = self.test(Instruction::And, is_same, is_inside, &mut inner);
        inner.push(Node::Set(goes_on, both));
        run.push(Node::While(goes_on, inner));
        run.push(store(target, key, total.into()));
        body.push(Node::If(takes_up, run, Vec::new()));
        nodes.push(counted(j, count, Independence::All, body));
    }
}
