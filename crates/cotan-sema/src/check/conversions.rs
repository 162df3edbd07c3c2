//! Advice on conversions between scalar types: where one stands in the user's own code.
//!
//! An integer beside a float is converted, never the float: a cast to an integer cuts the derivative. Of two integers or
//! two floats the narrower one is widened. A literal is never replaced by another number.

use cotan_ir::Elem;
use cotan_syntax::{Diagnostic, Span};

use super::{BodyChecker, literals, written};
use crate::typed::{Arg, BinaryOp, Builtin, Callable, CallableKind, Expr, ExprKind, Literal};
use crate::types::Scalar;
use crate::unify::Elems;

/// What to do, and the edit that does it where it is certain.
pub(super) struct Advice {
    help: String,
    edits: Vec<(Span, String)>,
    /// Where the value that is an integer became one.
    position: Option<Span>,
    /// What it is one mistake with, where a file has it at several places.
    mistake: Option<&'static str>,
}

impl Advice {
    /// Advice that nothing can be done about by an edit.
    pub(super) fn new(help: impl Into<String>) -> Advice {
        Advice { help: help.into(), edits: Vec::new(), mistake: None, position: None }
    }

    /// The diagnostic with this advice.
    pub(super) fn on(self, diagnostic: Diagnostic) -> Diagnostic {
        let diagnostic = diagnostic.help(self.help);
        let diagnostic = match self.position {
            Some(place) => diagnostic.label(place, "an integer since this use"),
            None => diagnostic,
        };
        let texts: Vec<String> = self.edits.iter().map(|(_, text)| format!("`{text}`")).collect();
        let diagnostic = self.edits.into_iter().fold(diagnostic, |diagnostic, (span, text)| diagnostic.fix(span, text));
        match self.mistake.filter(|_| !texts.is_empty()) {
            Some(mistake) => diagnostic.repeated(mistake, format!("write {} here", texts.join(" and "))),
            None => diagnostic,
        }
    }
}

/// How to make a value of one scalar type one of another.
pub(super) fn advice(checker: &BodyChecker<'_, '_>, value: &Expr, found: Scalar, wanted: Scalar) -> Advice {
    let vars = &checker.infer.vars;
    let target = name(checker, wanted);
    let is_bool = |scalar| vars.resolve(scalar) == Scalar::Of(Elem::Bool);
    if is_bool(wanted) {
        return Advice::new(format!("compare it: `{} != 0`", operand(checker, value.span, "x")));
    }
    let code = format!("({} as {target})", operand(checker, value.span, "x"));
    if is_bool(found) {
        return Advice::new(format!("write `{code}`, which is 0 or 1"));
    }
    let is_literal = matches!(value.kind, ExprKind::Literal(Literal::Int(_) | Literal::Float(_)));
    if let Some(digits) = without_suffix(checker, value.span).filter(|_| is_literal) {
        let help = format!("leave the suffix out: `{digits}` takes the type that is needed");
        return Advice { edits: vec![(value.span, digits)], ..Advice::new(help) };
    }
    let becomes_integer = vars.is_within(wanted, Elems::integer());
    if let (true, ExprKind::Literal(Literal::Float(digits))) = (becomes_integer, &value.kind) {
        let Some(number) = whole(digits) else {
            let help = "round the value that it stands for, as in `round(x) as i64`, or use floats throughout";
            return Advice::new(help);
        };
        let edits = vec![(value.span, number.to_string())];
        return Advice { edits, ..Advice::new(format!("write the integer `{number}`")) };
    }
    if becomes_integer && vars.is_within(found, Elems::any_float()) {
        return Advice::new(format!("write `{code}`, which is checked and has no derivative"));
    }
    let is_widening = breadth(checker, found) < breadth(checker, wanted);
    let sources = sources(value);
    let edits: Vec<(Span, String)> = match is_widening {
        true => sources.iter().filter_map(|source| conversion(checker, source.span, &target)).collect(),
        false => Vec::new(),
    };
    let is_whole = sources.iter().all(|source| source.span == value.span);
    let texts: Vec<String> = edits.iter().map(|(_, text)| format!("`{text}`")).collect();
    let help = match is_whole || texts.is_empty() {
        true => format!("write `{code}`: values are not converted silently"),
        false => format!("write {}: a conversion begins where the integers stand", texts.join(" and ")),
    };
    let position = vars.position(found);
    // Where a value became an integer is told of each.
    let mistake = position.is_none().then_some("a number is not converted");
    Advice { help, edits, mistake, position }
}

/// Where a conversion to a float has to begin: in what a block gives, in what a function of positions or elements gives, and
/// before a quotient, which as one of integers would have dropped its remainder.
fn sources(value: &Expr) -> Vec<&Expr> {
    if let ExprKind::Block(block) = &value.kind {
        return block.value.as_ref().map_or_else(|| vec![value], sources);
    }
    if let ExprKind::Builtin { builtin: Builtin::Tabulate | Builtin::Map, args } = &value.kind {
        let lambda = args.iter().find_map(|arg| match arg {
            Arg::Function(Callable { kind: CallableKind::Lambda(lambda), .. }) => Some(lambda),
            Arg::Function(_) | Arg::Value(_) | Arg::Pack(_) => None,
        });
        return lambda.map_or_else(|| vec![value], |lambda| sources(&lambda.body));
    }
    let ExprKind::Chain(chain) = &value.kind else { return vec![value] };
    if chain.rest.iter().all(|link| link.op != BinaryOp::Div) {
        return vec![value];
    }
    let operands = [&chain.first].into_iter().chain(chain.rest.iter().map(|link| &link.operand));
    operands.filter(|operand| !literals::is_made_of_integers(operand)).flat_map(sources).collect()
}

/// The edit that converts what stands at a span.
fn conversion(checker: &BodyChecker<'_, '_>, span: Span, target: &str) -> Option<(Span, String)> {
    let text = checker.module.sources.get(span.file)?.text();
    let code = text.get(span.range()).filter(|code| !code.is_empty())?;
    let inner = written::operand(code);
    let before = text.get(..span.range().start)?.trim_end().chars().next_back();
    let after = text.get(span.range().end..)?.trim_start().chars().next();
    let stands_alone = before.is_some_and(|c| "(,[".contains(c)) && after.is_some_and(|c| "),]".contains(c));
    Some((span, if stands_alone { format!("{inner} as {target}") } else { format!("({inner} as {target})") }))
}

/// Which of two operands of different types is to be converted: the left one?
pub(super) fn is_left(checker: &BodyChecker<'_, '_>, left: Scalar, right: Scalar) -> bool {
    match (checker.infer.vars.resolve(left), checker.infer.vars.resolve(right)) {
        // A literal beside what may be any number becomes that number.
        (Scalar::Var(_), Scalar::Param(_)) => true,
        (Scalar::Param(_), Scalar::Var(_)) => false,
        (Scalar::Of(_) | Scalar::Param(_) | Scalar::Var(_), _) => breadth(checker, left) < breadth(checker, right),
    }
}

/// The digits of a literal that has a suffix.
fn without_suffix(checker: &BodyChecker<'_, '_>, span: Span) -> Option<String> {
    let text = checker.module.quoted(span, "");
    let (digits, suffix) = text.rsplit_once('_')?;
    Elem::from_name(suffix).map(|_| digits.to_owned())
}

/// The user's own code as an operand that binds tightly; `other` where it is long or not known.
fn operand(checker: &BodyChecker<'_, '_>, span: Span, other: &str) -> String {
    written::operand(checker.module.written(span).unwrap_or(other))
}

/// The name of a scalar type, of one that is open that of its default.
fn name(checker: &BodyChecker<'_, '_>, scalar: Scalar) -> String {
    match checker.infer.vars.resolve(scalar) {
        open @ Scalar::Var(_) => checker.infer.vars.default_of(open).map_or("f64", Elem::name).to_owned(),
        known @ (Scalar::Of(_) | Scalar::Param(_)) => checker.show_scalar(known),
    }
}

/// How much a scalar type holds: integers before floats, each by their bits; what is open adapts.
fn breadth(checker: &BodyChecker<'_, '_>, scalar: Scalar) -> (bool, usize) {
    let vars = &checker.infer.vars;
    let is_float = vars.is_within(scalar, Elems::any_float());
    let bytes = match vars.resolve(scalar) {
        Scalar::Of(elem) => elem.bytes(),
        Scalar::Var(_) => 0,
        Scalar::Param(_) => size_of::<u64>(),
    };
    (is_float, bytes)
}

/// The integer that a float literal is.
fn whole(digits: &str) -> Option<i64> {
    let value: f64 = digits.parse().ok()?;
    (value.fract() == 0.0 && value.abs() < 1e15).then_some(value as i64)
}
