//! Whether patterns match what they must: every value in `let`, `for` and lambdas, and in a `match`
//! every value by some arm, and each arm some value. Asked when a body ends, as the types of
//! literals are decided then.

use cotan_syntax::{Diagnostic, Span};

use super::usefulness::{Constructor, Pattern as Case, TooHard, Usefulness};
use super::{BodyChecker, ModuleChecker};
use crate::codes;
use crate::suggest::closest;
use crate::typed::{Expr, ExprKind, Local, LocalId, Pattern, PatternKind};
use crate::types::Type;

/// Patterns that are to be looked at.
pub(super) struct PatternCheck {
    /// Where the value stands that is matched, or the pattern.
    span: Span,
    ty: Type,
    /// The patterns, each with whether it has a guard.
    pub(super) patterns: Vec<(Pattern, bool)>,
    /// Where a pattern that must match stands; `None` for a `match`.
    place: Option<&'static str>,
    /// The variable that is looked at, if it is one.
    subject: Option<LocalId>,
}

/// Values that are named in one message.
const MAX_SHOWN: usize = 3;

impl PatternCheck {
    /// A pattern that must match every value.
    pub(super) fn irrefutable(pattern: Pattern, place: &'static str) -> Self {
        Self {
            span: pattern.span,
            ty: pattern.ty.clone(),
            patterns: vec![(pattern, false)],
            place: Some(place),
            subject: None,
        }
    }

    /// The patterns of a `match`, each with whether it has a guard.
    pub(super) fn of_match(scrutinee: &Expr, patterns: Vec<(Pattern, bool)>) -> Self {
        let subject = if let ExprKind::Local(local) = scrutinee.kind { Some(local) } else { None };
        Self { span: scrutinee.span, ty: scrutinee.ty.clone(), patterns, place: None, subject }
    }

    /// Calls `f` for every type in it.
    pub(super) fn each_type(&mut self, f: &mut dyn FnMut(&mut Type)) {
        f(&mut self.ty);
        let mut visitor = crate::typed::TypeVisitor { ty: f, callable: &mut |_| (), expr: &mut |_| () };
        self.patterns.iter_mut().for_each(|(pattern, _)| visitor.pattern(pattern));
    }
}

/// Reports what is wrong with patterns whose types are decided.
pub(super) fn check_patterns(checker: &mut BodyChecker<'_, '_>, check: &PatternCheck, locals: &[Local]) {
    let cases: Vec<Case> = check.patterns.iter().map(|(pattern, _)| Case::from(pattern)).collect();
    if report_cases(checker, check, &cases, locals).is_err() {
        let message = "expected patterns of which the compiler can tell what they cover, found too many combinations";
        checker.report(
            Diagnostic::error(codes::PATTERNS_TOO_HARD, check.span, message)
                .help("match the parts one after the other"),
        );
    }
}

fn report_cases(
    checker: &mut BodyChecker<'_, '_>,
    check: &PatternCheck,
    cases: &[Case],
    locals: &[Local],
) -> Result<(), TooHard> {
    let mut found = Vec::new();
    {
        let mut usefulness = Usefulness::new(checker.module.declarations());
        let without_guard = cases.iter().zip(&check.patterns).filter(|(_, (_, has_guard))| !has_guard);
        let covering: Vec<&Case> = without_guard.map(|(case, _)| case).collect();
        // Of an enum, every variant is asked for, so that all that are missing are named.
        let questions: Vec<Case> = if let Type::Enum(of) = &check.ty {
            let n = checker.module.enums[of.def.0 as usize].variants.len();
            (0..n).map(|index| Case::Of(Constructor::Variant(index), Vec::new())).collect()
        } else {
            vec![Case::Wildcard]
        };
        for question in &questions {
            if let Some(value) = usefulness.unmatched(&covering, question, &check.ty)? {
                found.push(usefulness.show(&value, &check.ty));
            }
        }
    }
    if !found.is_empty() {
        report_uncovered(checker, check, &found, locals);
        return Ok(());
    }
    if check.place.is_some() {
        return Ok(());
    }
    let mut unreachable = Vec::new();
    {
        let mut usefulness = Usefulness::new(checker.module.declarations());
        let mut before: Vec<&Case> = Vec::new();
        for (case, (pattern, has_guard)) in cases.iter().zip(&check.patterns) {
            let (alternatives, patterns) = match (case, &pattern.kind) {
                (Case::Or(cases), PatternKind::Or(patterns)) => (cases.as_slice(), patterns.as_slice()),
                _ => (std::slice::from_ref(case), std::slice::from_ref(pattern)),
            };
            let n_before = before.len();
            for (case, pattern) in alternatives.iter().zip(patterns) {
                if usefulness.unmatched(&before, case, &check.ty)?.is_none() {
                    unreachable.push(pattern);
                }
                before.push(case);
            }
            if *has_guard {
                before.truncate(n_before);
            }
        }
    }
    for pattern in unreachable {
        report_unreachable(checker, check, pattern, locals);
    }
    Ok(())
}

fn report_uncovered(checker: &mut BodyChecker<'_, '_>, check: &PatternCheck, values: &[String], locals: &[Local]) {
    let named: Vec<String> = values.iter().take(MAX_SHOWN).map(|value| format!("`{value}`")).collect();
    let more = match values.len().saturating_sub(MAX_SHOWN) {
        0 => String::new(),
        n => format!(" and {n} more"),
    };
    let verb = if values.len() == 1 { "is" } else { "are" };
    let list = format!("{}{more} {verb} not covered", named.join(", "));
    let example = &values[0];
    let diagnostic = match check.place {
        Some(place) => {
            let name = name_of(checker.module, &check.patterns[0].0, locals)
                .map_or(String::new(), |name| format!(" as `{name}`"));
            let message = format!("expected a pattern in {place} that matches every value, found one{name}: {list}");
            Diagnostic::error(codes::REFUTABLE_PATTERN, check.span, message)
                .help("bind the value to a name and look at it with `match`")
        }
        None => {
            let subject = check.subject.map(|local| format!(" of `{}`", locals[local.0 as usize].name));
            let message = format!("expected arms for every value{}, found that {list}", subject.unwrap_or_default());
            let help = if example == "_" {
                "add an arm `_ => ...` for all other values".to_owned()
            } else {
                format!("add an arm `{example} => ...`, or `_ => ...` for all other values")
            };
            let mut diagnostic = Diagnostic::error(codes::NOT_EXHAUSTIVE, check.span, message);
            if check.patterns.iter().any(|(_, has_guard)| *has_guard) {
                diagnostic = diagnostic.note("an arm with a guard covers nothing, as the guard may not hold");
            }
            diagnostic.help(help)
        }
    };
    checker.report(diagnostic);
}

/// The name that a pattern consists of.
fn name_of(module: &ModuleChecker<'_>, pattern: &Pattern, locals: &[Local]) -> Option<String> {
    match (&pattern.kind, &pattern.ty) {
        (PatternKind::Local(local), _) => Some(locals[local.0 as usize].name.clone()),
        (PatternKind::Wildcard, _) => Some("_".to_owned()),
        (PatternKind::Variant { index, .. }, Type::Enum(of)) => {
            Some(module.enums[of.def.0 as usize].variants[*index].name.clone())
        }
        _ => None,
    }
}

fn report_unreachable(checker: &mut BodyChecker<'_, '_>, check: &PatternCheck, pattern: &Pattern, locals: &[Local]) {
    let span = pattern.span;
    let name = name_of(checker.module, pattern, locals).map_or(String::new(), |name| format!(" `{name}`"));
    let message = format!("this pattern{name} is never reached: the patterns before it match all of its values");
    let mut diagnostic = Diagnostic::warning(codes::UNREACHABLE_ARM, span, message);
    let mut help = "leave it out, or put it before the patterns that cover it; `_` stands last".to_owned();
    // A name that matches everything is often meant as a variant.
    let name = check.patterns.iter().take_while(|(pattern, _)| pattern.span.start < span.start).find_map(
        |(pattern, has_guard)| {
            let PatternKind::Local(local) = &pattern.kind else { return None };
            (!has_guard).then(|| (pattern.span, locals[local.0 as usize].name.clone()))
        },
    );
    if let Some((span, name)) = name {
        diagnostic = diagnostic.label(span, format!("`{name}` is a name here and matches every value"));
        if let Type::Enum(of) = &check.ty {
            let variants = checker.module.enums[of.def.0 as usize].variants.iter().map(|v| v.name.as_str());
            if let Some(near) = closest(&name, variants) {
                help = format!("did you mean the variant `{near}`?");
            }
        }
    }
    checker.report(diagnostic.help(help));
}
