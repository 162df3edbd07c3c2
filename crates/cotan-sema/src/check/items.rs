//! The declarations of a module by name; structs and aliases.

use cotan_syntax::ast::{self, Ident, ItemKind};
use cotan_syntax::{Diagnostic, Span};

use super::type_exprs::TypeScope;
use super::{Alias, Def, Definition, ModuleChecker};
use crate::codes;
use crate::typed;
use crate::types::{StructId, Type};

impl<'a> ModuleChecker<'a> {
    /// Takes in all declarations: afterwards every signature is known.
    pub(super) fn collect(&mut self, module: &'a ast::Module) {
        let mut functions = Vec::new();
        for item in &module.items {
            match &item.kind {
                ItemKind::Function(function) => functions.push((item, function)),
                ItemKind::Struct(def) => {
                    let id = StructId(self.structs.len() as u32);
                    if self.define(&def.name, Def::Struct(id)) {
                        self.struct_items.push(def);
                        self.structs.push(typed::Struct {
                            name: def.name.name.clone(),
                            name_span: def.name.span,
                            generics: Vec::new(),
                            fields: Vec::new(),
                        });
                    }
                    self.report_unknown_attributes(&item.attrs, "struct");
                }
                ItemKind::TypeAlias(alias) => {
                    if self.define(&alias.name, Def::Alias(self.aliases.len())) {
                        self.aliases.push(Alias { item: alias, resolved: None, is_open: false });
                    }
                    self.report_unknown_attributes(&item.attrs, "type");
                }
                ItemKind::Enum(def) => {
                    self.later_item(
                        &def.name,
                        "the enum",
                        "use a struct with an integer that tells the variants apart",
                    );
                }
                ItemKind::Const(def) => {
                    self.later_item(&def.name, "the constant", "write a function without parameters, or a literal");
                }
                ItemKind::Trait(def) => {
                    self.later_item(&def.name, "the trait", "write a function for each type");
                }
                ItemKind::Impl(_) => self.report_later(item.span, "`impl`", "write a function for each type"),
                ItemKind::Import(_) => self.report_later(item.span, "`import`", "copy the declarations into this file"),
                ItemKind::Error => {}
            }
        }
        self.resolve_structs();
        for at in 0..self.aliases.len() {
            let span = self.aliases[at].item.name.span;
            self.resolve_alias(at, span);
        }
        for (item, function) in functions {
            self.declare_function(item, function);
        }
    }

    fn later_item(&mut self, name: &Ident, what: &str, instead: &str) {
        self.define(name, Def::Unusable);
        self.report_later(name.span, &format!("{what} `{}`", name.name), instead);
    }

    /// Enters a name; reports one that is taken, unless it is missing altogether.
    pub(super) fn define(&mut self, name: &Ident, def: Def) -> bool {
        if name.name.is_empty() {
            return false;
        }
        if let Some(first) = self.definitions.get(&name.name).copied() {
            self.report_redefinition(name, first.span);
            return false;
        }
        self.definitions.insert(name.name.clone(), Definition { def, span: name.span });
        true
    }

    fn report_redefinition(&mut self, name: &Ident, first: Span) {
        let message = format!("expected one declaration of `{}`, found a second", name.name);
        self.report(
            Diagnostic::error(codes::DUPLICATE_ITEM, name.span, message)
                .label(first, "first declared here")
                .help("give one of them another name"),
        );
    }

    fn resolve_structs(&mut self) {
        for at in 0..self.struct_items.len() {
            self.structs[at].generics = self.generics(&self.struct_items[at].generics);
        }
        for at in 0..self.struct_items.len() {
            let item = self.struct_items[at];
            let mut scope = TypeScope::new(self.structs[at].generics.clone());
            let mut fields: Vec<typed::Field> = Vec::new();
            for field in &item.fields {
                if fields.iter().any(|other| other.name == field.name.name) {
                    self.report_twice(&field.name, "field");
                }
                self.report_unknown_attributes(&field.attrs, "field");
                let ty = self.value_type(&field.ty, &mut scope);
                fields.push(typed::Field { name: field.name.name.clone(), span: field.span, ty });
            }
            self.structs[at].fields = fields;
        }
        self.report_struct_cycles();
    }

    /// A struct that contains itself has no size: its field becomes an error.
    fn report_struct_cycles(&mut self) {
        for at in 0..self.structs.len() {
            for field in 0..self.structs[at].fields.len() {
                let mut seen = vec![false; self.structs.len()];
                let ty = self.structs[at].fields[field].ty.clone();
                if !self.contains_struct(&ty, StructId(at as u32), &mut seen) {
                    continue;
                }
                let (name, span) = (self.structs[at].name.clone(), self.structs[at].fields[field].span);
                let message = format!("expected fields of other types, found `{name}` inside of itself");
                self.report(
                    Diagnostic::error(codes::TYPE_CYCLE, span, message)
                        .label(self.structs[at].name_span, "declared here")
                        .help("structs are stored by value: refer to other elements by their index in a tensor"),
                );
                self.structs[at].fields[field].ty = Type::Error;
            }
        }
    }

    fn contains_struct(&self, ty: &Type, target: StructId, seen: &mut [bool]) -> bool {
        match ty {
            Type::Error | Type::Never | Type::Scalar(_) | Type::Function(_) => false,
            Type::Tensor { elem, .. } => self.contains_struct(elem, target, seen),
            Type::Tuple(parts) => parts.iter().any(|part| self.contains_struct(part, target, seen)),
            Type::Struct(of) => {
                let at = of.def.0 as usize;
                of.def == target
                    || !std::mem::replace(&mut seen[at], true)
                        && self.structs[at].fields.iter().any(|field| self.contains_struct(&field.ty, target, seen))
            }
        }
    }
}
