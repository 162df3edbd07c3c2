//! Types and signatures of wrapper functions as they are written, and how other signatures are made of them.

use cotan_syntax::ast::{Function, TypeExpr, TypeKind};
use std::fmt;

/// A type as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Written {
    /// `f64`
    Scalar(String),
    /// `f64[A, 2*N]`
    Tensor { elem: String, dims: Vec<String> },
    /// `(f64, i64[N])`
    Tuple(Vec<Written>),
}

impl Written {
    fn of(ty: &TypeExpr, text: &str) -> Result<Written, String> {
        match &ty.kind {
            TypeKind::Path(_) => Ok(Written::Scalar(text[ty.span.range()].to_owned())),
            TypeKind::Apply { base, args, .. } => {
                let dims = args.iter().map(|arg| text[arg.value.span.range()].to_owned()).collect();
                Ok(Written::Tensor { elem: text[base.span.range()].to_owned(), dims })
            }
            TypeKind::Tuple(parts) => {
                parts.iter().map(|part| Written::of(part, text)).collect::<Result<_, _>>().map(Written::Tuple)
            }
            TypeKind::Function { .. } | TypeKind::Error => Err(format!("`{}` in a wrapper", &text[ty.span.range()])),
        }
    }

    /// The parts of a tuple; every other type is the only part of itself.
    pub(super) fn parts(&self) -> &[Written] {
        match self {
            Written::Tuple(parts) => parts,
            Written::Scalar(_) | Written::Tensor { .. } => std::slice::from_ref(self),
        }
    }

    /// The element type; that of the first part of a tuple.
    pub(super) fn elem(&self) -> &str {
        match self {
            Written::Scalar(elem) | Written::Tensor { elem, .. } => elem,
            Written::Tuple(parts) => parts.first().map_or("()", Written::elem),
        }
    }

    /// Whether the elements are floats.
    pub(super) fn is_float(&self) -> bool {
        ["f16", "bf16", "f32", "f64"].contains(&self.elem())
    }

    /// The extents.
    pub(super) fn dims(&self) -> &[String] {
        match self {
            Written::Tensor { dims, .. } => dims,
            Written::Scalar(_) | Written::Tuple(_) => &[],
        }
    }

    /// The number of axes.
    pub(super) fn rank(&self) -> usize {
        self.dims().len()
    }

    /// The same type of other extents.
    pub(super) fn with_dims(&self, dims: Vec<String>) -> Written {
        match self {
            Written::Scalar(elem) | Written::Tensor { elem, .. } if dims.is_empty() => Written::Scalar(elem.clone()),
            Written::Scalar(elem) | Written::Tensor { elem, .. } => Written::Tensor { elem: elem.clone(), dims },
            Written::Tuple(_) => self.clone(),
        }
    }

    /// The type with one more axis in each part: the first or the last one.
    pub(super) fn with_axis(&self, extent: &str, is_last: bool) -> Written {
        match self {
            Written::Scalar(_) | Written::Tensor { .. } => {
                let mut dims = self.dims().to_vec();
                dims.insert(if is_last { dims.len() } else { 0 }, extent.to_owned());
                self.with_dims(dims)
            }
            Written::Tuple(parts) => Written::Tuple(parts.iter().map(|part| part.with_axis(extent, is_last)).collect()),
        }
    }

    /// The type with other floats.
    pub(super) fn with_floats(&self, name: &str) -> Written {
        match self {
            Written::Scalar(_) if self.is_float() => Written::Scalar(name.to_owned()),
            Written::Tensor { dims, .. } if self.is_float() => {
                Written::Tensor { elem: name.to_owned(), dims: dims.clone() }
            }
            Written::Scalar(_) | Written::Tensor { .. } => self.clone(),
            Written::Tuple(parts) => Written::Tuple(parts.iter().map(|part| part.with_floats(name)).collect()),
        }
    }
}

impl fmt::Display for Written {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Written::Scalar(elem) => f.write_str(elem),
            Written::Tensor { elem, dims } => write!(f, "{elem}[{}]", dims.join(", ")),
            Written::Tuple(parts) => {
                let parts: Vec<String> = parts.iter().map(Written::to_string).collect();
                write!(f, "({})", parts.join(", "))
            }
        }
    }
}

/// What a function takes and gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Signature {
    /// Its sizes.
    pub(super) sizes: Vec<String>,
    /// Names and types of the parameters.
    pub(super) params: Vec<(String, Written)>,
    /// The type of the result.
    pub(super) result: Written,
}

impl Signature {
    /// The signature of a function of that text.
    pub(super) fn of(function: &Function, text: &str) -> Result<Signature, String> {
        let signature = &function.signature;
        let sizes = signature.generics.iter().map(|size| text[size.span.range()].to_owned()).collect();
        let params =
            signature.params.iter().map(|param| Ok((param.name.name.to_string(), Written::of(&param.ty, text)?)));
        let result = signature.result.as_ref().ok_or("a wrapper without a result")?;
        Ok(Signature { sizes, params: params.collect::<Result<_, String>>()?, result: Written::of(result, text)? })
    }

    /// The text of a function of that signature whose value is `body`.
    pub(super) fn declare(&self, name: &str, body: &str) -> String {
        let sizes = if self.sizes.is_empty() { String::new() } else { format!("[{}]", self.sizes.join(", ")) };
        let params: Vec<String> = self.params.iter().map(|(name, ty)| format!("{name}: {ty}")).collect();
        format!("fn {name}{sizes}({}) -> {} {{ {body} }}\n", params.join(", "), self.result)
    }
}
