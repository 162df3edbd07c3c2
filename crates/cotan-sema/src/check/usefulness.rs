//! Which values no pattern of a list matches: the algorithm of Luc Maranget, "Warnings for pattern
//! matching" (2007), over the constructors of the types.
//!
//! A row is a list of patterns for a list of values. The question is always the same: is there a
//! list of values that a given row matches and none of the rows before it does? If not, the row is
//! unreachable; for a row of wildcards, the match covers everything.

use crate::typed::{Declarations, PatternKind, PatternRange};
use crate::typed::{Literal, Pattern as TypedPattern, PayloadForm};
use crate::types::{EnumType, Scalar, Type};

/// Rows looked at before the question counts as too hard. Programs that people write need a few
/// thousand.
const MAX_STEPS: u64 = 4_000_000;

/// A pattern, reduced to what decides whether it matches. Also a set of values that is not matched.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Pattern {
    Wildcard,
    Of(Constructor, Vec<Pattern>),
    Or(Vec<Pattern>),
}

/// What a value is made with.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Constructor {
    /// The only one of a tuple or struct.
    Single,
    /// A variant of an enum.
    Variant(usize),
    /// The integers from the first to the last; truth values are 0 and 1.
    Integers(i128, i128),
    /// A float, or a range of them, as text: no set of them is complete.
    Floats(String),
}

impl From<&TypedPattern> for Pattern {
    fn from(pattern: &TypedPattern) -> Self {
        match &pattern.kind {
            PatternKind::Wildcard | PatternKind::Local(_) => Self::Wildcard,
            PatternKind::Fields(fields) => Self::Of(Constructor::Single, by_position(fields)),
            PatternKind::Variant { index, fields } => Self::Of(Constructor::Variant(*index), by_position(fields)),
            PatternKind::Literal(literal) => Self::Of(of_range(literal, literal, true, &pattern.ty), Vec::new()),
            PatternKind::Range(PatternRange { lo, hi, inclusive }) => {
                Self::Of(of_range(lo, hi, *inclusive, &pattern.ty), Vec::new())
            }
            PatternKind::Or(alternatives) => Self::Or(alternatives.iter().map(Self::from).collect()),
        }
    }
}

/// Patterns of parts in the order of the parts; trailing wildcards are left out.
fn by_position(fields: &[(usize, TypedPattern)]) -> Vec<Pattern> {
    let n = fields.iter().map(|(at, _)| at + 1).max().unwrap_or(0);
    let mut parts = vec![Pattern::Wildcard; n];
    for (at, field) in fields {
        parts[*at] = Pattern::from(field);
    }
    parts
}

fn of_range(lo: &Literal, hi: &Literal, inclusive: bool, ty: &Type) -> Constructor {
    if let Some(elem) = ty.concrete().filter(|elem| elem.is_float()) {
        // `0` and `0.0` are one float.
        let float = |literal: &Literal| literal.constant(elem).as_float();
        return Constructor::Floats(format!("{:?} {:?} {inclusive}", float(lo), float(hi)));
    }
    let number = |literal: &Literal| match literal {
        Literal::Int(value) => Some(*value),
        Literal::Bool(value) => Some(i128::from(*value)),
        Literal::Float(_) | Literal::Constant(_) => None,
    };
    match (number(lo), number(hi)) {
        (Some(lo), Some(hi)) => Constructor::Integers(lo, if inclusive { hi } else { hi - 1 }),
        _ => Constructor::Floats(format!("{lo:?} {hi:?} {inclusive}")),
    }
}

/// The question was too hard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TooHard;

/// Answers questions about the patterns of one program.
pub(super) struct Usefulness<'d> {
    declarations: Declarations<'d>,
    steps: u64,
}

type Row<'r> = Vec<&'r Pattern>;

/// Values that the rows do not match: one pattern for each column.
type Unmatched = Option<Vec<Pattern>>;

static WILDCARD: Pattern = Pattern::Wildcard;

impl<'d> Usefulness<'d> {
    pub(super) fn new(declarations: Declarations<'d>) -> Self {
        Self { declarations, steps: 0 }
    }

    /// A value of type `ty` that `pattern` matches and none of `before` does.
    pub(super) fn unmatched(
        &mut self,
        before: &[&Pattern],
        pattern: &Pattern,
        ty: &Type,
    ) -> Result<Option<Pattern>, TooHard> {
        let rows: Vec<Row<'_>> = before.iter().map(|pattern| vec![*pattern]).collect();
        let found = self.unmatched_row(&rows, &[pattern], std::slice::from_ref(ty))?;
        Ok(found.and_then(|mut row| row.pop()))
    }

    fn unmatched_row(&mut self, rows: &[Row<'_>], row: &[&Pattern], types: &[Type]) -> Result<Unmatched, TooHard> {
        self.steps += 1 + rows.len() as u64;
        if self.steps > MAX_STEPS {
            return Err(TooHard);
        }
        let (Some((first, rest)), Some((ty, other_types))) = (row.split_first(), types.split_first()) else {
            return Ok(rows.is_empty().then(Vec::new));
        };
        match first {
            Pattern::Or(alternatives) => {
                for alternative in alternatives {
                    let row: Row<'_> = std::iter::once(alternative).chain(rest.iter().copied()).collect();
                    let found = self.unmatched_row(rows, &row, types)?;
                    if found.is_some() {
                        return Ok(found);
                    }
                }
                Ok(None)
            }
            Pattern::Of(constructor, parts) => {
                for piece in self.pieces(constructor, rows) {
                    let found = self.within(&piece, parts, rows, rest, (ty, other_types))?;
                    if found.is_some() {
                        return Ok(found);
                    }
                }
                Ok(None)
            }
            Pattern::Wildcard => {
                // What rows that begin with a wildcard match, all constructors match.
                let default: Vec<Row<'_>> = expanded(rows)
                    .into_iter()
                    .filter_map(|row| matches!(row[0], Pattern::Wildcard).then(|| row[1..].to_vec()))
                    .collect();
                let Some(others) = self.unmatched_row(&default, rest, other_types)? else { return Ok(None) };
                let heads = heads(rows);
                if let Some(missing) = self.missing(&heads, ty) {
                    return Ok(Some(std::iter::once(missing).chain(others).collect()));
                }
                for constructor in self.all(ty) {
                    for piece in self.pieces(&constructor, rows) {
                        let found = self.within(&piece, &[], rows, rest, (ty, other_types))?;
                        if found.is_some() {
                            return Ok(found);
                        }
                    }
                }
                Ok(None)
            }
        }
    }

    /// Values made with one constructor, with parts that `parts` match.
    fn within(
        &mut self,
        constructor: &Constructor,
        parts: &[Pattern],
        rows: &[Row<'_>],
        rest: &[&Pattern],
        (ty, other_types): (&Type, &[Type]),
    ) -> Result<Unmatched, TooHard> {
        let part_types = self.part_types(constructor, ty);
        let n = part_types.len();
        let expand = |parts: &'_ [Pattern], rest: &[&'_ Pattern]| -> Vec<Pattern> {
            let filled = parts.iter().cloned().chain(std::iter::repeat(Pattern::Wildcard)).take(n);
            filled.chain(rest.iter().map(|pattern| (*pattern).clone())).collect()
        };
        let mut specialised: Vec<Vec<Pattern>> = Vec::new();
        for row in expanded(rows) {
            match row[0] {
                Pattern::Wildcard => specialised.push(expand(&[], &row[1..])),
                Pattern::Of(other, parts) if covers(other, constructor) => {
                    specialised.push(expand(parts, &row[1..]));
                }
                Pattern::Of(..) | Pattern::Or(_) => {}
            }
        }
        let rows: Vec<Row<'_>> = specialised.iter().map(|row| row.iter().collect()).collect();
        let row = expand(parts, rest);
        let row: Row<'_> = row.iter().collect();
        let types: Vec<Type> = part_types.into_iter().chain(other_types.iter().cloned()).collect();
        let found = self.unmatched_row(&rows, &row, &types)?;
        Ok(found.map(|mut values| {
            let others = values.split_off(n);
            std::iter::once(Pattern::Of(constructor.clone(), values)).chain(others).collect()
        }))
    }

    /// The parts of a constructor that the rows treat alike: a range is cut where one of theirs
    /// begins or ends.
    fn pieces(&self, constructor: &Constructor, rows: &[Row<'_>]) -> Vec<Constructor> {
        let Constructor::Integers(lo, hi) = constructor else { return vec![constructor.clone()] };
        let mut starts = vec![*lo];
        for head in heads(rows) {
            if let Constructor::Integers(first, last) = head {
                starts.extend([*first, last.saturating_add(1)].into_iter().filter(|at| lo < at && at <= hi));
            }
        }
        starts.sort_unstable();
        starts.dedup();
        let ends = starts.iter().skip(1).map(|start| start - 1).chain([*hi]);
        starts.iter().zip(ends).map(|(start, end)| Constructor::Integers(*start, end)).collect()
    }

    /// A constructor of the type, as a pattern, that is none of `heads`.
    fn missing(&self, heads: &[&Constructor], ty: &Type) -> Option<Pattern> {
        let all = self.all(ty);
        if all.is_empty() {
            return Some(Pattern::Wildcard);
        }
        for constructor in all {
            let Constructor::Integers(lo, hi) = constructor else {
                if !heads.contains(&&constructor) {
                    return Some(Pattern::Of(constructor, Vec::new()));
                }
                continue;
            };
            if let Some(gap) = gap(heads, lo, hi) {
                return Some(Pattern::Of(gap, Vec::new()));
            }
        }
        None
    }

    /// All constructors of a type; none of one that has too many to name.
    fn all(&self, ty: &Type) -> Vec<Constructor> {
        match ty {
            Type::Tuple(_) | Type::Struct(_) => vec![Constructor::Single],
            Type::Enum(of) => (0..self.n_variants(of)).map(Constructor::Variant).collect(),
            Type::Scalar(Scalar::Of(elem)) => match elem.integer_range() {
                Some((least, most)) => vec![Constructor::Integers(least, most)],
                None if elem.is_float() => Vec::new(),
                None => vec![Constructor::Integers(0, 1)],
            },
            Type::Scalar(Scalar::Param(_) | Scalar::Var(_))
            | Type::Error
            | Type::Never
            | Type::Tensor { .. }
            | Type::Function(_)
            | Type::Param(_) => Vec::new(),
        }
    }

    fn n_variants(&self, of: &EnumType) -> usize {
        self.declarations.all_payloads(of).len()
    }

    fn part_types(&self, constructor: &Constructor, ty: &Type) -> Vec<Type> {
        match (constructor, ty) {
            (Constructor::Single, Type::Tuple(parts)) => parts.clone(),
            (Constructor::Single, Type::Struct(of)) => self.declarations.field_types(of),
            (Constructor::Variant(index), Type::Enum(of)) => self.declarations.payload_types(of, *index),
            _ => Vec::new(),
        }
    }

    /// A set of values as a pattern that matches them.
    pub(super) fn show(&self, value: &Pattern, ty: &Type) -> String {
        let Pattern::Of(constructor, parts) = value else { return "_".to_owned() };
        match (constructor, ty) {
            (Constructor::Integers(0, 0), _) if is_bool(ty) => "false".to_owned(),
            (Constructor::Integers(1, 1), _) if is_bool(ty) => "true".to_owned(),
            (Constructor::Integers(..), _) if is_bool(ty) => "_".to_owned(),
            (Constructor::Integers(lo, hi), _) => 0.clamp(*lo, *hi).to_string(),
            (Constructor::Floats(_), _) => "_".to_owned(),
            (Constructor::Single, Type::Tuple(types)) => self.show_tuple(parts, types),
            (Constructor::Single, Type::Struct(of)) => {
                let def = &self.declarations.structs[of.def.0 as usize];
                let names: Vec<&str> = def.fields.iter().map(|field| field.name.as_str()).collect();
                self.show_fields(&def.name, &names, parts, &self.declarations.field_types(of))
            }
            (Constructor::Variant(index), Type::Enum(of)) => {
                let def = &self.declarations.enums[of.def.0 as usize];
                let variant = &def.variants[*index];
                let name = format!("{}.{}", def.name, variant.name);
                let types = self.declarations.payload_types(of, *index);
                match variant.form {
                    PayloadForm::Unit => name,
                    PayloadForm::Tuple => format!("{name}{}", self.show_tuple(parts, &types)),
                    PayloadForm::Struct => {
                        let names: Vec<&str> = variant.fields.iter().map(|field| field.name.as_str()).collect();
                        self.show_fields(&name, &names, parts, &types)
                    }
                }
            }
            (Constructor::Single | Constructor::Variant(_), _) => "_".to_owned(),
        }
    }

    fn show_tuple(&self, parts: &[Pattern], types: &[Type]) -> String {
        let parts = parts.iter().chain(std::iter::repeat(&WILDCARD)).zip(types);
        let parts: Vec<String> = parts.map(|(part, ty)| self.show(part, ty)).collect();
        format!("({})", parts.join(", "))
    }

    fn show_fields(&self, name: &str, names: &[&str], parts: &[Pattern], types: &[Type]) -> String {
        let parts = parts.iter().zip(types).zip(names);
        let shown = parts.map(|((part, ty), name)| (name, self.show(part, ty))).filter(|(_, part)| part != "_");
        let mut shown: Vec<String> = shown.map(|(name, part)| format!("{name}: {part}")).collect();
        if shown.len() < names.len() {
            shown.push("..".to_owned());
        }
        format!("{name} {{ {} }}", shown.join(", "))
    }
}

fn is_bool(ty: &Type) -> bool {
    *ty == Type::of(cotan_ir::Elem::Bool)
}

/// Rows whose first pattern is no choice: one row for each alternative.
fn expanded<'r>(rows: &[Row<'r>]) -> Vec<Row<'r>> {
    let mut all = Vec::new();
    for row in rows {
        let mut open = vec![row[0]];
        while let Some(first) = open.pop() {
            match first {
                Pattern::Or(alternatives) => open.extend(alternatives),
                Pattern::Wildcard | Pattern::Of(..) => {
                    all.push(std::iter::once(first).chain(row[1..].iter().copied()).collect());
                }
            }
        }
    }
    all
}

/// The constructors that rows begin with.
fn heads<'r>(rows: &[Row<'r>]) -> Vec<&'r Constructor> {
    let mut found = Vec::new();
    let mut open: Vec<&Pattern> = rows.iter().map(|row| row[0]).collect();
    while let Some(first) = open.pop() {
        match first {
            Pattern::Or(alternatives) => open.extend(alternatives),
            Pattern::Of(constructor, _) => found.push(constructor),
            Pattern::Wildcard => {}
        }
    }
    found
}

/// Whether all values of a constructor, which is a piece, belong to another one.
fn covers(other: &Constructor, piece: &Constructor) -> bool {
    match (other, piece) {
        (Constructor::Integers(lo, hi), Constructor::Integers(first, last)) => lo <= first && last <= hi,
        (other, piece) => other == piece,
    }
}

/// Integers from `lo` to `hi` that are in none of the ranges; those next to zero if there are several.
fn gap(heads: &[&Constructor], lo: i128, hi: i128) -> Option<Constructor> {
    let range = |head: &&Constructor| match head {
        Constructor::Integers(first, last) => Some((*first, *last)),
        Constructor::Single | Constructor::Variant(_) | Constructor::Floats(_) => None,
    };
    let mut ranges: Vec<(i128, i128)> = heads.iter().filter_map(range).collect();
    ranges.sort_unstable();
    let mut gaps = Vec::new();
    let mut next = lo;
    for (first, last) in ranges {
        if first > next {
            gaps.push((next, first - 1));
        }
        next = next.max(last.saturating_add(1));
    }
    if next <= hi {
        gaps.push((next, hi));
    }
    let distance = |(first, last): &(i128, i128)| 0.clamp(*first, *last).unsigned_abs();
    gaps.into_iter().min_by_key(distance).map(|(first, last)| Constructor::Integers(first, last))
}

#[cfg(test)]
mod tests {
    use super::*;
    use cotan_ir::Elem;

    fn pair(a: Pattern, b: Pattern) -> Pattern {
        Pattern::Of(Constructor::Single, vec![a, b])
    }

    fn integers(lo: i128, hi: i128) -> Pattern {
        Pattern::Of(Constructor::Integers(lo, hi), Vec::new())
    }

    fn shown(patterns: &[&Pattern], ty: &Type) -> Option<String> {
        let mut usefulness = Usefulness::new(Declarations { structs: &[], enums: &[], generics: &[] });
        let found = usefulness.unmatched(patterns, &Pattern::Wildcard, ty).expect("the question is easy");
        found.map(|value| usefulness.show(&value, ty))
    }

    #[test]
    fn ranges_that_meet_cover_a_type_and_a_gap_is_shown() {
        let ty = Type::of(Elem::U8);
        assert_eq!(shown(&[&integers(0, 99), &integers(100, 255)], &ty), None);
        assert_eq!(shown(&[&integers(0, 99), &integers(101, 255)], &ty), Some("100".to_owned()));
        assert_eq!(shown(&[&integers(10, 255)], &ty), Some("0".to_owned()));
    }

    #[test]
    fn truth_tables_are_complete_or_lack_a_row() {
        let bool = Type::of(Elem::Bool);
        let ty = Type::Tuple(vec![bool.clone(), bool]);
        let (no, yes) = (integers(0, 0), integers(1, 1));
        let first = pair(yes.clone(), Pattern::Wildcard);
        let second = pair(Pattern::Wildcard, yes.clone());
        assert_eq!(shown(&[&first, &second], &ty), Some("(false, false)".to_owned()));
        let third = pair(no.clone(), no);
        assert_eq!(shown(&[&first, &second, &third], &ty), None);
    }

    #[test]
    fn floats_are_never_complete_without_a_wildcard() {
        let ty = Type::of(Elem::F64);
        let one = Pattern::Of(Constructor::Floats("1.0".to_owned()), Vec::new());
        assert_eq!(shown(&[&one], &ty), Some("_".to_owned()));
        assert_eq!(shown(&[&one, &Pattern::Wildcard], &ty), None);
    }

    #[test]
    fn a_pattern_below_others_that_cover_it_together_is_unreachable() {
        let ty = Type::of(Elem::I64);
        let mut usefulness = Usefulness::new(Declarations { structs: &[], enums: &[], generics: &[] });
        let (low, high, middle) = (integers(0, 5), integers(6, 9), integers(3, 8));
        assert_eq!(usefulness.unmatched(&[&low, &high], &middle, &ty), Ok(None));
        assert!(usefulness.unmatched(&[&low], &middle, &ty).is_ok_and(|found| found == Some(integers(6, 8))));
    }

    #[test]
    fn a_question_with_too_many_cases_ends() {
        let ty = Type::Tuple(vec![Type::of(Elem::Bool); 40]);
        let mut patterns = Vec::new();
        let mut pair = |at: usize, first: i128, second: i128| {
            let mut parts = vec![Pattern::Wildcard; 40];
            parts[2 * at] = integers(first, first);
            parts[2 * at + 1] = integers(second, second);
            patterns.push(Pattern::Of(Constructor::Single, parts));
        };
        for at in 0..20 {
            pair(at, 0, 0);
            pair(at, 1, 1);
        }
        pair(19, 0, 1);
        let (last, patterns) = patterns.split_last().expect("there are many");
        let patterns: Vec<&Pattern> = patterns.iter().collect();
        let mut usefulness = Usefulness::new(Declarations { structs: &[], enums: &[], generics: &[] });
        usefulness.steps = MAX_STEPS - 100_000;
        assert!(usefulness.unmatched(&patterns, last, &ty).is_err());
    }
}
