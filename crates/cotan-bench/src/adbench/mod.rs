//! Readers of ADBench's text files.

mod ba;
mod hand;
mod tokens;

pub use hand::HandModel;

use crate::{Block, Instance};
use anyhow::{Context, Result};
use cotan::host::{Arguments, HostValue};
use std::path::Path;
use tokens::Tokens;

/// The objectives of ADBench.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Objective {
    /// Gaussian mixture.
    Gmm,
    /// Bundle adjustment.
    Ba,
    /// Long short-term memory.
    Lstm,
    /// Hand tracking, where each measured point belongs to a vertex.
    Hand,
    /// Hand tracking, where each measured point belongs to a point of a triangle.
    HandComplicated,
}

impl Objective {
    /// The objective of a file, told by the folders that it lies in.
    pub fn of_path(path: &Path) -> Option<Objective> {
        let folder =
            |name: &str| path.components().any(|c| c.as_os_str().to_str().is_some_and(|c| c.starts_with(name)));
        path.components().rev().find_map(|c| match c.as_os_str().to_str()? {
            "gmm" => Some(Objective::Gmm),
            "ba" => Some(Objective::Ba),
            "lstm" => Some(Objective::Lstm),
            "hand" if folder("complicated") => Some(Objective::HandComplicated),
            "hand" => Some(Objective::Hand),
            _ => None,
        })
    }

    /// Whether a model of the hand belongs to the instance.
    pub fn needs_model(self) -> bool {
        match self {
            Objective::Hand | Objective::HandComplicated => true,
            Objective::Gmm | Objective::Ba | Objective::Lstm => false,
        }
    }
}

/// Reads an instance from the text of its file; the objectives of hand tracking need the model too.
pub fn read_adbench(objective: Objective, name: &str, text: &str, model: Option<&HandModel>) -> Result<Instance> {
    let mut t = Tokens::words(text);
    let model = || model.context("expected a model of the hand");
    let instance = match objective {
        Objective::Gmm => gmm(&mut t, name),
        Objective::Ba => ba::read(&mut t, name),
        Objective::Lstm => lstm(&mut t, name),
        Objective::Hand => hand::read(&mut t, name, model()?, false),
        Objective::HandComplicated => hand::read(&mut t, name, model()?, true),
    }?;
    t.end()?;
    Ok(instance)
}

/// `d k n`, alphas, means, inverse-covariance factors, points, `gamma m`.
fn gmm(t: &mut Tokens<'_>, name: &str) -> Result<Instance> {
    let (d, k, n) = (t.size()?, t.size()?, t.size()?);
    let triangle = d * (d + 1) / 2;
    let args = Arguments::from([
        ("alphas".to_owned(), t.tensor(&[k])?),
        ("means".to_owned(), t.tensor(&[k, d])?),
        ("icf".to_owned(), t.tensor(&[k, triangle])?),
        ("x".to_owned(), t.tensor(&[n, d])?),
        ("gamma".to_owned(), HostValue::f64(t.next()?)),
        ("m".to_owned(), HostValue::i64(t.next()?)),
    ]);
    let program = ("examples/gmm/gmm.cot", include_str!("../../../../examples/gmm/gmm.cot"));
    let blocks = Block::in_order(&[("alphas", k), ("means", k * d), ("icf", k * triangle)]);
    Ok(Instance::of_example("gmm", "gmm_gradient", name, program, args, blocks))
}

/// `l c b`, main parameters, extra parameters, state, sequence.
fn lstm(t: &mut Tokens<'_>, name: &str) -> Result<Instance> {
    let (l, c, b) = (t.size()?, t.size()?, t.size()?);
    let args = Arguments::from([
        ("weights".to_owned(), t.tensor(&[l, 2, 4, b])?),
        ("extra".to_owned(), t.tensor(&[3, b])?),
        ("state".to_owned(), t.tensor(&[l, 2, b])?),
        ("sequence".to_owned(), t.tensor(&[c, b])?),
    ]);
    let program = ("examples/lstm/lstm.cot", include_str!("../../../../examples/lstm/lstm.cot"));
    let blocks = Block::in_order(&[("weights", l * 8 * b), ("extra", 3 * b)]);
    Ok(Instance::of_example("lstm", "lstm_gradient", name, program, args, blocks))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mixture_is_read_in_the_order_of_the_file() {
        let text = "2 1 3\n0.5\n1 2\n3 4 5\n10 11\n12 13\n14 15\n1.5 7";
        let instance = read_adbench(Objective::Gmm, "tiny", text, None).expect("a valid file");
        assert_eq!(instance.args["means"], HostValue::f64s(&[1, 2], &[1.0, 2.0]));
        assert_eq!(instance.args["icf"], HostValue::f64s(&[1, 3], &[3.0, 4.0, 5.0]));
        assert_eq!(instance.args["x"], HostValue::f64s(&[3, 2], &[10.0, 11.0, 12.0, 13.0, 14.0, 15.0]));
        assert_eq!(instance.args["m"], HostValue::i64(7));
        assert_eq!(instance.blocks, Block::in_order(&[("alphas", 1), ("means", 2), ("icf", 3)]));
    }

    #[test]
    fn a_broken_file_is_an_error_that_names_the_token() {
        let message = |text| read_adbench(Objective::Gmm, "tiny", text, None).map(|_| ()).unwrap_err().to_string();
        assert_eq!(message("2 1"), "expected token 3, found the end");
        assert_eq!(message("2 one 3"), "token 2: expected a number, found `one`");
        assert_eq!(message("1 1 1 0 0 0 0 1 0 9"), "expected the end after token 9");
    }
}
