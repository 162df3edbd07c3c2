//! What types may not be made of: themselves, and tensors of enums.

use cotan_syntax::{Diagnostic, Span};

use super::ModuleChecker;
use crate::codes;
use crate::typed::Field;
use crate::types::{EnumId, StructId, Type};

/// A declaration that types are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Declared {
    Struct(StructId),
    Enum(EnumId),
}

impl ModuleChecker<'_> {
    /// A struct or enum that contains itself has no size: its field becomes an error.
    pub(super) fn report_type_cycles(&mut self) {
        for declared in self.declared() {
            let n_fields = self.fields_of(declared).count();
            for at in 0..n_fields {
                let Some(field) = self.fields_of(declared).nth(at).cloned() else { continue };
                if !self.contains(&field.ty, declared, &mut Vec::new()) {
                    continue;
                }
                let (name, name_span, what) = match declared {
                    Declared::Struct(id) => {
                        let def = &self.structs[id.0 as usize];
                        (def.name.clone(), def.name_span, ("fields", "structs"))
                    }
                    Declared::Enum(id) => {
                        let def = &self.enums[id.0 as usize];
                        (def.name.clone(), def.name_span, ("payloads", "enums"))
                    }
                };
                let message = format!("expected {} of other types, found `{name}` inside of itself", what.0);
                let help =
                    format!("{} are stored by value: refer to other elements by their index in a tensor", what.1);
                self.report(
                    Diagnostic::error(codes::TYPE_CYCLE, field.span, message)
                        .label(name_span, "declared here")
                        .help(help),
                );
                self.set_error(declared, at);
            }
        }
    }

    /// Reports tensors of enums among the fields of structs and the payloads of enums.
    pub(super) fn report_enum_fields(&mut self) {
        for declared in self.declared() {
            let n_fields = self.fields_of(declared).count();
            for at in 0..n_fields {
                let Some(field) = self.fields_of(declared).nth(at).cloned() else { continue };
                if let Some(id) = self.enum_element(&field.ty) {
                    self.report_enum_element(id, "a field", field.span);
                    self.set_error(declared, at);
                }
            }
        }
    }

    /// The enum in the elements of a tensor that stands in a type.
    pub(super) fn enum_element(&self, ty: &Type) -> Option<EnumId> {
        match ty {
            Type::Error
            | Type::Never
            | Type::Scalar(_)
            | Type::Struct(_)
            | Type::Enum(_)
            | Type::Function(_)
            | Type::Param(_) => None,
            Type::Tensor { elem, .. } => self.declarations().enum_in(elem),
            Type::Tuple(parts) => parts.iter().find_map(|part| self.enum_element(part)),
        }
    }

    /// A type that is written outside of declarations; reports tensors of enums in it.
    pub(super) fn without_enum_elements(&mut self, ty: Type, span: Span) -> Type {
        match self.enum_element(&ty) {
            None => ty,
            Some(id) => {
                self.report_enum_element(id, "a type", span);
                Type::Error
            }
        }
    }

    fn declared(&self) -> Vec<Declared> {
        let structs = (0..self.structs.len() as u32).map(|at| Declared::Struct(StructId(at)));
        let enums = (0..self.enums.len() as u32).map(|at| Declared::Enum(EnumId(at)));
        structs.chain(enums).collect()
    }

    fn fields_of(&self, declared: Declared) -> Box<dyn Iterator<Item = &Field> + '_> {
        match declared {
            Declared::Struct(id) => Box::new(self.structs[id.0 as usize].fields.iter()),
            Declared::Enum(id) => Box::new(self.enums[id.0 as usize].variants.iter().flat_map(|v| &v.fields)),
        }
    }

    fn set_error(&mut self, declared: Declared, at: usize) {
        let field = match declared {
            Declared::Struct(id) => self.structs[id.0 as usize].fields.get_mut(at),
            Declared::Enum(id) => self.enums[id.0 as usize].variants.iter_mut().flat_map(|v| &mut v.fields).nth(at),
        };
        if let Some(field) = field {
            field.ty = Type::Error;
        }
    }

    fn contains(&self, ty: &Type, target: Declared, seen: &mut Vec<Declared>) -> bool {
        let inner = match ty {
            Type::Error | Type::Never | Type::Scalar(_) | Type::Function(_) | Type::Param(_) => return false,
            Type::Tensor { elem, .. } => return self.contains(elem, target, seen),
            Type::Tuple(parts) => return parts.iter().any(|part| self.contains(part, target, seen)),
            Type::Struct(of) => Declared::Struct(of.def),
            Type::Enum(of) => Declared::Enum(of.def),
        };
        if inner == target {
            return true;
        }
        if seen.contains(&inner) {
            return false;
        }
        seen.push(inner);
        self.fields_of(inner).any(|field| self.contains(&field.ty, target, seen))
    }
}
