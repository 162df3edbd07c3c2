//! Ranks of arguments: tensors with more or fewer axes than a parameter has, as when a function of one row gets a batch.

use cotan_syntax::{Diagnostic, Span};

use super::conversions::Advice;
use super::infer::Misfit;
use super::{BodyChecker, fit};
use crate::codes;
use crate::typed::{Arg, Expr};
use crate::types::Type;

/// Reports arguments of another rank than their parameters, in the call at `span`; `false` if there are none.
pub(super) fn report(checker: &mut BodyChecker<'_, '_>, args: &[(String, Type, Arg)], span: Span) -> bool {
    let misfits = args.iter().filter_map(|(subject, wanted, arg)| match arg {
        Arg::Value(value) if value.ty.has_error() || wanted.has_error() || excess(value, wanted) == 0 => None,
        Arg::Value(value) => Some((subject, wanted, value)),
        Arg::Function(_) | Arg::Pack(_) => None,
    });
    let misfits: Vec<(&String, &Type, &Expr)> = misfits.collect();
    let [(subject, wanted, value), others @ ..] = misfits.as_slice() else { return false };
    let message = format!("expected {} for {subject}, found {}", axes_of(wanted), checker.show_value(value));
    let advice = match over_rows(checker, args, span) {
        Some(code) => Advice::new(format!("go over the first axis: `{code}`")),
        None => fit::misfit_advice(checker, value, wanted, &Misfit::Rank),
    };
    let mut diagnostic = Diagnostic::error(codes::RANK_MISMATCH, value.span, message);
    for (_, wanted, value) in others {
        diagnostic =
            diagnostic.label(value.span, format!("{} here, not `{}`", axes_of(wanted), checker.show(&value.ty)));
    }
    checker.report(advice.on(diagnostic));
    true
}

/// How many axes a parameter takes, in words.
fn axes_of(wanted: &Type) -> String {
    let rank = own_axes(wanted);
    let (plural, more) = (if rank == 1 { "" } else { "s" }, if wanted.has_pack() { " or more" } else { "" });
    format!("{rank} dim{plural}{more}")
}

/// How many axes a value has more than are wanted. A shape pack takes any number of them.
fn excess(value: &Expr, wanted: &Type) -> isize {
    let more = value.ty.dims().len() as isize - own_axes(wanted) as isize;
    if wanted.has_pack() { more.min(0) } else { more }
}

/// The axes of a type that are no pack.
fn own_axes(ty: &Type) -> usize {
    ty.dims().iter().filter(|dim| dim.as_pack().is_none()).count()
}

/// The call with `vmap`, if the arguments have one axis more than is wanted, or are as wanted.
fn over_rows(checker: &BodyChecker<'_, '_>, args: &[(String, Type, Arg)], span: Span) -> Option<String> {
    let axis = |(_, wanted, arg): &(String, Type, Arg)| match arg {
        Arg::Value(value) => match excess(value, wanted) {
            1 => Some("0"),
            0 => Some("_"),
            _ => None,
        },
        Arg::Function(_) | Arg::Pack(_) => None,
    };
    let axes: Vec<&str> = args.iter().map(axis).collect::<Option<_>>()?;
    let (callee, rest) = checker.module.written(span)?.split_once('(')?;
    let is_name = callee.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.'));
    let axes = if axes.contains(&"_") { axes.join(", ") } else { "0".to_owned() };
    (is_name && axes.contains('0')).then(|| format!("vmap[{axes}]({callee})({rest}"))
}
