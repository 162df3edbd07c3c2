//! Patterns: whether they match, and what they bind.
//!
//! A test reads numbers and truth values alone, none of which can fail, so it needs no branches. Payloads are taken
//! apart where the test has held.

use cotan_ir::{Atom, Const};
use cotan_ops::{EQ, GE, LE, LT};

use super::Result;
use super::body::{Body, Value};
use cotan_sema::typed::{LocalId, Pattern, PatternKind, Type};

impl<'p> Body<'_, 'p> {
    /// Whether a pattern matches, a `bool`.
    pub(super) fn test_pattern(&mut self, pattern: &Pattern, value: &[Atom]) -> Atom {
        match &pattern.kind {
            PatternKind::Wildcard | PatternKind::Local(_) => Const::bool(true).into(),
            PatternKind::Literal(literal) => {
                let literal = self.literal(literal, &pattern.ty);
                self.code.prim(&EQ, &[value[0], literal])
            }
            PatternKind::Range(range) => {
                let (lo, hi) = (self.literal(&range.lo, &pattern.ty), self.literal(&range.hi, &pattern.ty));
                let from = self.code.prim(&GE, &[value[0], lo]);
                let to = self.code.prim(if range.inclusive { &LE } else { &LT }, &[value[0], hi]);
                self.code.both(from, to)
            }
            PatternKind::Fields(parts) => {
                let mut all = Const::bool(true).into();
                for (index, part) in parts {
                    let holds = self.test_pattern(part, &value[self.layout.part_leaves(&pattern.ty, *index)]);
                    all = self.code.both(all, holds);
                }
                all
            }
            PatternKind::Variant { index, fields } => {
                let Type::Enum(of) = &pattern.ty else { return Const::bool(true).into() };
                let mut all: Atom = Const::bool(true).into();
                if self.layout.payloads(of).len() > 1 {
                    all = self.code.prim(&EQ, &[value[0], Atom::i64(*index as i64)]);
                }
                for (part, field) in fields {
                    let holds = self.test_pattern(field, &value[self.layout.payload_leaves(of, *index, *part)]);
                    all = self.code.both(all, holds);
                }
                all
            }
            PatternKind::Or(alternatives) => {
                let mut any: Atom = Const::bool(false).into();
                for alternative in alternatives {
                    let holds = self.test_pattern(alternative, value);
                    any = self.code.either(any, holds);
                }
                any
            }
        }
    }

    /// Binds the names of a pattern that matches.
    pub(super) fn bind(&mut self, pattern: &'p Pattern, value: Value) -> Result<()> {
        match &pattern.kind {
            PatternKind::Wildcard | PatternKind::Literal(_) | PatternKind::Range(_) => {}
            PatternKind::Local(id) => bind_local(self, *id, value),
            PatternKind::Fields(parts) => {
                for (index, part) in parts {
                    let leaves = self.layout.part_leaves(&pattern.ty, *index);
                    let part_value = value.get(leaves).map(<[Atom]>::to_vec).unwrap_or_default();
                    self.bind(part, part_value)?;
                }
            }
            PatternKind::Variant { index, fields } => {
                let Type::Enum(of) = &pattern.ty else { return Ok(()) };
                for (part, field) in fields {
                    let payload = self.payload(of, *index, *part, &value);
                    self.bind(field, payload)?;
                }
            }
            PatternKind::Or(alternatives) => {
                let locals = bound(pattern);
                if locals.is_empty() {
                    return Ok(());
                }
                let types = locals.iter().map(|id| self.current().table[id.0 as usize].ty.clone()).collect();
                let mut values = alternative(self, alternatives, &value, &locals, &Type::Tuple(types))?.into_iter();
                for id in locals {
                    let n_leaves = self.layout.n_leaves(&self.current().table[id.0 as usize].ty);
                    let value = values.by_ref().take(n_leaves).collect();
                    bind_local(self, id, value);
                }
            }
        }
        Ok(())
    }
}

fn bind_local(body: &mut Body<'_, '_>, id: LocalId, value: Value) {
    let local = &body.current().table[id.0 as usize];
    body.name_leaves(&local.name, &local.ty, &value);
    let frame = body.current_mut();
    frame.locals[id.0 as usize] = Some(value);
    if local.mutable {
        frame.mutable.push(id);
    }
}

/// What the first alternative that matches binds; the last one is known to match if no other does.
fn alternative<'a, 'p>(
    body: &mut Body<'a, 'p>,
    alternatives: &'p [Pattern],
    value: &Value,
    locals: &[LocalId],
    ty: &Type,
) -> Result<Value> {
    let Some((first, rest)) = alternatives.split_first() else { return Ok(Value::new()) };
    let bind_first = |body: &mut Body<'a, 'p>| -> Result<Value> {
        body.bind(first, value.clone())?;
        Ok(locals.iter().flat_map(|id| body.local(*id)).collect())
    };
    if rest.is_empty() {
        return bind_first(body);
    }
    let selector = body.test_pattern(first, value);
    let taken = body.arm(|body| bind_first(body).map(Some))?;
    let other = body.arm(|body| alternative(body, rest, value, locals, ty).map(Some))?;
    let value = body.merge(selector, [taken, other], ty).unwrap_or_default();
    body.know_sizes(ty, &value);
    Ok(value)
}

/// The locals that a pattern binds, each once.
fn bound(pattern: &Pattern) -> Vec<LocalId> {
    let mut locals = Vec::new();
    pattern.each(&mut |part| {
        if let PatternKind::Local(id) = part.kind
            && !locals.contains(&id)
        {
            locals.push(id);
        }
    });
    locals
}
