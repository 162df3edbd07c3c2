//! Declarations.

use super::Tree;
use super::expressions::{attrs, expr, path, ty};
use crate::ast::{
    Field, FunctionForm, GenericParam, Import, ImportSource, Item, ItemKind, Param, Payload, Signature, TraitMethod,
    Variant,
};

pub(super) fn item(item: &Item) -> Tree {
    let doc = item.doc.iter().map(|doc| Tree::list("doc", [Tree::word(format!("{:?}", doc.text))]));
    let public = item.public.map(|_| Tree::word("pub"));
    let lead = doc.chain(attrs(&item.attrs)).chain(public);
    let (head, children) = kind(&item.kind);
    Tree::list(head, lead.chain(children))
}

fn kind(kind: &ItemKind) -> (&'static str, Vec<Tree>) {
    match kind {
        ItemKind::Function(function) => {
            let head = match function.form {
                FunctionForm::Fn => "fn",
                FunctionForm::Kernel => "kernel",
            };
            let mut children = signature(&function.signature);
            children.push(expr(&function.body));
            (head, children)
        }
        ItemKind::Struct(parts) => {
            let mut children = named(&parts.name.name, &parts.generics);
            children.extend(parts.fields.iter().map(field));
            ("struct", children)
        }
        ItemKind::Enum(parts) => {
            let mut children = named(&parts.name.name, &parts.generics);
            children.extend(parts.variants.iter().map(variant));
            ("enum", children)
        }
        ItemKind::TypeAlias(parts) => {
            let mut children = named(&parts.name.name, &parts.generics);
            children.push(ty(&parts.ty));
            ("type", children)
        }
        ItemKind::Const(parts) => {
            let mut children = named(&parts.name.name, &[]);
            children.extend(parts.ty.iter().map(ty));
            children.push(expr(&parts.value));
            ("const", children)
        }
        ItemKind::Trait(parts) => {
            let mut children = named(&parts.name.name, &parts.generics);
            children.extend(parts.methods.iter().map(method));
            ("trait", children)
        }
        ItemKind::Impl(parts) => {
            let mut children: Vec<_> = generics(&parts.generics).into_iter().collect();
            children.extend([ty(&parts.trait_ref), ty(&parts.target)]);
            children.extend(parts.items.iter().map(item));
            ("impl", children)
        }
        ItemKind::Import(parts) => ("import", import(parts)),
        ItemKind::Error => ("<error>", Vec::new()),
    }
}

fn named(name: &str, params: &[GenericParam]) -> Vec<Tree> {
    [Tree::word(name)].into_iter().chain(generics(params)).collect()
}

fn generics(params: &[GenericParam]) -> Option<Tree> {
    let param = |param: &GenericParam| {
        let pack = if param.pack.is_some() { ".." } else { "" };
        let name = format!("{pack}{}", param.name.name);
        if param.bounds.is_empty() {
            return Tree::word(name);
        }
        Tree::list(":", [Tree::word(name)].into_iter().chain(param.bounds.iter().map(ty)))
    };
    (!params.is_empty()).then(|| Tree::list("generics", params.iter().map(param)))
}

fn signature(signature: &Signature) -> Vec<Tree> {
    let mut children = named(&signature.name.name, &signature.generics);
    children.extend(signature.params.iter().map(param));
    children.extend(signature.result.iter().map(|result| Tree::list("result", [ty(result)])));
    children
}

fn param(param: &Param) -> Tree {
    let mutable = param.mutable.map(|_| Tree::word("mut"));
    let default = param.default.iter().map(|value| Tree::list("=", [expr(value)]));
    Tree::list(
        "param",
        attrs(&param.attrs).chain(mutable).chain([Tree::word(&param.name.name), ty(&param.ty)]).chain(default),
    )
}

fn field(field: &Field) -> Tree {
    let children = [Tree::word(&field.name.name), ty(&field.ty)];
    Tree::list("field", attrs(&field.attrs).chain(children))
}

fn variant(variant: &Variant) -> Tree {
    let payload: Vec<_> = match &variant.payload {
        Payload::Unit => Vec::new(),
        Payload::Tuple(types) => types.iter().map(ty).collect(),
        Payload::Struct(fields) => fields.iter().map(field).collect(),
    };
    let name = Tree::word(&variant.name.name);
    Tree::list("variant", [name].into_iter().chain(payload))
}

fn method(method: &TraitMethod) -> Tree {
    Tree::list("fn", attrs(&method.attrs).chain(signature(&method.signature)))
}

fn import(import: &Import) -> Vec<Tree> {
    let source = match &import.source {
        ImportSource::Library(name) => path(name),
        ImportSource::Relative { parents, segments, .. } => {
            let start = match parents {
                0 => "./".to_owned(),
                n => "../".repeat(*n as usize),
            };
            let names: Vec<_> = segments.iter().map(|s| s.name.as_str()).collect();
            start + &names.join("/")
        }
    };
    let alias = import.alias.iter().map(|name| Tree::list("as", [Tree::word(&name.name)]));
    [Tree::word(source)].into_iter().chain(alias).collect()
}
