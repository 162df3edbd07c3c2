//! Types as text, for messages.

use crate::dims::{Atom, Dim};
use crate::types::{Generic, GenericArg, Scalar, TraitRef, Type};
use crate::unify::{Elems, ScalarVars};

/// What names stand for in a body.
pub(crate) struct Names<'n> {
    pub(crate) generics: &'n [Generic],
    pub(crate) structs: &'n dyn Fn(u32) -> String,
    pub(crate) enums: &'n dyn Fn(u32) -> String,
    pub(crate) locals: &'n dyn Fn(u32) -> String,
    pub(crate) vars: &'n ScalarVars,
}

impl Names<'_> {
    /// A type as the user would write it.
    pub(crate) fn ty(&self, ty: &Type) -> String {
        match ty {
            Type::Error => "?".to_owned(),
            Type::Never => "no value".to_owned(),
            Type::Scalar(scalar) => self.scalar(*scalar),
            Type::Tensor { elem, dims } => {
                let dims: Vec<String> = dims.iter().map(|dim| self.dim(dim)).collect();
                format!("{}[{}]", self.ty(elem), dims.join(", "))
            }
            Type::Tuple(parts) => format!("({})", self.list(parts)),
            Type::Struct(of) => self.applied(&(self.structs)(of.def.0), &of.args, of.tangent),
            Type::Enum(of) => self.applied(&(self.enums)(of.def.0), &of.args, of.tangent),
            Type::Function(of) => format!("({}) -> {}", self.list(&of.params), self.ty(&of.result)),
            Type::Param(id) => self.generic(id.0),
        }
    }

    fn applied(&self, name: &str, args: &[GenericArg], is_tangent: bool) -> String {
        let applied = format!("{name}{}", self.args(args));
        if is_tangent { format!("tangent[{applied}]") } else { applied }
    }

    /// A trait with its arguments.
    pub(crate) fn trait_ref(&self, name: &str, of: &TraitRef) -> String {
        format!("{name}{}", self.args(&of.args))
    }

    fn args(&self, args: &[GenericArg]) -> String {
        let args: Vec<String> = args.iter().map(|arg| self.arg(arg)).collect();
        if args.is_empty() { String::new() } else { format!("[{}]", args.join(", ")) }
    }

    fn list(&self, types: &[Type]) -> String {
        types.iter().map(|ty| self.ty(ty)).collect::<Vec<_>>().join(", ")
    }

    fn arg(&self, arg: &GenericArg) -> String {
        match arg {
            GenericArg::Size(dim) => self.dim(dim),
            GenericArg::Scalar(scalar) => self.scalar(*scalar),
            GenericArg::Type(ty) => self.ty(ty),
            GenericArg::Pack(dims) if dims.len() == 1 && dims[0].as_pack().is_some() => self.dim(&dims[0]),
            GenericArg::Pack(dims) => {
                format!("[{}]", dims.iter().map(|dim| self.dim(dim)).collect::<Vec<_>>().join(", "))
            }
        }
    }

    /// A scalar type; one that is open is `{integer}`, `{float}` or `{number}`, by what it can become.
    pub(crate) fn scalar(&self, scalar: Scalar) -> String {
        match self.vars.resolve(scalar) {
            Scalar::Of(elem) => elem.name().to_owned(),
            Scalar::Param(id) => self.generic(id.0),
            open @ Scalar::Var(_) => match self.vars.default_of(open) {
                Some(elem) if elem.is_integer() && self.vars.is_within(open, Elems::integer()) => {
                    "{integer}".to_owned()
                }
                Some(elem) if elem.is_integer() => "{number}".to_owned(),
                Some(_) => "{float}".to_owned(),
                None if self.vars.is_within(open, Elems::any_float()) => "{float}".to_owned(),
                None if self.vars.is_within(open, Elems::integer()) => "{integer}".to_owned(),
                None if self.vars.is_within(open, Elems::numeric()) => "{number}".to_owned(),
                None => "_".to_owned(),
            },
        }
    }

    fn generic(&self, at: u32) -> String {
        self.generics.get(at as usize).map_or_else(|| "?".to_owned(), |generic| generic.name.clone())
    }

    /// A size; one that only exists at run time is `_`.
    pub(crate) fn dim(&self, dim: &Dim) -> String {
        let hole = || "_".to_owned();
        dim.show(&|atom| match atom {
            Atom::Size(id) => self.generic(id.0),
            // What the checker binds itself has a name that no source has.
            Atom::Value(local) => {
                Some((self.locals)(local.0)).filter(|name| !name.starts_with('$')).unwrap_or_else(hole)
            }
            Atom::Pack(id) => format!("..{}", self.generic(id.0)),
            Atom::Runtime(_) | Atom::Floor(..) => hole(),
        })
    }
}
