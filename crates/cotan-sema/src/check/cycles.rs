//! Well-formedness of types: none is made of itself, and there are no tensors of enums.

use std::collections::HashSet;

use cotan_syntax::{Diagnostic, Span};

use super::ModuleChecker;
use crate::codes;
use crate::typed::Field;
use crate::types::{EnumId, GenericArg, StructId, Type};

/// A declaration that types are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Declared {
    Struct(StructId),
    Enum(EnumId),
}

impl ModuleChecker<'_> {
    /// A type that is written outside of declarations; reports tensors of enums in it.
    pub(super) fn without_enum_elements(&mut self, ty: Type, span: Span) -> Type {
        match enum_element(self, &ty) {
            None => ty,
            Some(id) => {
                self.report_enum_element(id, "a type", span);
                Type::Error
            }
        }
    }
}

/// A struct or enum that contains itself has no size: its field becomes an error.
///
/// Of declarations that contain one another the first one loses its fields of the others, and what is left is
/// looked at again. Where more errors were found than are told, the fields go without a word.
pub(super) fn report_type_cycles(checker: &mut ModuleChecker<'_>) {
    loop {
        let all = declared(checker);
        let components = components(&needed_by(checker, &all));
        if components.is_empty() {
            return;
        }
        for members in components {
            let first = all[members.iter().copied().min().unwrap_or(0)];
            let is_member: HashSet<Declared> = members.iter().map(|at| all[*at]).collect();
            let n_fields = fields_of(checker, first).count();
            for at in 0..n_fields {
                let Some(field) = fields_of(checker, first).nth(at) else { continue };
                let mut is_in_cycle = false;
                each_declared(&field.ty, &mut |needed| is_in_cycle |= is_member.contains(&needed));
                if is_in_cycle {
                    let span = field.span;
                    report_type_cycle(checker, first, span);
                    set_error(checker, first, at);
                }
            }
            if checker.is_full() {
                for declared in members.iter().map(|at| all[*at]) {
                    let n_fields = fields_of(checker, declared).count();
                    (0..n_fields).for_each(|at| set_error(checker, declared, at));
                }
            }
        }
    }
}

fn report_type_cycle(checker: &mut ModuleChecker<'_>, declared: Declared, field: Span) {
    if checker.is_full() {
        return;
    }
    let (name, name_span, what) = match declared {
        Declared::Struct(id) => {
            let def = &checker.structs[id.0 as usize];
            (def.name.clone(), def.name_span, ("fields", "structs"))
        }
        Declared::Enum(id) => {
            let def = &checker.enums[id.0 as usize];
            (def.name.clone(), def.name_span, ("payloads", "enums"))
        }
    };
    let message = format!("expected {} of other types, found `{name}` inside of itself", what.0);
    let help = format!("{} are stored by value: refer to other elements by their index in a tensor", what.1);
    checker.report(Diagnostic::error(codes::TYPE_CYCLE, field, message).label(name_span, "declared here").help(help));
}

/// For each declaration the numbers of those that its fields are made of.
fn needed_by(checker: &ModuleChecker<'_>, all: &[Declared]) -> Vec<Vec<usize>> {
    let needed = all.iter().map(|declared| {
        let mut needed = Vec::new();
        for field in fields_of(checker, *declared) {
            each_declared(&field.ty, &mut |it| {
                needed.push(match it {
                    Declared::Struct(id) => id.0 as usize,
                    Declared::Enum(id) => checker.structs.len() + id.0 as usize,
                });
            });
        }
        needed
    });
    needed.collect()
}

/// Reports tensors of enums among the fields of structs and the payloads of enums.
pub(super) fn report_enum_fields(checker: &mut ModuleChecker<'_>) {
    for declared in declared(checker) {
        let n_fields = fields_of(checker, declared).count();
        for at in 0..n_fields {
            let Some(field) = fields_of(checker, declared).nth(at).cloned() else { continue };
            if let Some(id) = enum_element(checker, &field.ty) {
                checker.report_enum_element(id, "a field", field.span);
                set_error(checker, declared, at);
            }
        }
    }
}

/// The enum in the elements of a tensor that stands in a type.
fn enum_element(checker: &ModuleChecker<'_>, ty: &Type) -> Option<EnumId> {
    match ty {
        Type::Error
        | Type::Never
        | Type::Scalar(_)
        | Type::Struct(_)
        | Type::Enum(_)
        | Type::Function(_)
        | Type::Param(_) => None,
        Type::Tensor { elem, .. } => checker.declarations().enum_in(elem),
        Type::Tuple(parts) => parts.iter().find_map(|part| enum_element(checker, part)),
    }
}

fn declared(checker: &ModuleChecker<'_>) -> Vec<Declared> {
    let structs = (0..checker.structs.len() as u32).map(|at| Declared::Struct(StructId(at)));
    let enums = (0..checker.enums.len() as u32).map(|at| Declared::Enum(EnumId(at)));
    structs.chain(enums).collect()
}

fn fields_of<'c>(checker: &'c ModuleChecker<'_>, declared: Declared) -> Box<dyn Iterator<Item = &'c Field> + 'c> {
    match declared {
        Declared::Struct(id) => Box::new(checker.structs[id.0 as usize].fields.iter()),
        Declared::Enum(id) => Box::new(checker.enums[id.0 as usize].variants.iter().flat_map(|v| &v.fields)),
    }
}

fn set_error(checker: &mut ModuleChecker<'_>, declared: Declared, at: usize) {
    let field = match declared {
        Declared::Struct(id) => checker.structs[id.0 as usize].fields.get_mut(at),
        Declared::Enum(id) => checker.enums[id.0 as usize].variants.iter_mut().flat_map(|v| &mut v.fields).nth(at),
    };
    if let Some(field) = field {
        field.ty = Type::Error;
    }
}

/// Calls `f` for each declaration that values of a type contain, what is given for parameters among them.
fn each_declared(ty: &Type, f: &mut dyn FnMut(Declared)) {
    let args = match ty {
        Type::Error | Type::Never | Type::Scalar(_) | Type::Function(_) | Type::Param(_) => return,
        Type::Tensor { elem, .. } => return each_declared(elem, f),
        Type::Tuple(parts) => return parts.iter().for_each(|part| each_declared(part, f)),
        Type::Struct(of) => {
            f(Declared::Struct(of.def));
            &of.args
        }
        Type::Enum(of) => {
            f(Declared::Enum(of.def));
            &of.args
        }
    };
    for arg in args {
        if let GenericArg::Type(ty) = arg {
            each_declared(ty, f);
        }
    }
}

/// The sets of numbers that lead to one another, and those that lead to themselves (R. Tarjan 1972), with a path in place
/// of recursion, as chains may be long.
fn components(next: &[Vec<usize>]) -> Vec<Vec<usize>> {
    const UNSEEN: usize = usize::MAX;
    let n = next.len();
    // When each number was first seen, and the earliest one that it leads back to.
    let (mut seen, mut low) = (vec![UNSEEN; n], vec![UNSEEN; n]);
    let (mut stack, mut is_on_stack) = (Vec::new(), vec![false; n]);
    let mut found = Vec::new();
    let mut clock = 0;
    for root in 0..n {
        let mut path: Vec<(usize, usize)> = Vec::new();
        if seen[root] == UNSEEN {
            path.push((root, 0));
        }
        while let Some((at, taken)) = path.pop() {
            if taken == 0 {
                (seen[at], low[at]) = (clock, clock);
                clock += 1;
                stack.push(at);
                is_on_stack[at] = true;
            }
            if let Some(to) = next[at].get(taken).copied() {
                path.push((at, taken + 1));
                if seen[to] == UNSEEN {
                    path.push((to, 0));
                } else if is_on_stack[to] {
                    low[at] = low[at].min(seen[to]);
                }
                continue;
            }
            if let Some((above, _)) = path.last() {
                low[*above] = low[*above].min(low[at]);
            }
            if low[at] == seen[at] {
                let start = stack.iter().rposition(|other| *other == at).unwrap_or(0);
                let members = stack.split_off(start);
                members.iter().for_each(|member| is_on_stack[*member] = false);
                if members.len() > 1 || next[at].contains(&at) {
                    found.push(members);
                }
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::components;

    #[test]
    fn components_are_what_leads_to_itself() {
        let sorted = |next: &[Vec<usize>]| {
            let mut found = components(next);
            found.iter_mut().for_each(|members| members.sort_unstable());
            found.sort();
            found
        };
        assert_eq!(sorted(&[vec![1], vec![2], vec![]]), Vec::<Vec<usize>>::new());
        assert_eq!(sorted(&[vec![1, 3], vec![2], vec![0], vec![3], vec![0]]), [vec![0, 1, 2], vec![3]]);
        let chain: Vec<Vec<usize>> =
            (0..100_000).map(|k| if k < 99_999 { vec![k + 1] } else { vec![50_000] }).collect();
        assert_eq!(components(&chain).iter().map(Vec::len).collect::<Vec<_>>(), [50_000]);
    }
}
