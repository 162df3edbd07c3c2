//! The verdict on the accesses of a parallel loop.

use cotan_syntax::{Diagnostic, Span};

use super::accesses::{Access, Effect};
use super::index_forms::Form;
use crate::codes;
use crate::typed::{Accumulated, AssignOp, BinaryOp, Body, Declarations, Leaf, Owned, Sharing};

/// What no two iterations share, and what all contribute to; reports everything else that the loop writes.
///
/// What each iteration accumulates at an index of its own is both. It is owned where that makes no difference, because a
/// slot is faster than an accumulator and keeps products in parallel.
pub(super) fn judge(
    types: Declarations<'_>,
    body: &Body,
    accesses: Vec<Access>,
    span: Span,
    diagnostics: &mut Vec<Diagnostic>,
) -> Sharing {
    let mut sharing = Sharing::default();
    for group in groups(accesses) {
        let (form, operator) = (common_form(&group), common_operator(&group));
        let parts = written_paths(&group);
        let is_accumulation = |op: &AssignOp| form.is_none() || parts.iter().any(|part| shows(types, body, part, *op));
        if let Some(op) = operator.filter(is_accumulation) {
            let of = |part: &&Access| Accumulated { root: part.root, path: part.path.clone(), op };
            sharing.accumulated.extend(parts.iter().map(of));
        } else if let Some((axis, form)) = form {
            let of = |part: &&Access| Owned { root: part.root, path: part.path.clone(), axis, slot: form.slot() };
            sharing.owned.extend(parts.iter().map(of));
        } else {
            diagnostics.push(report(body, &group, span));
        }
    }
    sharing
}

/// Whether accumulating by an operator differs from changing the part at each access: of all that is extreme the shares
/// in a derivative are equal, and a sum that is stored narrow is rounded once.
fn shows(types: Declarations<'_>, body: &Body, part: &Access, op: AssignOp) -> bool {
    match op {
        AssignOp::Max | AssignOp::Min => true,
        AssignOp::Binary(BinaryOp::Add) => {
            let whole = Some(body.locals[part.root.0 as usize].ty.clone());
            let ty = part.path.iter().fold(whole, |ty, at| types.part_types(&ty?).into_iter().nth(*at));
            // What stands for a type computes, so it is not narrow.
            let is_narrow = |leaf: &Leaf| leaf.ty.concrete().is_some_and(|elem| elem.storage().is_some());
            ty.is_some_and(|ty| types.leaves(&ty).iter().any(is_narrow))
        }
        AssignOp::Set | AssignOp::Binary(_) => false,
    }
}

/// The accesses in groups that overlap, as far as the loop writes them.
fn groups(accesses: Vec<Access>) -> Vec<Vec<Access>> {
    let mut groups: Vec<Vec<Access>> = Vec::new();
    for access in accesses {
        let (mut meeting, others): (Vec<_>, Vec<_>) =
            groups.into_iter().partition(|group| group.iter().any(|other| other.overlaps(&access)));
        groups = others;
        let mut group: Vec<Access> = meeting.drain(..).flatten().collect();
        group.push(access);
        groups.push(group);
    }
    groups.retain(|group| group.iter().any(Access::writes));
    for group in &mut groups {
        group.sort_by_key(|access| (access.span.start, access.span.end));
    }
    groups.sort_by_key(|group| group.first().map(|access| access.span.start));
    groups
}

/// The parts that a group writes, none a part of another.
fn written_paths(group: &[Access]) -> Vec<&Access> {
    let mut found: Vec<&Access> = Vec::new();
    for access in group.iter().filter(|access| access.writes()) {
        found.retain(|other| !other.path.starts_with(&access.path));
        if !found.iter().any(|other| access.path.starts_with(&other.path)) {
            found.push(access);
        }
    }
    found
}

/// The axis at which all accesses have one form, which belongs to the iteration.
fn common_form(group: &[Access]) -> Option<(usize, &Form)> {
    let first = group.first()?;
    first.forms.iter().enumerate().find_map(|(axis, form)| {
        let form = form.as_ref()?;
        let is_shared = group.iter().all(|access| has_form(access, axis, form));
        is_shared.then_some((axis, form))
    })
}

fn has_form(access: &Access, axis: usize, form: &Form) -> bool {
    access.forms.get(axis).is_some_and(|other| other.as_ref() == Some(form))
}

/// The operator by which alone all accesses change the variable, if its order makes no difference.
fn common_operator(group: &[Access]) -> Option<AssignOp> {
    let op = accumulates(group.first()?)?;
    group.iter().all(|access| accumulates(access) == Some(op)).then_some(op)
}

fn accumulates(access: &Access) -> Option<AssignOp> {
    match access.effect {
        Effect::Write(op) if is_commutative(op) => Some(op),
        Effect::Write(_) | Effect::Read => None,
    }
}

fn is_commutative(op: AssignOp) -> bool {
    matches!(op, AssignOp::Max | AssignOp::Min | AssignOp::Binary(BinaryOp::Add | BinaryOp::Mul))
}

/// Two accesses of a group that may meet. They are the same where an access may meet itself in another iteration.
fn meeting(group: &[Access]) -> Option<(&Access, &Access)> {
    if let Some(first) = group.iter().find(|access| accumulates(access).is_some()) {
        let op = accumulates(first);
        if let Some(other) = group.iter().find(|access| accumulates(access) != op)
            && common_form(std::slice::from_ref(first)).is_none()
        {
            return Some((first, other));
        }
    }
    let write = group.iter().find(|access| access.writes())?;
    // A write that does not keep to its iteration meets itself; showing what it also meets says more.
    let meets = |access: &&Access| {
        let agrees =
            |(axis, form): (usize, &Option<Form>)| form.as_ref().is_some_and(|form| has_form(access, axis, form));
        !write.forms.iter().enumerate().any(agrees)
    };
    let mut others = group.iter().filter(|access| !std::ptr::eq(*access, write));
    let other = others.clone().find(meets);
    if common_form(std::slice::from_ref(write)).is_none() {
        return Some((write, other.unwrap_or(write)));
    }
    // Each pair may agree at an axis of its own.
    Some((write, other.or_else(|| others.next_back()).unwrap_or(write)))
}

fn report(body: &Body, group: &[Access], span: Span) -> Diagnostic {
    let invariant = "invariant: a group holds a write";
    let (a, b) = meeting(group).expect(invariant);
    let (first, second) = if a.span.start <= b.span.start { (a, b) } else { (b, a) };
    let name = &body.locals[a.root.0 as usize].name;
    let ty = &body.locals[a.root.0 as usize].ty;
    let is_indexed = group.iter().any(|access| !access.forms.is_empty());
    let code = if is_indexed { codes::RACE } else { codes::SHARED_VARIABLE };
    let is_alone = std::ptr::eq(a, b);
    let message = if is_alone {
        format!("expected iterations that can run side by side, found that each may change the same `{name}`")
    } else {
        format!("expected iterations that can run side by side, found two accesses of `{name}` that may meet")
    };
    let mut diagnostic = Diagnostic::error(code, second.span, message);
    diagnostic = match is_alone {
        true => diagnostic.label(span.before(), "other iterations of this parallel loop do the same"),
        false => diagnostic.label(first.span, format!("`{name}` is {} here", done(first))),
    };
    let accumulation = group.iter().find_map(accumulates);
    let is_read = group.iter().any(|access| !access.writes());
    let help = match accumulation {
        Some(_) if is_read => {
            "read what a loop accumulates in a loop of its own: each loop of a kernel waits for the one before it"
        }
        Some(_) if group.iter().all(|access| access.effect != Effect::Write(AssignOp::Set)) => {
            "accumulate with one operator in a loop, and with the other one in a second loop"
        }
        _ if !is_indexed && ty.dims().is_empty() => {
            "declare the variable inside of the loop, or accumulate with `+=`, `*=`, `max=` or `min=`"
        }
        _ => {
            "use what the loop writes only at an index such as `i`, `2*i + k` or `i*M + j` with `j` in `0..M`, the same \
             one everywhere, or accumulate with `+=`, `*=`, `max=` or `min=`"
        }
    };
    diagnostic.help(help)
}

/// What an access does, in a word.
fn done(access: &Access) -> &'static str {
    match access.effect {
        Effect::Read => "read",
        Effect::Write(AssignOp::Set) => "written",
        Effect::Write(AssignOp::Binary(_) | AssignOp::Max | AssignOp::Min) => "changed",
    }
}
