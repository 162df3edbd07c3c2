//! Statements and loops. A statement that fails leaves its failure in what it would have changed; where it might also
//! have left the surroundings, they fail with it.

use super::Machine;
use super::number::Number;
use super::value::{Failure, Flow, Stop, Value, bug, caught};
use cotan_ir::Const;
use cotan_sema::dims::{Atom, SizeId};
use cotan_sema::typed::{
    AssignOp, Block, CallableKind, Expr, ExprKind, For, Index, Iterable, LocalId, Part, Place, PlaceStep,
    PlaceStepKind, Stmt, StmtKind, Target, While,
};
use cotan_syntax::Span;

/// Whether a loop goes on after an iteration.
enum Next {
    Goes,
    Ends,
}

impl<'p> Machine<'p> {
    /// A block.
    pub(super) fn block(&mut self, block: &'p Block) -> Flow<Value> {
        for statement in &block.statements {
            match run_statement(self, statement) {
                Ok(()) => {}
                Err(Stop::Failed(failure)) if !may_leave(statement) => spoil(self, statement, failure)?,
                Err(stop) => return Err(left(self, stop)),
            }
        }
        let Some(value) = &block.value else { return Ok(Value::unit()) };
        match self.expr(value) {
            // A statement that stands last.
            Err(Stop::Failed(failure)) if value.ty.is_unit() && !jumps(value, false) => {
                spoil_changed(self, value, failure)?;
                Ok(Value::unit())
            }
            Err(stop) if value.ty.is_unit() => Err(left(self, stop)),
            ended @ (Ok(_) | Err(_)) => ended,
        }
    }

    /// Something that decides what runs: notes that it failed, if it did.
    pub(super) fn deciding<T>(&mut self, decision: Flow<T>) -> Flow<T> {
        decision.map_err(|stop| left(self, stop))
    }

    /// Whether a condition holds.
    pub(super) fn condition(&mut self, e: &'p Expr) -> Flow<bool> {
        let holds = self.expr(e).and_then(|value| value.truth());
        self.deciding(holds)
    }

    // ---- loops

    pub(super) fn for_loop(&mut self, it: &'p For, span: Span) -> Flow<Value> {
        match &it.iterable {
            Iterable::Range { range, reversed } => {
                let values = self.range(range, span);
                let (lo, n) = self.deciding(values)?;
                let elem = self.elem(&range.lo.ty)?;
                repeat(self, it, n, *reversed, &|k| Value::Number(Number::Plain(Const::integer(elem, lo + k as i128))))
            }
            Iterable::Tensor { tensor, reversed } => {
                let value = caught(self.expr(tensor))?;
                let extent = self.ty(&tensor.ty).dims().first().and_then(|dim| self.size(dim));
                if let (Value::Failed(failure), Some(n)) = (&value, extent) {
                    // The type tells how many elements there are.
                    return repeat(self, it, n.max(0) as usize, *reversed, &|_| Value::Failed(*failure));
                }
                let tensor = value.tensor()?;
                repeat(self, it, tensor.dims[0], *reversed, &|k| tensor.row(k))
            }
        }
    }

    pub(super) fn while_loop(&mut self, it: &'p While) -> Flow<Value> {
        while self.condition(&it.condition)? {
            let ended = self.expr(&it.body);
            if let Next::Ends = iterated(self, ended)? {
                break;
            }
        }
        Ok(Value::unit())
    }

    /// The value of the body of a function or lambda.
    pub(super) fn body_value(&mut self, e: &'p Expr) -> Flow<Value> {
        match self.expr(e) {
            Err(Stop::Return(value)) => Ok(value),
            Err(Stop::Break | Stop::Continue) => bug("a jump out of a body"),
            ended @ (Ok(_) | Err(Stop::Failed(_) | Stop::Bug(_))) => ended,
        }
    }

    /// Counts steps, so that a loop that does not end is noticed.
    pub(super) fn spend(&mut self, steps: u64) -> Flow<()> {
        self.steps += steps;
        if self.steps > super::MAX_STEPS { bug(format!("more than {} iterations", super::MAX_STEPS)) } else { Ok(()) }
    }

    /// A local of the current body that is mutable and has a value.
    pub(super) fn take_local(&self, id: LocalId) -> Flow<Value> {
        match self.frame.locals.borrow_mut().get_mut(id.0 as usize).and_then(Option::take) {
            Some(value) => Ok(value),
            None => bug("an assignment to a local without a value"),
        }
    }
}

/// Notes that a statement that may jump away failed, if it did.
fn left(machine: &mut Machine<'_>, stop: Stop) -> Stop {
    machine.may_need_less |= matches!(stop, Stop::Failed(_));
    stop
}

fn run_statement<'p>(machine: &mut Machine<'p>, statement: &'p Stmt) -> Flow<()> {
    match &statement.kind {
        StmtKind::Let { pattern, value } => {
            let value = machine.expr(value)?;
            machine.bind(pattern, value)
        }
        StmtKind::Assign { target, op, value: e } => {
            // The extents of places come into being after the value, anew in every iteration.
            forget_sizes(machine, target);
            let value = machine.part(e)?;
            assign(machine, target, *op, value, (statement.span, e.span))
        }
        StmtKind::Expr(e) => machine.expr(e).map(|_| ()),
    }
}

fn assign<'p>(
    machine: &mut Machine<'p>,
    target: &'p Target,
    op: AssignOp,
    value: Value,
    spans: (Span, Span),
) -> Flow<()> {
    match target {
        Target::Place(place) => {
            let of_value = value.first_failure();
            let stored = machine.store(place, op, value, spans);
            match stored {
                Err(Stop::Failed(failure)) => {
                    let first = of_value.filter(|of_value| of_value.ordinal < failure.ordinal);
                    spoil_place(machine, place, first.unwrap_or(failure))
                }
                Ok(()) | Err(Stop::Break | Stop::Continue | Stop::Return(_) | Stop::Bug(_)) => stored,
            }
        }
        Target::Tuple(parts) => parts.iter().enumerate().try_for_each(|(k, part)| {
            let value = match &value {
                Value::Failed(_) => value.clone(),
                Value::Number(_) | Value::Tensor(_) | Value::Fields(_) | Value::Variant(..) => value.field(k)?,
            };
            assign(machine, part, op, value, spans)
        }),
    }
}

// ---- failures

/// Leaves a failure in everything that a statement would have changed.
fn spoil<'p>(machine: &mut Machine<'p>, statement: &'p Stmt, failure: Failure) -> Flow<()> {
    if let StmtKind::Let { pattern, .. } = &statement.kind {
        machine.bind(pattern, Value::Failed(failure))?;
    }
    let (StmtKind::Let { value, .. } | StmtKind::Assign { value, .. } | StmtKind::Expr(value)) = &statement.kind;
    let mut assigned = Vec::new();
    if let StmtKind::Assign { target, .. } = &statement.kind {
        places_of_target(target, &mut assigned);
    }
    assigned.into_iter().try_for_each(|place| spoil_place(machine, place, failure))?;
    spoil_changed(machine, value, failure)
}

/// Leaves a failure in everything that statements inside an expression would have changed.
fn spoil_changed<'p>(machine: &mut Machine<'p>, e: &'p Expr, failure: Failure) -> Flow<()> {
    if machine.unprinted.is_none() && prints(machine, Part::Expr(e)) {
        machine.unprinted = Some(failure);
    }
    let mut changed = Vec::new();
    places(e, &mut changed);
    changed.into_iter().try_for_each(|place| spoil_place(machine, place, failure))
}

/// Forgets the run-time sizes that slices in places bring into being.
fn forget_sizes(machine: &Machine<'_>, target: &Target) {
    match target {
        Target::Tuple(parts) => parts.iter().for_each(|part| forget_sizes(machine, part)),
        Target::Place(place) => {
            let mut sizes = machine.frame.sizes.borrow_mut();
            for id in place.steps.iter().flat_map(sizes_of_slices) {
                sizes[id.0 as usize] = None;
            }
        }
    }
}

/// Leaves a failure in a local, or in the field of it that a place lies in.
fn spoil_place<'p>(machine: &mut Machine<'p>, place: &'p Place, failure: Failure) -> Flow<()> {
    let mut locals = machine.frame.locals.borrow_mut();
    // A local of a block that did not run has no value, and nobody can ask for one.
    let Some(Some(mut value)) = locals.get_mut(place.root.0 as usize).map(Option::as_mut) else { return Ok(()) };
    for step in &place.steps {
        match (&step.kind, value) {
            (PlaceStepKind::Field(k), Value::Fields(fields)) => value = &mut fields[*k],
            (PlaceStepKind::Field(_) | PlaceStepKind::Index(_), whole) => {
                *whole = Value::Failed(failure);
                return Ok(());
            }
        }
    }
    *value = Value::Failed(failure);
    Ok(())
}

/// Whether something in an expression may print.
fn prints<'p>(machine: &Machine<'p>, part: Part<'p>) -> bool {
    let mut found = false;
    let mut inside = |part: Part<'p>| found = found || prints(machine, part);
    match part {
        Part::Expr(e) if matches!(e.kind, ExprKind::Print(_) | ExprKind::Assert(_)) => found = true,
        Part::Expr(e) => e.each_part(&mut inside),
        Part::Callable(callable) => match &callable.kind {
            CallableKind::Function { function, .. } => found = machine.program.function(*function).prints,
            CallableKind::Lambda(_) | CallableKind::Param(_) | CallableKind::Derivative(_) | CallableKind::Vmap(_) => {
                callable.each_part(&mut inside)
            }
        },
    }
    found
}

fn repeat<'p>(
    machine: &mut Machine<'p>,
    it: &'p For,
    n: usize,
    is_reversed: bool,
    value: &dyn Fn(usize) -> Value,
) -> Flow<Value> {
    machine.sharing(it.parallel.as_ref(), |machine| {
        for k in 0..n {
            let at = if is_reversed { n - 1 - k } else { k };
            let ended = machine.bind(&it.pattern, value(at)).and_then(|()| machine.expr(&it.body));
            if let Next::Ends = iterated(machine, ended)? {
                break;
            }
        }
        Ok(Value::unit())
    })
}

fn iterated(machine: &mut Machine<'_>, ended: Flow<Value>) -> Flow<Next> {
    machine.spend(1)?;
    match ended {
        Ok(_) | Err(Stop::Continue) => Ok(Next::Goes),
        Err(Stop::Break) => Ok(Next::Ends),
        Err(stop @ (Stop::Failed(_) | Stop::Return(_) | Stop::Bug(_))) => Err(stop),
    }
}

/// The run-time sizes that are the extents of slices.
fn sizes_of_slices(step: &PlaceStep) -> Vec<SizeId> {
    let PlaceStepKind::Index(indices) = &step.kind else { return Vec::new() };
    let kept = indices.iter().filter(|index| !matches!(index, Index::At(_)));
    let own = kept.zip(step.ty.dims()).filter_map(|(index, dim)| match (index, dim.as_atom()) {
        (Index::Slice { lo: None, hi: None, .. }, _) => None,
        (_, Some(Atom::Runtime(id))) => Some(*id),
        (_, _) => None,
    });
    own.collect()
}

/// Whether control may leave the statement by a jump out of it.
fn may_leave(statement: &Stmt) -> bool {
    match &statement.kind {
        StmtKind::Let { value, .. } | StmtKind::Assign { value, .. } | StmtKind::Expr(value) => jumps(value, false),
    }
}

/// Whether an expression has a jump out of it; breaks and continues of loops inside it stay there.
fn jumps(e: &Expr, in_loop: bool) -> bool {
    match &e.kind {
        ExprKind::Return(_) => return true,
        ExprKind::Break | ExprKind::Continue => return !in_loop,
        ExprKind::Error
        | ExprKind::Literal(_)
        | ExprKind::Local(_)
        | ExprKind::Size(_)
        | ExprKind::Tuple(_)
        | ExprKind::Array(_)
        | ExprKind::Struct(_)
        | ExprKind::StructUpdate { .. }
        | ExprKind::Field { .. }
        | ExprKind::Unary { .. }
        | ExprKind::Chain(_)
        | ExprKind::Logic { .. }
        | ExprKind::Primitive { .. }
        | ExprKind::Cast(_)
        | ExprKind::Range(_)
        | ExprKind::Index { .. }
        | ExprKind::Fold { .. }
        | ExprKind::FoldBy { .. }
        | ExprKind::Call { .. }
        | ExprKind::Builtin { .. }
        | ExprKind::ShapeCheck(_)
        | ExprKind::AsTangent(_)
        | ExprKind::Variant { .. }
        | ExprKind::If(_)
        | ExprKind::Match(_)
        | ExprKind::Print(_)
        | ExprKind::Assert(_)
        | ExprKind::After { .. }
        | ExprKind::Block(_)
        | ExprKind::For(_)
        | ExprKind::While(_) => {}
    }
    let in_loop = in_loop || matches!(e.kind, ExprKind::For(_) | ExprKind::While(_));
    let mut found = false;
    e.each_part(&mut |part| match part {
        Part::Expr(part) => found |= jumps(part, in_loop),
        // A `return` in a lambda leaves the lambda.
        Part::Callable(_) => {}
    });
    found
}

/// The places that a statement assigns, those inside its blocks included.
fn places_of_statement<'p>(statement: &'p StmtKind, out: &mut Vec<&'p Place>) {
    match statement {
        StmtKind::Let { value, .. } | StmtKind::Expr(value) => places(value, out),
        StmtKind::Assign { target, value, .. } => {
            places(value, out);
            places_of_target(target, out);
        }
    }
}

fn places_of_target<'p>(target: &'p Target, out: &mut Vec<&'p Place>) {
    match target {
        Target::Place(place) => out.push(place),
        Target::Tuple(parts) => parts.iter().for_each(|part| places_of_target(part, out)),
    }
}

fn places<'p>(e: &'p Expr, out: &mut Vec<&'p Place>) {
    if let ExprKind::Block(block) = &e.kind {
        block.statements.iter().for_each(|statement| places_of_statement(&statement.kind, out));
        block.value.iter().for_each(|value| places(value, out));
        return;
    }
    e.each_part(&mut |part| match part {
        Part::Expr(part) => places(part, out),
        // Lambdas change nothing outside.
        Part::Callable(_) => {}
    });
}
