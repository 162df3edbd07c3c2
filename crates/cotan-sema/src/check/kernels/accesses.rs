//! What a parallel loop reads and writes of variables from outside.

use std::collections::{BTreeMap, BTreeSet};

use cotan_syntax::Span;

use super::index_forms::{Form, Forms};
use crate::dims::LocalId;
use crate::typed::{
    AssignOp, Body, Callable, CallableKind, Expr, ExprKind, For, Index, Iterable, Literal, Part, Pattern, PatternKind,
    Place, PlaceStepKind, Range, StmtKind, Target,
};

/// What happens to a part of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    Read,
    /// Changed by an operator, or stored.
    Write(AssignOp),
}

/// A place of the source where a part of a variable is read or written.
#[derive(Clone, Debug)]
pub(super) struct Access {
    pub(super) root: LocalId,
    /// Positions of fields.
    pub(super) path: Vec<usize>,
    pub(super) span: Span,
    pub(super) effect: Effect,
    /// For each axis from the first on that is indexed by position: the form of the index. A `None` is anything that
    /// does not belong to the iteration.
    pub(super) forms: Vec<Option<Form>>,
}

impl Access {
    /// Whether one of two accesses is of a part of what the other is of.
    pub(super) fn overlaps(&self, other: &Self) -> bool {
        self.root == other.root && self.path.iter().zip(&other.path).all(|(a, b)| a == b)
    }

    /// Whether this changes the variable.
    pub(super) fn writes(&self) -> bool {
        self.effect != Effect::Read
    }
}

/// The accesses of a parallel loop, in order of evaluation.
pub(super) fn of_loop(body: &Body, it: &For, span: Span) -> Vec<Access> {
    let variable = match (&it.pattern.kind, &it.iterable) {
        (PatternKind::Local(local), Iterable::Range { .. }) if is_constant(body, *local) => Some(*local),
        (
            PatternKind::Local(_)
            | PatternKind::Wildcard
            | PatternKind::Fields(_)
            | PatternKind::Literal(_)
            | PatternKind::Range(_)
            | PatternKind::Variant { .. }
            | PatternKind::Or(_),
            _,
        ) => None,
    };
    let mut assigned = BTreeSet::new();
    each_assigned(&it.body, &mut |place| {
        assigned.insert(place.root);
    });
    let forms = Forms { body, span, variable, assigned, bound: BTreeMap::new(), inner: BTreeMap::new() };
    let mut finder = Finder { forms, accesses: Vec::new() };
    finder.expr(&it.body);
    finder.accesses
}

fn is_constant(body: &Body, local: LocalId) -> bool {
    !body.locals[local.0 as usize].mutable
}

fn each_assigned<'e>(e: &'e Expr, f: &mut dyn FnMut(&'e Place)) {
    if let ExprKind::Block(block) = &e.kind {
        for statement in &block.statements {
            if let StmtKind::Assign { target, .. } = &statement.kind {
                each_place(target, f);
            }
        }
    }
    e.each_part(&mut |part| {
        if let Part::Expr(e) = part {
            each_assigned(e, f);
        }
    });
}

fn each_place<'e>(target: &'e Target, f: &mut dyn FnMut(&'e Place)) {
    match target {
        Target::Place(place) => f(place),
        Target::Tuple(parts) => parts.iter().for_each(|part| each_place(part, f)),
    }
}

/// A step into a variable.
enum Step<'e> {
    Field(usize),
    Index(&'e [Index]),
}

struct Finder<'p> {
    forms: Forms<'p>,
    accesses: Vec<Access>,
}

impl<'p> Finder<'p> {
    fn expr(&mut self, e: &'p Expr) {
        let mut steps = Vec::new();
        if let Some(root) = steps_of(e, &mut steps) {
            for step in &steps {
                if let Step::Index(indices) = step {
                    indices.iter().for_each(|index| self.index(index));
                }
            }
            return self.note(root, &steps, e.span, Effect::Read);
        }
        if let ExprKind::Block(block) = &e.kind {
            block.statements.iter().for_each(|statement| self.statement(&statement.kind));
            return block.value.iter().for_each(|value| self.expr(value));
        }
        if let ExprKind::For(it) = &e.kind
            && let (PatternKind::Local(local), Iterable::Range { range, .. }) = (&it.pattern.kind, &it.iterable)
        {
            self.note_inner(*local, range);
        }
        e.each_part(&mut |part| self.part(part));
    }

    fn part(&mut self, part: Part<'p>) {
        match part {
            Part::Expr(e) => self.expr(e),
            Part::Callable(callable) => self.callable(callable),
        }
    }

    fn callable(&mut self, callable: &'p Callable) {
        match &callable.kind {
            CallableKind::Function { .. } | CallableKind::Param(_) => {}
            CallableKind::Lambda(lambda) => self.expr(&lambda.body),
            CallableKind::Derivative(derivative) => self.callable(&derivative.base),
            CallableKind::Vmap(vmap) => self.callable(&vmap.base),
        }
    }

    fn index(&mut self, index: &'p Index) {
        match index {
            Index::At(e) | Index::Gather(e) => self.expr(e),
            Index::Slice { lo, hi, .. } => lo.iter().chain(hi).for_each(|end| self.expr(end)),
        }
    }

    fn statement(&mut self, statement: &'p StmtKind) {
        match statement {
            StmtKind::Let { pattern, value } => {
                self.expr(value);
                self.note_bound(pattern, value);
            }
            StmtKind::Assign { target, op, value } => {
                self.expr(value);
                target.each_index(&mut |part| self.part(part));
                each_place(target, &mut |place| self.place(place, *op));
            }
            StmtKind::Expr(e) => self.expr(e),
        }
    }

    /// A name for something with a normal form stands for that in indices.
    fn note_bound(&mut self, pattern: &Pattern, value: &Expr) {
        if let PatternKind::Local(local) = pattern.kind
            && is_constant(self.forms.body, local)
            && let Some(sum) = self.forms.sum(value)
        {
            self.forms.bound.insert(local, sum);
        }
    }

    fn note_inner(&mut self, local: LocalId, range: &Range) {
        if !range.inclusive
            && matches!(range.lo.kind, ExprKind::Literal(Literal::Int(0)))
            && is_constant(self.forms.body, local)
            && let Some(length) = self.forms.sum(&range.hi)
        {
            self.forms.inner.insert(local, length);
        }
    }

    fn place(&mut self, place: &'p Place, op: AssignOp) {
        let step = |kind: &'p PlaceStepKind| match kind {
            PlaceStepKind::Field(at) => Step::Field(*at),
            PlaceStepKind::Index(indices) => Step::Index(indices),
        };
        let steps: Vec<Step<'p>> = place.steps.iter().map(|taken| step(&taken.kind)).collect();
        self.note(place.root, &steps, place.span, Effect::Write(op));
    }

    fn note(&mut self, root: LocalId, steps: &[Step<'p>], span: Span, effect: Effect) {
        if !self.forms.is_outside(root) {
            return;
        }
        let mut path = Vec::new();
        let mut forms = Vec::new();
        let mut is_plain = true;
        for step in steps {
            match step {
                Step::Field(at) => path.push(*at),
                Step::Index(indices) if is_plain => {
                    for index in *indices {
                        match index {
                            Index::At(e) => forms.push(self.forms.form(e)),
                            Index::Slice { .. } | Index::Gather(_) => {
                                is_plain = false;
                                forms.push(None);
                            }
                        }
                    }
                }
                Step::Index(_) => {}
            }
        }
        self.accesses.push(Access { root, path, span, effect, forms });
    }
}

/// The variable that an expression reads a part of, with the way to that part.
fn steps_of<'e>(e: &'e Expr, steps: &mut Vec<Step<'e>>) -> Option<LocalId> {
    if let ExprKind::Local(local) = &e.kind {
        return Some(*local);
    }
    let (base, step) = if let ExprKind::Field { base, index } = &e.kind {
        (base, Step::Field(*index))
    } else if let ExprKind::Index { base, indices } = &e.kind {
        (base, Step::Index(indices))
    } else {
        return None;
    };
    let root = steps_of(base, steps)?;
    steps.push(step);
    Some(root)
}
