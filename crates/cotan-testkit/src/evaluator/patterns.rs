//! Patterns and `match`.

use super::Machine;
use super::value::{Flow, Value, bug};
use cotan_ir::Const;
use cotan_sema::typed::{Literal, Match, Pattern, PatternKind, Type};
use std::cmp::Ordering;

impl<'p> Machine<'p> {
    /// The value of the first arm that matches and whose guard holds.
    pub(super) fn choose(&mut self, it: &'p Match) -> Flow<Value> {
        let value = self.expr(&it.scrutinee);
        let value = self.deciding(value)?;
        for arm in &it.arms {
            let matches = matches(self, &arm.pattern, &value);
            if !self.deciding(matches)? {
                continue;
            }
            self.bind(&arm.pattern, value.clone())?;
            let holds = match &arm.guard {
                Some(guard) => self.condition(guard)?,
                None => true,
            };
            if holds {
                return self.expr(&arm.body);
            }
        }
        bug("a `match` without an arm for its value")
    }

    /// Binds the names of a pattern that matches.
    pub(super) fn bind(&mut self, pattern: &Pattern, value: Value) -> Flow<()> {
        self.settle(&pattern.ty, &value)?;
        bind_parts(self, pattern, &value)
    }
}

fn bind_parts(machine: &mut Machine<'_>, pattern: &Pattern, value: &Value) -> Flow<()> {
    match &pattern.kind {
        PatternKind::Wildcard | PatternKind::Literal(_) | PatternKind::Range(_) => Ok(()),
        PatternKind::Local(id) => {
            machine.set_local(*id, value.clone());
            Ok(())
        }
        PatternKind::Fields(parts) => parts.iter().try_for_each(|(index, part)| match value {
            Value::Failed(_) => bind_parts(machine, part, value),
            Value::Number(_) | Value::Tensor(_) | Value::Fields(_) | Value::Variant(..) => {
                bind_parts(machine, part, &value.field(*index)?)
            }
        }),
        PatternKind::Variant { fields, .. } => {
            let (_, values) = value.variant()?;
            fields.iter().try_for_each(|(index, part)| bind_parts(machine, part, &values[*index]))
        }
        PatternKind::Or(alternatives) => {
            for alternative in alternatives {
                if matches(machine, alternative, value)? {
                    return bind_parts(machine, alternative, value);
                }
            }
            bug("no alternative matches")
        }
    }
}

/// Whether a pattern matches a value. Only what it looks at is needed.
fn matches(machine: &Machine<'_>, pattern: &Pattern, value: &Value) -> Flow<bool> {
    match &pattern.kind {
        PatternKind::Wildcard | PatternKind::Local(_) => Ok(true),
        PatternKind::Fields(parts) => all_match(machine, parts, value.fields()?),
        PatternKind::Variant { index, fields } => {
            let (found, values) = value.variant()?;
            if found == *index { all_match(machine, fields, values) } else { Ok(false) }
        }
        PatternKind::Literal(literal) => {
            let found = value.number()?.plain();
            Ok(compare(found, machine.literal(literal, &pattern.ty)?) == Some(Ordering::Equal))
        }
        PatternKind::Range(range) => {
            let found = value.number()?.plain();
            let side = |literal: &Literal, ty: &Type| Ok(compare(found, machine.literal(literal, ty)?));
            let (lo, hi) = (side(&range.lo, &pattern.ty)?, side(&range.hi, &pattern.ty)?);
            let is_above = matches!(lo, Some(Ordering::Greater | Ordering::Equal));
            Ok(is_above && (hi == Some(Ordering::Less) || range.inclusive && hi == Some(Ordering::Equal)))
        }
        PatternKind::Or(alternatives) => {
            for alternative in alternatives {
                if matches(machine, alternative, value)? {
                    return Ok(true);
                }
            }
            Ok(false)
        }
    }
}

fn all_match(machine: &Machine<'_>, parts: &[(usize, Pattern)], values: &[Value]) -> Flow<bool> {
    for (index, part) in parts {
        if !matches(machine, part, &values[*index])? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// How two scalars of one type compare; a NaN does not.
fn compare(a: Const, b: Const) -> Option<Ordering> {
    match (a.as_float(), b.as_float()) {
        (Some(a), Some(b)) => a.partial_cmp(&b),
        (_, _) => Some((a.as_integer(), a.as_bool()).cmp(&(b.as_integer(), b.as_bool()))),
    }
}
