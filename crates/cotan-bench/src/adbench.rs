//! Readers of ADBench's text files.

use crate::Instance;
use anyhow::{Context, Result, bail, ensure};
use cotan::host::{Arguments, HostValue};
use std::path::Path;
use std::str::{FromStr, SplitWhitespace};

/// The objectives that have a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Objective {
    /// Gaussian mixture.
    Gmm,
    /// Long short-term memory.
    Lstm,
}

impl Objective {
    /// The objective of a file, told by the folders that it lies in.
    pub fn of_path(path: &Path) -> Option<Objective> {
        path.components().rev().find_map(|c| match c.as_os_str().to_str()? {
            "gmm" => Some(Objective::Gmm),
            "lstm" => Some(Objective::Lstm),
            _ => None,
        })
    }
}

/// Reads an instance from the text of its file.
pub fn read_adbench(objective: Objective, name: &str, text: &str) -> Result<Instance> {
    let mut tokens = Tokens { rest: text.split_whitespace(), position: 0 };
    let instance = match objective {
        Objective::Gmm => gmm(&mut tokens, name),
        Objective::Lstm => lstm(&mut tokens, name),
    }?;
    ensure!(tokens.rest.next().is_none(), "expected the end of the file after token {}", tokens.position);
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
    let program = ("examples/gmm/gmm.cot", include_str!("../../../examples/gmm/gmm.cot"));
    Ok(Instance::of_example("gmm", name, program, args, vec![k, k * d, k * triangle]))
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
    let program = ("examples/lstm/lstm.cot", include_str!("../../../examples/lstm/lstm.cot"));
    Ok(Instance::of_example("lstm", name, program, args, vec![l * 8 * b, 3 * b]))
}

struct Tokens<'a> {
    rest: SplitWhitespace<'a>,
    position: usize,
}

impl Tokens<'_> {
    fn next<T: FromStr>(&mut self) -> Result<T> {
        self.position += 1;
        let Some(token) = self.rest.next() else {
            bail!("expected token {}, found the end of the file", self.position)
        };
        token.parse().ok().with_context(|| format!("token {}: expected a number, found `{token}`", self.position))
    }

    fn size(&mut self) -> Result<usize> {
        let n: u32 = self.next()?;
        Ok(n as usize)
    }

    fn tensor(&mut self, dims: &[usize]) -> Result<HostValue> {
        let count = dims.iter().try_fold(1usize, |n, d| n.checked_mul(*d)).context("sizes overflow")?;
        let elements: Vec<f64> = (0..count).map(|_| self.next()).collect::<Result<_>>()?;
        let dims: Vec<i64> = dims.iter().map(|d| *d as i64).collect();
        Ok(HostValue::f64s(&dims, &elements))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mixture_is_read_in_the_order_of_the_file() {
        let text = "2 1 3\n0.5\n1 2\n3 4 5\n10 11\n12 13\n14 15\n1.5 7";
        let instance = read_adbench(Objective::Gmm, "tiny", text).expect("a valid file");
        assert_eq!(instance.args["means"], HostValue::f64s(&[1, 2], &[1.0, 2.0]));
        assert_eq!(instance.args["icf"], HostValue::f64s(&[1, 3], &[3.0, 4.0, 5.0]));
        assert_eq!(instance.args["x"], HostValue::f64s(&[3, 2], &[10.0, 11.0, 12.0, 13.0, 14.0, 15.0]));
        assert_eq!(instance.args["m"], HostValue::i64(7));
        assert_eq!(instance.blocks, [1, 2, 3]);
    }

    #[test]
    fn a_broken_file_is_an_error_that_names_the_token() {
        let message = |text| read_adbench(Objective::Gmm, "tiny", text).map(|_| ()).unwrap_err().to_string();
        assert_eq!(message("2 1"), "expected token 3, found the end of the file");
        assert_eq!(message("2 one 3"), "token 2: expected a number, found `one`");
        assert_eq!(message("1 1 1 0 0 0 0 1 0 9"), "expected the end of the file after token 9");
    }
}
