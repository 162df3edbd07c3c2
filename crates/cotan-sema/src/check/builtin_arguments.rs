//! The arguments of functions of the prelude: how many there are, tensors of some rank, counts and extents.

use cotan_syntax::{Diagnostic, Span, ast};

use super::arguments::Source;
use super::size_exprs::pack_name;
use super::type_scope::TypeScope;
use super::{BodyChecker, arguments, axes, ranges, size_exprs, sizes};
use crate::codes;
use crate::dims::Dim;
use crate::prelude;
use crate::typed::{Arg, Builtin, Expr};
use crate::types::Type;

/// What a builtin must know of the axes of its tensor.
enum Axes {
    /// Nothing: it treats all elements alike.
    Any,
    First,
    Last,
    LastTwo,
    /// How many there are.
    Rank,
}

/// What a builtin on one tensor must know of its axes.
fn axes_needed(builtin: Builtin) -> Axes {
    match builtin {
        Builtin::Sum
        | Builtin::Prod
        | Builtin::Mean
        | Builtin::Norm
        | Builtin::MapLeaves
        | Builtin::SumLeaves
        | Builtin::Inner
        | Builtin::Close
        | Builtin::CountLeaves
        | Builtin::Zeros
        | Builtin::Ones
        | Builtin::Full
        | Builtin::ZerosLike
        | Builtin::StopGradient
        | Builtin::Reshape
        | Builtin::Broadcast
        | Builtin::WrappingAs
        | Builtin::Operation(..) => Axes::Any,
        Builtin::Tabulate
        | Builtin::Map
        | Builtin::Zip
        | Builtin::Scan
        | Builtin::Fold
        | Builtin::Iterate
        | Builtin::IterateUntil
        | Builtin::Concat
        | Builtin::Reverse
        | Builtin::Each
        | Builtin::Gather
        | Builtin::Iota => Axes::First,
        Builtin::Sort | Builtin::Argsort | Builtin::Argmax | Builtin::Argmin | Builtin::Cumsum | Builtin::Cumprod => {
            Axes::Last
        }
        Builtin::Transpose => Axes::LastTwo,
        Builtin::Diag | Builtin::Trace | Builtin::Dot => Axes::Rank,
    }
}

/// A builtin with the place of its call.
#[derive(Clone, Copy)]
pub(super) struct Site {
    pub(super) builtin: Builtin,
    pub(super) span: Span,
}

/// The arguments as values, if there are exactly `N` and nothing is wrong with them.
pub(super) fn exactly<const N: usize>(
    checker: &mut BodyChecker<'_, '_>,
    site: Site,
    sources: Vec<Source<'_>>,
) -> Option<[Expr; N]> {
    require_count(checker, site, sources.len(), N)?;
    let values: Vec<Expr> = sources.into_iter().map(|source| checker.source(source)).collect();
    if values.iter().any(|value| value.ty.has_error()) {
        return None;
    }
    values.try_into().ok()
}

pub(super) fn require_count(checker: &mut BodyChecker<'_, '_>, site: Site, found: usize, wanted: usize) -> Option<()> {
    if found == wanted {
        return Some(());
    }
    arguments::report_argument_count(checker, prelude::builtin_name(site.builtin), wanted, found, site.span, None);
    None
}

pub(super) fn require_at_least(
    checker: &mut BodyChecker<'_, '_>,
    site: Site,
    found: usize,
    wanted: usize,
) -> Option<()> {
    if found >= wanted {
        return Some(());
    }
    let message = format!(
        "expected at least {wanted} argument{} of `{}`, found {found}",
        if wanted == 1 { "" } else { "s" },
        prelude::builtin_name(site.builtin)
    );
    checker.report(
        Diagnostic::error(codes::ARGUMENT_COUNT, site.span, message).help("give the arguments that are missing"),
    );
    None
}

pub(super) fn wrong_argument<T>(
    checker: &mut BodyChecker<'_, '_>,
    site: Site,
    value: &Expr,
    wanted: &str,
    help: &str,
) -> Option<T> {
    if !value.ty.has_error() {
        let name = prelude::builtin_name(site.builtin);
        let message = format!("expected {wanted} for `{name}`, found {}", checker.show_value(value));
        checker.report(Diagnostic::error(codes::ARGUMENT_TYPE, value.span, message).help(help));
    }
    None
}

/// A single tensor of at least some rank.
pub(super) fn on_tensor(
    checker: &mut BodyChecker<'_, '_>,
    site: Site,
    sources: Vec<Source<'_>>,
    rank: usize,
) -> Option<(Expr, Type)> {
    let [value] = exactly(checker, site, sources)?;
    let ty = value.ty.clone();
    if ty.dims().len() < rank {
        let wanted = if rank == 1 { "a tensor".to_owned() } else { format!("a tensor of rank {rank} or more") };
        return wrong_argument(checker, site, &value, &wanted, "give a tensor such as `[1.0, 2.0]`");
    }
    let name = prelude::builtin_name(site.builtin);
    let is_known = match axes_needed(site.builtin) {
        Axes::Any => true,
        Axes::First => axes::first_axis(checker, &value, name).is_some(),
        Axes::Last => axes::last_axes(checker, &value, 1, value.span, name).is_some(),
        Axes::LastTwo => axes::last_axes(checker, &value, 2, value.span, name).is_some(),
        Axes::Rank => axes::has_known_rank(checker, &ty, value.span, name),
    };
    is_known.then_some((value, ty))
}

/// Counts or extents: an integer, or several in an array.
pub(super) fn counts(
    checker: &mut BodyChecker<'_, '_>,
    site: Site,
    source: Source<'_>,
) -> Option<(Vec<Arg>, Vec<Dim>)> {
    let counts: Vec<Option<(Arg, Dim)>> = match source {
        Source::Ast(ast::Expr { kind: ast::ExprKind::Array(parts), .. }) => {
            parts.iter().map(|part| count(checker, site, Source::Ast(part))).collect()
        }
        Source::Ast(ast::Expr { kind: ast::ExprKind::Tuple(parts), span, .. }) => {
            return tuple_of_sizes(checker, prelude::builtin_name(site.builtin), parts, *span);
        }
        Source::Ast(_) | Source::Typed(_) | Source::Default(_) => vec![count(checker, site, source)],
    };
    Some(counts.into_iter().collect::<Option<Vec<_>>>()?.into_iter().unzip())
}

/// Reports `zeros((3, 4))`.
pub(super) fn tuple_of_sizes<T>(
    checker: &mut BodyChecker<'_, '_>,
    name: &str,
    parts: &[ast::Expr],
    span: Span,
) -> Option<T> {
    let message = format!("expected sizes for `{name}`, found a tuple");
    let diagnostic = Diagnostic::error(codes::ARGUMENT_TYPE, span, message);
    let sizes: Option<Vec<&str>> = parts.iter().map(|part| checker.module.text(part.span)).collect();
    let diagnostic = match sizes.map(|sizes| format!("[{}]", sizes.join(", "))) {
        Some(list) => diagnostic.help(format!("sizes stand in brackets: `{list}`")).fix(span, list),
        None => diagnostic.help("sizes stand in brackets, as in `[3, 4]`"),
    };
    checker.report(diagnostic);
    None
}

/// Extents, one after the other or as one array.
pub(super) fn extents(
    checker: &mut BodyChecker<'_, '_>,
    site: Site,
    mut sources: Vec<Source<'_>>,
) -> Option<(Vec<Arg>, Vec<Dim>)> {
    if sources.len() == 1 {
        return counts(checker, site, sources.pop()?);
    }
    let counts: Vec<Option<(Arg, Dim)>> = sources.into_iter().map(|source| count(checker, site, source)).collect();
    Some(counts.into_iter().collect::<Option<Vec<_>>>()?.into_iter().unzip())
}

/// One count, or a shape pack `..S` for as many as it has sizes.
fn count(checker: &mut BodyChecker<'_, '_>, site: Site, source: Source<'_>) -> Option<(Arg, Dim)> {
    if let Source::Ast(expr) = source
        && let Some((name, span)) = pack_name(expr)
    {
        let dim = size_exprs::pack(checker.module, name, span, &TypeScope::new(checker.generics.clone()))?;
        return Some((Arg::Pack(dim.as_pack()?), dim));
    }
    let name = prelude::builtin_name(site.builtin);
    let value = checker.source(source);
    let value = ranges::integer(checker, value, &format!("a size of `{name}`"))?;
    let dim = counted(checker, name, &value)?;
    Some((Arg::Value(value), dim))
}

/// The size that is given to `name`; reports one that is negative in every run.
pub(super) fn counted(checker: &mut BodyChecker<'_, '_>, name: &str, value: &Expr) -> Option<Dim> {
    let dim = sizes::extent(checker, value);
    if !dim.is_surely_negative() {
        return Some(dim);
    }
    let message = format!("expected a size of at least 0 for `{name}`, found {}", checker.show_dim(&dim));
    checker.report(Diagnostic::error(codes::NEGATIVE_SIZE, value.span, message).help("sizes count elements"));
    None
}

/// A shape pack among counts of which each needs an index.
pub(super) fn no_pack_here<T>(checker: &mut BodyChecker<'_, '_>, site: Site) -> Option<T> {
    let name = prelude::builtin_name(site.builtin);
    let message = format!("expected sizes for `{name}`, found a shape pack, which is any number of them");
    checker.report(
        Diagnostic::error(codes::NOT_A_PACK, site.span, message)
            .help("name the sizes one by one, or make the tensor with `zeros`, `full` or `broadcast`"),
    );
    None
}

pub(super) fn no_counts<T>(checker: &mut BodyChecker<'_, '_>, site: Site) -> Option<T> {
    let message = format!("expected at least one size for `{}`, found `[]`", prelude::builtin_name(site.builtin));
    checker.report(
        Diagnostic::error(codes::ARGUMENT_TYPE, site.span, message).help("write a size, as in `n` or `[n, m]`"),
    );
    None
}
