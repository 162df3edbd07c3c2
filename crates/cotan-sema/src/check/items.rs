//! The declarations of all modules; what structs are made of.

use std::collections::HashSet;

use cotan_syntax::ast::{self, ItemKind};

use super::constants::{Constant, State};
use super::type_exprs::TypeScope;
use super::{Alias, Def, ModuleChecker};
use crate::modules::ModuleId;
use crate::typed;
use crate::types::{StructId, TraitId};

impl<'a> ModuleChecker<'a> {
    /// Takes in all declarations: afterwards every signature is known.
    pub(super) fn collect(&mut self) {
        let (mut functions, mut impls) = (Vec::new(), Vec::new());
        for (at, module) in self.modules.iter().enumerate() {
            self.current = ModuleId(at as u32);
            for item in &module.syntax.items {
                if let ItemKind::Function(function) = &item.kind {
                    functions.push((self.current, item, function));
                }
                if let ItemKind::Impl(declared) = &item.kind {
                    impls.push((self.current, item, declared));
                }
                self.declare(item);
            }
        }
        self.resolve_trait_generics();
        self.resolve_types();
        for at in 0..self.aliases.len() {
            let span = self.aliases[at].item.name.span;
            self.resolve_alias(at, span);
        }
        self.resolve_constants();
        for (module, item, function) in functions {
            self.current = module;
            self.declare_function(item, function);
        }
        self.declare_traits();
        for (module, item, declared) in impls {
            self.current = module;
            self.declare_impl(item, declared);
        }
        self.resolve_rules();
    }

    /// Enters the name of a declaration.
    fn declare(&mut self, item: &'a ast::Item) {
        let is_public = item.public.is_some();
        match &item.kind {
            ItemKind::Function(function) => drop(self.define(&function.signature.name, Def::Pending, is_public)),
            ItemKind::Struct(def) => {
                let id = StructId(self.structs.len() as u32);
                if self.define(&def.name, Def::Struct(id), is_public) {
                    self.struct_items.push((self.current, def));
                    self.structs.push(typed::Struct {
                        name: self.full_name(&def.name.name),
                        name_span: def.name.span,
                        generics: Vec::new(),
                        fields: Vec::new(),
                    });
                }
                self.report_unknown_attributes(&item.attrs, "struct");
            }
            ItemKind::TypeAlias(alias) => {
                if self.define(&alias.name, Def::Alias(self.aliases.len()), is_public) {
                    let module = self.current;
                    self.aliases.push(Alias { module, item: alias, resolved: None, is_open: false });
                }
                self.report_unknown_attributes(&item.attrs, "type");
            }
            ItemKind::Enum(def) => {
                self.declare_enum(def, is_public);
                self.report_unknown_attributes(&item.attrs, "enum");
            }
            ItemKind::Const(def) => {
                if self.define(&def.name, Def::Constant(self.constants.len()), is_public) {
                    self.constants.push(Constant { module: self.current, item: def, state: State::Unseen });
                }
                self.report_unknown_attributes(&item.attrs, "constant");
            }
            ItemKind::Trait(def) => {
                let id = TraitId(self.traits.len() as u32);
                if self.define(&def.name, Def::Trait(id), is_public) {
                    self.trait_items.push((self.current, def));
                    self.traits.push(typed::Trait {
                        name: self.full_name(&def.name.name),
                        name_span: def.name.span,
                        generics: Vec::new(),
                        methods: Vec::new(),
                    });
                }
                self.report_unknown_attributes(&item.attrs, "trait");
            }
            // Impls have no names: they are taken in when all types are known.
            ItemKind::Impl(_) => {}
            ItemKind::Import(import) => {
                self.declare_import(item, import);
                self.report_unknown_attributes(&item.attrs, "import");
            }
            ItemKind::Error => {}
        }
    }

    /// Structs and enums: the parameters of all, then what they are made of, which may be any of
    /// them but themselves.
    fn resolve_types(&mut self) {
        for at in 0..self.struct_items.len() {
            let (module, item) = self.struct_items[at];
            let uses: Vec<&ast::TypeExpr> = item.fields.iter().map(|field| &field.ty).collect();
            self.structs[at].generics = self.within(module, |this| this.generics(&item.generics, &uses));
        }
        for at in 0..self.enum_items.len() {
            let (module, item) = self.enum_items[at];
            let uses: Vec<&ast::TypeExpr> =
                item.variants.iter().flat_map(|variant| payload_types(&variant.payload)).collect();
            self.enums[at].generics = self.within(module, |this| this.generics(&item.generics, &uses));
        }
        for at in 0..self.struct_items.len() {
            let (module, item) = self.struct_items[at];
            self.current = module;
            let mut scope = TypeScope::new(self.structs[at].generics.clone());
            self.structs[at].fields = self.fields(&item.fields, &mut scope);
        }
        for at in 0..self.enum_items.len() {
            self.resolve_variants(at);
        }
        self.report_type_cycles();
        self.report_enum_fields();
        self.report_large_types();
    }

    /// The fields of a struct or variant.
    pub(super) fn fields(&mut self, written: &[ast::Field], scope: &mut TypeScope<'_>) -> Vec<typed::Field> {
        let mut fields: Vec<typed::Field> = Vec::new();
        let mut names = HashSet::new();
        for field in written {
            if !names.insert(field.name.name.as_str()) {
                self.report_twice(&field.name, "field");
            }
            self.report_unknown_attributes(&field.attrs, "field");
            let ty = self.value_type(&field.ty, scope);
            fields.push(typed::Field { name: field.name.name.clone(), span: field.span, ty });
        }
        fields
    }
}

/// The types that a payload is made of.
fn payload_types(payload: &ast::Payload) -> Vec<&ast::TypeExpr> {
    match payload {
        ast::Payload::Unit => Vec::new(),
        ast::Payload::Tuple(types) => types.iter().collect(),
        ast::Payload::Struct(fields) => fields.iter().map(|field| &field.ty).collect(),
    }
}
