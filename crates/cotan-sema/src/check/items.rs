//! The declarations of all modules; what structs are made of.

use cotan_syntax::ast::{self, ItemKind};

use super::constants::{Constant, State};
use super::type_scope::TypeScope;
use super::{
    Alias, Def, ModuleChecker, constants, cycles, declarations, enums, large_types, rules, scope, traits, type_exprs,
};
use crate::modules::ModuleId;
use crate::typed;
use crate::types::{StructId, TraitId};

/// Takes in all declarations: afterwards every signature is known.
pub(super) fn collect(checker: &mut ModuleChecker<'_>) {
    let (mut functions, mut impls) = (Vec::new(), Vec::new());
    for (at, module) in checker.modules.iter().enumerate() {
        checker.current = ModuleId(at as u32);
        for item in &module.syntax.items {
            if let ItemKind::Function(function) = &item.kind {
                functions.push((checker.current, item, function));
            }
            if let ItemKind::Impl(declared) = &item.kind {
                impls.push((checker.current, item, declared));
            }
            declare(checker, item);
        }
    }
    traits::resolve_trait_generics(checker);
    resolve_types(checker);
    for at in 0..checker.aliases.len() {
        let span = checker.aliases[at].item.name.span;
        checker.resolve_alias(at, span);
    }
    constants::resolve_constants(checker);
    for (module, item, function) in functions {
        checker.current = module;
        declarations::declare_function(checker, item, function);
    }
    traits::declare_traits(checker);
    for (module, item, declared) in impls {
        checker.current = module;
        traits::declare_impl(checker, item, declared);
    }
    rules::resolve_rules(checker);
}

/// Enters the name of a declaration.
fn declare<'a>(checker: &mut ModuleChecker<'a>, item: &'a ast::Item) {
    let is_public = item.public.is_some();
    match &item.kind {
        ItemKind::Function(function) => drop(checker.define(&function.signature.name, Def::Pending, is_public)),
        ItemKind::Struct(def) => {
            let id = StructId(checker.structs.len() as u32);
            if checker.define(&def.name, Def::Struct(id), is_public) {
                checker.struct_items.push((checker.current, def));
                checker.structs.push(typed::Struct {
                    name: checker.full_name(&def.name.name),
                    name_span: def.name.span,
                    generics: Vec::new(),
                    fields: Vec::new(),
                });
            }
            checker.report_unknown_attributes(&item.attrs, "struct");
        }
        ItemKind::TypeAlias(alias) => {
            if checker.define(&alias.name, Def::Alias(checker.aliases.len()), is_public) {
                let module = checker.current;
                checker.aliases.push(Alias { module, item: alias, resolved: None, is_open: false });
            }
            checker.report_unknown_attributes(&item.attrs, "type");
        }
        ItemKind::Enum(def) => {
            enums::declare_enum(checker, def, is_public);
            checker.report_unknown_attributes(&item.attrs, "enum");
        }
        ItemKind::Const(def) => {
            if checker.define(&def.name, Def::Constant(checker.constants.len()), is_public) {
                checker.constants.push(Constant { module: checker.current, item: def, state: State::Unseen });
            }
            checker.report_unknown_attributes(&item.attrs, "constant");
        }
        ItemKind::Trait(def) => {
            let id = TraitId(checker.traits.len() as u32);
            if checker.define(&def.name, Def::Trait(id), is_public) {
                checker.trait_items.push((checker.current, def));
                checker.traits.push(typed::Trait {
                    name: checker.full_name(&def.name.name),
                    name_span: def.name.span,
                    generics: Vec::new(),
                    methods: Vec::new(),
                });
            }
            checker.report_unknown_attributes(&item.attrs, "trait");
        }
        // Impls have no names: they are taken in when all types are known.
        ItemKind::Impl(_) => {}
        ItemKind::Import(import) => {
            scope::declare_import(checker, item, import);
            checker.report_unknown_attributes(&item.attrs, "import");
        }
        ItemKind::Error => {}
    }
}

/// Structs and enums: the parameters of all, then what they are made of, which may be any of
/// them but themselves.
fn resolve_types(checker: &mut ModuleChecker<'_>) {
    for at in 0..checker.struct_items.len() {
        let (module, item) = checker.struct_items[at];
        let uses: Vec<&ast::TypeExpr> = item.fields.iter().map(|field| &field.ty).collect();
        checker.structs[at].generics = checker.within(module, |this| this.generics(&item.generics, &uses));
    }
    for at in 0..checker.enum_items.len() {
        let (module, item) = checker.enum_items[at];
        let uses: Vec<&ast::TypeExpr> =
            item.variants.iter().flat_map(|variant| payload_types(&variant.payload)).collect();
        checker.enums[at].generics = checker.within(module, |this| this.generics(&item.generics, &uses));
    }
    for at in 0..checker.struct_items.len() {
        let (module, item) = checker.struct_items[at];
        checker.current = module;
        let mut scope = TypeScope::new(checker.structs[at].generics.clone());
        checker.structs[at].fields = type_exprs::fields(checker, &item.fields, &mut scope);
    }
    for at in 0..checker.enum_items.len() {
        enums::resolve_variants(checker, at);
    }
    cycles::report_type_cycles(checker);
    cycles::report_enum_fields(checker);
    large_types::report_large_types(checker);
}

/// The types that a payload is made of.
fn payload_types(payload: &ast::Payload) -> Vec<&ast::TypeExpr> {
    match payload {
        ast::Payload::Unit => Vec::new(),
        ast::Payload::Tuple(types) => types.iter().collect(),
        ast::Payload::Struct(fields) => fields.iter().map(|field| &field.ty).collect(),
    }
}
