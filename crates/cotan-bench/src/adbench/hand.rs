//! Hand tracking: measured points, what of the model each belongs to, and the angles of the joints. The model lies in
//! files of its own.

use super::tokens::{Tokens, integers, tensor};
use crate::{Block, Instance};
use anyhow::{Context, Result, ensure};
use cotan::host::{Arguments, HostValue};

const BONES: usize = 22;
const ANGLES: usize = 26;

/// A hand: bones, skinned vertices and the triangles of its surface.
#[derive(Clone, Debug)]
pub struct HandModel {
    bones: HostValue,
    triangles: HostValue,
}

impl HandModel {
    /// Reads the texts of `bones.txt` (name, parent, relative and inverse absolute matrix of each bone), `vertices.txt`
    /// (position, normal, texture coordinates, and for each bone that moves the vertex its number and weight) and
    /// `triangles.txt` (three vertices each); the parts of a line stand between colons.
    pub fn read(bones: &str, vertices: &str, triangles: &str) -> Result<HandModel> {
        let (mut parents, mut relative, mut inverse) = (Vec::new(), Vec::new(), Vec::new());
        for (k, line) in bones.lines().enumerate() {
            let mut t = Tokens::fields(line);
            let mut bone = || -> Result<()> {
                t.word()?;
                let parent: i64 = t.next()?;
                ensure!((-1..k as i64).contains(&parent), "expected a parent before bone {k}, found {parent}");
                parents.push(parent);
                relative.extend(t.floats(16)?);
                inverse.extend(t.floats(16)?);
                Ok(())
            };
            bone().with_context(|| format!("line {} of the bones", k + 1))?;
        }
        ensure!(parents.len() == BONES, "expected {BONES} bones, found {}", parents.len());
        let (mut positions, mut weights) = (Vec::new(), Vec::new());
        for (k, line) in vertices.lines().enumerate() {
            let (position, weight) = vertex(line).with_context(|| format!("line {} of the vertices", k + 1))?;
            positions.extend(position);
            weights.extend(weight);
        }
        let mut corners = Vec::new();
        for (k, line) in triangles.lines().enumerate() {
            let mut t = Tokens::fields(line);
            let triangle: Result<Vec<i64>> = (0..3).map(|_| t.next()).collect();
            corners.extend(triangle.with_context(|| format!("line {} of the triangles", k + 1))?);
        }
        let n_vertices = weights.len() / BONES;
        let fields = [
            ("parent", integers(&[BONES], &parents)),
            ("relative", tensor(&[BONES, 4, 4], &relative)),
            ("inverse", tensor(&[BONES, 4, 4], &inverse)),
            ("position", tensor(&[n_vertices, 4], &positions)),
            ("weight", tensor(&[n_vertices, BONES], &weights)),
        ];
        let bones = HostValue::Struct(fields.map(|(name, value)| (name.to_owned(), value)).into());
        Ok(HandModel { bones, triangles: integers(&[corners.len() / 3, 3], &corners) })
    }
}

/// The homogeneous position and the weight of each bone.
fn vertex(line: &str) -> Result<([f64; 4], [f64; BONES])> {
    let mut t = Tokens::fields(line);
    let position = [t.next()?, t.next()?, t.next()?, 1.0];
    // The normal and the texture coordinates do not move anything.
    t.floats(5)?;
    let mut weights = [0.0; BONES];
    for _ in 0..t.size()? {
        let bone = t.size()?;
        let weight = weights.get_mut(bone).with_context(|| format!("expected a bone below {BONES}, found {bone}"))?;
        *weight = t.next()?;
    }
    Ok((position, weights))
}

/// `N n_theta`, N lines `index x y z`, N pairs u where the indices name triangles, the angles.
pub(super) fn read(t: &mut Tokens<'_>, name: &str, model: &HandModel, on_surface: bool) -> Result<Instance> {
    let (n, n_theta) = (t.size()?, t.size()?);
    ensure!(n_theta == ANGLES, "expected {ANGLES} angles, found {n_theta}");
    let (mut corresponding, mut points) = (Vec::new(), Vec::new());
    for _ in 0..n {
        corresponding.push(t.next()?);
        points.extend(t.floats(3)?);
    }
    let mut args = Arguments::from([
        ("model".to_owned(), model.bones.clone()),
        ("corresponding".to_owned(), integers(&[n], &corresponding)),
        ("points".to_owned(), tensor(&[n, 3], &points)),
    ]);
    let mut blocks = Vec::new();
    if on_surface {
        args.insert("u".to_owned(), t.tensor(&[n, 2])?);
        args.insert("triangles".to_owned(), model.triangles.clone());
        blocks.extend(["u1".to_owned(), "u2".to_owned()].map(|name| (name, 3 * n)));
    }
    args.insert("theta".to_owned(), t.tensor(&[ANGLES])?);
    blocks.extend((0..ANGLES).map(|k| (format!("angle {k}"), 3 * n)));
    let blocks: Vec<(&str, usize)> = blocks.iter().map(|(name, n)| (name.as_str(), *n)).collect();
    let (objective, derivative) = if on_surface { ("hand_c", "hand_c_jacobian") } else { ("hand", "hand_jacobian") };
    let program = ("examples/hand/hand.cot", include_str!("../../../../examples/hand/hand.cot"));
    Ok(Instance::of_example(objective, derivative, name, program, args, Block::in_order(&blocks)))
}
