//! Index forms: index expressions of parallel loops in normal form, sums of products with the loop variable and with what is the same
//! in all iterations.

use std::collections::{BTreeMap, BTreeSet};

use cotan_syntax::Span;

use crate::dims::LocalId;
use crate::typed::{BinaryOp, Body, Chain, Expr, ExprKind, Index, Literal, Slot, UnaryOp};
use crate::types::Type;

/// The positions of an axis that an index expression stands for.
#[derive(Clone, Debug)]
pub(super) enum Form {
    /// `factor * i + offset`
    Element { factor: i64, offset: Sum },
    /// `i * length + j` for `j` in `0..length`
    Block { length: Sum },
}

impl PartialEq for Form {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Element { factor: a, offset: x }, Self::Element { factor: b, offset: y }) => {
                a == b && x.key() == y.key()
            }
            (Self::Block { length: x }, Self::Block { length: y }) => x.key() == y.key(),
            (Self::Element { .. }, Self::Block { .. }) | (Self::Block { .. }, Self::Element { .. }) => false,
        }
    }
}

impl Form {
    /// The form as the typed tree keeps it.
    pub(super) fn slot(&self) -> Slot {
        match self {
            Self::Element { factor, offset } => Slot::Element { factor: *factor, offset: offset.terms() },
            Self::Block { length } => Slot::Block(length.terms()),
        }
    }
}

/// What a sum is made of.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Unit {
    One,
    /// The variable of the parallel loop.
    Variable,
    /// The variable times something invariant, by its text.
    VariableTimes(String),
    /// The variable of a loop inside.
    Inner(LocalId),
    /// Something that is the same in all iterations, by its text.
    Invariant(String),
}

/// A sum of products.
#[derive(Clone, Debug, Default)]
pub(super) struct Sum {
    factors: BTreeMap<Unit, i64>,
    /// What the units that are invariant stand for.
    invariants: BTreeMap<String, Expr>,
    /// What the variable is multiplied with.
    lengths: BTreeMap<String, Box<Sum>>,
}

impl Sum {
    fn constant(value: i64) -> Self {
        Self::unit(Unit::One, value)
    }

    fn unit(unit: Unit, factor: i64) -> Self {
        let mut sum = Self::default();
        if factor != 0 {
            sum.factors.insert(unit, factor);
        }
        sum
    }

    fn invariant(text: String, e: Expr) -> Self {
        let mut sum = Self::unit(Unit::Invariant(text.clone()), 1);
        sum.invariants.insert(text, e);
        sum
    }

    fn plus(mut self, other: Self, sign: i64) -> Option<Self> {
        for (unit, factor) in other.factors {
            let sum = self.factors.get(&unit).copied().unwrap_or(0).checked_add(factor.checked_mul(sign)?)?;
            match sum {
                0 => self.factors.remove(&unit),
                _ => self.factors.insert(unit, sum),
            };
        }
        self.invariants.extend(other.invariants);
        self.lengths.extend(other.lengths);
        Some(self)
    }

    fn times_constant(mut self, by: i64) -> Option<Self> {
        if by == 0 {
            return Some(Self::default());
        }
        for factor in self.factors.values_mut() {
            *factor = factor.checked_mul(by)?;
        }
        Some(self)
    }

    fn as_constant(&self) -> Option<i64> {
        match self.factors.iter().collect::<Vec<_>>().as_slice() {
            [] => Some(0),
            [(Unit::One, value)] => Some(**value),
            _ => None,
        }
    }

    fn is_variable(&self) -> bool {
        self.factors.len() == 1 && self.factors.get(&Unit::Variable) == Some(&1)
    }

    fn is_invariant(&self) -> bool {
        self.factors.keys().all(|unit| matches!(unit, Unit::One | Unit::Invariant(_)))
    }

    /// The text of the normal form.
    fn key(&self) -> String {
        format!("{:?}", self.factors)
    }

    /// The terms of an invariant sum.
    fn terms(&self) -> Vec<(i64, Option<Expr>)> {
        let term = |(unit, factor): (&Unit, &i64)| match unit {
            Unit::One => Some((*factor, None)),
            Unit::Invariant(text) => self.invariants.get(text).map(|e| (*factor, Some(e.clone()))),
            Unit::Variable | Unit::VariableTimes(_) | Unit::Inner(_) => None,
        };
        self.factors.iter().filter_map(term).collect()
    }
}

/// Knows the names of a parallel loop.
pub(super) struct Forms<'p> {
    pub(super) body: &'p Body,
    /// The place of the loop.
    pub(super) span: Span,
    /// The variable of the loop, if it runs over a range.
    pub(super) variable: Option<LocalId>,
    /// What the loop assigns.
    pub(super) assigned: BTreeSet<LocalId>,
    /// Names that the loop binds to something with a normal form.
    pub(super) bound: BTreeMap<LocalId, Sum>,
    /// The variables of inner loops that run from zero, with the number of their iterations.
    pub(super) inner: BTreeMap<LocalId, Sum>,
}

impl Forms<'_> {
    /// Whether a name is declared outside of the loop.
    pub(super) fn is_outside(&self, local: LocalId) -> bool {
        let declared = self.body.locals[local.0 as usize].span;
        !(self.span.file == declared.file && self.span.start <= declared.start && declared.end <= self.span.end)
    }

    /// The positions that belong to an iteration, if the expression says such.
    pub(super) fn form(&self, e: &Expr) -> Option<Form> {
        let sum = self.sum(e)?;
        let inner: Vec<(LocalId, i64)> = sum
            .factors
            .iter()
            .filter_map(|(unit, factor)| match unit {
                Unit::Inner(local) => Some((*local, *factor)),
                Unit::One | Unit::Variable | Unit::VariableTimes(_) | Unit::Invariant(_) => None,
            })
            .collect();
        let factor = sum.factors.get(&Unit::Variable).copied();
        let [(inner, 1)] = inner.as_slice() else {
            let mut offset = sum;
            let factor = factor.filter(|_| inner.is_empty())?;
            offset.factors.remove(&Unit::Variable);
            return offset.is_invariant().then_some(Form::Element { factor, offset });
        };
        if sum.factors.len() != 2 {
            return None;
        }
        let range = self.inner.get(inner)?;
        let length = match factor {
            Some(factor) if factor > 0 => Sum::constant(factor),
            Some(_) => return None,
            None => sum.factors.iter().find_map(|(unit, factor)| match unit {
                Unit::VariableTimes(text) if *factor == 1 => sum.lengths.get(text).map(|length| (**length).clone()),
                Unit::VariableTimes(_) | Unit::One | Unit::Variable | Unit::Inner(_) | Unit::Invariant(_) => None,
            })?,
        };
        (length.key() == range.key()).then_some(Form::Block { length })
    }

    /// The normal form of an integer.
    pub(super) fn sum(&self, e: &Expr) -> Option<Sum> {
        match &e.kind {
            ExprKind::Literal(Literal::Int(value)) => Some(Sum::constant(i64::try_from(*value).ok()?)),
            ExprKind::Size(size) => Some(Sum::invariant(format!("size {}", size.0), e.clone())),
            ExprKind::Local(local) => self.local(*local, e),
            ExprKind::Cast(operand) if is_integer(&e.ty) && is_integer(&operand.ty) => self.sum(operand),
            ExprKind::Unary { op: UnaryOp::Neg, operand } => self.sum(operand)?.times_constant(-1),
            ExprKind::Chain(chain) => self.chain(chain, e),
            ExprKind::Primitive { row, wraps, args } => {
                let args: Option<Vec<String>> = args.iter().map(|arg| self.invariant_text(arg)).collect();
                let wrapping = if *wraps { "wrapping " } else { "" };
                self.opaque(format!("{wrapping}{}({})", row.name(), args?.join(", ")), e)
            }
            ExprKind::Field { .. } | ExprKind::Index { .. } if is_integer(&e.ty) => self.opaque(self.place_text(e)?, e),
            ExprKind::Literal(Literal::Bool(_) | Literal::Float(_) | Literal::Constant(_))
            | ExprKind::Error
            | ExprKind::Tuple(_)
            | ExprKind::Array(_)
            | ExprKind::Struct(_)
            | ExprKind::StructUpdate { .. }
            | ExprKind::Variant { .. }
            | ExprKind::Unary { op: UnaryOp::Not, .. }
            | ExprKind::Logic { .. }
            | ExprKind::Cast(_)
            | ExprKind::Field { .. }
            | ExprKind::Index { .. }
            | ExprKind::Range(_)
            | ExprKind::Fold { .. }
            | ExprKind::FoldBy { .. }
            | ExprKind::Call { .. }
            | ExprKind::Builtin { .. }
            | ExprKind::AsTangent(_)
            | ExprKind::Print(_)
            | ExprKind::Assert(_)
            | ExprKind::After { .. }
            | ExprKind::ShapeCheck(_)
            | ExprKind::If(_)
            | ExprKind::Match(_)
            | ExprKind::Block(_)
            | ExprKind::For(_)
            | ExprKind::While(_)
            | ExprKind::Break
            | ExprKind::Continue
            | ExprKind::Return(_) => None,
        }
    }

    fn local(&self, local: LocalId, e: &Expr) -> Option<Sum> {
        if self.variable == Some(local) {
            return Some(Sum::unit(Unit::Variable, 1));
        }
        if self.inner.contains_key(&local) {
            return Some(Sum::unit(Unit::Inner(local), 1));
        }
        if let Some(sum) = self.bound.get(&local) {
            return Some(sum.clone());
        }
        let is_invariant = self.is_outside(local) && !self.assigned.contains(&local) && is_integer(&e.ty);
        is_invariant.then(|| Sum::invariant(format!("local {}", local.0), e.clone()))
    }

    fn chain(&self, chain: &Chain, e: &Expr) -> Option<Sum> {
        if !is_integer(&e.ty) {
            return None;
        }
        let mut value = self.sum(&chain.first)?;
        for (at, link) in chain.rest.iter().enumerate() {
            let operand = self.sum(&link.operand)?;
            let so_far = || Expr {
                span: link.span,
                ty: link.ty.clone(),
                kind: ExprKind::Chain(Box::new(Chain { first: chain.first.clone(), rest: chain.rest[..=at].to_vec() })),
            };
            value = match link.op {
                BinaryOp::Add => value.plus(operand, 1)?,
                BinaryOp::Sub => value.plus(operand, -1)?,
                BinaryOp::Mul => self.product(value, operand, so_far)?,
                BinaryOp::Div | BinaryOp::Rem if value.is_invariant() && operand.is_invariant() => {
                    let name = if link.op == BinaryOp::Div { "/" } else { "%" };
                    self.opaque(format!("({} {name} {})", value.key(), operand.key()), &so_far())?
                }
                BinaryOp::Div
                | BinaryOp::Rem
                | BinaryOp::Pow
                | BinaryOp::PowInt
                | BinaryOp::Eq
                | BinaryOp::Ne
                | BinaryOp::Lt
                | BinaryOp::Le
                | BinaryOp::Gt
                | BinaryOp::Ge
                | BinaryOp::MatMul => return None,
            };
        }
        Some(value)
    }

    fn product(&self, a: Sum, b: Sum, e: impl FnOnce() -> Expr) -> Option<Sum> {
        if let Some(by) = b.as_constant() {
            return a.times_constant(by);
        }
        if let Some(by) = a.as_constant() {
            return b.times_constant(by);
        }
        let (a, b) = if b.is_variable() { (b, a) } else { (a, b) };
        if a.is_variable() && b.is_invariant() {
            let text = b.key();
            let mut sum = Sum::unit(Unit::VariableTimes(text.clone()), 1);
            sum.lengths.insert(text, Box::new(b));
            return Some(sum);
        }
        let mut texts = [a.key(), b.key()];
        texts.sort();
        (a.is_invariant() && b.is_invariant()).then(|| self.opaque(format!("({})", texts.join(" * ")), &e()))?
    }

    /// Something invariant that has no parts as a sum. It is computed before the loop, where its names must be known.
    fn opaque(&self, text: String, e: &Expr) -> Option<Sum> {
        self.is_known_outside(e).then(|| Sum::invariant(text, e.clone()))
    }

    fn is_known_outside(&self, e: &Expr) -> bool {
        if let ExprKind::Local(local) = &e.kind {
            return self.is_outside(*local);
        }
        let mut known = true;
        e.each_part(&mut |part| {
            known &= match part {
                crate::typed::Part::Expr(e) => self.is_known_outside(e),
                crate::typed::Part::Callable(_) => false,
            };
        });
        known
    }

    fn invariant_text(&self, e: &Expr) -> Option<String> {
        self.sum(e).filter(Sum::is_invariant).map(|sum| sum.key())
    }

    /// The text of a part of a variable that the loop does not assign.
    fn place_text(&self, e: &Expr) -> Option<String> {
        if let ExprKind::Local(local) = &e.kind {
            let is_invariant = self.is_outside(*local) && !self.assigned.contains(local);
            return is_invariant.then(|| format!("local {}", local.0));
        }
        if let ExprKind::Field { base, index } = &e.kind {
            return Some(format!("{}.{index}", self.place_text(base)?));
        }
        let ExprKind::Index { base, indices } = &e.kind else { return None };
        let at = |index: &Index| match index {
            Index::At(e) => self.invariant_text(e),
            Index::Slice { .. } | Index::Gather(_) => None,
        };
        let indices: Option<Vec<String>> = indices.iter().map(at).collect();
        Some(format!("{}[{}]", self.place_text(base)?, indices?.join(", ")))
    }
}

/// Whether a type is that of one integer.
fn is_integer(ty: &Type) -> bool {
    ty.concrete().is_some_and(|elem| elem.is_integer()) && ty.is_scalar()
}
