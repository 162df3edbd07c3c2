//! The table of edge points, `spec/kinks.tsv`, agrees with the rows that it names.

use super::samples::same;
use cotan_ir::{Const, Elem, OperandElem};
use cotan_ops::{Partial, lookup, typed_number};
use std::collections::BTreeSet;

const KINKS: &str = include_str!("../../../../spec/kinks.tsv");

fn rows() -> Vec<Vec<&'static str>> {
    KINKS.lines().filter(|line| !line.starts_with('#')).skip(1).map(|line| line.split('\t').collect()).collect()
}

fn number(text: &str) -> f64 {
    text.parse().expect("a number")
}

#[test]
fn rows_are_well_formed() {
    let mut ids = BTreeSet::new();
    for row in rows() {
        assert_eq!(row.len(), 8, "{row:?}");
        assert!(ids.insert(row[0]), "{} is there twice", row[0]);
        assert!(row.iter().all(|cell| !cell.is_empty()), "{row:?}");
        assert!(row[4].split(' ').all(|t| Elem::from_name(t).is_some_and(Elem::is_float)), "{row:?}");
    }
}

#[test]
fn primitives_say_the_same() {
    for row in rows().into_iter().filter(|row| row[1] != "-") {
        let op = lookup(row[1]).expect("a primitive of that name");
        for t in row[4].split(' ').filter_map(Elem::from_name) {
            let operands = row[3].split("; ").zip(op.sig.operands);
            let point: Vec<Const> = operands
                .map(|(text, want)| match want {
                    OperandElem::T => typed_number(t, number(text)),
                    OperandElem::Is(elem) => typed_number(*elem, number(text)),
                })
                .collect();
            let value = op.eval(&point).expect("operands of the right types");
            assert!(same(value, typed_number(t, number(row[5]))), "{} on {t}: {value}", row[0]);
            let partials = op.partials.iter().zip(op.sig.operands).filter(|(_, want)| **want == OperandElem::T);
            let derivatives: Vec<&str> = row[6].split("; ").collect();
            assert_eq!(partials.clone().count(), derivatives.len(), "{}", row[0]);
            for ((partial, _), expected) in partials.zip(derivatives) {
                let found = match partial {
                    Partial::Term { term, .. } => term.eval(t, &point, value).expect("a well-typed term"),
                    Partial::Convert => typed_number(t, 1.0),
                    Partial::Zero { .. } => typed_number(t, 0.0),
                };
                let zeros = found.as_float() == Some(0.0) && number(expected) == 0.0;
                assert!(zeros || same(found, typed_number(t, number(expected))), "{} on {t}: {found}", row[0]);
            }
        }
    }
}
