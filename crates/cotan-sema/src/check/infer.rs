//! Unification of types: scalar types and open sizes are decided where types meet, and sizes that may differ are left to
//! the run.

use cotan_ir::Elem;
use cotan_syntax::Span;

use super::runtime_sizes::RuntimeSizes;
use crate::dims::{Dim, Relation};
use crate::types::{EnumType, GenericArg, Scalar, StructType, Type};
use crate::unify::{Elems, ScalarVars};

/// How strictly sizes must agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Strictness {
    /// Sizes known from the signature must have one normal form.
    Exact,
    /// The user asks for a check: only sizes that surely differ are an error.
    Ascribed,
}

/// Why a type does not fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Misfit {
    /// The structure or a scalar type differs.
    Type,
    /// The number of dims differs.
    Rank,
    /// These sizes differ: wanted, found.
    Size(Dim, Dim),
}

/// What is found out about the types of a body.
pub(super) struct Infer {
    /// The scalar types of literals and generics.
    pub(super) vars: ScalarVars,
    /// The sizes that only exist at run time.
    pub(super) sizes: RuntimeSizes,
}

impl Infer {
    /// Nothing is known but the scalar types in `vars`.
    pub(super) fn new(vars: ScalarVars) -> Infer {
        Infer { vars, sizes: RuntimeSizes::default() }
    }

    /// Whether a type holds scalars of these types; decides it where that is open.
    pub(super) fn has_elems(&mut self, ty: &Type, elems: Elems) -> bool {
        ty.scalar().is_some_and(|scalar| self.vars.require(scalar, elems))
    }

    /// Makes floats of the literals in a type that may be floats or integers.
    pub(super) fn decide_floats(&mut self, ty: &Type) {
        ty.clone().each_scalar_mut(&mut |scalar| {
            if self.vars.default_of(*scalar).is_some() {
                self.vars.require(*scalar, Elems::any_float());
            }
        });
    }

    /// A scalar type at the end of the body: any will do where nothing decides it, which has been reported.
    fn decided(&self, scalar: Scalar) -> Scalar {
        self.vars.decide(scalar).unwrap_or(Scalar::Of(Elem::F64))
    }

    /// Makes a type what it is at the end of the body.
    pub(super) fn decide_type(&self, ty: &mut Type) {
        ty.each_scalar_mut(&mut |scalar| *scalar = self.decided(*scalar));
        ty.each_dim_mut(&mut |dim| *dim = self.sizes.resolve(dim));
    }

    /// Makes what a generic stands for what it is at the end of the body.
    pub(super) fn decide_arg(&self, arg: &mut GenericArg) {
        arg.each_scalar_mut(&mut |scalar| *scalar = self.decided(*scalar));
        arg.each_dim_mut(&mut |dim| *dim = self.sizes.resolve(dim));
    }

    /// Relates a type to the one that is wanted, deciding scalar types on the way. `Ok(true)` if
    /// the sizes must be checked at run time.
    pub(super) fn relate(&mut self, found: &Type, wanted: &Type, how: Strictness) -> Result<bool, Misfit> {
        match (found, wanted) {
            (Type::Error | Type::Never, _) | (_, Type::Error) => Ok(false),
            (Type::Scalar(a), Type::Scalar(b)) => {
                if self.vars.unify(*b, *a) {
                    Ok(false)
                } else {
                    Err(Misfit::Type)
                }
            }
            (Type::Tensor { elem: a, dims: found }, Type::Tensor { elem: b, dims: wanted }) => {
                let mut needs_check = self.relate(a, b, how)?;
                needs_check |= self.relate_shapes(found, wanted, how)?;
                Ok(needs_check)
            }
            (Type::Param(a), Type::Param(b)) if a == b => Ok(false),
            (Type::Tuple(found), Type::Tuple(wanted)) if found.len() == wanted.len() => {
                let mut needs_check = false;
                for (found, wanted) in found.iter().zip(wanted) {
                    needs_check |= self.relate(found, wanted, how)?;
                }
                Ok(needs_check)
            }
            (Type::Struct(found), Type::Struct(wanted))
                if found.def == wanted.def
                    && found.tangent == wanted.tangent
                    && found.args.len() == wanted.args.len() =>
            {
                self.relate_args(&found.args, &wanted.args, how)
            }
            (Type::Enum(found), Type::Enum(wanted))
                if found.def == wanted.def
                    && found.tangent == wanted.tangent
                    && found.args.len() == wanted.args.len() =>
            {
                self.relate_args(&found.args, &wanted.args, how)
            }
            (Type::Function(found), Type::Function(wanted)) if found.params.len() == wanted.params.len() => {
                for (found, wanted) in found.params.iter().zip(&wanted.params) {
                    if self.relate(found, wanted, how)? {
                        return Err(Misfit::Type);
                    }
                }
                if self.relate(&found.result, &wanted.result, how)? { Err(Misfit::Type) } else { Ok(false) }
            }
            (
                Type::Scalar(_)
                | Type::Tensor { .. }
                | Type::Tuple(_)
                | Type::Struct(_)
                | Type::Enum(_)
                | Type::Function(_)
                | Type::Param(_),
                _,
            ) => Err(Misfit::Type),
        }
    }

    fn relate_args(&mut self, found: &[GenericArg], wanted: &[GenericArg], how: Strictness) -> Result<bool, Misfit> {
        let mut needs_check = false;
        for (found, wanted) in found.iter().zip(wanted) {
            needs_check |= match (found, wanted) {
                (GenericArg::Size(found), GenericArg::Size(wanted)) => self.relate_dims(found, wanted, how)?,
                (GenericArg::Scalar(a), GenericArg::Scalar(b)) if self.vars.unify(*b, *a) => false,
                (GenericArg::Type(found), GenericArg::Type(wanted)) => self.relate(found, wanted, how)?,
                (GenericArg::Pack(found), GenericArg::Pack(wanted)) => self.relate_shapes(found, wanted, how)?,
                (GenericArg::Size(_) | GenericArg::Scalar(_) | GenericArg::Type(_) | GenericArg::Pack(_), _) => {
                    return Err(Misfit::Type);
                }
            };
        }
        Ok(needs_check)
    }

    /// Whether extents must be checked at run time. A shape pack is equal to itself alone: it stands for as many sizes.
    fn relate_shapes(&mut self, found: &[Dim], wanted: &[Dim], how: Strictness) -> Result<bool, Misfit> {
        let packs_differ = |(found, wanted): (&Dim, &Dim)| found.as_pack() != wanted.as_pack();
        if found.len() != wanted.len() || found.iter().zip(wanted).any(packs_differ) {
            return Err(Misfit::Rank);
        }
        let mut needs_check = false;
        for (found, wanted) in found.iter().zip(wanted) {
            needs_check |= self.relate_dims(found, wanted, how)?;
        }
        Ok(needs_check)
    }

    /// Whether sizes must be checked at run time. A size that is open becomes the other one.
    fn relate_dims(&mut self, found: &Dim, wanted: &Dim, how: Strictness) -> Result<bool, Misfit> {
        let (found, wanted) = (self.sizes.resolve(found), self.sizes.resolve(wanted));
        if self.sizes.decide(&found, &wanted) {
            return Ok(false);
        }
        let surely_differ = || found.minus(&wanted).is_some_and(|difference| difference.as_constant().is_some());
        match found.relation(&wanted) {
            Relation::Equal => Ok(false),
            Relation::Check => Ok(true),
            Relation::Differ if how == Strictness::Ascribed && !surely_differ() => Ok(true),
            Relation::Differ => Err(Misfit::Size(wanted, found)),
        }
    }

    /// The type that two alternatives of an expression have together. Sizes that may differ
    /// become a run-time size of its own.
    pub(super) fn join(&mut self, first: &Type, second: &Type, span: Span) -> Result<Type, Misfit> {
        match (first, second) {
            (Type::Never | Type::Error, other) | (other, Type::Never | Type::Error) => Ok(other.clone()),
            (Type::Tensor { elem: a, dims: first }, Type::Tensor { elem: b, dims: second })
                if first.len() == second.len() =>
            {
                let elem = self.join(a, b, span)?;
                Ok(Type::tensor(elem, self.join_shapes(first, second, span)?))
            }
            (Type::Tuple(first), Type::Tuple(second)) if first.len() == second.len() => {
                let parts: Result<Vec<Type>, Misfit> =
                    first.iter().zip(second).map(|(a, b)| self.join(a, b, span)).collect();
                parts.map(Type::Tuple)
            }
            (Type::Struct(a), Type::Struct(b)) if a.def == b.def && a.tangent == b.tangent => {
                Ok(Type::Struct(StructType { args: self.join_args(&a.args, &b.args, span)?, ..a.clone() }))
            }
            (Type::Enum(a), Type::Enum(b)) if a.def == b.def && a.tangent == b.tangent => {
                Ok(Type::Enum(EnumType { args: self.join_args(&a.args, &b.args, span)?, ..a.clone() }))
            }
            _ => match self.relate(second, first, Strictness::Exact) {
                Ok(_) => Ok(first.clone()),
                Err(misfit) => Err(misfit),
            },
        }
    }

    fn join_args(
        &mut self,
        first: &[GenericArg],
        second: &[GenericArg],
        span: Span,
    ) -> Result<Vec<GenericArg>, Misfit> {
        let mut joined = Vec::new();
        for (a, b) in first.iter().zip(second) {
            joined.push(match (a, b) {
                (GenericArg::Size(a), GenericArg::Size(b)) => {
                    let is_new = self.relate_dims(b, a, Strictness::Exact)?;
                    GenericArg::Size(if is_new { self.sizes.fresh(span) } else { a.clone() })
                }
                (GenericArg::Scalar(a), GenericArg::Scalar(b)) if self.vars.unify(*a, *b) => GenericArg::Scalar(*a),
                (GenericArg::Type(a), GenericArg::Type(b)) => GenericArg::Type(self.join(a, b, span)?),
                (GenericArg::Pack(a), GenericArg::Pack(b)) => GenericArg::Pack(self.join_shapes(a, b, span)?),
                (GenericArg::Size(_) | GenericArg::Scalar(_) | GenericArg::Type(_) | GenericArg::Pack(_), _) => {
                    return Err(Misfit::Type);
                }
            });
        }
        Ok(joined)
    }

    /// The extents that two alternatives have together.
    fn join_shapes(&mut self, first: &[Dim], second: &[Dim], span: Span) -> Result<Vec<Dim>, Misfit> {
        self.relate_shapes(second, first, Strictness::Exact)?;
        let mut joined = Vec::new();
        for (a, b) in first.iter().zip(second) {
            let is_new = self.relate_dims(b, a, Strictness::Exact)?;
            joined.push(if is_new { self.sizes.fresh(span) } else { a.clone() });
        }
        Ok(joined)
    }
}
