//! Declarations.

use super::Formatter;
use super::lists::Separator;
use crate::ast::{Const, ExprKind, Field, Function, GenericParam, Item, ItemKind, Param, Payload, Signature, Variant};
use crate::token::TokenKind;

impl Formatter<'_> {
    pub(super) fn module(&mut self, items: &[Item]) {
        for (k, item) in items.iter().enumerate() {
            if k > 0 {
                let blank = self.blank_follows();
                self.layout.newline(blank);
            }
            self.item(item);
            self.skip(TokenKind::Semicolon);
        }
        self.comments();
    }

    fn item(&mut self, item: &Item) {
        self.bound.clear();
        self.attrs(&item.attrs);
        if item.public.is_some() {
            self.next_and_space();
        }
        match &item.kind {
            ItemKind::Function(function) => self.function(function),
            ItemKind::Struct(parts) => {
                self.named(&parts.generics);
                self.fields(&parts.fields);
            }
            ItemKind::Enum(parts) => {
                self.named(&parts.generics);
                self.layout.space();
                self.braces(parts.variants.len(), Separator::Line, false, |f, k| f.variant(&parts.variants[k]));
            }
            ItemKind::TypeAlias(parts) => {
                self.named(&parts.generics);
                self.spaced_next();
                self.ty(&parts.ty);
            }
            ItemKind::Const(parts) => self.constant(parts),
            ItemKind::Trait(parts) => {
                self.named(&parts.generics);
                self.layout.space();
                self.braces(parts.methods.len(), Separator::Line, false, |f, k| {
                    f.attrs(&parts.methods[k].attrs);
                    f.signature(&parts.methods[k].signature);
                });
            }
            ItemKind::Impl(parts) => {
                self.next();
                self.generics(&parts.generics);
                self.layout.space();
                self.ty(&parts.trait_ref);
                self.spaced_next();
                self.ty(&parts.target);
                self.layout.space();
                self.braces(parts.items.len(), Separator::Line, false, |f, k| f.item(&parts.items[k]));
            }
            ItemKind::Import(_) => {
                self.next_and_space();
                self.tokens_of(item.span);
            }
            ItemKind::Error => self.tokens_of(item.span),
        }
    }

    /// A keyword, a name and the parameters in brackets.
    fn named(&mut self, generics: &[GenericParam]) {
        self.next_and_space();
        self.next();
        self.generics(generics);
    }

    fn generics(&mut self, generics: &[GenericParam]) {
        if self.at(TokenKind::LBracket) {
            self.list(generics.len(), |f, k| f.tokens_of(generics[k].span));
        }
    }

    fn function(&mut self, function: &Function) {
        self.signature(&function.signature);
        self.layout.space();
        if self.at(TokenKind::Eq) {
            self.bare_next();
            self.right_side(&function.body);
        } else if let ExprKind::Block(block) = &function.body.kind {
            self.block(block);
        }
    }

    fn signature(&mut self, signature: &Signature) {
        self.named(&signature.generics);
        self.list(signature.params.len(), |f, k| f.param(&signature.params[k]));
        if let Some(result) = &signature.result {
            self.spaced_next();
            self.ty(result);
        }
    }

    fn param(&mut self, param: &Param) {
        self.attrs(&param.attrs);
        if param.mutable.is_some() {
            self.next_and_space();
        }
        if !Self::is_function_type(&param.ty) {
            self.bind();
        }
        self.next();
        self.type_after_colon(&param.ty);
        if let Some(default) = &param.default {
            self.spaced_next();
            self.expr(default);
        }
    }

    fn fields(&mut self, fields: &[Field]) {
        self.layout.space();
        self.braces(fields.len(), Separator::Line, false, |f, k| {
            let field = &fields[k];
            f.attrs(&field.attrs);
            f.next();
            f.type_after_colon(&field.ty);
        });
    }

    fn variant(&mut self, variant: &Variant) {
        self.next();
        match &variant.payload {
            Payload::Unit => {}
            Payload::Tuple(types) => self.list(types.len(), |f, k| f.ty(&types[k])),
            Payload::Struct(fields) => self.fields(fields),
        }
    }

    fn constant(&mut self, parts: &Const) {
        self.named(&[]);
        if let Some(ty) = &parts.ty {
            self.type_after_colon(ty);
        }
        self.layout.space();
        self.bare_next();
        self.right_side(&parts.value);
    }
}
