//! The bracket of `vmap[0, _, -1, out = 1](f)`: which axis of each argument, and where the results get theirs. Knows
//! nothing of the function.

use cotan_syntax::ast::{self, Arg as AstArg};
use cotan_syntax::{Diagnostic, Span};

use super::{BodyChecker, arguments, axes};
use crate::codes;
use crate::typed::axes::{Oddity, odd_part};
use crate::types::Type;

/// The name of the form.
pub(super) const VMAP: &str = "vmap";

/// An axis as it is written.
#[derive(Clone, Copy)]
pub(super) struct Axis {
    /// The position; a negative one counts from the back.
    pub(super) at: i64,
    /// Where it stands.
    pub(super) span: Span,
    /// Whether it is that of one argument, or of the results: it must be there. The one axis for everything is the last
    /// one where there are fewer.
    is_exact: bool,
}

/// What stands in the bracket of a `vmap`.
pub(super) struct VmapAxes {
    of_arguments: OfArguments,
    /// Where the results get the axis.
    pub(super) out: Axis,
}

/// The axes of the arguments.
enum OfArguments {
    /// One for all.
    All(Axis),
    /// One for each, `None` for `_`.
    Each(Vec<Option<Axis>>, Span),
}

/// What has an axis.
#[derive(Clone, Copy)]
pub(super) enum Whose<'n> {
    /// The argument for the parameter of that name.
    Argument(&'n str),
    /// The results, with the new axis.
    Results,
}

impl Whose<'_> {
    fn noun(self) -> String {
        match self {
            Self::Argument(name) => format!("the argument `{name}`"),
            Self::Results => "the results".to_owned(),
        }
    }
}

/// The bracket of a `vmap` that stands at `span`: the first axis where it is left out.
pub(super) fn vmap_axes(checker: &mut BodyChecker<'_, '_>, selector: &[AstArg], span: Span) -> Option<VmapAxes> {
    let mut listed: Vec<Option<Axis>> = Vec::new();
    let mut list_span: Option<Span> = None;
    let mut out = None;
    let mut failed = false;
    for arg in selector {
        let at = arg.value.span;
        match &arg.name {
            None => {
                list_span = Some(list_span.map_or(at, |first| first.to(at)));
                let is_hole = matches!(arg.value.kind, ast::ExprKind::Hole);
                let axis = if is_hole { None } else { vmap_axis(checker, &arg.value) };
                failed |= axis.is_none() && !is_hole;
                listed.push(axis);
            }
            Some(name) if name.name == "out" && out.is_none() => {
                out = vmap_axis(checker, &arg.value);
                failed |= out.is_none();
            }
            Some(name) => {
                let found = if name.name == "out" { "`out` again".to_owned() } else { format!("`{}`", name.name) };
                let message = format!("expected axes and `out = axis` in `vmap`, found {found}");
                checker.report(
                    Diagnostic::error(codes::VMAP_AXIS, name.span, message)
                        .help("write the axes of the arguments, then that of the results: `vmap[0, _, out = 1](f)`"),
                );
                failed = true;
            }
        }
    }
    if failed {
        return None;
    }
    let first = listed.iter().flatten().next().copied();
    let of_arguments = match (listed.as_slice(), first, list_span) {
        ([], ..) => OfArguments::All(Axis { at: 0, span, is_exact: false }),
        ([Some(axis)], ..) => OfArguments::All(Axis { is_exact: false, ..*axis }),
        (_, Some(_), Some(list_span)) => OfArguments::Each(listed, list_span),
        (_, None, _) | (_, _, None) => {
            let message = "expected an axis of one argument of `vmap` at least, found `_` for all of them";
            checker.report(
                Diagnostic::error(codes::VMAP_AXIS, list_span.unwrap_or(span), message)
                    .help("`_` is for arguments that are the same for every position: `vmap[0, _](f)(xs, w)`"),
            );
            return None;
        }
    };
    let default = match &of_arguments {
        OfArguments::All(axis) => *axis,
        OfArguments::Each(..) => first?,
    };
    Some(VmapAxes { of_arguments, out: out.unwrap_or(default) })
}

/// An integer, maybe with a sign.
fn vmap_axis(checker: &mut BodyChecker<'_, '_>, expr: &ast::Expr) -> Option<Axis> {
    let value = checker.expr(expr);
    let found = checker.size_of(&value).and_then(|size| size.as_constant());
    if found.is_none() && !value.ty.has_error() {
        let message = format!("expected an integer as an axis of `vmap`, found {}", checker.show_value(&value));
        checker.report(
            Diagnostic::error(codes::VMAP_AXIS, expr.span, message)
                .help("write `vmap[0](f)` for the first axis, `vmap[-1](f)` for the last"),
        );
    }
    Some(Axis { at: found?, span: expr.span, is_exact: true })
}

/// The axis of each argument of a function that takes `n_params`, where that is known, and is given `n_given`.
pub(super) fn axes_of_arguments(
    checker: &mut BodyChecker<'_, '_>,
    axes: &VmapAxes,
    n_params: Option<usize>,
    n_given: usize,
    span: Span,
) -> Option<Vec<Option<Axis>>> {
    let n = n_params.map_or(n_given, |n| n.min(n_given));
    let (listed, list_span) = match &axes.of_arguments {
        OfArguments::All(axis) => return Some(vec![Some(*axis); n]),
        OfArguments::Each(listed, list_span) => (listed, *list_span),
    };
    if listed.len() == n {
        return Some(listed.clone());
    }
    if n < listed.len() && n_params.is_some_and(|n| listed.len() <= n) {
        arguments::report_argument_count(checker, "vmap", listed.len(), n, span, None);
        return None;
    }
    let axes = if n == 1 { "axis" } else { "axes" };
    let found = listed.len();
    let message = format!("expected {n} {axes} in `vmap`, one for each argument of the function, found {found}");
    checker.report(Diagnostic::error(codes::VMAP_AXIS_COUNT, list_span, message).help(
        "write an axis for each argument, `_` for one that is the same for every position; a single axis is that \
         of all arguments",
    ));
    None
}

/// Whether a type that has an axis at `axis`, if at all, has it; reports it if not.
pub(super) fn has_axis(checker: &mut BodyChecker<'_, '_>, ty: &Type, axis: Axis, whose: Whose<'_>) -> bool {
    let Some((part, oddity)) = odd_part(ty, axis.at) else { return true };
    let (part, rank) = (part.clone(), part.dims().len());
    match oddity {
        Oddity::Beyond if rank > 0 && !axis.is_exact => return true,
        Oddity::Unknown => {
            let shown = format!("`{}`", checker.show(&part));
            let axes = format!("the axis {} of {} of `vmap`", axis.at, whose.noun());
            axes::report_axis_in_pack(checker, &part, &shown, axis.span, &axes);
        }
        Oddity::Beyond => {
            let message =
                format!("expected the axis {} in {} of `vmap`, found `{}`", axis.at, whose.noun(), checker.show(&part));
            let there = match rank {
                0 | 1 => "the axis 0, or -1 from the back".to_owned(),
                _ => format!("the axes 0 to {}, or -{rank} to -1 from the back", rank - 1),
            };
            let help = match whose {
                Whose::Argument(_) if rank == 0 => {
                    "write `_` for an argument that is the same for every position: `vmap[0, _](f)(xs, w)`".to_owned()
                }
                Whose::Argument(_) => format!("it has {there}"),
                Whose::Results => format!("with the new one it has {there}; `out = 0` puts the new one first"),
            };
            checker.report(Diagnostic::error(codes::VMAP_AXIS, axis.span, message).help(help));
        }
    }
    false
}
