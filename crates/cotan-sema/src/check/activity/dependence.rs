//! What a value depends on, what a function's result does, and sets of parameters as bits.

use cotan_syntax::Span;

/// Parameters as bits; those beyond the last bit are left out, and never warned about.
pub(in crate::check) type Params = u64;

/// Casts of a function as bits; those beyond the last bit are left out, and never spoken of.
pub(in crate::check) type Casts = u64;

/// What a value depends on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::check) struct Dependence {
    /// The parameters from which a derivative flows.
    pub(in crate::check) smooth: Params,
    /// The parameters that it is computed from, by integers too, and not only chosen or counted by.
    pub(in crate::check) value: Params,
    /// All parameters that it depends on, also through integers and branches.
    pub(in crate::check) any: Params,
    /// The casts to integers that end a derivative and whose result it is computed from.
    pub(in crate::check) casts: Casts,
    /// Where a derivative stopped on the way.
    pub(in crate::check) cut: Option<Span>,
}

impl Dependence {
    pub(in crate::check) fn and(self, other: Self) -> Self {
        Self {
            smooth: self.smooth | other.smooth,
            value: self.value | other.value,
            any: self.any | other.any,
            casts: self.casts | other.casts,
            cut: self.cut.or(other.cut),
        }
    }

    /// The dependence without a derivative, which stops at `span` if there was one.
    pub(in crate::check) fn cut_at(self, span: Span) -> Self {
        let cut = if self.smooth == 0 { self.cut } else { self.cut.or(Some(span)) };
        Self { smooth: 0, cut, ..self }
    }

    /// The dependence of what is chosen, counted or placed by a value.
    pub(in crate::check) fn decided_at(self, span: Span) -> Self {
        Self { value: 0, casts: 0, ..self.cut_at(span) }
    }

    /// The parameters in a set, smoothly.
    pub(in crate::check) fn smoothly(params: Params) -> Self {
        Self { smooth: params, value: params, any: params, casts: 0, cut: None }
    }
}

/// A cast to an integer that ends a derivative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::check) struct Cast {
    pub(in crate::check) span: Span,
    /// The parameters from which a derivative would have flowed.
    pub(in crate::check) of: Params,
}

/// A loop whose number of iterations depends on parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::check) struct LoopDependence {
    /// The condition or the bound.
    pub(in crate::check) span: Span,
    /// What each part of the condition depends on where the loop begins.
    pub(in crate::check) deciders: Vec<Params>,
}

/// What the result of a function depends on, with the loops that it runs.
#[derive(Clone, Debug, Default)]
pub(in crate::check) struct Summary {
    pub(in crate::check) result: Dependence,
    pub(in crate::check) loops: Vec<LoopDependence>,
    /// The casts whose results the result is computed from.
    pub(in crate::check) casts: Vec<Cast>,
}

impl Summary {
    /// The summary of something that depends on parameters smoothly, as far as we know.
    pub(in crate::check) fn smoothly(params: Params) -> Self {
        Self { result: Dependence::smoothly(params), ..Self::default() }
    }
}

/// The bit of a parameter, or of a cast.
pub(in crate::check) fn bit(param: usize) -> Params {
    1u64.checked_shl(param as u32).unwrap_or(0)
}

/// What the parameters in a set are at a call.
pub(in crate::check) fn select(params: Params, args: &[Dependence]) -> Dependence {
    let taken = args.iter().enumerate().filter(|(at, _)| params & bit(*at) != 0);
    taken.fold(Dependence::default(), |all, (_, arg)| all.and(*arg))
}
