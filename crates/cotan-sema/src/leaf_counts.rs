//! How many leaves types have, counted without writing them out: tuples of tuples, structs of structs and types given
//! for parameters double with each line of a program.
//!
//! The leaves of a declared type are a number of its own and, for each of its parameters, a number of times the leaves
//! of what is given for it. So every declaration is counted once, and a type takes as long as its text.

use crate::dims::GenericId;
use crate::typed::{Enum, Field, Struct};
use crate::types::{GenericArg, Scalar, Type};

/// The numbers of leaves of the declared types of a program.
#[derive(Clone, Debug, Default)]
pub(crate) struct LeafCounts {
    structs: Vec<Count>,
    enums: Vec<Count>,
}

/// A number of leaves that depends on the parameters of a declaration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Count {
    own: u64,
    /// How often the leaves of each parameter come.
    times: Vec<u64>,
}

impl Count {
    fn constant(own: u64) -> Count {
        Count { own, times: Vec::new() }
    }

    fn param(at: GenericId) -> Count {
        let mut times = vec![0; at.0 as usize];
        times.push(1);
        Count { own: 0, times }
    }

    fn add(&mut self, other: &Count, n: u64) {
        self.own = self.own.saturating_add(other.own.saturating_mul(n));
        if self.times.len() < other.times.len() {
            self.times.resize(other.times.len(), 0);
        }
        for (times, more) in self.times.iter_mut().zip(&other.times) {
            *times = times.saturating_add(more.saturating_mul(n));
        }
    }

    /// The number where every parameter is one leaf.
    fn total(&self) -> u64 {
        self.times.iter().fold(self.own, |sum, times| sum.saturating_add(*times))
    }
}

/// A declaration: a struct or, after all structs, an enum.
type At = usize;

impl LeafCounts {
    /// Those of declarations that do not contain themselves.
    pub(crate) fn of(structs: &[Struct], enums: &[Enum]) -> LeafCounts {
        let n = structs.len() + enums.len();
        let fields = |at: At| -> Vec<&Field> {
            match at.checked_sub(structs.len()) {
                None => structs[at].fields.iter().collect(),
                Some(at) => enums[at].variants.iter().flat_map(|variant| &variant.fields).collect(),
            }
        };
        let mut counts =
            LeafCounts { structs: vec![Count::default(); structs.len()], enums: vec![Count::default(); enums.len()] };
        let mut is_seen = vec![false; n];
        // What a declaration is made of is counted before it; a list instead of recursion, as chains may be long.
        let mut open: Vec<(At, bool)> = (0..n).rev().map(|at| (at, false)).collect();
        while let Some((at, is_ready)) = open.pop() {
            if is_ready {
                let mut count = Count::constant(u64::from(at >= structs.len()));
                fields(at).iter().for_each(|field| count.add(&counts.count(&field.ty), 1));
                match at.checked_sub(structs.len()) {
                    None => counts.structs[at] = count,
                    Some(at) => counts.enums[at] = count,
                }
            } else if !std::mem::replace(&mut is_seen[at], true) {
                open.push((at, true));
                for field in fields(at) {
                    each_declared(&field.ty, structs.len(), &mut |needed| {
                        if !is_seen[needed] {
                            open.push((needed, false));
                        }
                    });
                }
            }
        }
        counts
    }

    /// The number of leaves of a struct whose parameters have one leaf each.
    pub(crate) fn of_struct(&self, at: usize) -> u64 {
        self.structs.get(at).map_or(0, Count::total)
    }

    /// The same of an enum.
    pub(crate) fn of_enum(&self, at: usize) -> u64 {
        self.enums.get(at).map_or(0, Count::total)
    }

    /// The number of leaves of a type; a parameter is one. What has none, such as an empty tuple, counts as one too, so
    /// that no type is larger than its number.
    pub(crate) fn leaves(&self, ty: &Type) -> u64 {
        self.count(ty).total()
    }

    fn count(&self, ty: &Type) -> Count {
        match ty {
            Type::Error | Type::Never | Type::Function(_) | Type::Scalar(Scalar::Of(_) | Scalar::Var(_)) => {
                Count::constant(1)
            }
            Type::Scalar(Scalar::Param(id)) | Type::Param(id) => Count::param(*id),
            Type::Tensor { elem, .. } => self.count(elem),
            Type::Tuple(parts) => {
                let mut count = Count::default();
                parts.iter().for_each(|part| count.add(&self.count(part), 1));
                if parts.is_empty() { Count::constant(1) } else { count }
            }
            Type::Struct(of) => self.applied(self.structs.get(of.def.0 as usize), &of.args),
            Type::Enum(of) => self.applied(self.enums.get(of.def.0 as usize), &of.args),
        }
    }

    fn applied(&self, def: Option<&Count>, args: &[GenericArg]) -> Count {
        let mut count = Count::constant(def.map_or(1, |def| def.own));
        for (at, arg) in args.iter().enumerate() {
            // What is given stands in the type, used or not.
            let n = def.and_then(|def| def.times.get(at)).map_or(1, |times| (*times).max(1));
            match arg {
                GenericArg::Type(ty) => count.add(&self.count(ty), n),
                GenericArg::Scalar(scalar) => count.add(&self.count(&Type::Scalar(*scalar)), n),
                GenericArg::Size(_) | GenericArg::Pack(_) => {}
            }
        }
        count
    }
}

/// How many tuples, parts of tuples and types for parameters a type is written with, below itself.
pub(crate) fn n_written_parts(ty: &Type) -> usize {
    let of_args = |args: &[GenericArg]| {
        let types = args.iter().filter_map(|arg| if let GenericArg::Type(ty) = arg { Some(ty) } else { None });
        types.map(|ty| 1 + n_written_parts(ty)).sum()
    };
    match ty {
        Type::Error | Type::Never | Type::Function(_) | Type::Scalar(_) | Type::Param(_) => 0,
        Type::Tensor { elem, .. } => n_written_parts(elem),
        Type::Tuple(parts) => parts.iter().map(|part| 1 + n_written_parts(part)).sum(),
        Type::Struct(of) => of_args(&of.args),
        Type::Enum(of) => of_args(&of.args),
    }
}

/// Calls `f` for each declaration that a type is made of.
fn each_declared(ty: &Type, n_structs: usize, f: &mut dyn FnMut(At)) {
    let args = match ty {
        Type::Error | Type::Never | Type::Function(_) | Type::Scalar(_) | Type::Param(_) => return,
        Type::Tensor { elem, .. } => return each_declared(elem, n_structs, f),
        Type::Tuple(parts) => return parts.iter().for_each(|part| each_declared(part, n_structs, f)),
        Type::Struct(of) => {
            f(of.def.0 as usize);
            &of.args
        }
        Type::Enum(of) => {
            f(n_structs + of.def.0 as usize);
            &of.args
        }
    };
    for arg in args {
        if let GenericArg::Type(ty) = arg {
            each_declared(ty, n_structs, f);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{Generic, GenericKind, StructId, StructType};
    use cotan_ir::Elem;
    use cotan_syntax::Span;

    fn declared(generics: usize, fields: Vec<Type>) -> Struct {
        let kind = GenericKind::Type { is_differentiable: false };
        let generic = Generic { name: "T".to_owned(), kind, traits: Vec::new(), tangent_of: None };
        let field = |ty| Field { name: String::new(), span: Span::default(), ty };
        Struct {
            name: String::new(),
            name_span: Span::default(),
            generics: vec![generic; generics],
            fields: fields.into_iter().map(field).collect(),
        }
    }

    fn of(def: u32, args: Vec<Type>) -> Type {
        let args = args.into_iter().map(GenericArg::Type).collect();
        Type::Struct(StructType { def: StructId(def), args, tangent: false })
    }

    #[test]
    fn declared_types_are_counted_in_any_order_and_without_writing_them_out() {
        let float = Type::of(Elem::F64);
        let param = Type::Param(GenericId(0));
        // Number 0 needs 1, which doubles number 2; number 3 holds its parameter twice, and 4 not at all.
        let structs = [
            declared(0, vec![of(1, vec![]), float.clone()]),
            declared(0, vec![of(2, vec![]), of(2, vec![])]),
            declared(0, vec![float.clone(), float.clone(), float.clone()]),
            declared(1, vec![param.clone(), param]),
            declared(1, vec![float.clone()]),
        ];
        let counts = LeafCounts::of(&structs, &[]);
        assert_eq!((0..5).map(|at| counts.of_struct(at)).collect::<Vec<_>>(), [7, 6, 3, 2, 1]);
        let mut pairs = float.clone();
        let mut phantoms = float;
        for _ in 0..200 {
            pairs = of(3, vec![pairs]);
            phantoms = of(4, vec![phantoms]);
        }
        assert_eq!(counts.leaves(&pairs), u64::MAX, "2^200");
        assert_eq!(counts.leaves(&phantoms), 201);
        assert_eq!(n_written_parts(&phantoms), 200);
        assert_eq!(counts.leaves(&Type::Tuple(vec![of(0, vec![]), Type::UNIT])), 8);
    }
}
