//! Bundle adjustment: `n m p`, one camera, one point, one weight, one feature. As in ADBench they are replicated n, m, p
//! and p times, and observation i joins camera i mod n with point i mod m.

use super::tokens::{Tokens, integers, tensor};
use crate::{Block, Instance};
use anyhow::{Result, ensure};
use cotan::host::Arguments;

/// The columns of an observation's block of the Jacobian.
const COLUMNS: [(&str, usize, usize); 7] = [
    ("rotation", 0, 3),
    ("centre", 3, 3),
    ("focal length", 6, 1),
    ("principal point", 7, 2),
    ("distortion", 9, 2),
    ("point", 11, 3),
    ("weight", 14, 1),
];

/// Derivatives of one residual.
const ROW: usize = 15;

pub(super) fn read(t: &mut Tokens<'_>, name: &str) -> Result<Instance> {
    let (n, m, p) = (t.size()?, t.size()?, t.size()?);
    ensure!(n > 0 && m > 0, "expected at least one camera and one point, found {n} and {m}");
    let (camera, point, weight, feature) = (t.floats(11)?, t.floats(3)?, t.next()?, t.floats(2)?);
    let observations: Vec<i64> = (0..p).flat_map(|i| [(i % n) as i64, (i % m) as i64]).collect();
    let args = Arguments::from([
        ("cameras".to_owned(), tensor(&[n, 11], &camera.repeat(n))),
        ("points".to_owned(), tensor(&[m, 3], &point.repeat(m))),
        ("weights".to_owned(), tensor(&[p], &vec![weight; p])),
        ("observations".to_owned(), integers(&[p, 2], &observations)),
        ("features".to_owned(), tensor(&[p, 2], &feature.repeat(p))),
    ]);
    let block = |(name, first, length): (&str, usize, usize)| Block {
        name: name.to_owned(),
        first,
        length,
        stride: ROW,
        count: 2 * p,
    };
    let mut blocks: Vec<Block> = COLUMNS.into_iter().map(block).collect();
    blocks.push(Block { name: "weight error".to_owned(), first: 2 * ROW * p, length: p, stride: p, count: 1 });
    let program = ("examples/ba/ba.cot", include_str!("../../../../examples/ba/ba.cot"));
    Ok(Instance::of_example("ba", "ba_jacobian", name, program, args, blocks))
}
