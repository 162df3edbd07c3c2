//! Inputs of workloads, made by the rules of `benches/workloads/inputs.tsv`: one line for each parameter.

use super::manifest::{Sizes, Workload, rows};
use crate::random::Random;
use anyhow::{Context, Result, bail, ensure};
use cotan::host::{Arguments, Elem, HostValue, Value};
use std::collections::BTreeMap;

const TABLE: &str = include_str!("../../../../benches/workloads/inputs.tsv");

/// The arguments of a workload. Its random numbers are drawn in the order of its lines.
pub(super) fn arguments(workload: &Workload, sizes: Sizes) -> Result<Arguments> {
    let mut random = Random::new(Elem::F64);
    let mut found = Arguments::new();
    for line in rows(TABLE) {
        let fields: Vec<&str> = line.split('\t').collect();
        let [name, parameter, rule, dims] = fields[..] else { bail!("{line:?}: expected four columns") };
        if name == workload.name {
            let value = value(&mut random, rule, dims, workload.sizes(sizes));
            found.insert(parameter.to_owned(), value.with_context(|| format!("{line:?}"))?);
        }
    }
    ensure!(!found.is_empty(), "`{}` has no inputs", workload.name);
    Ok(found)
}

fn value(random: &mut Random, rule: &str, dims: &str, sizes: &BTreeMap<String, usize>) -> Result<HostValue> {
    let size = |word: &str| {
        let known = sizes.get(word).copied().or_else(|| word.parse().ok());
        known.with_context(|| format!("`{word}` is no size"))
    };
    let dims: Vec<usize> = dims.split(' ').filter(|word| *word != "-").map(size).collect::<Result<_>>()?;
    let words: Vec<&str> = rule.split(' ').collect();
    Ok(match (words.as_slice(), dims.as_slice()) {
        (["between", low, high], _) => random.between(low.parse()?, high.parse()?, &dims),
        (["line", low, high], [n]) => line(low.parse()?, high.parse()?, *n),
        (["below", n], _) => random.positions(size(n)?, &dims),
        (["parts", n], [parts]) => random.parts(size(n)?, *parts),
        (["size", n], []) => HostValue::i64(i64::try_from(size(n)?)?),
        (["number", x], []) => HostValue::f64(x.parse()?),
        (["lattice", rows, columns], [_, 2]) => lattice(random, size(rows)?, size(columns)?),
        (["triangles", rows, columns], [_, 3]) => triangles(size(rows)?, size(columns)?),
        _ => bail!("there is no rule `{rule}` for {} axes", dims.len()),
    })
}

/// Numbers at equal distances, both ends among them.
fn line(low: f64, high: f64, n: usize) -> HostValue {
    let step = (high - low) / n.saturating_sub(1).max(1) as f64;
    let elements: Vec<f64> = (0..n).map(|i| low + step * i as f64).collect();
    HostValue::f64s(&[n as i64], &elements)
}

/// Points at about unit distances, row by row.
fn lattice(random: &mut Random, rows: usize, columns: usize) -> HostValue {
    let moves = random.between(-0.2, 0.2, &[rows * columns, 2]).floats();
    let (moves, _) = moves.as_chunks::<2>();
    let place = |k: usize| [(k % columns) as f64, (k / columns) as f64];
    let points = moves.iter().enumerate().map(|(k, [x, y])| [place(k)[0] + x, place(k)[1] + y]);
    let elements: Vec<f64> = points.flatten().collect();
    HostValue::f64s(&[(rows * columns) as i64, 2], &elements)
}

/// The corners of the triangles between the points of a lattice, two in each square, all in one direction around.
fn triangles(rows: usize, columns: usize) -> HostValue {
    let squares = (1..rows).flat_map(|row| (1..columns).map(move |column| ((row - 1) * columns + column - 1) as i64));
    let below = columns as i64;
    let corners: Vec<i64> =
        squares.flat_map(|at| [at, at + 1, at + below + 1, at, at + below + 1, at + below]).collect();
    HostValue::Tensor(Value::i64s(&[(corners.len() / 3) as i64, 3], &corners))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(rule: &str, dims: &str) -> Result<HostValue> {
        let sizes = BTreeMap::from([("N".to_owned(), 3), ("K".to_owned(), 5)]);
        value(&mut Random::new(Elem::F64), rule, dims, &sizes)
    }

    #[test]
    fn rules_say_range_and_shape() {
        let numbers = made("between 2 3", "N K").expect("a rule").floats();
        assert!(numbers.len() == 15 && numbers.iter().all(|x| (2.0..=3.0).contains(x)), "{numbers:?}");
        assert_eq!(made("line 0 1", "N").expect("a rule").floats(), [0.0, 0.5, 1.0]);
        assert_eq!(made("size K", "-").expect("a rule"), HostValue::i64(5));
        assert_eq!(made("number 0.5", "-").expect("a rule"), HostValue::f64(0.5));
    }

    #[test]
    fn triangles_of_a_lattice_go_one_way_around_its_points() {
        let points = made("lattice N K", "15 2").expect("a rule").floats();
        let HostValue::Tensor(corners) = made("triangles N K", "16 3").expect("a rule") else {
            panic!("expected a tensor")
        };
        assert_eq!(corners.dims, [16, 3]);
        let corners: Vec<usize> = corners.bits.iter().map(|bits| *bits as usize).collect();
        let (triangles, _) = corners.as_chunks::<3>();
        let areas = triangles.iter().map(|[a, b, c]| {
            let along = |to: &usize, axis: usize| points[2 * to + axis] - points[2 * a + axis];
            0.5 * (along(b, 0) * along(c, 1) - along(b, 1) * along(c, 0))
        });
        assert!(areas.clone().all(|area| area > 0.0), "{areas:?}");
    }

    #[test]
    fn an_unknown_rule_or_size_is_refused() {
        for (rule, dims) in
            [("normal", "N"), ("size M", "-"), ("below M", "N"), ("line 0 1", "N K"), ("between 0", "N")]
        {
            assert!(made(rule, dims).is_err(), "{rule}");
        }
    }
}
